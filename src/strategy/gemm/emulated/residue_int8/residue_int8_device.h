/* Runs of residue_int8 on devices: shared by CUDA's launches and the portable ones. */
#ifndef TSL_STRATEGY_GEMM_RESIDUE_INT8_DEVICE_H
#define TSL_STRATEGY_GEMM_RESIDUE_INT8_DEVICE_H

#include "strategy/gemm/emulated/residue_int8/residue_int8.h"
#include "strategy/kernel_launch/launch.h"

typedef struct tsl_residue_run {
  const tsl_work *work;
  const tsl_residue_state *state;
  tsl_operand_reuse *reuse; /* NULL: none */
  tsl_buffer *a, *b, *c, *scratch;
  tsl_stream *stream;
  tsl_hash made; /* of all that the derived data of a reused operand depend on */
  residue_arguments args;
} tsl_residue_run;

/* Returns the planes of all moduli that may be chosen, without parts of k. */
int64_t tsl_residue_planes(const tsl_problem *problem, const tsl_config *config);
/* Returns the bytes of the portable product's subplan at the workspace's start. */
int64_t tsl_residue_subplan_bytes(const tsl_config *config, const residue_arguments *args);
/* Sets sizes, offsets and pitches for m rows of A and n columns of B. Operand args->stays lies first: its
 * offsets do not depend on the other operand's size (strategy/run_hints.h). Planes of A and C are a block's.
 * Returns all bytes. */
int64_t tsl_residue_lay_out(const tsl_problem *problem, const tsl_config *config, bool has_cuda, int64_t m,
                            int64_t n, residue_arguments *args);

/* Returns a run with the arguments that both forms need. */
tsl_residue_run tsl_residue_run_of(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);
/* Returns the run of a block: at most `most` rows of C from `first` on, with the whole run's choice. */
tsl_residue_run tsl_residue_block_of(const tsl_residue_run *whole, int64_t first, int64_t most);
tesela_status tsl_residue_launch(const tsl_residue_run *run, tsl_kernel *kernel, int64_t across, int64_t down,
                                 int items, const tsl_argument *list, int count);

/* Returns true if C is column-major, so that C' = B' A' is computed. */
static inline bool tsl_residue_is_swapped(const tsl_problem *problem) {
  return problem->c.col_stride != 1 && problem->c.row_stride == 1;
}

#endif
