/* Layout of scratch memory, and the launches of a run of halves.
 *   guess -> round A, round B -> decide; product -> join -> native */
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/emulated/halves/halves.h"
#include "strategy/kernel_launch/launch.h"

#define TSL_FUNCTION static inline
#include "strategy/gemm/emulated/halves/halves_shared.h"

#define TEXT "strategy/gemm/emulated/halves/halves.cl"

enum {
  ALIGNED = 256,
  SIDE = 256,           /* maximum unit to which child strategies round sizes */
  WORKSPACE = 16 << 20, /* bytes of the product's workspace besides packed operands */
  PITCH = 8,            /* unit of a row of memory in elements */
  UNIT_JOIN = 32        /* groups of a compute unit that compute C; each has several rows if possible */
};

bool tsl_halves_is_swapped(const tsl_problem *problem) {
  return problem->c.col_stride != 1 && problem->c.row_stride == 1;
}

/* Returns the strides of the lines of an operand of C': A's rows or B's columns. */
static void halves_strides_of(const tsl_problem *problem, int operand, int64_t *across, int64_t *along) {
  const bool is_a = (operand == 0) != tsl_halves_is_swapped(problem);
  const tsl_shape *shape = is_a ? &problem->a : &problem->b;
  *across = is_a ? shape->row_stride : shape->col_stride;
  *along = is_a ? shape->col_stride : shape->row_stride;
}

static int64_t halves_reserve(int64_t *bytes, int64_t more) {
  const int64_t offset = *bytes;
  *bytes += tsl_round_up(more, ALIGNED);
  return offset;
}

/* Returns the bytes of the child's workspace, at the start of scratch memory. Some strategies pack words. */
static int64_t halves_workspace_of(int64_t m, int64_t n, int64_t k) {
  return (tsl_round_up(m, SIDE) + tsl_round_up(n, SIDE)) * tsl_round_up(k, SIDE) * (int64_t)sizeof(float) +
         WORKSPACE;
}

/* Sets sizes and offsets; returns the total bytes. */
static int64_t halves_lay_out(const tsl_problem *problem, halves_arguments *args) {
  const bool is_swapped = tsl_halves_is_swapped(problem);
  const int64_t lines[2] = {is_swapped ? problem->n : problem->m, is_swapped ? problem->m : problem->n},
                k = problem->k;
  int64_t bytes = 0;
  *args = (halves_arguments){.m = (int)lines[0], .n = (int)lines[1], .k = (int)k};
  (void)halves_reserve(&bytes, halves_workspace_of(lines[0], lines[1], k));
  for (int o = 0; o < 2; o++) {
    int64_t across, along;
    halves_strides_of(problem, o, &across, &along);
    halves_matrix *matrix = &args->operands[o];
    matrix->is_across = !tsl_launch_along(along, across);
    args->pitch[o] = tsl_round_up(matrix->is_across ? lines[o] : k, PITCH);
    args->chunks[o] = matrix->is_across ? (int)tsl_ceil_div(k, TSL_HALVES_DEPTH) : 1;
    args->blocks[o] =
        (int)tsl_ceil_div(lines[o], matrix->is_across ? TSL_HALVES_GUESS_ACROSS : TSL_HALVES_GUESS_ALONG);
    args->planes[o] = halves_reserve(&bytes, args->pitch[o] * (matrix->is_across ? k : lines[o]) * 2);
    args->scales[o] = halves_reserve(&bytes, lines[o] * (int64_t)sizeof(int));
    args->states[o] = halves_reserve(&bytes, lines[o] * (int64_t)sizeof(int));
    args->counts[o] =
        halves_reserve(&bytes, args->chunks[o] * lines[o] * TSL_HALVES_COUNTS * (int64_t)sizeof(int));
  }
  args->sums_row = tsl_round_up(lines[1], TSL_HALVES_FOUR);
  args->sums = halves_reserve(&bytes, lines[0] * args->sums_row * (int64_t)sizeof(float));
  return bytes;
}

uint64_t tsl_halves_scratch(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  halves_arguments args;
  (void)config;
  (void)device;
  return (uint64_t)halves_lay_out(problem, &args);
}

uint64_t tsl_halves_workspace(const tsl_problem *problem) {
  return (uint64_t)halves_workspace_of(problem->m, problem->n, problem->k);
}

tsl_problem tsl_halves_product(const tsl_problem *problem) {
  halves_arguments args;
  halves_lay_out(problem, &args);
  const int64_t pitch_a = args.pitch[0], pitch_b = args.pitch[1];
  tsl_problem product = tsl_problem_gemm(args.m, args.n, args.k, TESELA_F32);
  product.a = (tsl_shape){.type = TESELA_F16,
                          .rows = args.m,
                          .cols = args.k,
                          .row_stride = args.operands[0].is_across ? 1 : pitch_a,
                          .col_stride = args.operands[0].is_across ? pitch_a : 1};
  product.b = (tsl_shape){.type = TESELA_F16,
                          .rows = args.k,
                          .cols = args.n,
                          .row_stride = args.operands[1].is_across ? pitch_b : 1,
                          .col_stride = args.operands[1].is_across ? 1 : pitch_b};
  product.c.row_stride = args.sums_row;
  product.ask.accuracy = TSL_ACCURACY_NUMBER;
  product.ask.number = tsl_halves_product_factor(problem) * 0x1p-24;
  return product;
}

tesela_status tsl_halves_find_kernels(tsl_work *work) {
  tsl_halves_state *state = work->state;
  halves_arguments args;
  halves_lay_out(&work->problem, &args);
  TSL_TRY(tsl_launch_kernel_with(work, TEXT, "tsl_gemm_halves_guess", TSL_HALVES_ITEMS, "", &state->guess));
  for (int o = 0; o < 2; o++)
    TSL_TRY(tsl_launch_kernel_with(work, TEXT,
                                   args.operands[o].is_across ? "tsl_gemm_halves_round_across"
                                                              : "tsl_gemm_halves_round_along",
                                   TSL_HALVES_ITEMS, "", &state->round[o]));
  TSL_TRY(tsl_launch_kernel_with(work, TEXT, "tsl_gemm_halves_decide", TSL_HALVES_GROUP_ITEMS, "",
                                 &state->decide));
  TSL_TRY(tsl_launch_kernel_with(work, TEXT, "tsl_gemm_halves_native", TSL_HALVES_ITEMS, "", &state->native));
  return tsl_launch_kernel_with(work, TEXT, "tsl_gemm_halves_join", TSL_HALVES_GROUP_ITEMS, "", &state->join);
}

typedef struct halves_run {
  const tsl_work *work;
  const tsl_halves_state *state;
  tsl_buffer *a, *b, *c, *scratch;
  tsl_stream *stream;
  halves_arguments arguments;
} halves_run;

/* Returns 1 if groups of four numbers are aligned to 16 bytes; only CUDA buffers have a known address. */
static int halves_is_wide(tsl_buffer *buffer, int64_t step, int64_t pitch, int64_t offset) {
  return step == 1 && pitch % TSL_HALVES_FOUR == 0 && offset % TSL_HALVES_FOUR == 0 &&
         (buffer->device->capabilities & TSL_CAN_CUDA) != 0 &&
         (uintptr_t)buffer->device->ops->native_buffer(buffer) % 16 == 0;
}

static void halves_set_matrix(halves_matrix *matrix, tsl_buffer *buffer, int64_t offset, int64_t across,
                              int64_t along) {
  matrix->offset = offset, matrix->across = across, matrix->along = along;
  matrix->is_wide = matrix->is_across ? halves_is_wide(buffer, across, along, offset)
                                      : halves_is_wide(buffer, along, across, offset);
}

static halves_run make_halves_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_problem *problem = &work->problem;
  const tsl_halves_state *state = work->state;
  const bool is_swapped = tsl_halves_is_swapped(problem);
  const tsl_gemm_sizes plain = tsl_launch_sizes(work, operands);
  const tsl_gemm_sizes s = is_swapped ? tsl_launch_swapped(&plain) : plain;
  halves_run run = {.work = work,
                    .state = state,
                    .a = is_swapped ? operands->b.buffer : operands->a.buffer,
                    .b = is_swapped ? operands->a.buffer : operands->b.buffer,
                    .c = operands->c.buffer,
                    .scratch = operands->scratch,
                    .stream = stream};
  halves_arguments *args = &run.arguments;
  halves_lay_out(problem, args);
  args->c_offset = s.c_offset, args->c_row = s.c_row_stride, args->c_col = s.c_col_stride;
  args->alpha = (float)problem->alpha[0], args->beta = (float)problem->beta[0];
  args->is_empty = state->product == NULL;
  args->c_is_wide = halves_is_wide(run.c, s.c_col_stride, s.c_row_stride, s.c_offset);
  if (args->is_empty) { /* factors and scratch memory are not read */
    run.a = run.b = run.c;
    run.scratch = run.scratch ? run.scratch : run.c;
    return run;
  }
  halves_set_matrix(&args->operands[0], run.a, s.a_offset, s.a_row_stride, s.a_col_stride);
  halves_set_matrix(&args->operands[1], run.b, s.b_offset, s.b_col_stride, s.b_row_stride);
  return run;
}

static tesela_status halves_launch(const halves_run *run, tsl_kernel *kernel, int64_t across, int64_t down,
                                   int items, const tsl_argument *list, int count) {
  const tsl_grid grid = {{(uint64_t)across, (uint64_t)down, 1}, {items, 1, 1}};
  return run->work->device->ops->launch(run->stream, kernel, &grid, list, count);
}

static tesela_status enqueue_rounding(const halves_run *run) {
  const halves_arguments *args = &run->arguments;
  const tsl_argument all[] = {TSL_ARG_BUFFER(run->a), TSL_ARG_BUFFER(run->b), TSL_ARG_BUFFER(run->scratch),
                              TSL_ARG_VALUE(*args)};
  TSL_TRY(
      halves_launch(run, run->state->guess, args->blocks[0] + args->blocks[1], 1, TSL_HALVES_ITEMS, all, 4));
  for (int o = 0; o < 2; o++) {
    const int64_t lines = o ? args->n : args->m,
                  groups = args->operands[o].is_across
                               ? tsl_ceil_div(lines, TSL_HALVES_ACROSS) * args->chunks[o]
                               : lines;
    const tsl_argument list[] = {TSL_ARG_BUFFER(o ? run->b : run->a), TSL_ARG_BUFFER(run->scratch),
                                 TSL_ARG_VALUE(*args), TSL_ARG_VALUE(o)};
    TSL_TRY(halves_launch(run, run->state->round[o], groups, 1, TSL_HALVES_ITEMS, list, 4));
  }
  return halves_launch(run, run->state->decide,
                       tsl_ceil_div((int64_t)args->m + args->n, TSL_HALVES_GROUP_ITEMS), 1,
                       TSL_HALVES_GROUP_ITEMS, all + 2, 2);
}

static tesela_status enqueue_product(const halves_run *run) {
  const halves_arguments *args = &run->arguments;
  const tsl_operands operands = {
      .a = {.buffer = run->scratch, .offset = args->planes[0] / 2},
      .b = {.buffer = run->scratch, .offset = args->planes[1] / 2},
      .c = {.buffer = run->scratch, .offset = args->sums / (int64_t)sizeof(float)}};
  return run->work->subplans->enqueue(run->state->product, &operands, run->stream, run->scratch);
}

tesela_status tsl_halves_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const halves_run run = make_halves_run(work, operands, stream);
  const halves_arguments *args = &run.arguments;
  if (!args->is_empty) {
    TSL_TRY(enqueue_rounding(&run));
    TSL_TRY(enqueue_product(&run));
  }
  const tsl_argument list[] = {TSL_ARG_BUFFER(run.a), TSL_ARG_BUFFER(run.b), TSL_ARG_BUFFER(run.c),
                               TSL_ARG_BUFFER(run.scratch), TSL_ARG_VALUE(*args)};
  const int64_t across = tsl_ceil_div(args->n, TSL_HALVES_COLUMNS),
                down = tsl_max(1, (int64_t)UNIT_JOIN * work->device->compute_units / tsl_max(1, across));
  TSL_TRY(halves_launch(&run, run.state->join, across,
                        (int64_t)tsl_launch_limited(work->device, 1, tsl_min(args->m, down)),
                        TSL_HALVES_GROUP_ITEMS, list + 2, 3));
  if (args->is_empty)
    return TESELA_OK;
  return halves_launch(&run, run.state->native, tsl_ceil_div(args->n, TSL_HALVES_TILE),
                       (int64_t)tsl_launch_limited(work->device, 1, tsl_ceil_div(args->m, TSL_HALVES_TILE)),
                       TSL_HALVES_ITEMS, list, 5);
}
