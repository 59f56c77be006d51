#ifndef TSL_STRATEGY_GEMM_RESIDUE_INT8_H
#define TSL_STRATEGY_GEMM_RESIDUE_INT8_H

#include "host/host_isa.h"
#include "host/int_math.h"
#include "strategy/subplans.h"

#include <math.h>
#include <stdatomic.h>

#include "strategy/gemm/emulated/residue_int8/residue_int8_shared.h"

enum { TSL_RESIDUE_INT8_LEAST, TSL_RESIDUE_INT8_BLOCK };

/* Returns the rows of C per block: the workspace holds residues of a block's rows of C and A, and of all of
 * B. Blocks are equal, in pairs of CUDA's tiles. */
static inline int64_t tsl_residue_rows(const tsl_config *config, int64_t m) {
  const int64_t most = config->value[TSL_RESIDUE_INT8_BLOCK];
  if (most <= 0 || most >= m)
    return m;
  const int64_t even = tsl_round_up(tsl_ceil_div(m, tsl_ceil_div(m, most)), 2 * 128);
  return tsl_min(even, most);
}

/* Returns the rules of a product with m rows and n columns; the problem's k counts for the bound. */
residue_rules tsl_residue_rules(const tsl_problem *problem, const tsl_config *config, int64_t m, int64_t n);
/* Returns the allowed error relative to |A||B|: the bound of a careful sum, or the requested accuracy. */
double tsl_residue_allowed(const tsl_problem *problem);
/* Returns true if the allowed error is below the bound of f32 sums: native sums are in double. */
bool tsl_residue_is_precise(const tsl_problem *problem);
/* Returns the least and the maximum number of moduli that a call may choose. */
int tsl_residue_least(const tsl_problem *problem, const tsl_config *config);
int tsl_residue_most(const tsl_problem *problem);
/* Returns candidate `number`, a number of moduli; the last candidates may be equal. */
int tsl_residue_candidate(const tsl_problem *problem, const tsl_config *config, int number);

/* Returns the real numbers of a line: 2 k for complex types, else k. */
int64_t tsl_residue_numbers(const tsl_problem *problem);
/* Returns the planes of a modulus: complex products have real parts, imaginary parts and their sums. */
static inline int tsl_residue_kinds(const tsl_problem *problem) {
  return tsl_type(problem->c.type)->is_complex ? TSL_RESIDUE_PRODUCTS : 1;
}
/* Returns the real type in which C is computed. */
static inline tesela_type tsl_residue_type(const tsl_problem *problem) {
  const tsl_type_info *type = tsl_type(problem->c.type);
  return type->is_complex ? type->component : problem->c.type;
}
/* Returns the kernels' preprocessor defines; tsl_residue_native_defines(): for native elements. */
const char *tsl_residue_defines(const tsl_problem *problem);
const char *tsl_residue_native_defines(const tsl_problem *problem);
/* Returns an offset or a stride in real numbers. */
static inline int64_t tsl_residue_reals(const tsl_problem *problem, int64_t elements) {
  return tsl_type(problem->c.type)->is_complex ? 2 * elements : elements;
}

/* Contract of the integer product on every device: inputs are residues A_l of A and B_l of B, a byte each,
 * for each modulus p_l. The output is a byte from 0 to 255 that equals A_l B_l modulo p_l. Each device has
 * its own layout and signs of A_l and B_l. Complex products have three planes a modulus: 3 l + kind. */

/* Kernels and subplans that a build function stores in work->state. */
typedef struct tsl_residue_state {
  tsl_kernel *rules, *measure, *choose, *convert, *multiply, *reduce, *join, *native;
  tsl_subplan *product; /* integer product of portable kernels; NULL without products */
  tsl_subplan *whole;   /* NULL: this strategy's kernels compute products without residues */
  int whole_weight;     /* cost of an element of `whole` in moduli; 0: not known */
  char whole_note[192];
  int cluster;                      /* blocks of a cluster of CUDA's integer product */
  tsl_pinned *host_choice;          /* residue_choice of the last run on a GPU; NULL: no memory for it */
  _Atomic int moduli, native_lines; /* of the last run, for the note */
  _Atomic unsigned whole_runs;      /* runs of the subplan alone */
} tsl_residue_state;

/* Makes the subplan state->whole, which computes the product where residues do not pay. Returns TESELA_OK
 * without a subplan where none is allowed or none is found, and TESELA_OUT_OF_MEMORY if memory is short. */
tesela_status tsl_residue_int8_make_whole(tsl_work *work, uint64_t workspace);
/* Sets the costs of native elements from the subplan's time, if that is known (rules.c). */
void tsl_residue_int8_weigh(const tsl_work *work, residue_rules *rules);

tesela_status tsl_residue_int8_run_host(const tsl_work *work, const tsl_operands *operands);
/* Returns an upper bound of a run's bytes: residues of both operands and of threads' blocks of C. */
uint64_t tsl_residue_int8_host_bytes(const tsl_problem *problem, const tsl_config *config,
                                     const tsl_device *device);

/* Returns the bytes of the whole product's subplan at the start of the workspace. */
uint64_t tsl_residue_int8_whole_bytes(const tsl_problem *problem);

/* Returns true if the device has CUDA kernels of residue_int8; otherwise portable kernels are used. */
bool tsl_residue_has_cuda(const tsl_device *device);

uint64_t tsl_residue_int8_scratch(const tsl_problem *problem, const tsl_config *config,
                                  const tsl_device *device);
/* Fills in work->state, which is allocated already. */
tesela_status tsl_residue_int8_build_cuda(tsl_work *work);
tesela_status tsl_residue_int8_run_cuda(const tsl_work *work, const tsl_operands *operands,
                                        tsl_stream *stream);

/* Sets block_lines to the lines of a measuring block of each operand. */
void tsl_residue_block_lines(const int64_t lines[2], const bool is_across[2], const tsl_device *device,
                             int block_lines[2]);
/* Returns the constants that reduce sums of unsigned bytes modulo p. */
residue_reduction tsl_residue_reduction(unsigned p);

/* Fills in work->state, which is allocated already. */
tesela_status tsl_residue_int8_build_portable(tsl_work *work);
tesela_status tsl_residue_int8_run_portable(const tsl_work *work, const tsl_operands *operands,
                                            tsl_stream *stream);

double tsl_residue_int8_seconds(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device);
/* Returns the predicted seconds of one modulus. */
double tsl_residue_int8_modulus_seconds(const tsl_problem *problem, const tsl_config *config,
                                        const tsl_device *device);
void tsl_residue_int8_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                              tsl_cost_counts *account);

#endif
