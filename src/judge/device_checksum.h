/* Checksums of a product in device memory (kernel/checksum_elements.h), as judge/checksum.h has for host
 * memory. Kernels read A, B and C once. Only the comparisons of 32 rows each are copied to the host. */
#ifndef TSL_JUDGE_DEVICE_CHECKSUM_H
#define TSL_JUDGE_DEVICE_CHECKSUM_H

#include "judge/checksum.h"
#include "plan/plan.h"

typedef struct tsl_device_checksum tsl_device_checksum;

/* Returns true if the product is supported: in buffers of a device with double precision. */
bool tsl_device_checksum_supports(const tsl_plan *plan, const tsl_operands *operands);
/* Compiles the kernels. is_single: sums of floats are in f32, not in double. */
tesela_status tsl_device_checksum_build(const tsl_problem *problem, tsl_device *device, bool is_single,
                                        tsl_kernel *kernels[TSL_DEVICE_CHECKSUM_KERNELS]);
/* Starts a check before the run by a plan. Of `product` only the errors are used. */
tesela_status tsl_device_checksum_begin(const tsl_plan *plan, const tsl_operands *operands,
                                        const tsl_checksum_product *product, tsl_device_checksum **checksum);
/* Returns the hook that enqueues all kernels for the run (tsl_plan_run_beside()), owned by the check; NULL:
 * the device cannot. reads_memory: the run may not sum C before it stores C. */
const tsl_concurrent_hook *tsl_device_checksum_hook(tsl_device_checksum *checksum, bool reads_memory);
/* Sums C before a run without the hook, if the run reads it. */
tesela_status tsl_device_checksum_ready(tsl_device_checksum *checksum);
/* Compares after the run. *seconds gets the check's part of a run with the hook; else 0. */
tesela_status tsl_device_checksum_end(tsl_device_checksum *checksum, tsl_checksum_result *result,
                                      double *seconds);
/* Frees a check. NULL is allowed. */
void tsl_device_checksum_free(tsl_device_checksum *checksum);

#endif
