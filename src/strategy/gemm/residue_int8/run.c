#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "strategy/gemm/residue_int8/residue_int8.h"
#include "base/status.h"
uint64_t tsl_residue_int8_scratch(const tsl_problem *problem, const tsl_config *config,
                                  const tsl_device *device) { return 0; }
tesela_status tsl_residue_int8_build(tsl_work *work) { return TESELA_UNSUPPORTED; }
tesela_status tsl_residue_int8_run_cuda(const tsl_work *work, const tsl_operands *operands,
                                        tsl_stream *stream) { return TESELA_UNSUPPORTED; }
void tsl_residue_int8_release(tsl_work *work) {}
const char *tsl_residue_int8_note(const tsl_work *work) { return NULL; }
double tsl_residue_int8_seconds(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device) { return 1e-9 * problem->m * problem->n * problem->k; }
void tsl_residue_int8_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                              tsl_account *account) {}
