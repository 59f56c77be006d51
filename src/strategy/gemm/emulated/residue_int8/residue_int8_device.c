/* Common part of residue_int8's runs on devices: workspace layout, arguments, operand reuse, blocks of rows.
 */
#include "strategy/gemm/emulated/residue_int8/residue_int8_device.h"

#include "core/scratch.h"

enum { ALIGNED = 256 };

bool tsl_residue_has_cuda(const tsl_device *device) {
  const unsigned needs = TSL_CAN_CUDA | TSL_CAN_WGMMA;
  return (device->capabilities & needs) == needs;
}

int64_t tsl_residue_planes(const tsl_problem *problem, const tsl_config *config) {
  return tsl_residue_kinds(problem) *
         (int64_t)tsl_residue_candidate(problem, config, TSL_RESIDUE_CANDIDATES - 1);
}

/* Returns the bytes of the whole product's subplan at the start of the workspace: partial sums of
 * split-k, and copies of complex numbers. One factor is copied to twice its bytes. 0 where the product is too
 * small for residues or must be reproducible. */
uint64_t tsl_residue_int8_whole_bytes(const tsl_problem *problem) {
  enum { SIDE = 256, SPLITS = 8, SUMS = 32 << 20, SUMS_MAX = 128 << 20, VOLUME = 1 << 29 };
  const double volume = (double)problem->m * (double)problem->n * (double)problem->k;
  if (problem->ask.bits != TSL_REPRODUCIBILITY_ANY || volume < VOLUME)
    return 0;
  const int64_t m = tsl_round_up(problem->m, SIDE), n = tsl_round_up(problem->n, SIDE),
                size = (int64_t)tsl_type(problem->c.type)->size,
                sums = tsl_max(SUMS, tsl_min(SUMS_MAX, SPLITS * m * n * size)),
                copied = (m + n + tsl_min(m, n)) * tsl_round_up(problem->k, SIDE) * size;
  return (uint64_t)(sums + (problem->c.type == TESELA_C64 ? copied : 0));
}

/* The subplan may copy bytes as words, with sizes rounded up to SIDE; WORKSPACE is for its partial sums. */
int64_t tsl_residue_subplan_bytes(const tsl_config *config, const residue_arguments *args) {
  enum { SIDE = 256, WORKSPACE = 16 << 20 };
  const int64_t lines = tsl_round_up(tsl_residue_rows(config, args->m), SIDE) + tsl_round_up(args->n, SIDE);
  return lines * tsl_round_up(args->depth, SIDE) * (int64_t)sizeof(int) + WORKSPACE;
}

int64_t tsl_residue_lay_out(const tsl_problem *problem, const tsl_config *config, bool has_cuda, int64_t m,
                            int64_t n, residue_arguments *args) {
  const int64_t lines[2] = {m, n}, rows = tsl_residue_rows(config, m), held[2] = {rows, n},
                parts = tsl_ceil_div_or_one(problem->k, TSL_RESIDUE_PART),
                planes = tsl_residue_planes(problem, config);
  int64_t bytes = 0;
  args->m = (int)m, args->n = (int)n, args->parts = (int)parts;
  args->depth = (int)tsl_round_up(tsl_ceil_div(problem->k, parts), TSL_RESIDUE_NUMBERS);
  if (has_cuda) {
    (void)tsl_scratch_reserve(&bytes, (int64_t)tsl_residue_int8_whole_bytes(problem), ALIGNED);
  } else {
    (void)tsl_scratch_reserve(&bytes, tsl_residue_subplan_bytes(config, args), ALIGNED);
    args->rules_at = tsl_scratch_reserve(&bytes, sizeof(residue_rules), ALIGNED);
  }
  for (int turn = 0; turn < 2; turn++) {
    const int o = turn == 0 ? args->stays : 1 - args->stays;
    args->panel[o] = tsl_round_up(held[o], TSL_RESIDUE_GROUP) * TSL_RESIDUE_PANEL;
    args->plane[o] = has_cuda ? tsl_ceil_div(problem->k, TSL_RESIDUE_PANEL) * args->panel[o]
                              : tsl_round_up(held[o] * args->depth, ALIGNED);
    args->planes[o] = tsl_scratch_reserve(&bytes, planes * (has_cuda ? 1 : parts) * args->plane[o], ALIGNED);
    args->keys[o] = tsl_scratch_reserve(&bytes, lines[o] * 4, ALIGNED);
    for (int c = 0; c < TSL_RESIDUE_CANDIDATES; c++)
      args->candidates[o][c] = tsl_scratch_reserve(&bytes, lines[o] * 4, ALIGNED);
    args->scales[o] = tsl_scratch_reserve(&bytes, tsl_round_up(lines[o], 4) * 4, ALIGNED);
    args->natives[o] = tsl_scratch_reserve(&bytes, has_cuda ? lines[o] * 4 : 0, ALIGNED);
    if (o == args->stays)
      args->made = tsl_scratch_reserve(&bytes, sizeof(residue_choice), ALIGNED);
  }
  args->choice = tsl_scratch_reserve(&bytes, sizeof(residue_choice), ALIGNED);
  args->glance = tsl_scratch_reserve(&bytes, 2 * sizeof(residue_choice), ALIGNED);
  args->sums_row = tsl_round_up(n, TSL_RESIDUE_FOUR);
  args->sums = tsl_scratch_reserve(&bytes, has_cuda ? 0 : rows * args->sums_row * 4, ALIGNED);
  args->rest_pitch = has_cuda ? tsl_round_up(n, TSL_RESIDUE_GROUP) : args->sums_row;
  args->rest_plane = tsl_round_up(rows * args->rest_pitch, ALIGNED);
  args->rests = tsl_scratch_reserve(&bytes, planes * parts * args->rest_plane, ALIGNED);
  return bytes;
}

uint64_t tsl_residue_int8_scratch(const tsl_problem *problem, const tsl_config *config,
                                  const tsl_device *device) {
  const bool has_cuda = tsl_residue_has_cuda(device);
  residue_arguments args = {.stays = 0};
  return (uint64_t)tsl_max(tsl_residue_lay_out(problem, config, has_cuda, problem->m, problem->n, &args),
                           tsl_residue_lay_out(problem, config, has_cuda, problem->n, problem->m, &args));
}

/* Returns 1 if 16-byte groups along a line are aligned in every line, else 0. Only CUDA's kernels ask for a
 * buffer's address; a NULL buffer gives 0. */
static int is_wide(const tsl_work *work, tsl_buffer *buffer, int64_t along, int64_t across, int64_t offset) {
  const int64_t unit = 16 / (int64_t)tsl_type(tsl_residue_type(&work->problem))->size;
  return buffer && along == tsl_residue_reals(&work->problem, 1) && across % unit == 0 &&
         offset % unit == 0 &&
         (!tsl_residue_has_cuda(work->device) ||
          (uintptr_t)buffer->device->ops->native_buffer(buffer) % 16 == 0);
}

static residue_matrix matrix_of(const tsl_work *work, tsl_buffer *buffer, int64_t offset, int64_t across,
                                int64_t along, bool is_conjugate) {
  const int64_t each = tsl_residue_reals(&work->problem, 1);
  return (residue_matrix){.offset = each * offset,
                          .across = each * across,
                          .along = each * along,
                          .is_across = !tsl_launch_along(along, across),
                          .is_wide = is_wide(work, buffer, each * along, each * across, each * offset),
                          .is_conjugate = is_conjugate};
}

/* Returns the caller's reuse of an operand; NULL: none. */
static tsl_operand_reuse *residue_reuse(const tsl_operands *operands) {
  return operands->hints ? operands->hints->reuse : NULL;
}

/* Returns a hash of everything that measuring and conversion of operand o of C' = A' B' depend on. Numbers of
 * lines in the rules matter to the choice only. The choice is not included: the device compares it. */
static tsl_hash made_of(const tsl_residue_run *run, int o) {
  const residue_arguments *args = &run->args;
  const residue_rules *rules = &args->rules;
  const residue_matrix *matrix = &args->operands[o];
  const int64_t words[] = {run->work->problem.c.type,
                           o,
                           o ? args->n : args->m,
                           rules->k,
                           rules->candidates,
                           rules->sieves[0].moduli,
                           rules->sieves[1].moduli,
                           rules->sieves[2].moduli,
                           rules->margin,
                           rules->fraction,
                           rules->guard,
                           (int64_t)(intptr_t)(o ? run->b : run->a),
                           matrix->offset,
                           matrix->across,
                           matrix->along,
                           matrix->is_conjugate,
                           (int64_t)(intptr_t)run->scratch,
                           args->planes[o],
                           args->plane[o],
                           args->keys[o],
                           args->candidates[o][0],
                           args->made};
  return tsl_hash_add(tsl_hash_start(), words, sizeof words);
}

tsl_residue_run tsl_residue_run_of(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_problem *problem = &work->problem;
  const bool has_cuda = tsl_residue_has_cuda(work->device);
  const int64_t each = tsl_residue_reals(problem, 1);
  const tsl_gemm_sizes plain = tsl_launch_sizes(work, operands);
  const bool is_swapped =
      has_cuda ? plain.c_col_stride != 1 && plain.c_row_stride == 1 : tsl_residue_is_swapped(problem);
  const tsl_gemm_sizes s = is_swapped ? tsl_launch_swapped(&plain) : plain;
  tsl_residue_run run = {.work = work,
                         .state = work->state,
                         .reuse = residue_reuse(operands),
                         .a = is_swapped ? operands->b.buffer : operands->a.buffer,
                         .b = is_swapped ? operands->a.buffer : operands->b.buffer,
                         .c = operands->c.buffer,
                         .scratch = operands->scratch,
                         .stream = stream};
  residue_arguments *args = &run.args;
  args->rules = tsl_residue_rules(problem, &work->config, s.m, s.n);
  tsl_residue_int8_weigh(work, &args->rules);
  args->operands[0] = matrix_of(work, run.a, s.a_offset, s.a_row_stride, s.a_col_stride,
                                is_swapped ? problem->conjugate_b : problem->conjugate_a);
  args->operands[1] = matrix_of(work, run.b, s.b_offset, s.b_col_stride, s.b_row_stride,
                                is_swapped ? problem->conjugate_a : problem->conjugate_b);
  args->c_offset = each * s.c_offset, args->c_row = each * s.c_row_stride,
  args->c_col = each * s.c_col_stride;
  args->alpha = problem->alpha[0], args->beta = problem->beta[0];
  args->k = (int)s.k;
  args->is_wide = (has_cuda || each == 1) && is_wide(work, run.c, args->c_col, args->c_row, args->c_offset);
  args->is_empty = s.k == 0;
  args->stays = run.reuse && (run.reuse->operand == TSL_OPERAND_B) != is_swapped;
  tsl_residue_lay_out(problem, &work->config, has_cuda, s.m, s.n, args);
  /* Blocks of rows overwrite each other's data, so they reuse nothing. */
  if (!run.reuse || args->is_empty || tsl_residue_rows(&work->config, args->m) < args->m)
    return run;
  run.made = made_of(&run, args->stays);
  args->is_kept = tsl_operand_reuse_has(run.reuse, run.made);
  return run;
}

tsl_residue_run tsl_residue_block_of(const tsl_residue_run *whole, int64_t first, int64_t most) {
  tsl_residue_run block = *whole;
  residue_arguments *args = &block.args;
  args->operands[0].offset += first * args->operands[0].across;
  args->scales[0] += first * (int64_t)sizeof(int);
  args->c_offset += first * args->c_row;
  args->m = (int)tsl_min(most, whole->args.m - first);
  return block;
}

tesela_status tsl_residue_launch(const tsl_residue_run *run, tsl_kernel *kernel, int64_t across, int64_t down,
                                 int items, const tsl_argument *list, int count) {
  const tsl_grid grid = {{(uint64_t)across, (uint64_t)down, 1}, {items, 1, 1}};
  return run->work->device->ops->launch(run->stream, kernel, &grid, list, count);
}
