#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/portable/register_tile/register_tile.h"

#include <stddef.h>

#define FOLDER "strategy/gemm/portable/register_tile/"

/* Kernels that build() stores in work->state. */
typedef struct tile_kernels {
  tsl_kernel *multiply;
  tsl_kernel *sum;  /* adds the k splits; NULL without split-k */
  tsl_kernel *copy; /* copies operands to panels or units; NULL if the kernel multiplies elements directly */
  bool swapped;     /* C' = B' A' is computed */
} tile_kernels;

/* Rows of tiles visited together: as many as columns of the groups that run at the same time. */
enum { BAND = 8 };

static void define_types(const tsl_problem *swapped, bool is_swapped, const tsl_register_tile *tile,
                         tsl_text *text) {
  tsl_launch_define_types(swapped, text);
  if (tile->complex) /* the order of the products of an imaginary part */
    tsl_text_add(text, "#define SWAPPED %d\n", is_swapped);
  if (tile->planes == 2)
    tsl_text_add(text, "#define CONJUGATE_A %d\n#define CONJUGATE_B %d\n#define PAD_A %d\n#define PAD_B %d\n",
                 swapped->conjugate_a, swapped->conjugate_b, tile->pad_a, tile->pad_b);
  if (tile->products > 1)
    tsl_text_add(text, "#define TSL_QUADS 1\n");
}

/* Returns true if vectors of an operand will not be aligned, judging by its strides. */
static bool is_odd(const tsl_register_tile *tile, int64_t line_stride, int64_t depth_stride) {
  const bool along = tsl_launch_along(depth_stride, line_stride);
  return !tile->copied && ((along ? depth_stride : line_stride) != 1 ||
                           (along ? line_stride : depth_stride) % tile->lanes != 0);
}

/* Defines the cooperation of lockstep neighbours. On CPUs only compile times would grow. */
static void define_neighbours(const tsl_work *work, const tsl_problem *swapped, const tsl_register_tile *tile,
                              tsl_text *defines) {
  const bool pays = !work->device->is_cpu;
  tsl_text_add(defines, "#define LOCKSTEP %d\n#define A_ODD %d\n#define B_ODD %d\n", pays,
               pays && is_odd(tile, swapped->a.row_stride, swapped->a.col_stride),
               pays && is_odd(tile, swapped->b.col_stride, swapped->b.row_stride));
}

static tesela_status build_local(tsl_work *work, const tsl_problem *swapped, const tsl_register_tile *tile,
                                 tsl_text *defines, tile_kernels *out) {
  if (tile->copied)
    TSL_TRY(tsl_launch_kernel_with(work, FOLDER "register_tile_units.cl", "tsl_gemm_register_tile_units",
                                   TSL_REGISTER_TILE_COPY_ITEMS, tsl_text_get(defines), &out->copy));
  const tsl_split_k_sum sum = tsl_register_tile_sum(tile);
  TSL_TRY(tsl_split_k_sum_kernel(work, &sum, tsl_text_get(defines), &out->sum));
  if (tile->copied)
    tsl_text_add(defines, "#define COPIED 1\n");
  tsl_text_add(defines,
               "#define A_ALONG_K %d\n#define B_ALONG_K %d\n#define GROUPS %d\n#define FOLDS %d\n"
               "#define LOCAL_TOTALS %d\n#define PART_SLICES %d\n#define A_K_VECTORS %d\n"
               "#define B_K_VECTORS %d\n#define SHORT %d\n",
               !tile->copied && tsl_launch_along(swapped->a.col_stride, swapped->a.row_stride),
               !tile->copied && tsl_launch_along(swapped->b.row_stride, swapped->b.col_stride),
               tsl_register_tile_groups_wanted(tile), tile->folds, tile->local_totals, tile->part_slices,
               tile->a_k_vectors, tile->b_k_vectors, tsl_register_tile_is_short(swapped, tile));
  define_neighbours(work, swapped, tile, defines);
  TSL_TRY(tsl_text_status(defines));
  TSL_TRY(tsl_launch_kernel_with(work, FOLDER "register_tile.cl", "tsl_gemm_register_tile", tile->items,
                                 tsl_text_get(defines), &out->multiply));
  const tsl_register_tile_grids grids = tsl_register_tile_grids_of(
      tile, swapped->m, swapped->n, swapped->k, tsl_problem_batch(&work->problem), work->device);
  return tsl_launch_early_evenly(work, &grids.multiply, tsl_register_tile_groups(tile, work->device),
                                 tsl_register_tile_local_bytes(tile), tsl_register_tile_requests_memory(tile),
                                 &out->multiply);
}

static tesela_status build_packed(tsl_work *work, const tsl_problem *swapped, const tsl_register_tile *tile,
                                  tsl_text *defines, tile_kernels *out) {
  static const char path[] = FOLDER "register_tile_packed.cl";
  if (tile->complex)
    tsl_text_add(defines, "#define CONJUGATE_A %d\n#define CONJUGATE_B %d\n", swapped->conjugate_a ? -1 : 1,
                 swapped->conjugate_b ? -1 : 1);
  TSL_TRY(tsl_text_status(defines));
  const char *lines = tsl_text_get(defines);
  TSL_TRY(tsl_launch_kernel_with(work, path, "tsl_gemm_register_tile_packed", tile->items, lines,
                                 &out->multiply));
  return tsl_launch_kernel_with(work, path, "tsl_gemm_register_tile_pack", 1, lines, &out->copy);
}

tesela_status tsl_register_tile_build(tsl_work *work) {
  const tsl_problem swapped = tsl_register_tile_swapped(&work->problem);
  const tsl_register_tile tile = tsl_register_tile_of(&work->problem, &work->config);
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof(tile_kernels), "register_tile's kernels", &block));
  tile_kernels *made = block;
  made->swapped = swapped.c.col_stride != work->problem.c.col_stride;
  tsl_text defines = {0};
  define_types(&swapped, made->swapped, &tile, &defines);
  const tesela_status status = tile.local ? build_local(work, &swapped, &tile, &defines, made)
                                          : build_packed(work, &swapped, &tile, &defines, made);
  tsl_text_free(&defines);
  if (status != TESELA_OK) {
    tsl_free(made);
    return status;
  }
  work->state = made;
  return TESELA_OK;
}

typedef struct register_tile_run_state {
  const tsl_work *work;
  const tile_kernels *kernels;
  tsl_register_tile tile;
  tsl_launch_operands operands;
  tsl_register_tile_grids grids;
  tsl_buffer *scratch;
  tsl_launch_wanted wanted;
  tsl_stream *stream;
} register_tile_run_state;

static register_tile_run_state make_run_state(const tsl_work *work, const tsl_operands *operands,
                                              tsl_stream *stream) {
  const tile_kernels *kernels = work->state;
  const tsl_register_tile tile = tsl_register_tile_of(&work->problem, &work->config);
  const tsl_launch_operands swapped = tsl_launch_operands_of(work, operands, kernels->swapped);
  return (register_tile_run_state){
      .work = work,
      .kernels = kernels,
      .tile = tile,
      .operands = swapped,
      .grids = tsl_register_tile_grids_of(&tile, swapped.sizes.m, swapped.sizes.n, swapped.sizes.k,
                                          tsl_problem_batch(&work->problem), work->device),
      .scratch = operands->scratch ? operands->scratch : swapped.c,
      .wanted = tsl_launch_wanted_of(work, operands),
      .stream = stream,
  };
}

static tesela_status register_tile_launch(const register_tile_run_state *run, tsl_kernel *kernel,
                                          const tsl_grid *grid, const tsl_argument *list, int count) {
  return run->work->device->ops->launch(run->stream, kernel, grid, list, count);
}

static tsl_register_tile_arguments get_arguments(const register_tile_run_state *run) {
  return (tsl_register_tile_arguments){
      .split_depth = run->tile.parts.depth,
      .band = BAND,
      .a_step = run->operands.a_step,
      .b_step = run->operands.b_step,
      .c_step = run->operands.c_step,
      .wanted = run->wanted.at,
      .wanted_above = run->wanted.above,
      .gemm = tsl_launch_scalars(run->work, &run->operands.sizes),
  };
}
static tsl_argument argument_of(const tsl_register_tile_arguments *args) {
  return (tsl_argument){.value = args,
                        .bytes = offsetof(tsl_register_tile_arguments, gemm) + args->gemm.bytes};
}

/* Layout of the workspace, in numbers of the sums' type. */
typedef struct register_tile_layout {
  int64_t units;            /* units along k; 0 without copies */
  int64_t pitch_a, pitch_b; /* distance between units of the copies; A's copy comes first */
  int64_t splits;           /* offset of the splits' sums, whose rows are pitch_b apart */
} register_tile_layout;

static register_tile_layout register_tile_layout_of(const register_tile_run_state *run) {
  const tsl_register_tile *tile = &run->tile;
  const tsl_gemm_sizes *sizes = &run->operands.sizes;
  register_tile_layout made = {.units = tile->copied ? tsl_ceil_div(sizes->k, tile->products) : 0,
                               .pitch_a = tsl_round_up(sizes->m * tile->numbers, tile->lanes),
                               .pitch_b = tsl_round_up(sizes->n * tile->numbers, tile->lanes)};
  made.splits = made.units * (made.pitch_a + made.pitch_b);
  return made;
}

/* Copies both operands to units. */
static tesela_status copy_units(const register_tile_run_state *run, const register_tile_layout *layout) {
  const tsl_gemm_sizes *s = &run->operands.sizes;
  const tsl_problem *problem = &run->work->problem;
  const int64_t sign[2] = {problem->conjugate_a ? -1 : 1, problem->conjugate_b ? -1 : 1};
  const bool swapped = run->kernels->swapped;
  const tsl_register_tile_operands copies = {
      .a = {s->m, s->k, s->a_offset, s->a_row_stride, s->a_col_stride, 0, layout->pitch_a, sign[swapped]},
      .b = {s->n, s->k, s->b_offset, s->b_col_stride, s->b_row_stride, layout->units * layout->pitch_a,
            layout->pitch_b, sign[!swapped]},
      .wanted = run->wanted.at,
      .wanted_above = run->wanted.above};
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->operands.a), TSL_ARG_BUFFER(run->operands.b),
                               TSL_ARG_BUFFER(run->scratch), TSL_ARG_VALUE(copies)};
  return register_tile_launch(run, run->kernels->copy, &run->grids.copy, list, 4);
}

static tesela_status register_tile_multiply(const register_tile_run_state *run) {
  const tsl_register_tile *tile = &run->tile;
  const register_tile_layout at = register_tile_layout_of(run);
  const bool is_split = tile->splits > 1;
  tsl_gemm_sizes sizes = run->operands.sizes;
  if (tile->copied && sizes.k > 0) {
    TSL_TRY(copy_units(run, &at));
    sizes.k = at.units;
    sizes.a_offset = 0;
    sizes.a_row_stride = sizes.b_col_stride = 1;
    sizes.a_col_stride = at.pitch_a;
    sizes.b_offset = at.units * at.pitch_a;
    sizes.b_row_stride = at.pitch_b;
  }
  if (is_split) {
    sizes.c_offset = at.splits / tile->numbers;
    sizes.c_row_stride = at.pitch_b / tile->numbers;
    sizes.c_col_stride = 1;
  }
  tsl_register_tile_arguments args = get_arguments(run);
  args.gemm = is_split ? tsl_launch_unscaled(run->work, &sizes) : tsl_launch_scalars(run->work, &sizes);
  if (tile->parts.count == 1)
    args.split_depth = tsl_round_up(tsl_ceil_div(sizes.k, tile->split), tile->tile_k);
  args.split_step = sizes.m * at.pitch_b / tile->numbers;
  if (is_split)
    args.c_step = tile->splits * args.split_step;
  const tsl_argument list[] = {TSL_ARG_BUFFER(tile->copied ? run->scratch : run->operands.a),
                               TSL_ARG_BUFFER(tile->copied ? run->scratch : run->operands.b),
                               TSL_ARG_BUFFER(is_split ? run->scratch : run->operands.c), argument_of(&args)};
  TSL_TRY(register_tile_launch(run, run->kernels->multiply, &run->grids.multiply, list, 4));
  const tsl_split_k_sum sum = tsl_register_tile_sum(tile);
  return tsl_split_k_sum_run(run->work, run->kernels->sum, &sum,
                             (tsl_split_k_sum_arguments){.first = at.splits,
                                                         .pitch = at.pitch_b,
                                                         .split_step = sizes.m * at.pitch_b,
                                                         .wanted = run->wanted.at,
                                                         .wanted_above = run->wanted.above},
                             &run->operands, run->scratch, run->stream);
}

static tesela_status multiply_packed(const register_tile_run_state *run) {
  const tsl_register_tile_arguments args = get_arguments(run);
  const tsl_argument a = TSL_ARG_BUFFER(run->operands.a), b = TSL_ARG_BUFFER(run->operands.b),
                     panels = TSL_ARG_BUFFER(run->scratch), c = TSL_ARG_BUFFER(run->operands.c);
  if (run->operands.sizes.k > 0)
    TSL_TRY(register_tile_launch(run, run->kernels->copy, &run->grids.copy,
                                 (const tsl_argument[]){a, b, panels, argument_of(&args)}, 4));
  return register_tile_launch(run, run->kernels->multiply, &run->grids.multiply,
                              (const tsl_argument[]){panels, c, argument_of(&args)}, 3);
}

tesela_status tsl_register_tile_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const register_tile_run_state run = make_run_state(work, operands, stream);
  return run.tile.local ? register_tile_multiply(&run) : multiply_packed(&run);
}
