/* residue_int8 on devices with portable kernels: integer product, and the launches of a run.
 *   rules -> measure -> choose -> convert A, B -> for each plane: product, reduce -> join -> native
 * The integer product is a subplan: i8 by i8 to i32, with dense lines of A and B. Lines start at multiples of
 * 16 bytes; k is at most TSL_RESIDUE_PART. Only the device knows how many planes count, so products of the
 * maximum number of moduli are enqueued. Subplans that support tsl_run_predicate skip unused planes. */
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/emulated/residue_int8/residue_int8_device.h"

#include <stddef.h>
#include <string.h>

#define FOLDER "strategy/gemm/emulated/residue_int8/"

enum { NATIVE_DOWN = 4096 /* groups of a column of tiles, at most */ };

static tesela_status portable_make_product(tsl_work *work) {
  tsl_residue_state *state = work->state;
  const tsl_problem *whole = &work->problem;
  const bool is_swapped = tsl_residue_is_swapped(whole);
  residue_arguments args = {.stays = 0};
  tsl_residue_lay_out(whole, &work->config, false, is_swapped ? whole->n : whole->m,
                      is_swapped ? whole->m : whole->n, &args);
  const int64_t rows = tsl_residue_rows(&work->config, args.m);
  tsl_problem problem = tsl_problem_gemm(rows, args.n, args.depth, TESELA_I32);
  problem.a = (tsl_shape){
      .type = TESELA_I8, .rows = rows, .cols = args.depth, .row_stride = args.depth, .col_stride = 1};
  problem.b = (tsl_shape){
      .type = TESELA_I8, .rows = args.depth, .cols = args.n, .row_stride = 1, .col_stride = args.depth};
  problem.c.row_stride = args.sums_row;
  const tsl_subplan_request request = {.problem = &problem,
                                       .device = work->device,
                                       .in_buffers = true,
                                       .workspace_most =
                                           (uint64_t)tsl_residue_subplan_bytes(&work->config, &args)};
  return work->subplans->make(work->subplans, &request, &state->product);
}

tesela_status tsl_residue_int8_build_portable(tsl_work *work) {
  static const char lines[] = FOLDER "residue_int8_scaling.cl", rests[] = FOLDER "residue_int8_residues.cl",
                    result[] = FOLDER "residue_int8_result.cl";
  tsl_residue_state *state = work->state;
  const tsl_problem *problem = &work->problem;
  if (work->forbid_compile)
    return tsl_fail(TESELA_UNSUPPORTED, "residue_int8 on %s: the integer product would be another kernel",
                    work->device->name);
  const struct {
    const char *path, *name;
    int items;
    tsl_kernel **kernel;
  } kernels[] = {{lines, "tsl_gemm_residue_int8_rules", TSL_RESIDUE_SOME, &state->rules},
                 {lines, "tsl_gemm_residue_int8_measure", TSL_RESIDUE_ITEMS, &state->measure},
                 {lines, "tsl_gemm_residue_int8_choose", TSL_RESIDUE_ITEMS, &state->choose},
                 {rests, "tsl_gemm_residue_int8_convert", TSL_RESIDUE_GROUP_ITEMS, &state->convert},
                 {rests, "tsl_gemm_residue_int8_reduce", TSL_RESIDUE_GROUP_ITEMS, &state->reduce},
                 {result, "tsl_gemm_residue_int8_join", TSL_RESIDUE_GROUP_ITEMS, &state->join}};
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    TSL_TRY(tsl_launch_kernel_with(work, kernels[i].path, kernels[i].name, kernels[i].items,
                                   tsl_residue_defines(problem), kernels[i].kernel));
  TSL_TRY(tsl_launch_kernel_with(work, result, "tsl_gemm_residue_int8_native",
                                 TSL_RESIDUE_TILE * TSL_RESIDUE_TILE, tsl_residue_native_defines(problem),
                                 &state->native));
  return tsl_problem_reads(problem, TSL_OPERAND_A) ? portable_make_product(work) : TESELA_OK;
}

/* Returns the kernels' last argument: all but CUDA's arguments. */
static tsl_argument arguments_of(const tsl_residue_run *run) {
  return (tsl_argument){.value = &run->args.operands,
                        .bytes = sizeof run->args - offsetof(residue_arguments, operands)};
}

static tesela_status portable_launch(const tsl_residue_run *run, tsl_kernel *kernel, int64_t items,
                                     const tsl_argument *list, int count) {
  return tsl_residue_launch(run, kernel, tsl_ceil_div(items, TSL_RESIDUE_GROUP_ITEMS), 1,
                            TSL_RESIDUE_GROUP_ITEMS, list, count);
}

static tesela_status copy_rules_to_device(const tsl_residue_run *run) {
  const residue_rules *rules = &run->args.rules;
  for (size_t at = 0; at < sizeof *rules; at += TSL_RESIDUE_SOME * sizeof(unsigned)) {
    const size_t left = sizeof *rules - at, most = TSL_RESIDUE_SOME * sizeof(unsigned),
                 bytes = left < most ? left : most;
    residue_some some = {.at = run->args.rules_at + (int64_t)at, .count = (int)(bytes / sizeof(unsigned))};
    memcpy(some.word, (const unsigned char *)rules + at, bytes);
    const tsl_argument list[] = {TSL_ARG_BUFFER(run->scratch), TSL_ARG_VALUE(some)};
    TSL_TRY(tsl_residue_launch(run, run->state->rules, 1, 1, TSL_RESIDUE_SOME, list, 2));
  }
  return TESELA_OK;
}

static tesela_status portable_choose(const tsl_residue_run *run) {
  const residue_arguments *args = &run->args;
  const tsl_argument all[] = {TSL_ARG_BUFFER(run->a), TSL_ARG_BUFFER(run->b), TSL_ARG_BUFFER(run->scratch),
                              arguments_of(run)};
  TSL_TRY(tsl_residue_launch(run, run->state->measure, args->blocks[0] + args->blocks[1], 1,
                             TSL_RESIDUE_ITEMS, all, 4));
  return tsl_residue_launch(run, run->state->choose, 1, 1, TSL_RESIDUE_ITEMS, all + 2, 2);
}

/* Converts the block's rows of A and, for the first block, all of B. */
static tesela_status portable_convert(const tsl_residue_run *run, bool is_first) {
  const residue_arguments *args = &run->args;
  for (int o = 0; o < (is_first ? 2 : 1); o++) {
    const int64_t unit = args->operands[o].is_across ? TSL_RESIDUE_CONVERT_ACROSS : 1,
                  lines = tsl_round_up(o ? args->n : args->m, unit),
                  chunks = args->parts *
                           (tsl_residue_reals(&run->work->problem, args->depth) / TSL_RESIDUE_NUMBERS);
    const tsl_argument list[] = {TSL_ARG_BUFFER(o ? run->b : run->a), TSL_ARG_BUFFER(run->scratch),
                                 arguments_of(run), TSL_ARG_VALUE(o)};
    TSL_TRY(portable_launch(run, run->state->convert, lines * chunks, list, 4));
  }
  return TESELA_OK;
}

/* Enqueues the sums of a plane and their reduction, unless the subplan reduces them itself. */
static tesela_status multiply_plane(const tsl_residue_run *run, int plane) {
  const residue_arguments *args = &run->args;
  const int modulus = plane / args->parts / tsl_residue_kinds(&run->work->problem);
  const residue_modulus *by = &args->rules.moduli[modulus];
  tsl_modular_output modular = {.at = args->rests + plane * args->rest_plane,
                                .row = args->rest_pitch,
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
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->scratch), arguments_of(run), TSL_ARG_VALUE(plane)};
  TSL_TRY(run->work->subplans->enqueue(run->state->product, &operands, run->stream, run->scratch));
  return modular.is_written ? TESELA_OK
                            : portable_launch(run, run->state->reduce,
                                              args->m * tsl_ceil_div(args->n, TSL_RESIDUE_FOUR), list, 3);
}

static tesela_status portable_multiply(const tsl_residue_run *run) {
  const residue_arguments *args = &run->args;
  const int64_t planes = args->parts * tsl_residue_planes(&run->work->problem, &run->work->config);
  for (int plane = 0; plane < planes; plane++)
    TSL_TRY(multiply_plane(run, plane));
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->c), TSL_ARG_BUFFER(run->scratch), arguments_of(run)};
  return portable_launch(run, run->state->join, args->m * tsl_ceil_div(args->n, TSL_RESIDUE_FOUR), list, 3);
}

static tesela_status portable_launch_native(const tsl_residue_run *run) {
  const residue_arguments *args = &run->args;
  const int64_t down = tsl_min(NATIVE_DOWN, tsl_ceil_div(args->m, TSL_RESIDUE_TILE));
  const tsl_grid grid = {
      {(uint64_t)tsl_ceil_div(args->n, TSL_RESIDUE_TILE), tsl_launch_limited(run->work->device, 1, down), 1},
      {TSL_RESIDUE_TILE, TSL_RESIDUE_TILE, 1}};
  const tsl_argument list[] = {TSL_ARG_BUFFER(args->is_empty ? run->c : run->a),
                               TSL_ARG_BUFFER(args->is_empty ? run->c : run->b), TSL_ARG_BUFFER(run->c),
                               TSL_ARG_BUFFER(run->scratch), arguments_of(run)};
  return run->work->device->ops->launch(run->stream, run->state->native, &grid, list, 5);
}

tesela_status tsl_residue_int8_run_portable(const tsl_work *work, const tsl_operands *operands,
                                            tsl_stream *stream) {
  tsl_residue_run run = tsl_residue_run_of(work, operands, stream);
  residue_arguments *args = &run.args;
  if (args->is_empty)
    return portable_launch_native(&run);
  for (int o = 0; o < 2; o++)
    args->blocks[o] =
        args->is_kept && o == args->stays
            ? 0
            : (int)tsl_ceil_div(o ? args->n : args->m, args->operands[o].is_across ? TSL_RESIDUE_LINES_ACROSS
                                                                                   : TSL_RESIDUE_LINES_ALONG);
  TSL_TRY(copy_rules_to_device(&run));
  TSL_TRY(portable_choose(&run));
  const int64_t rows = tsl_residue_rows(&work->config, args->m);
  for (int64_t first = 0; first < args->m; first += rows) {
    /* A short last block still multiplies whole planes. */
    const tsl_residue_run block = tsl_residue_block_of(&run, first, rows);
    TSL_TRY(portable_convert(&block, first == 0));
    TSL_TRY(portable_multiply(&block));
  }
  TSL_TRY(portable_launch_native(&run));
  tsl_operand_reuse_leave(run.reuse, run.made);
  return TESELA_OK;
}
