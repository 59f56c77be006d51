/* residue_int8 on devices with portable kernels: workspace layout, integer product, launches of a run.
 *   rules -> measure -> choose -> convert A, B -> for each plane: product, reduce -> join -> native
 * The integer product is a subplan: i8 by i8 to i32, with dense lines of A and B. Lines start at multiples of
 * 16 bytes; k is at most TSL_RESIDUE_PART. Only the device knows how many planes count, so products of the
 * maximum number of moduli are enqueued. Engines that support tsl_run_predicate skip unused planes. */
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/emulated/residue_int8/residue_int8.h"
#include "strategy/gemm/emulated/residue_int8/residue_portable_shared.h"
#include "strategy/kernel_launch/launch.h"

#include <stddef.h>
#include <string.h>

#define FOLDER "strategy/gemm/emulated/residue_int8/"

enum {
  ALIGNED = 256,
  SIDE = 256, /* granularity of the engines' sizes, at most */
  WIDE = 4,
  NATIVE_DOWN = 4096,  /* groups of a column of tiles, at most */
  WORKSPACE = 16 << 20 /* bytes for the product, besides copies of its operands */
};

/* Returns an operand's planes: for each modulus that may be chosen, kind and k part. */
static int64_t planes_of(const tsl_problem *problem, const tsl_config *config,
                         const residue_portable *portable) {
  return (int64_t)portable->parts * tsl_residue_kinds(problem) *
         tsl_residue_candidate(problem, config, TSL_RESIDUE_CANDIDATES - 1);
}

static int64_t portable_reserve(int64_t *bytes, int64_t more) {
  const int64_t at = *bytes;
  *bytes += tsl_round_up(more, ALIGNED);
  return at;
}

/* Returns the bytes of the product's subplan at the workspace's start. Engines may copy bytes as words. */
static int64_t portable_workspace_of(const tsl_config *config, const residue_portable *portable) {
  const int64_t lines =
      tsl_round_up(tsl_residue_rows(config, portable->m), SIDE) + tsl_round_up(portable->n, SIDE);
  return lines * tsl_round_up(portable->depth, SIDE) * (int64_t)sizeof(int) + WORKSPACE;
}

/* Fills in sizes, offsets and pitches for m rows of A and n columns of B, after the engine's workspace.
 * Operand portable->stays lies first; planes of A and C are a block's. Returns all bytes. */
static int64_t portable_lay_out(const tsl_problem *problem, const tsl_config *config, int64_t m, int64_t n,
                                residue_portable *portable) {
  const int64_t lines[2] = {m, n}, rows = tsl_residue_rows(config, m), held[2] = {rows, n},
                parts = tsl_max(1, tsl_ceil_div_or_one(problem->k, TSL_RESIDUE_PART));
  int64_t bytes = 0;
  portable->m = (int)m, portable->n = (int)n, portable->k = (int)problem->k;
  portable->parts = (int)parts;
  portable->depth = (int)tsl_round_up(tsl_ceil_div(problem->k, parts), TSL_RESIDUE_NUMBERS);
  const int64_t planes = planes_of(problem, config, portable);
  (void)portable_reserve(&bytes, portable_workspace_of(config, portable));
  portable->rules = portable_reserve(&bytes, sizeof(residue_rules));
  for (int turn = 0; turn < 2; turn++) {
    const int o = turn == 0 ? portable->stays : 1 - portable->stays;
    portable->plane[o] = tsl_round_up(held[o] * portable->depth, ALIGNED);
    portable->planes[o] = portable_reserve(&bytes, planes * portable->plane[o]);
    portable->keys[o] = portable_reserve(&bytes, lines[o] * 4);
    portable->candidates[o] = portable_reserve(&bytes, TSL_RESIDUE_CANDIDATES * lines[o] * 4);
    portable->scales[o] = portable_reserve(&bytes, lines[o] * 4);
    if (o == portable->stays)
      portable->made = portable_reserve(&bytes, sizeof(residue_choice));
  }
  portable->choice = portable_reserve(&bytes, sizeof(residue_choice));
  portable->sums_row = tsl_round_up(n, TSL_RESIDUE_FOUR);
  portable->sums = portable_reserve(&bytes, rows * portable->sums_row * 4);
  portable->rest_row = portable->sums_row;
  portable->rest_plane = tsl_round_up(rows * portable->rest_row, ALIGNED);
  portable->rests = portable_reserve(&bytes, planes * portable->rest_plane);
  return bytes;
}

uint64_t tsl_residue_int8_scratch_portable(const tsl_problem *problem, const tsl_config *config,
                                           const tsl_device *device) {
  residue_portable args = {.stays = 0};
  (void)device;
  return (uint64_t)tsl_max(portable_lay_out(problem, config, problem->m, problem->n, &args),
                           portable_lay_out(problem, config, problem->n, problem->m, &args));
}

static bool portable_reads_factors(const tsl_problem *problem) {
  return problem->m > 0 && problem->n > 0 && problem->k > 0 && problem->alpha[0] != 0;
}

/* Returns true if C is column-major, so that C' = B' A' is computed. */
static bool is_swapped(const tsl_problem *problem) {
  return problem->c.col_stride != 1 && problem->c.row_stride == 1;
}

static residue_portable portable_layout_of(const tsl_work *work, bool swapped, int stays) {
  const tsl_problem *problem = &work->problem;
  residue_portable args = {.stays = stays};
  portable_lay_out(problem, &work->config, swapped ? problem->n : problem->m,
                   swapped ? problem->m : problem->n, &args);
  return args;
}

static tesela_status portable_make_product(tsl_work *work) {
  tsl_residue_state *state = work->state;
  const residue_portable args = portable_layout_of(work, state->is_swapped, 0);
  const int64_t rows = tsl_residue_rows(&work->config, args.m);
  tsl_problem problem = tsl_problem_gemm(rows, args.n, args.depth, TESELA_I32);
  problem.a = (tsl_shape){
      .type = TESELA_I8, .rows = rows, .cols = args.depth, .row_stride = args.depth, .col_stride = 1};
  problem.b = (tsl_shape){
      .type = TESELA_I8, .rows = args.depth, .cols = args.n, .row_stride = 1, .col_stride = args.depth};
  problem.c.row_stride = args.sums_row;
  const tsl_subplan_request wish = {.problem = &problem,
                                    .device = work->device,
                                    .in_buffers = true,
                                    .workspace_most = (uint64_t)portable_workspace_of(&work->config, &args)};
  return work->subplans->make(work->subplans, &wish, &state->product);
}

static tesela_status portable_load_kernel(tsl_work *work, const char *path, const char *name, int items,
                                          tsl_kernel **kernel) {
  return tsl_launch_kernel_with(work, path, name, items, tsl_residue_defines(&work->problem), kernel);
}

tesela_status tsl_residue_int8_build_portable(tsl_work *work) {
  static const char lines[] = FOLDER "residue_int8_scaling.cl", rests[] = FOLDER "residue_int8_residues.cl",
                    result[] = FOLDER "residue_int8_result.cl";
  tsl_residue_state *state = work->state;
  if (work->forbid_compile)
    return tsl_fail(TESELA_UNSUPPORTED, "residue_int8 on %s: the integer product would be another kernel",
                    work->device->name);
  state->is_swapped = is_swapped(&work->problem);
  TSL_TRY(portable_load_kernel(work, lines, "tsl_gemm_residue_int8_rules", TSL_RESIDUE_SOME, &state->rules));
  TSL_TRY(
      portable_load_kernel(work, lines, "tsl_gemm_residue_int8_measure", TSL_RESIDUE_ITEMS, &state->measure));
  TSL_TRY(
      portable_load_kernel(work, lines, "tsl_gemm_residue_int8_choose", TSL_RESIDUE_ITEMS, &state->choose));
  TSL_TRY(portable_load_kernel(work, rests, "tsl_gemm_residue_int8_convert", TSL_RESIDUE_GROUP_ITEMS,
                               &state->convert));
  TSL_TRY(portable_load_kernel(work, rests, "tsl_gemm_residue_int8_reduce", TSL_RESIDUE_GROUP_ITEMS,
                               &state->reduce));
  TSL_TRY(portable_load_kernel(work, result, "tsl_gemm_residue_int8_join", TSL_RESIDUE_GROUP_ITEMS,
                               &state->join));
  TSL_TRY(tsl_launch_kernel_with(work, result, "tsl_gemm_residue_int8_native",
                                 TSL_RESIDUE_TILE * TSL_RESIDUE_TILE,
                                 tsl_residue_native_defines(&work->problem), &state->native));
  return portable_reads_factors(&work->problem) ? portable_make_product(work) : TESELA_OK;
}

typedef struct portable_residue_run {
  const tsl_work *work;
  const tsl_residue_state *state;
  tsl_buffer *a, *b, *c, *scratch;
  tsl_stream *stream;
  residue_portable args;
  residue_modulus moduli[TSL_RESIDUE_MODULI];
  tsl_hash made;
} portable_residue_run;

static residue_matrix portable_matrix_of(const tsl_problem *problem, int64_t offset, int64_t across,
                                         int64_t along, bool is_conjugate) {
  const int64_t unit = 16 / (int64_t)tsl_type(tsl_residue_type(problem))->size;
  return (residue_matrix){.is_wide = along == 1 && tsl_residue_reals(problem, across) % unit == 0 &&
                                     tsl_residue_reals(problem, offset) % unit == 0,
                          .offset = tsl_residue_reals(problem, offset),
                          .across = tsl_residue_reals(problem, across),
                          .along = tsl_residue_reals(problem, along),
                          .is_across = !tsl_launch_along(along, across),
                          .is_conjugate = is_conjugate};
}

/* Sets up operand reuse. The engine's workspace depends on both sizes, so only runs of equal sizes reuse
 * data. Blocks of rows overwrite each other's data, so they reuse nothing. */
static void portable_keep(const tsl_operands *operands, portable_residue_run *run) {
  const tsl_problem *problem = &run->work->problem;
  residue_portable *args = &run->args;
  const int o = args->stays;
  if (!tsl_residue_reuse(operands) || args->is_empty ||
      tsl_residue_rows(&run->work->config, args->m) < args->m)
    return;
  const residue_rules rules = tsl_residue_rules(problem, &run->work->config, args->m, args->n);
  const tsl_residue_lying lying = {args->planes[o], args->plane[o], args->keys[o], args->candidates[o],
                                   args->made};
  run->made = tsl_residue_made_of(problem, &rules, o, o ? args->n : args->m, &args->operands[o],
                                  o ? run->b : run->a, run->scratch, &lying);
  args->is_kept = tsl_operand_reuse_has(tsl_residue_reuse(operands), run->made);
}

static portable_residue_run portable_run_of(const tsl_work *work, const tsl_operands *operands,
                                            tsl_stream *stream) {
  const tsl_problem *problem = &work->problem;
  const tsl_residue_state *state = work->state;
  const tsl_gemm_sizes plain = tsl_launch_sizes(work, operands);
  const tsl_gemm_sizes s = state->is_swapped ? tsl_launch_swapped(&plain) : plain;
  portable_residue_run run = {
      .work = work,
      .state = state,
      .a = state->is_swapped ? operands->b.buffer : operands->a.buffer,
      .b = state->is_swapped ? operands->a.buffer : operands->b.buffer,
      .c = operands->c.buffer,
      .scratch = operands->scratch,
      .stream = stream,
      .args = portable_layout_of(work, state->is_swapped, tsl_residue_stays(operands, state->is_swapped))};
  residue_portable *args = &run.args;
  args->operands[0] = portable_matrix_of(problem, s.a_offset, s.a_row_stride, s.a_col_stride,
                                         state->is_swapped ? problem->conjugate_b : problem->conjugate_a);
  args->operands[1] = portable_matrix_of(problem, s.b_offset, s.b_col_stride, s.b_row_stride,
                                         state->is_swapped ? problem->conjugate_a : problem->conjugate_b);
  args->c_offset = tsl_residue_reals(problem, s.c_offset);
  args->c_row = tsl_residue_reals(problem, s.c_row_stride);
  args->c_col = tsl_residue_reals(problem, s.c_col_stride);
  args->alpha = problem->alpha[0], args->beta = problem->beta[0];
  args->is_empty = !portable_reads_factors(problem);
  args->is_wide = tsl_residue_reals(problem, 1) == 1 && args->c_col == 1 && args->c_row % WIDE == 0 &&
                  args->c_offset % WIDE == 0;
  portable_keep(operands, &run);
  for (int o = 0; o < 2; o++)
    args->blocks[o] =
        args->is_kept && o == args->stays
            ? 0
            : (int)tsl_ceil_div(o ? args->n : args->m, args->operands[o].is_across ? TSL_RESIDUE_LINES_ACROSS
                                                                                   : TSL_RESIDUE_LINES_ALONG);
  return run;
}

static tesela_status portable_launch(const portable_residue_run *run, tsl_kernel *kernel, int64_t groups,
                                     int items, const tsl_argument *list, int count) {
  const tsl_grid grid = {{(uint64_t)groups, 1, 1}, {items, 1, 1}};
  return run->work->device->ops->launch(run->stream, kernel, &grid, list, count);
}

static int64_t portable_groups_for(int64_t items) {
  return tsl_ceil_div(items, TSL_RESIDUE_GROUP_ITEMS);
}

static tesela_status copy_rules_to_device(portable_residue_run *run) {
  const residue_rules rules =
      tsl_residue_rules(&run->work->problem, &run->work->config, run->args.m, run->args.n);
  memcpy(run->moduli, rules.moduli, sizeof run->moduli);
  for (size_t at = 0; at < sizeof rules; at += TSL_RESIDUE_SOME * sizeof(unsigned)) {
    const size_t left = sizeof rules - at, most = TSL_RESIDUE_SOME * sizeof(unsigned),
                 bytes = left < most ? left : most;
    residue_some some = {.at = run->args.rules + (int64_t)at, .count = (int)(bytes / sizeof(unsigned))};
    memcpy(some.word, (const unsigned char *)&rules + at, bytes);
    const tsl_argument list[] = {TSL_ARG_BUFFER(run->scratch), TSL_ARG_VALUE(some)};
    TSL_TRY(portable_launch(run, run->state->rules, 1, TSL_RESIDUE_SOME, list, 2));
  }
  return TESELA_OK;
}

static tesela_status portable_choose(const portable_residue_run *run) {
  const residue_portable *args = &run->args;
  const tsl_argument all[] = {TSL_ARG_BUFFER(run->a), TSL_ARG_BUFFER(run->b), TSL_ARG_BUFFER(run->scratch),
                              TSL_ARG_VALUE(*args)};
  TSL_TRY(portable_launch(run, run->state->measure, args->blocks[0] + args->blocks[1], TSL_RESIDUE_ITEMS, all,
                          4));
  return portable_launch(run, run->state->choose, 1, TSL_RESIDUE_ITEMS, all + 2, 2);
}

/* Converts the block's rows of A and, for the first block, all of B. */
static tesela_status portable_convert(const portable_residue_run *run, bool is_first) {
  const residue_portable *args = &run->args;
  for (int o = 0; o < (is_first ? 2 : 1); o++) {
    const int64_t unit = args->operands[o].is_across ? TSL_RESIDUE_CONVERT_ACROSS : 1,
                  lines = tsl_round_up(o ? args->n : args->m, unit),
                  chunks = args->parts *
                           (tsl_residue_reals(&run->work->problem, args->depth) / TSL_RESIDUE_NUMBERS);
    const tsl_argument list[] = {TSL_ARG_BUFFER(o ? run->b : run->a), TSL_ARG_BUFFER(run->scratch),
                                 TSL_ARG_VALUE(*args), TSL_ARG_VALUE(o)};
    TSL_TRY(portable_launch(run, run->state->convert, portable_groups_for(lines * chunks),
                            TSL_RESIDUE_GROUP_ITEMS, list, 4));
  }
  return TESELA_OK;
}

/* Enqueues the sums of a plane and their reduction, unless the engine reduces them itself. */
static tesela_status multiply_plane(const portable_residue_run *run, int plane) {
  const residue_portable *args = &run->args;
  const int modulus = plane / args->parts / tsl_residue_kinds(&run->work->problem);
  const residue_modulus *by = &run->moduli[modulus];
  tsl_modular_output modular = {.at = args->rests + plane * args->rest_plane,
                                .row = args->rest_row,
                                .p = by->p,
                                .magic = by->magic,
                                .bias = by->bias};
  const tsl_run_hints hints = {.wanted = {.is_set = true,
                                          .at = args->choice + (int64_t)offsetof(residue_choice, moduli),
                                          .above = modulus},
                               .modular = &modular};
  const tsl_operands operands = {
      .a = {.buffer = run->scratch, .offset = args->planes[0] + plane * args->plane[0]},
      .b = {.buffer = run->scratch, .offset = args->planes[1] + plane * args->plane[1]},
      .c = {.buffer = run->scratch, .offset = args->sums / (int64_t)sizeof(int)},
      .hints = &hints};
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->scratch), TSL_ARG_VALUE(*args), TSL_ARG_VALUE(plane)};
  TSL_TRY(run->work->subplans->enqueue(run->state->product, &operands, run->stream, run->scratch));
  if (modular.is_written)
    return TESELA_OK;
  return portable_launch(run, run->state->reduce,
                         portable_groups_for(args->m * tsl_ceil_div(args->n, TSL_RESIDUE_FOUR)),
                         TSL_RESIDUE_GROUP_ITEMS, list, 3);
}

static tesela_status portable_multiply(const portable_residue_run *run) {
  const residue_portable *args = &run->args;
  const int64_t planes = planes_of(&run->work->problem, &run->work->config, args);
  for (int plane = 0; plane < planes; plane++)
    TSL_TRY(multiply_plane(run, plane));
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->c), TSL_ARG_BUFFER(run->scratch), TSL_ARG_VALUE(*args)};
  return portable_launch(run, run->state->join,
                         portable_groups_for(args->m * tsl_ceil_div(args->n, TSL_RESIDUE_FOUR)),
                         TSL_RESIDUE_GROUP_ITEMS, list, 3);
}

static tesela_status portable_launch_native(const portable_residue_run *run) {
  const residue_portable *args = &run->args;
  const int64_t down = tsl_min(NATIVE_DOWN, tsl_ceil_div(args->m, TSL_RESIDUE_TILE));
  const tsl_grid grid = {
      {(uint64_t)tsl_ceil_div(args->n, TSL_RESIDUE_TILE), tsl_launch_limited(run->work->device, 1, down), 1},
      {TSL_RESIDUE_TILE, TSL_RESIDUE_TILE, 1}};
  const tsl_argument list[] = {TSL_ARG_BUFFER(args->is_empty ? run->c : run->a),
                               TSL_ARG_BUFFER(args->is_empty ? run->c : run->b), TSL_ARG_BUFFER(run->c),
                               TSL_ARG_BUFFER(run->scratch), TSL_ARG_VALUE(*args)};
  return run->work->device->ops->launch(run->stream, run->state->native, &grid, list, 5);
}

/* Returns the run of a block: at most `most` rows from `first` on, with the whole run's choice. A short last
 * block still multiplies whole planes. */
static portable_residue_run portable_block_of(const portable_residue_run *whole, int64_t first,
                                              int64_t most) {
  portable_residue_run block = *whole;
  residue_portable *args = &block.args;
  args->operands[0].offset += first * args->operands[0].across;
  args->scales[0] += first * (int64_t)sizeof(int);
  args->c_offset += first * args->c_row;
  args->m = (int)tsl_min(most, whole->args.m - first);
  return block;
}

tesela_status tsl_residue_int8_run_portable(const tsl_work *work, const tsl_operands *operands,
                                            tsl_stream *stream) {
  portable_residue_run run = portable_run_of(work, operands, stream);
  if (run.args.is_empty)
    return portable_launch_native(&run);
  TSL_TRY(copy_rules_to_device(&run));
  TSL_TRY(portable_choose(&run));
  const int64_t rows = tsl_residue_rows(&work->config, run.args.m);
  for (int64_t first = 0; first < run.args.m; first += rows) {
    const portable_residue_run block = portable_block_of(&run, first, rows);
    TSL_TRY(portable_convert(&block, first == 0));
    TSL_TRY(portable_multiply(&block));
  }
  TSL_TRY(portable_launch_native(&run));
  tsl_operand_reuse_leave(tsl_residue_reuse(operands), run.made);
  return TESELA_OK;
}
