/* split_precision on devices with kernels: layout of scratch memory, and the launches of a run.
 *   f16: guess -> round A, round B -> decide; bf16: measure -> cut A, B
 *   -> for each pair of parts: product, added to the sums -> join -> native */
#include "core/scratch.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/emulated/split_precision/split_precision_host.h"
#include "strategy/kernel_launch/launch.h"

#define TEXT "strategy/gemm/emulated/split_precision/split_precision.cl"

enum {
  ALIGNED = 256,
  SIDE = 256,           /* maximum unit to which child strategies round sizes */
  WORKSPACE = 16 << 20, /* bytes of a product's workspace besides packed operands */
  PITCH = 8,            /* unit of a row of memory in elements */
  UNIT_JOIN = 32        /* groups of a compute unit that compute C; each has several rows if possible */
};

static bool is_rounded(const tsl_config *config) {
  return tsl_split_form_of(config)->parts == 1;
}

/* Returns the bytes of the child's workspace, at the start of scratch memory. Some strategies pack words. */
uint64_t tsl_split_workspace(const tsl_problem *problem, const tsl_config *config) {
  const int64_t lines = tsl_round_up(problem->m, SIDE) + tsl_round_up(problem->n, SIDE),
                depth = tsl_round_up(tsl_split_depth(problem, config), SIDE);
  return (uint64_t)(lines * depth * (int64_t)sizeof(float) + WORKSPACE);
}

/* Returns true if the numbers of different lines are contiguous in the f16 numbers of an operand of C'. */
static bool is_mn_major(const split_arguments *args, int operand) {
  return args->parts == 1 && args->operands[operand].is_across;
}

/* Sets sizes and offsets; returns the total bytes. */
static int64_t split_lay_out(const tsl_problem *problem, const tsl_config *config, split_arguments *args) {
  const bool is_swapped = tsl_split_is_swapped(problem), rounds = is_rounded(config);
  const int64_t lines[2] = {is_swapped ? problem->n : problem->m, is_swapped ? problem->m : problem->n},
                k = problem->k, depth = tsl_split_depth(problem, config),
                along = rounds ? TSL_SPLIT_GUESS_ALONG : TSL_SPLIT_MEASURE_ALONG,
                across = rounds ? TSL_SPLIT_GUESS_ACROSS : TSL_SPLIT_MEASURE_ACROSS;
  int64_t bytes = (int64_t)tsl_split_workspace(problem, config);
  *args = (split_arguments){.m = (int)lines[0],
                            .n = (int)lines[1],
                            .k = (int)k,
                            .depth = (int)depth,
                            .parts = tsl_split_form_of(config)->parts};
  for (int o = 0; o < 2; o++) {
    const tsl_shape *shape = (o == 0) != is_swapped ? &problem->a : &problem->b;
    const bool is_a = shape == &problem->a;
    split_matrix *matrix = &args->operands[o];
    matrix->is_across = !tsl_launch_along(is_a ? shape->col_stride : shape->row_stride,
                                          is_a ? shape->row_stride : shape->col_stride);
    const bool turns = is_mn_major(args, o);
    args->pitch[o] = tsl_round_up(turns ? lines[o] : depth, PITCH);
    args->part_bytes[o] = tsl_round_up(args->pitch[o] * (turns ? k : lines[o]) * 2, ALIGNED);
    args->chunks[o] = turns ? (int)tsl_ceil_div(k, TSL_SPLIT_DEPTH) : 1;
    args->blocks[o] = (int)tsl_ceil_div(lines[o], matrix->is_across ? across : along);
    args->planes[o] = tsl_scratch_reserve(&bytes, args->parts * args->part_bytes[o], ALIGNED);
    args->states[o] = tsl_scratch_reserve(&bytes, lines[o] * (int64_t)sizeof(int), ALIGNED);
    if (!rounds)
      continue;
    args->scales[o] = tsl_scratch_reserve(&bytes, lines[o] * (int64_t)sizeof(int), ALIGNED);
    args->counts[o] = tsl_scratch_reserve(
        &bytes, args->chunks[o] * lines[o] * TSL_SPLIT_COUNTS * (int64_t)sizeof(int), ALIGNED);
  }
  args->sums_row = tsl_round_up(lines[1], TSL_SPLIT_FOUR);
  args->sums = tsl_scratch_reserve(&bytes, lines[0] * args->sums_row * (int64_t)sizeof(float), ALIGNED);
  return bytes;
}

uint64_t tsl_split_scratch(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  split_arguments args;
  (void)device;
  return (uint64_t)split_lay_out(problem, config, &args);
}

tsl_problem tsl_split_product(const tsl_problem *problem, const tsl_config *config,
                              const tsl_device *device) {
  split_arguments args;
  split_lay_out(problem, config, &args);
  const bool is_host = tsl_device_is_host(device);
  tsl_problem product = tsl_problem_gemm(args.m, args.n, args.depth, TESELA_F32);
  for (int o = 0; o < 2; o++) {
    const bool turns = is_mn_major(&args, o);
    tsl_shape *shape = o ? &product.b : &product.a;
    *shape = (tsl_shape){.type = tsl_split_form_of(config)->type,
                         .rows = o ? args.depth : args.m,
                         .cols = o ? args.n : args.depth,
                         .row_stride = turns == (o == 0) ? 1 : args.pitch[o],
                         .col_stride = turns == (o == 0) ? args.pitch[o] : 1};
  }
  product.c.row_stride = is_host ? args.n : args.sums_row;
  return product;
}

static tesela_status find_kernel(tsl_work *work, const char *name, int items, tsl_kernel **kernel) {
  return tsl_launch_kernel_with(work, TEXT, name, items,
                                is_rounded(&work->config) ? "#define TSL_SPLIT_F16\n" : "", kernel);
}

tesela_status tsl_split_find_kernels(tsl_work *work) {
  tsl_split_state *state = work->state;
  split_arguments args;
  split_lay_out(&work->problem, &work->config, &args);
  if (is_rounded(&work->config)) {
    TSL_TRY(find_kernel(work, "tsl_gemm_split_guess", TSL_SPLIT_ITEMS, &state->measure));
    for (int o = 0; o < 2; o++)
      TSL_TRY(find_kernel(
          work, args.operands[o].is_across ? "tsl_gemm_split_round_across" : "tsl_gemm_split_round_along",
          TSL_SPLIT_ITEMS, &state->round[o]));
    TSL_TRY(find_kernel(work, "tsl_gemm_split_decide", TSL_SPLIT_GROUP_ITEMS, &state->decide));
  } else {
    TSL_TRY(find_kernel(work, "tsl_gemm_split_measure", TSL_SPLIT_ITEMS, &state->measure));
    TSL_TRY(find_kernel(work, "tsl_gemm_split_cut", TSL_SPLIT_GROUP_ITEMS, &state->cut));
  }
  TSL_TRY(find_kernel(work, "tsl_gemm_split_native", TSL_SPLIT_ITEMS, &state->native));
  return find_kernel(work, "tsl_gemm_split_join", TSL_SPLIT_GROUP_ITEMS, &state->join);
}

typedef struct split_run {
  const tsl_work *work;
  const tsl_split_state *state;
  tsl_buffer *a, *b, *c, *scratch;
  tsl_stream *stream;
  split_arguments arguments;
} split_run;

/* Returns 1 if groups of four numbers are aligned to 16 bytes; only CUDA buffers have a known address. */
static int split_is_wide(tsl_buffer *buffer, int64_t step, int64_t pitch, int64_t offset) {
  return step == 1 && pitch % TSL_SPLIT_FOUR == 0 && offset % TSL_SPLIT_FOUR == 0 &&
         (buffer->device->capabilities & TSL_CAN_CUDA) != 0 &&
         (uintptr_t)buffer->device->ops->native_buffer(buffer) % 16 == 0;
}

static void split_set_matrix(split_matrix *matrix, tsl_buffer *buffer, int64_t offset, int64_t across,
                             int64_t along) {
  matrix->offset = offset, matrix->across = across, matrix->along = along;
  matrix->is_wide = matrix->is_across ? split_is_wide(buffer, across, along, offset)
                                      : split_is_wide(buffer, along, across, offset);
}

static split_run make_split_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_problem *problem = &work->problem;
  const tsl_split_state *state = work->state;
  const bool is_swapped = tsl_split_is_swapped(problem);
  const tsl_gemm_sizes plain = tsl_launch_sizes(work, operands);
  const tsl_gemm_sizes s = is_swapped ? tsl_launch_swapped(&plain) : plain;
  split_run run = {.work = work,
                   .state = state,
                   .a = is_swapped ? operands->b.buffer : operands->a.buffer,
                   .b = is_swapped ? operands->a.buffer : operands->b.buffer,
                   .c = operands->c.buffer,
                   .scratch = operands->scratch,
                   .stream = stream};
  split_arguments *args = &run.arguments;
  split_lay_out(problem, &work->config, args);
  args->c_offset = s.c_offset, args->c_row = s.c_row_stride, args->c_col = s.c_col_stride;
  args->alpha = (float)problem->alpha[0], args->beta = (float)problem->beta[0];
  args->is_empty = state->first == NULL;
  args->c_is_wide = split_is_wide(run.c, s.c_col_stride, s.c_row_stride, s.c_offset);
  if (args->is_empty) { /* factors and scratch memory are not read */
    run.a = run.b = run.c;
    run.scratch = run.scratch ? run.scratch : run.c;
    return run;
  }
  split_set_matrix(&args->operands[0], run.a, s.a_offset, s.a_row_stride, s.a_col_stride);
  split_set_matrix(&args->operands[1], run.b, s.b_offset, s.b_col_stride, s.b_row_stride);
  return run;
}

static tesela_status split_launch(const split_run *run, tsl_kernel *kernel, int64_t across, int64_t down,
                                  int items, const tsl_argument *list, int count) {
  const tsl_grid grid = {{(uint64_t)across, (uint64_t)down, 1}, {items, 1, 1}};
  return run->work->device->ops->launch(run->stream, kernel, &grid, list, count);
}

/* Enqueues rounding or cutting of an operand's lines. */
static tesela_status enqueue_parts(const split_run *run, int operand) {
  const split_arguments *args = &run->arguments;
  const bool is_across = args->operands[operand].is_across, rounds = args->parts == 1;
  const int64_t lines = operand ? args->n : args->m,
                items = tsl_round_up(lines, is_across ? TSL_SPLIT_CUT_ACROSS : 1) *
                        (args->depth / TSL_SPLIT_NUMBERS),
                groups = !rounds     ? tsl_ceil_div(items, TSL_SPLIT_GROUP_ITEMS)
                         : is_across ? tsl_ceil_div(lines, TSL_SPLIT_ACROSS) * args->chunks[operand]
                                     : lines;
  const tsl_argument list[] = {TSL_ARG_BUFFER(operand ? run->b : run->a), TSL_ARG_BUFFER(run->scratch),
                               TSL_ARG_VALUE(*args), TSL_ARG_VALUE(operand)};
  return split_launch(run, rounds ? run->state->round[operand] : run->state->cut, groups, 1,
                      rounds ? TSL_SPLIT_ITEMS : TSL_SPLIT_GROUP_ITEMS, list, 4);
}

static tesela_status enqueue_split(const split_run *run) {
  const split_arguments *args = &run->arguments;
  const tsl_argument all[] = {TSL_ARG_BUFFER(run->a), TSL_ARG_BUFFER(run->b), TSL_ARG_BUFFER(run->scratch),
                              TSL_ARG_VALUE(*args)};
  TSL_TRY(
      split_launch(run, run->state->measure, args->blocks[0] + args->blocks[1], 1, TSL_SPLIT_ITEMS, all, 4));
  TSL_TRY(enqueue_parts(run, 0));
  TSL_TRY(enqueue_parts(run, 1));
  return args->parts == 1 ? split_launch(run, run->state->decide,
                                         tsl_ceil_div((int64_t)args->m + args->n, TSL_SPLIT_GROUP_ITEMS), 1,
                                         TSL_SPLIT_GROUP_ITEMS, all + 2, 2)
                          : TESELA_OK;
}

tesela_status tsl_split_run_kernels(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const split_run run = make_split_run(work, operands, stream);
  const split_arguments *args = &run.arguments;
  if (!args->is_empty) {
    TSL_TRY(enqueue_split(&run));
    const tsl_operands parts = {.a = {.buffer = run.scratch, .offset = args->planes[0] / 2},
                                .b = {.buffer = run.scratch, .offset = args->planes[1] / 2},
                                .c = {.buffer = run.scratch, .offset = args->sums / (int64_t)sizeof(float)},
                                .scratch = run.scratch};
    TSL_TRY(tsl_split_multiply(work, &parts,
                               (const int64_t[2]){args->part_bytes[0] / 2, args->part_bytes[1] / 2}, stream));
  }
  const tsl_argument list[] = {TSL_ARG_BUFFER(run.a), TSL_ARG_BUFFER(run.b), TSL_ARG_BUFFER(run.c),
                               TSL_ARG_BUFFER(run.scratch), TSL_ARG_VALUE(*args)};
  const int64_t across = tsl_ceil_div(args->n, TSL_SPLIT_COLUMNS),
                down = tsl_max(1, (int64_t)UNIT_JOIN * work->device->compute_units / tsl_max(1, across));
  TSL_TRY(split_launch(&run, run.state->join, across,
                       (int64_t)tsl_launch_limited(work->device, 1, tsl_min(args->m, down)),
                       TSL_SPLIT_GROUP_ITEMS, list + 2, 3));
  if (args->is_empty)
    return TESELA_OK;
  return split_launch(&run, run.state->native, tsl_ceil_div(args->n, TSL_SPLIT_TILE),
                      (int64_t)tsl_launch_limited(work->device, 1, tsl_ceil_div(args->m, TSL_SPLIT_TILE)),
                      TSL_SPLIT_ITEMS, list, 5);
}
