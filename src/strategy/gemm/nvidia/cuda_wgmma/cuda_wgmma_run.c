#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma_run.h"
#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/nvidia/cuda_wgmma/cuda_wgmma_shared.h"

#include <stdio.h>
#include <string.h>

#define FOLDER "strategy/gemm/nvidia/cuda_wgmma/"

enum { FOLD_ITEMS = 256, UNIT_BLOCKS = 4 };

static const char *ptx_type_of(const tsl_cuda_wgmma *tile, tesela_type type) {
  return tile->element != tile->input_bytes ? "f16" : tsl_launch_ptx_word(type);
}

/* Writes the defines of the fused epilogue, all 0 where the kernel has none. */
enum { EPILOGUE_TEXT = 256 };
static void define_epilogue(const tsl_cuda_wgmma *tile, bool is_fused, char text[EPILOGUE_TEXT]) {
  const tsl_problem *problem = &tile->problem;
  snprintf(text, EPILOGUE_TEXT,
           "#define FINISH %d\n#define FINISH_FUNCTION %d\n#define FINISH_BIAS %d\n#define FINISH_A %d\n"
           "#define FINISH_B %d\n#define FINISH_WIDE %d\n#define FINISH_ALPHA %d\n#define FINISH_PLACES %d\n",
           is_fused, is_fused ? (int)problem->activation : 0, is_fused ? tile->bias : 0,
           is_fused ? tile->scale_a : 0, is_fused ? tile->scale_b : 0,
           is_fused && problem->bias.type == TESELA_F32, is_fused && problem->alpha[0] != 1,
           is_fused ? tsl_problem_precision_bits(problem) : 0);
}

enum { DEFINES = 768 /* bytes of write_defines()'s text */ };

/* Writes the kernel's defines to `text`; is_split: sums are stored for a reduction, without an epilogue.
 * TSL_CUDA_WGMMA_VARIANTS: no variant. */
static void write_defines(const tsl_cuda_wgmma *tile, bool is_split, tsl_cuda_wgmma_variant variant,
                          char text[DEFINES]) {
  const tsl_problem *problem = &tile->problem;
  char epilogue[EPILOGUE_TEXT];
  define_epilogue(tile, tile->fuses_epilogue && !is_split, epilogue);
  snprintf(text, DEFINES,
           "#define STAGES %d\n#define STAGE_PANELS %d\n#define BOXES %d\n#define ELEMENT %d\n"
           "#define A_TYPE %s\n#define B_TYPE %s\n"
           "#define C_FORM %d\n#define A_MN_MAJOR %d\n#define B_MN_MAJOR %d\n#define C_BY_COLUMNS %d\n"
           "#define SPLIT %d\n#define TOGETHER %d\n"
           "#define RESIDENT %d\n#define SPLIT_ACCUMULATORS %d\n#define WHOLE_SUMS %d\n#define STREAM %d\n"
           "#define JOINED %d\n#define ROW_SUMS %d\n#define CLUSTER_N %d\n%s",
           tile->stages / tile->stage_panels, tile->stage_panels, tile->boxes, tile->element,
           ptx_type_of(tile, problem->a.type), ptx_type_of(tile, problem->b.type),
           tsl_launch_form(problem->c.type), tile->a_mn_major, tile->b_mn_major,
           tile->by_columns && !is_split, is_split, tile->together, tile->resident, tile->split_accumulators,
           tsl_type(problem->a.type)->is_integer, tile->is_stream, variant == TSL_CUDA_WGMMA_VARIANT_JOINED,
           variant == TSL_CUDA_WGMMA_VARIANT_ROW_SUMS, tile->cluster_n, epilogue);
}

tesela_status tsl_cuda_wgmma_variant_kernel(const tsl_work *work, const tsl_cuda_wgmma *tile,
                                            tsl_cuda_wgmma_variant variant, tsl_kernel **kernel) {
  tsl_cuda_wgmma_state *state = work->state;
  *kernel = atomic_load(&state->variants[variant]);
  if (*kernel)
    return TESELA_OK;
  tsl_work own = *work;
  char defines[DEFINES];
  own.source_texts = NULL;
  write_defines(tile, false, variant, defines);
  TSL_TRY(tsl_launch_kernel_with(&own, FOLDER "cuda_wgmma.cu",
                                 variant == TSL_CUDA_WGMMA_VARIANT_JOINED ? "tsl_gemm_cuda_wgmma_joined"
                                                                          : "tsl_gemm_cuda_wgmma",
                                 tile->items, defines, kernel));
  TSL_TRY(work->device->ops->kernel_local_bytes(kernel, (size_t)tile->shared_bytes));
  work->device->ops->kernel_early(*kernel);
  atomic_store(&state->variants[variant], *kernel);
  return TESELA_OK;
}

/* Compiles the split-k reduction. */
static tesela_status build_fold(tsl_work *work, tsl_cuda_wgmma_state *state) {
  const tsl_cuda_wgmma *tile = &state->tile;
  char epilogue[EPILOGUE_TEXT], defines[DEFINES];
  define_epilogue(tile, tile->fuses_epilogue, epilogue);
  snprintf(defines, sizeof defines, "#define C_FORM %d\n#define SHARES %d\n#define WHOLE_SUMS %d\n%s",
           tsl_launch_form(tile->problem.c.type), tsl_launch_fold_items(state->schedule.parts),
           tsl_type(tile->problem.a.type)->is_integer, epilogue);
  TSL_TRY(tsl_launch_kernel_with(work, FOLDER "cuda_wgmma_split_k_reduce.cu", "tsl_gemm_cuda_wgmma_fold",
                                 FOLD_ITEMS, defines, &state->fold));
  work->device->ops->kernel_early(state->fold);
  return TESELA_OK;
}

static tesela_status build_kernels(tsl_work *work, tsl_cuda_wgmma_state *state) {
  const tsl_cuda_wgmma *tile = &state->tile;
  const tsl_device_ops *ops = work->device->ops;
  const bool is_split = state->schedule.parts > 1;
  char defines[DEFINES];
  write_defines(tile, is_split, TSL_CUDA_WGMMA_VARIANTS, defines);
  TSL_TRY(tsl_launch_kernel_with(work, tile->is_flow ? FOLDER "cuda_wgmma_flow.cu" : FOLDER "cuda_wgmma.cu",
                                 tile->is_flow ? "tsl_gemm_cuda_wgmma_flow" : "tsl_gemm_cuda_wgmma",
                                 tile->items, defines, &state->multiply));
  TSL_TRY(ops->kernel_local_bytes(&state->multiply, (size_t)tile->shared_bytes));
  ops->kernel_early(state->multiply);
  /* The reduction is compiled only for split-k and for k = 0: compiling takes 0.1 s. */
  if (is_split || !tsl_problem_reads(&work->problem, TSL_OPERAND_A))
    TSL_TRY(build_fold(work, state));
  if (tile->input_bytes > 1)
    TSL_TRY(tsl_pack_rows_kernel(work, tile->element, &state->pack));
  if (tile->input_bytes == 1 ||
      (tsl_problem_batch(&tile->problem) == 1 && tsl_cuda_wgmma_packed_bytes(tile) > 0))
    TSL_TRY(tsl_cuda_wgmma_lines_kernel(work, tile, &state->lines));
  return TESELA_OK;
}

/* Returns true if lines of the longer factor are K-major and whole cache lines apart. Blocks that read them
 * at equal columns share pages of DRAM. */
static bool has_whole_lines(const tsl_cuda_wgmma *tile) {
  enum { LINE = 128 };
  const tsl_problem *problem = &tile->problem;
  const bool is_a = problem->m >= problem->n;
  return !(is_a ? tile->a_mn_major : tile->b_mn_major) &&
         (is_a ? problem->a.row_stride : problem->b.col_stride) * tile->element % LINE == 0;
}

/* Returns the argument `turns`: for thin products, unless all rows must have one order of sums. */
static int choose_turns(const tsl_cuda_wgmma *tile, const tsl_cuda_wgmma_schedule *schedule) {
  const bool is_thin = tile->is_flow || schedule->tiles_m == 1 || schedule->tiles_n == 1;
  return !is_thin || tsl_problem_batch(&tile->problem) > 1 || tsl_problem_fixes_rows(&tile->problem) ||
                 has_whole_lines(tile)
             ? 0
         : tile->problem.m >= tile->problem.n ? 1
                                              : 2;
}

/* Returns the arguments that operands do not change. */
static cuda_wgmma_arguments get_arguments(const tsl_cuda_wgmma *tile,
                                          const tsl_cuda_wgmma_schedule *schedule) {
  const int64_t packed = tile->a_bytes + tile->b_bytes; /* partial sums follow the packed operands */
  cuda_wgmma_scalar one = {.real = 1};
  if (tsl_type(tile->problem.a.type)->is_integer)
    one.integer = 1;
  cuda_wgmma_arguments args = {.m = (int)tile->problem.m,
                               .n = (int)tile->problem.n,
                               .k = (int)tile->problem.k,
                               .tiles_m = (int)schedule->tiles_m,
                               .tiles_n = (int)schedule->tiles_n,
                               .raster_height = tile->raster_height,
                               .parts = (int)schedule->parts,
                               .ahead = (int)schedule->prefetched,
                               .turns = choose_turns(tile, schedule),
                               .alpha = one,
                               .whole = (int)schedule->whole,
                               .owned = (int)schedule->owned,
                               .helped = (int)schedule->helped,
                               .flags = packed,
                               .sums = packed + schedule->flags_bytes,
                               .one = one};
  if (schedule->parts > 1) {
    args.by_map = tile->tile_n >= 32 && !tile->is_flow;
    args.c_offset = packed / 4, args.c_part = schedule->sums_bytes / schedule->parts / 4;
    args.c_row = schedule->pitch, args.c_col = 1;
  }
  return args;
}

tesela_status tsl_cuda_wgmma_build(tsl_work *work) {
  const tsl_cuda_wgmma tile =
      tsl_cuda_wgmma_derive(&work->problem, &work->config, work->device,
                            work->fuses_epilogue ? TSL_CUDA_WGMMA_EPILOGUE : TSL_CUDA_WGMMA_PLAIN);
  tsl_cuda_wgmma_state state = {.tile = tile, .schedule = tsl_cuda_wgmma_get_schedule(&tile, work->device)};
  void *block;
  state.args = get_arguments(&tile, &state.schedule);
  TSL_TRY(build_kernels(work, &state));
  TSL_TRY(tsl_alloc(sizeof state, "cuda_wgmma's kernels", &block));
  *(tsl_cuda_wgmma_state *)block = state;
  atomic_init(&((tsl_cuda_wgmma_state *)block)->tickets, tsl_launch_first_ticket(work));
  work->state = block;
  return TESELA_OK;
}

void tsl_cuda_wgmma_release(tsl_work *work) {
  tsl_free(work->state);
  work->state = NULL;
}

/* Returns the operand with `lines` lines along k, whose elements are `along` apart, and its lines `across`.
 */
static tsl_cuda_wgmma_factor get_factor(const tsl_cuda_wgmma_launch *run, const tsl_operand *operand,
                                        bool mn_major, int64_t lines, int64_t offset, int64_t across,
                                        int64_t along) {
  const int element = run->tile->element;
  tsl_cuda_wgmma_factor factor = {.rows = tsl_rows_of(lines, run->sizes.k, mn_major, element),
                                  .place = {operand->buffer, offset + run->first * operand->batch_step,
                                            mn_major ? along : across, mn_major ? across : along,
                                            operand->batch_step},
                                  .mn_major = mn_major};
  factor.packs =
      element != run->tile->input_bytes || tsl_cuda_wgmma_packs(&factor.place, &factor.rows, element);
  return factor;
}

/* Sets the boxes of an operand with `size` lines, of which a tile has `lines`, for `sharing` blocks. */
static void set_boxes(tsl_cuda_wgmma_factor *factor, int lines, int depth, int64_t size, int sharing) {
  const int64_t rest = size % lines == 0 ? lines : size % lines;
  factor->sharing = sharing;
  factor->box_lines = (factor->mn_major ? depth : lines) / sharing;
  factor->tail_lines = factor->mn_major ? factor->box_lines : (int)tsl_ceil_div(rest, sharing);
}

void tsl_cuda_wgmma_find_factors(const tsl_cuda_wgmma_launch *run, tsl_cuda_wgmma_factor factors[2]) {
  const tsl_gemm_sizes *s = &run->sizes;
  const tsl_cuda_wgmma *tile = run->tile;
  const tsl_operands *own = run->operands;
  factors[0] = get_factor(run, tile->swapped ? &own->b : &own->a, tile->a_mn_major, s->m, s->a_offset,
                          s->a_row_stride, s->a_col_stride);
  factors[1] = get_factor(run, tile->swapped ? &own->a : &own->b, tile->b_mn_major, s->n, s->b_offset,
                          s->b_col_stride, s->b_row_stride);
  set_boxes(&factors[0], tile->tile_m, tile->depth, s->m, tile->cluster_n);
  set_boxes(&factors[1], tile->tile_n, tile->depth, s->n, tile->cluster_m);
  factors[1].copy_offset = tile->packed * tile->a_bytes;
}

static bool packs_any(const tsl_cuda_wgmma_launch *run) {
  tsl_cuda_wgmma_factor factors[2];
  tsl_cuda_wgmma_find_factors(run, factors);
  return factors[0].packs || factors[1].packs;
}

tesela_status tsl_cuda_wgmma_map_factor(const tsl_cuda_wgmma_launch *run, tsl_cuda_wgmma_factor *factor,
                                        tsl_tensor_map *map) {
  const tsl_cuda_wgmma *tile = run->tile;
  const int64_t pitch = factor->rows.rows > 1 ? factor->place.row_stride * tile->element : factor->rows.pitch,
                apart = run->count > 1 ? factor->place.apart : 0, last = apart < 0 ? run->count - 1 : 0;
  factor->first = (int)last;
  factor->layer = apart < 0 ? -1 : apart > 0;
  const tsl_tensor tensor = {
      .buffer = factor->place.buffer,
      .offset = (size_t)((factor->place.offset + last * apart) * tile->element),
      .element = tile->element,
      .size = {factor->rows.elements, factor->rows.rows, apart != 0 ? run->count : 1},
      .pitch = {pitch, apart != 0 ? (apart < 0 ? -apart : apart) * tile->element : 16},
      .box = {factor->mn_major ? TSL_CUDA_WGMMA_PANEL / tile->element : tile->depth, factor->box_lines}};
  return factor->place.buffer->device->ops->tensor_map(&tensor, map);
}

/* Maps of a launch: A, B, their tails, C. */
enum { TAILS = 2, RESULT = 4, MAPS };

/* Packs operands whose layout does not suit tensor maps, in one launch if possible, and encodes maps. */
static tesela_status prepare_factors(const tsl_cuda_wgmma_launch *run, cuda_wgmma_arguments *args,
                                     tsl_tensor_map maps[MAPS]) {
  const tsl_cuda_wgmma_state *state = run->work->state;
  tsl_buffer *scratch = run->operands->scratch;
  tsl_cuda_wgmma_factor factors[2];
  tsl_cuda_wgmma_find_factors(run, factors);
  if (state->lines && run->count == 1)
    TSL_TRY(tsl_cuda_wgmma_lines(run->work, state->lines, run->tile, scratch, run->stream, factors));
  for (int i = 0; i < 2; i++) {
    if (factors[i].packs)
      TSL_TRY(tsl_pack_rows(run->work, state->pack, &factors[i].rows, run->tile->element, run->count, scratch,
                            factors[i].copy_offset, run->stream, &factors[i].place));
    TSL_TRY(tsl_cuda_wgmma_map_factor(run, &factors[i], &maps[i]));
    tsl_cuda_wgmma_factor tail = factors[i];
    tail.box_lines = tail.tail_lines;
    maps[TAILS + i] = maps[i];
    if (tail.box_lines < factors[i].box_lines)
      TSL_TRY(tsl_cuda_wgmma_map_factor(run, &tail, &maps[TAILS + i]));
  }
  args->a_tail = factors[0].tail_lines * factors[0].sharing;
  args->b_tail = factors[1].tail_lines * factors[1].sharing;
  args->a_first = factors[0].first, args->a_layer = factors[0].layer;
  args->b_first = factors[1].first, args->b_layer = factors[1].layer;
  return TESELA_OK;
}

/* Returns alpha (index 0) or beta (1) in the kernels' 32 bits. */
static cuda_wgmma_scalar wgmma_scalar_of(const tsl_gemm_argument *scaled, int index) {
  cuda_wgmma_scalar scalar;
  memcpy(&scalar, &scaled->scalars.i32[index], sizeof scalar);
  return scalar;
}

static int64_t c_offset(const tsl_cuda_wgmma_launch *run) {
  return run->sizes.c_offset + run->first * run->operands->c.batch_step;
}

enum { EPILOGUE_ARGUMENTS = 4 }; /* arguments of the epilogue, at the end of a kernel's list */

static cuda_wgmma_vector wgmma_vector_of(const tsl_cuda_wgmma_launch *run, const tsl_operand *vector) {
  const bool is_swapped = run->tile->swapped;
  return (cuda_wgmma_vector){.offset = vector->offset + run->first * vector->batch_step,
                             .row = is_swapped ? vector->col_stride : vector->row_stride,
                             .col = is_swapped ? vector->row_stride : vector->col_stride,
                             .step = vector->batch_step};
}

static cuda_wgmma_finish get_epilogue(const tsl_cuda_wgmma_launch *run) {
  const tsl_operands *own = run->operands;
  return (cuda_wgmma_finish){wgmma_vector_of(run, &own->bias), wgmma_vector_of(run, &own->scale_a),
                             wgmma_vector_of(run, &own->scale_b), (float)run->work->problem.alpha[0]};
}

/* Appends the epilogue's arguments, which kernels without one do not read. Returns the new count. */
static int append_epilogue_arguments(const tsl_cuda_wgmma_launch *run, const cuda_wgmma_finish *steps,
                                     tsl_argument *list, int count) {
  const tsl_operands *own = run->operands;
  const tsl_operand *vectors[] = {&own->bias, &own->scale_a, &own->scale_b};
  for (int i = 0; i < 3; i++) /* a pointer argument needs a buffer, even if it is not read */
    list[count++] = (tsl_argument)TSL_ARG_BUFFER(vectors[i]->buffer ? vectors[i]->buffer : own->c.buffer);
  list[count++] = (tsl_argument){.value = steps, .bytes = sizeof *steps};
  return count;
}

bool tsl_cuda_wgmma_run_by_map(const tsl_cuda_wgmma_launch *run, bool reads_c) {
  tsl_gemm_sizes sizes = run->sizes;
  const int64_t step = run->operands->c.batch_step;
  sizes.c_offset = c_offset(run);
  return tsl_cuda_wgmma_by_map(run->tile, &sizes, reads_c) &&
         (run->count == 1 || (step > 0 && step * run->tile->c_element % 16 == 0));
}

tesela_status tsl_cuda_wgmma_map_result(const tsl_cuda_wgmma_launch *run, tsl_tensor_map *map) {
  const tsl_gemm_sizes turned = tsl_launch_swapped(&run->sizes),
                       *sizes = run->tile->by_columns ? &turned : &run->sizes;
  const int element = run->tile->c_element;
  tsl_buffer *c = run->operands->c.buffer;
  const int64_t pitch = sizes->m > 1 ? sizes->c_row_stride * element : (sizes->n * element + 15) / 16 * 16;
  const tsl_tensor tensor = {
      .buffer = c,
      .offset = (size_t)(c_offset(run) * element),
      .element = element,
      .size = {sizes->n, sizes->m, run->count},
      .pitch = {pitch, run->count > 1 ? run->operands->c.batch_step * element : 16},
      .box = {128 / element,
              run->tile->by_columns ? (int)tsl_min(TSL_CUDA_WGMMA_BOX_COLUMNS, run->tile->tile_n) : 64}};
  return c->device->ops->tensor_map(&tensor, map);
}

/* Encodes the tensor map of the partial sums. */
static tesela_status map_sums(const tsl_cuda_wgmma_launch *run, const cuda_wgmma_arguments *args,
                              tsl_tensor_map *map) {
  tsl_buffer *scratch = run->operands->scratch;
  const tsl_tensor tensor = {.buffer = scratch,
                             .offset = (size_t)args->c_offset * 4,
                             .element = 4,
                             .size = {args->n, args->m, args->parts},
                             .pitch = {4 * args->c_row, 4 * args->c_part},
                             .box = {32, 64}};
  return scratch->device->ops->tensor_map(&tensor, map);
}

/* Enqueues the split-k reduction; with parts = 0 (k = 0) it writes C from sums of 0. */
static tesela_status wgmma_fold(const tsl_cuda_wgmma_launch *run, cuda_wgmma_scalar alpha,
                                cuda_wgmma_scalar beta, int parts) {
  const tsl_cuda_wgmma_state *state = run->work->state;
  const tsl_device *device = run->work->device;
  const tsl_gemm_sizes *s = &run->sizes;
  const cuda_wgmma_fold_arguments args = {.m = s->m,
                                          .n = s->n,
                                          .pitch = run->schedule->pitch,
                                          .part = state->args.c_part,
                                          .c_offset = s->c_offset,
                                          .c_row = s->c_row_stride,
                                          .c_col = s->c_col_stride,
                                          .c_step = run->operands->c.batch_step,
                                          .parts = parts,
                                          .products = (int)run->count,
                                          .alpha = alpha,
                                          .beta = beta};
  const int64_t across = FOLD_ITEMS / tsl_launch_fold_items(run->schedule->parts),
                blocks = tsl_ceil_div(s->m * s->n, across),
                most = (int64_t)UNIT_BLOCKS * device->compute_units;
  const tsl_grid grid = {{(uint64_t)tsl_min(blocks, most), tsl_launch_limited(device, 1, run->count), 1},
                         {FOLD_ITEMS, 1, 1}};
  const long long from = parts > 0 ? state->args.c_offset : 0;
  const cuda_wgmma_finish steps = get_epilogue(run);
  tsl_argument list[4 + EPILOGUE_ARGUMENTS] = {
      TSL_ARG_BUFFER(run->operands->c.buffer),
      TSL_ARG_BUFFER(parts > 0 ? run->operands->scratch : run->operands->c.buffer), TSL_ARG_VALUE(from),
      TSL_ARG_VALUE(args)};
  return device->ops->launch(run->stream, state->fold, &grid, list,
                             append_epilogue_arguments(run, &steps, list, 4));
}

/* Returns the sums of C's rows that the launch shall leave; NULL: none, or the kernel cannot. */
static tsl_row_sums *get_row_sums(const tsl_cuda_wgmma_launch *run, const cuda_wgmma_arguments *args,
                                  bool is_split) {
  const tsl_cuda_wgmma *tile = run->tile;
  tsl_row_sums *row_sums = run->operands->hints ? run->operands->hints->row_sums : NULL;
  return row_sums && !is_split && !tile->is_flow && !tile->swapped && !tile->from_registers &&
                 !tsl_type(tile->problem.a.type)->is_integer && args->products == 1 &&
                 args->beta.integer == 0 && tile->tile_n >= TSL_ROW_SUMS_MIN &&
                 TSL_ROW_SUMS_MAX % tile->tile_n == 0
             ? row_sums
             : NULL;
}

/* Makes the launch leave sums of C's rows. Each has the roundings of a lane's elements, and two more. */
static tesela_status prepare_row_sums(const tsl_cuda_wgmma_launch *run, tsl_row_sums *row_sums,
                                      cuda_wgmma_arguments *args, tsl_kernel **kernel) {
  TSL_TRY(tsl_cuda_wgmma_variant_kernel(run->work, run->tile, TSL_CUDA_WGMMA_VARIANT_ROW_SUMS, kernel));
  args->row_sums = row_sums->at;
  row_sums->columns = run->tile->tile_n;
  row_sums->error = (run->tile->tile_n / 4 + 2) * 0x1p-24 * (1 + 0x1p-10);
  return TESELA_OK;
}

static tesela_status wgmma_launch(const tsl_cuda_wgmma_launch *run, const tsl_tensor_map maps[MAPS],
                                  cuda_wgmma_arguments *args, bool is_split) {
  const tsl_cuda_wgmma_state *state = run->work->state;
  const tsl_cuda_wgmma *tile = run->tile;
  const tsl_cuda_wgmma_schedule *schedule = run->schedule;
  tsl_buffer *c = run->operands->c.buffer, *scratch = run->operands->scratch;
  const cuda_wgmma_finish steps = get_epilogue(run);
  tsl_row_sums *row_sums = get_row_sums(run, args, is_split);
  tsl_kernel *kernel = state->multiply;
  if (row_sums)
    TSL_TRY(prepare_row_sums(run, row_sums, args, &kernel));
  tsl_argument list[MAPS + 4 + EPILOGUE_ARGUMENTS];
  int count = 0;
  for (; count < (tile->is_flow ? RESULT : MAPS); count++)
    list[count] = (tsl_argument)TSL_ARG_VALUE(maps[count]);
  list[count++] = (tsl_argument)TSL_ARG_BUFFER(is_split ? scratch : c);
  list[count++] = (tsl_argument){.value = args, .bytes = sizeof *args};
  count = append_epilogue_arguments(run, &steps, list, count);
  if (!tile->is_flow) { /* partial accumulators; sums of rows */
    list[count++] = (tsl_argument)TSL_ARG_BUFFER(tile->is_stream ? scratch : c);
    list[count++] = (tsl_argument)TSL_ARG_BUFFER(row_sums ? row_sums->buffer : c);
  }
  const int64_t blocks =
      tsl_cuda_wgmma_count_blocks(tile, schedule, run->count, tsl_launch_units(run->work->device));
  const tsl_grid grid = {{(uint64_t)blocks, 1, 1}, {tile->items, 1, 1}};
  return run->work->device->ops->launch(run->stream, kernel, &grid, list, count);
}

/* Enqueues products `first` to `first + count - 1` of the batch. */
static tesela_status wgmma_multiply(const tsl_cuda_wgmma_launch *run, cuda_wgmma_scalar alpha,
                                    cuda_wgmma_scalar beta) {
  const tsl_cuda_wgmma *tile = run->tile;
  const tsl_gemm_sizes *s = &run->sizes;
  const bool is_split = run->schedule->parts > 1;
  _Alignas(64) tsl_tensor_map maps[MAPS];
  cuda_wgmma_arguments args = ((const tsl_cuda_wgmma_state *)run->work->state)->args;
  memset(&maps[RESULT], 0, sizeof maps[RESULT]);
  TSL_TRY(prepare_factors(run, &args, maps));
  args.products = (int)run->count;
  if (is_split && args.by_map)
    TSL_TRY(map_sums(run, &args, &maps[RESULT]));
  if (!is_split) {
    args.c_offset = c_offset(run), args.c_part = run->operands->c.batch_step;
    args.c_row = s->c_row_stride, args.c_col = s->c_col_stride;
    args.alpha = tile->fuses_epilogue ? args.one : alpha, args.beta = beta;
    if (!tile->is_flow && tsl_cuda_wgmma_run_by_map(run, beta.integer != 0)) {
      TSL_TRY(tsl_cuda_wgmma_map_result(run, &maps[RESULT]));
      args.by_map = 1;
    }
  }
  if (tile->is_stream)
    args.ticket = tsl_launch_next_ticket(&((tsl_cuda_wgmma_state *)run->work->state)->tickets);
  TSL_TRY(wgmma_launch(run, maps, &args, is_split));
  return is_split ? wgmma_fold(run, alpha, beta, args.parts) : TESELA_OK;
}

/* Runs the product. A batch that needs packing takes a launch for each part that fits in the workspace. */
tesela_status tsl_cuda_wgmma_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_cuda_wgmma_state *state = work->state;
  const int64_t products = tsl_problem_batch(&work->problem);
  const tsl_gemm_sizes sizes = tsl_launch_sizes(work, operands);
  tsl_cuda_wgmma_launch run = {.work = work,
                               .operands = operands,
                               .tile = &state->tile,
                               .schedule = &state->schedule,
                               .sizes = state->tile.swapped ? tsl_launch_swapped(&sizes) : sizes,
                               .count = products,
                               .stream = stream};
  const tsl_gemm_argument scaled = tsl_launch_scalars(work, &run.sizes);
  const cuda_wgmma_scalar alpha = wgmma_scalar_of(&scaled, 0), beta = wgmma_scalar_of(&scaled, 1);
  if (sizes.k == 0)
    return wgmma_fold(&run, alpha, beta, 0);
  const int64_t most = products > 1 && packs_any(&run) ? state->tile.packed : products;
  for (; run.first < products; run.first += most) {
    run.count = tsl_min(most, products - run.first);
    TSL_TRY(wgmma_multiply(&run, alpha, beta));
  }
  return TESELA_OK;
}
