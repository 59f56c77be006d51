/* slices on devices with kernels: layout of scratch memory, products of slices, launches of a run.
 *   measure -> cut A, B -> for each pair of slices: product, added to the sums -> join */
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/emulated/slices/slices_host.h"
#include "strategy/kernel_launch/launch.h"

#define TEXT "strategy/gemm/emulated/slices/slices.cl"

enum {
  ALIGNED = 256,
  SIDE = 256,          /* maximum unit to which child strategies round sizes */
  WORKSPACE = 16 << 20 /* bytes of a product's workspace besides packed operands */
};

static int64_t slices_reserve(int64_t *bytes, int64_t more) {
  const int64_t offset = *bytes;
  *bytes += tsl_round_up(more, ALIGNED);
  return offset;
}

/* Returns the bytes of the child's workspace, at the start of scratch memory. Some strategies pack words. */
static int64_t slices_workspace_of(const slices_arguments *args) {
  const int64_t lines = tsl_round_up(args->m, SIDE) + tsl_round_up(args->n, SIDE);
  return lines * tsl_round_up(args->depth, SIDE) * (int64_t)sizeof(float) + WORKSPACE;
}

/* Sets sizes and offsets for m rows of A and n columns of B; returns the total bytes. */
static int64_t slices_lay_out(const tsl_problem *problem, const tsl_config *config, int64_t m, int64_t n,
                              slices_arguments *args) {
  const int64_t lines[2] = {m, n};
  int64_t bytes = 0;
  args->m = (int)m, args->n = (int)n, args->k = (int)problem->k;
  args->depth = (int)tsl_slices_depth(problem);
  args->slices = tsl_slices_count(config);
  (void)slices_reserve(&bytes, slices_workspace_of(args));
  for (int o = 0; o < 2; o++) {
    args->plane[o] = tsl_round_up(lines[o] * args->depth * 2, ALIGNED);
    args->planes[o] = slices_reserve(&bytes, args->slices * args->plane[o]);
    args->scales[o] = slices_reserve(&bytes, lines[o] * (int64_t)sizeof(int));
  }
  args->sums_row = tsl_round_up(n, TSL_SLICES_ROW_UNIT);
  args->sums = slices_reserve(&bytes, m * args->sums_row * (int64_t)sizeof(float));
  return bytes;
}

uint64_t tsl_slices_scratch(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  slices_arguments args;
  (void)device;
  return (uint64_t)tsl_max(slices_lay_out(problem, config, problem->m, problem->n, &args),
                           slices_lay_out(problem, config, problem->n, problem->m, &args));
}

static slices_arguments slices_layout_of(const tsl_work *work, bool swapped) {
  const tsl_problem *problem = &work->problem;
  slices_arguments args = {.m = 0};
  slices_lay_out(problem, &work->config, swapped ? problem->n : problem->m, swapped ? problem->m : problem->n,
                 &args);
  return args;
}

uint64_t tsl_slices_workspace(const tsl_work *work) {
  const tsl_slices_products *products = work->state;
  const slices_arguments args = slices_layout_of(work, products->is_swapped);
  return (uint64_t)slices_workspace_of(&args);
}

tesela_status tsl_slices_find_kernels(tsl_work *work) {
  tsl_slices_state *state = work->state;
  TSL_TRY(
      tsl_launch_kernel_with(work, TEXT, "tsl_gemm_slices_measure", TSL_SLICES_ITEMS, "", &state->measure));
  TSL_TRY(tsl_launch_kernel_with(work, TEXT, "tsl_gemm_slices_cut", TSL_SLICES_GROUP_ITEMS, "", &state->cut));
  return tsl_launch_kernel_with(work, TEXT, "tsl_gemm_slices_join", TSL_SLICES_GROUP_ITEMS, "", &state->join);
}

typedef struct slices_run {
  const tsl_work *work;
  const tsl_slices_state *state;
  tsl_buffer *a, *b, *c, *scratch;
  tsl_stream *stream;
  slices_arguments given;
} slices_run;

static slices_matrix slices_matrix_of(int64_t offset, int64_t across, int64_t along) {
  return (slices_matrix){
      .offset = offset, .across = across, .along = along, .is_across = !tsl_launch_along(along, across)};
}

static slices_run slices_run_of(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_problem *problem = &work->problem;
  const tsl_slices_state *state = work->state;
  const tsl_gemm_sizes plain = tsl_launch_sizes(work, operands);
  const tsl_gemm_sizes s = state->products.is_swapped ? tsl_launch_swapped(&plain) : plain;
  slices_run run = {.work = work,
                    .state = state,
                    .a = state->products.is_swapped ? operands->b.buffer : operands->a.buffer,
                    .b = state->products.is_swapped ? operands->a.buffer : operands->b.buffer,
                    .c = operands->c.buffer,
                    .scratch = operands->scratch,
                    .stream = stream,
                    .given = slices_layout_of(work, state->products.is_swapped)};
  slices_arguments *args = &run.given;
  args->operands[0] = slices_matrix_of(s.a_offset, s.a_row_stride, s.a_col_stride);
  args->operands[1] = slices_matrix_of(s.b_offset, s.b_col_stride, s.b_row_stride);
  args->c_offset = s.c_offset, args->c_row = s.c_row_stride, args->c_col = s.c_col_stride;
  args->alpha = (float)problem->alpha[0], args->beta = (float)problem->beta[0];
  args->is_empty = state->products.first == NULL;
  for (int o = 0; o < 2; o++)
    args->blocks[o] =
        (int)tsl_ceil_div(o ? args->n : args->m,
                          args->operands[o].is_across ? TSL_SLICES_LINES_ACROSS : TSL_SLICES_LINES_ALONG);
  return run;
}

static tesela_status slices_launch(const slices_run *run, tsl_kernel *kernel, int64_t groups, int items,
                                   const tsl_argument *list, int count) {
  const tsl_grid grid = {{(uint64_t)groups, 1, 1}, {items, 1, 1}};
  return run->work->device->ops->launch(run->stream, kernel, &grid, list, count);
}

static int64_t slices_groups_for(int64_t items) {
  return tsl_ceil_div(items, TSL_SLICES_GROUP_ITEMS);
}

static tesela_status slices_run_cut(const slices_run *run) {
  const slices_arguments *args = &run->given;
  const tsl_argument all[] = {TSL_ARG_BUFFER(run->a), TSL_ARG_BUFFER(run->b), TSL_ARG_BUFFER(run->scratch),
                              TSL_ARG_VALUE(*args)};
  TSL_TRY(
      slices_launch(run, run->state->measure, args->blocks[0] + args->blocks[1], TSL_SLICES_ITEMS, all, 4));
  for (int o = 0; o < 2; o++) {
    const int64_t unit = args->operands[o].is_across ? TSL_SLICES_CONVERT_ACROSS : 1,
                  lines = tsl_round_up(o ? args->n : args->m, unit);
    const tsl_argument list[] = {TSL_ARG_BUFFER(o ? run->b : run->a), TSL_ARG_BUFFER(run->scratch),
                                 TSL_ARG_VALUE(*args), TSL_ARG_VALUE(o)};
    TSL_TRY(slices_launch(run, run->state->cut, slices_groups_for(lines * (args->depth / TSL_SLICES_NUMBERS)),
                          TSL_SLICES_GROUP_ITEMS, list, 4));
  }
  return TESELA_OK;
}

static tesela_status slices_run_multiply(const slices_run *run) {
  const slices_arguments *args = &run->given;
  const tsl_subplan_factory *children = run->work->subplans;
  const int64_t products = run->work->config.value[TSL_SLICES_PRODUCTS],
                begin = TSL_SLICES_PRODUCTS_MOST - products;
  for (int64_t i = begin; i < TSL_SLICES_PRODUCTS_MOST; i++) {
    const tsl_slices_pair *pair = &tsl_slices_pairs[i];
    const tsl_operands operands = {
        .a = {.buffer = run->scratch, .offset = (args->planes[0] + pair->a * args->plane[0]) / 2},
        .b = {.buffer = run->scratch, .offset = (args->planes[1] + pair->b * args->plane[1]) / 2},
        .c = {.buffer = run->scratch, .offset = args->sums / (int64_t)sizeof(float)}};
    TSL_TRY(children->enqueue(i == begin ? run->state->products.first : run->state->products.more, &operands,
                              run->stream, run->scratch));
  }
  return TESELA_OK;
}

tesela_status tsl_slices_run_kernels(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  slices_run run = slices_run_of(work, operands, stream);
  if (run.given.is_empty) {
    run.a = run.b = run.c;
    run.scratch = run.scratch ? run.scratch : run.c;
  } else {
    TSL_TRY(slices_run_cut(&run));
    TSL_TRY(slices_run_multiply(&run));
  }
  const tsl_argument list[] = {TSL_ARG_BUFFER(run.a), TSL_ARG_BUFFER(run.b), TSL_ARG_BUFFER(run.c),
                               TSL_ARG_BUFFER(run.scratch), TSL_ARG_VALUE(run.given)};
  return slices_launch(&run, run.state->join, slices_groups_for(run.given.m * (int64_t)run.given.n),
                       TSL_SLICES_GROUP_ITEMS, list, 5);
}
