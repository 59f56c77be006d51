/* Host side of image_microtile.cl. Measurements: docs/lab/image_microtile.md. */
#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/cost_counts.h"
#include "strategy/kernel_launch/launch.h"
#include "strategy/model_constants.h"

#include <math.h>

#define SOURCE "strategy/gemm/ladder/image_microtile/image_microtile.cl"

enum { HEIGHT, COLUMNS, ROWS, RELAXED };
static const tsl_param params[] = {
    [HEIGHT] = {"height", "rows of C that an item keeps, of four columns each", 8, {4, 8, 16}},
    [COLUMNS] = {"columns", "work-items along a row of C", 16, {8, 16, 32}},
    [ROWS] = {"rows", "work-items along a column of C", 4, {4, 8}},
    [RELAXED] = {TSL_LAUNCH_RELAXED, {0}},
    {NULL, NULL, 0, {0}},
};
static const tsl_types types[] = {{TESELA_F32, TESELA_F32, TESELA_F32}, {0, 0, 0}};

/* TILE: edge of a packing tile. Parts of B begin at multiples of the steps, which all alignments divide. */
enum { LANES = TSL_TEXEL_BYTES / (int)sizeof(float), TILE = 16, ROWS_STEP = 64, COLUMNS_STEP = 1024 };
/* Maximum bytes of a packed part, or of an image that is a copy. */
static const int64_t part_bytes_max = (int64_t)256 << 20;

typedef struct microtile_state {
  tsl_kernel *multiply, *pack;
} microtile_state;

typedef struct packing {
  int64_t rows, columns, offset, row_stride, col_stride, pitch;
} packing;

typedef struct microtile_part {
  int64_t row, column, rows, columns; /* of B, for one image */
} microtile_part;

static int64_t count_texels(int64_t columns) {
  return columns == 0 ? 1 : (columns - 1) / LANES + 1;
}

/* Returns the largest part of a k x n matrix: all rows if an image has so many, else equal fractions. */
static microtile_part largest_part(int64_t k, int64_t n, const tsl_device *device) {
  const int64_t rows_max = device->image_height_max / ROWS_STEP * ROWS_STEP;
  const int64_t shares = k <= rows_max ? 1 : (k - 1) / rows_max + 1;
  const int64_t rows = shares == 1 ? k : tsl_round_up((k - 1) / shares + 1, ROWS_STEP);
  const int64_t by_bytes = part_bytes_max / (int64_t)sizeof(float) / (rows > 0 ? rows : 1);
  const int64_t by_width = tsl_min(device->image_width_max, INT32_MAX / LANES) * LANES;
  const int64_t columns = tsl_min(by_bytes, by_width) / COLUMNS_STEP * COLUMNS_STEP;
  return (microtile_part){.rows = rows, .columns = tsl_min(n, columns > 0 ? columns : COLUMNS_STEP)};
}

static uint64_t bytes_of_largest_image(int64_t k, int64_t n, const tsl_device *device) {
  const microtile_part most = largest_part(k, n, device);
  return tsl_image_pitch(device, count_texels(most.columns)) * (uint64_t)(most.rows > 0 ? most.rows : 1);
}

static const char *grid_for(int64_t m, int64_t columns, const tsl_config *config, const tsl_device *device,
                            tsl_grid *grid) {
  const int64_t *value = config->value, down = m == 0 ? 0 : (m - 1) / value[HEIGHT] + 1;
  return tsl_launch_grid(device, count_texels(columns), down, (int)value[COLUMNS], (int)value[ROWS], grid);
}

typedef struct microtile_launch {
  const tsl_work *work;
  tsl_stream *stream;
  tsl_gemm_sizes sizes;
  tsl_buffer *a, *b, *c, *scratch;
} microtile_launch;

/* Returns true if an image can use B directly; sets its layout. */
static bool in_place(const microtile_launch *run, const microtile_part *part, tsl_image_layout *layout) {
  const tsl_gemm_sizes *sizes = &run->sizes;
  const int64_t size = sizeof(float), pitch = sizes->b_row_stride;
  if (sizes->b_col_stride != 1 || pitch < 1)
    return false;
  *layout =
      (tsl_image_layout){.buffer = run->b,
                         .offset = (size_t)((sizes->b_offset + part->row * pitch + part->column) * size),
                         .pitch = (size_t)(pitch * size),
                         .width = count_texels(part->columns),
                         .height = part->rows};
  return tsl_image_fits(layout);
}

static tesela_status image_microtile_pack(const microtile_launch *run, const microtile_part *part,
                                          tsl_image_layout *layout) {
  const tsl_gemm_sizes *sizes = &run->sizes;
  tsl_device *device = run->work->device;
  const microtile_state *state = run->work->state;
  tsl_grid grid;
  *layout = (tsl_image_layout){.buffer = run->scratch,
                               .pitch = tsl_image_pitch(device, count_texels(part->columns)),
                               .width = count_texels(part->columns),
                               .height = part->rows};
  const packing args = {.rows = part->rows,
                        .columns = part->columns,
                        .offset = sizes->b_offset + part->row * sizes->b_row_stride +
                                  part->column * sizes->b_col_stride,
                        .row_stride = sizes->b_row_stride,
                        .col_stride = sizes->b_col_stride,
                        .pitch = (int64_t)(layout->pitch / sizeof(float))};
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->b), TSL_ARG_BUFFER(run->scratch), TSL_ARG_VALUE(args)};
  tsl_launch_grid(device, count_texels(part->columns) * LANES, part->rows, TILE, TILE, &grid);
  return device->ops->launch(run->stream, state->pack, &grid, list, sizeof list / sizeof *list);
}

/* Computes C's columns of a part from its image. */
static tesela_status image_microtile_multiply(const microtile_launch *run, const microtile_part *part,
                                              const tsl_image_layout *layout) {
  const tsl_work *work = run->work;
  const tsl_device_ops *ops = work->device->ops;
  const microtile_state *state = work->state;
  tsl_image *image;
  tsl_grid grid;
  tsl_gemm_sizes sizes = run->sizes;
  sizes.n = part->columns;
  sizes.k = part->rows;
  sizes.a_offset += part->row * sizes.a_col_stride;
  sizes.c_offset += part->column * sizes.c_col_stride;
  tsl_gemm_argument args = tsl_launch_scalars(work, &sizes);
  if (part->row > 0)
    args.scalars.f32[1] = 1; /* C has the sums of the parts before */
  grid_for(sizes.m, part->columns, &work->config, work->device, &grid);
  TSL_TRY(ops->image_create(run->stream, layout, &image));
  const tsl_argument list[] = {TSL_ARG_BUFFER(run->a ? run->a : run->c),
                               TSL_ARG_IMAGE(image),
                               TSL_ARG_BUFFER(run->c),
                               {.value = &args, .bytes = args.bytes}};
  const tesela_status status =
      ops->launch(run->stream, state->multiply, &grid, list, sizeof list / sizeof *list);
  ops->image_destroy(image);
  return status;
}

/* Computes a part. For k = 0 A and B are not read, but the kernel needs an image. */
static tesela_status run_part(const microtile_launch *run, const microtile_part *part) {
  tsl_image_layout layout = {
      .buffer = run->scratch, .pitch = tsl_image_pitch(run->work->device, 1), .width = 1, .height = 1};
  if (part->rows > 0 && !in_place(run, part, &layout))
    TSL_TRY(image_microtile_pack(run, part, &layout));
  return image_microtile_multiply(run, part, &layout);
}

static bool by_columns(const microtile_launch *run) {
  const tsl_gemm_sizes *sizes = &run->sizes;
  return sizes->a_row_stride == 1 && sizes->a_col_stride != 1 && sizes->b_row_stride == 1 &&
         sizes->b_col_stride != 1 &&
         bytes_of_largest_image(sizes->k, sizes->m, run->work->device) <= run->scratch->bytes;
}

static tesela_status image_microtile_run(const tsl_work *work, const tsl_operands *operands,
                                         tsl_stream *stream) {
  microtile_launch launch = {.work = work,
                             .stream = stream,
                             .sizes = tsl_launch_sizes(work, operands),
                             .a = operands->a.buffer,
                             .b = operands->b.buffer,
                             .c = operands->c.buffer,
                             .scratch = operands->scratch};
  if (by_columns(&launch)) { /* if A and B are column-major, C^T = B^T A^T needs no packing */
    launch.sizes = tsl_launch_swapped(&launch.sizes);
    launch.a = operands->b.buffer;
    launch.b = operands->a.buffer;
  }
  const int64_t n = launch.sizes.n, k = launch.sizes.k;
  const microtile_part most = largest_part(k, n, work->device);
  for (int64_t column = 0; column < n; column += most.columns) {
    int64_t row = 0;
    do {
      const microtile_part part = {row, column, tsl_min(most.rows, k - row),
                                   tsl_min(most.columns, n - column)};
      TSL_TRY(run_part(&launch, &part));
      row += part.rows;
    } while (row < k);
  }
  return TESELA_OK;
}

static const char *image_microtile_refuse(const tsl_problem *problem, const tsl_config *config,
                                          const tsl_device *device) {
  tsl_grid grid;
  if (device->image_height_max < ROWS_STEP || device->image_width_max * LANES < COLUMNS_STEP)
    return tsl_refusal("needs images of %d x %d texels, %s has %lld x %lld", COLUMNS_STEP / LANES, ROWS_STEP,
                       device->name, (long long)device->image_width_max, (long long)device->image_height_max);
  const char *why = tsl_launch_grid(device, COLUMNS_STEP, ROWS_STEP, TILE, TILE, &grid);
  const microtile_part most = largest_part(problem->k, problem->n, device);
  return why ? why : grid_for(problem->m, most.columns, config, device, &grid);
}

static uint64_t image_microtile_scratch(const tsl_problem *problem, const tsl_config *config,
                                        const tsl_device *device) {
  (void)config;
  return bytes_of_largest_image(problem->k, problem->n, device);
}

/* Returns the copies of B before it is multiplied: packing, and images that are copies. */
static int copies_of(const tsl_shape *b, const tsl_device *device) {
  const int64_t step = (int64_t)(device->image_pitch_alignment / sizeof(float));
  const bool fits = step == 0 ? b->row_stride == b->cols && b->cols % LANES == 0 : b->row_stride % step == 0;
  return (b->col_stride == 1 && fits ? 0 : 1) + (step == 0 ? 1 : 0);
}

/* Returns the fraction of the peak (docs/lab/image_microtile.md). */
static double efficiency_of(const tsl_problem *problem, const int64_t *value, const tsl_device *device) {
  const double height = (double)value[HEIGHT], items = (double)(value[COLUMNS] * value[ROWS]);
  if (device->is_cpu)
    return 0.075 * height / (height + 8) / (1 + items / 1024);
  const double across = ceil((double)problem->n / (double)(LANES * value[COLUMNS])),
               down = ceil((double)problem->m / (double)(value[HEIGHT] * value[ROWS])),
               warps = fmax(1, across * down * ceil(items / device->warp)),
               fill = fmin(1, warps / (8 * fmax(1, device->compute_units)));
  const double part = tsl_model_constants_of(device)->microtile.peak_part;
  return part * fmin(height / 8, 1) * fill / (1 + fabs(items - 64) / 512 + fmax(0, height - 8) / 100);
}

/* Returns the seconds of address translation: successive rows of a group's texels lie in other pages. */
static double translation_seconds(const tsl_problem *problem, const int64_t *value,
                                  const tsl_device *device) {
  const double across = ceil((double)problem->n / (double)(LANES * value[COLUMNS])),
               down = ceil((double)problem->m / (double)(value[HEIGHT] * value[ROWS])),
               bytes = sizeof(float) * (double)problem->k * (double)problem->n;
  return across * down * (double)problem->k * bytes * tsl_model_constants_of(device)->microtile.row_seconds;
}

/* Predicts the seconds. An item stores its four columns one by one, so a warp's store writes parts of lines:
 * the bytes of C count more than once. */
static double image_microtile_score(const tsl_problem *problem, const tsl_config *config,
                                    const tsl_device *device) {
  const int64_t *value = config->value;
  const int copies = copies_of(&problem->b, device);
  const double copied = 2.0 * sizeof(float) * (double)problem->k * (double)problem->n,
               stored = (double)sizeof(float) * (double)problem->m * (double)problem->n;
  const double seconds = tsl_launch_seconds(problem, device, efficiency_of(problem, value, device),
                                            LANES * value[COLUMNS], value[HEIGHT] * value[ROWS]) +
                         copies * (copied / device->bandwidth + device->launch_seconds);
  if (device->is_cpu)
    return seconds;
  const tsl_microtile_constants *rates = &tsl_model_constants_of(device)->microtile;
  return seconds - (1 + copies) * (1 - rates->launch_share) * device->launch_seconds +
         rates->store_traffic * stored / device->bandwidth + translation_seconds(problem, value, device);
}

/* An element of A serves four multiply-adds, a texel as many as a micro-tile has rows. */
static void image_microtile_account(const tsl_problem *problem, const tsl_config *config,
                                    const tsl_device *device, tsl_cost_counts *account) {
  const double height = (double)config->value[HEIGHT], m = (double)problem->m, n = (double)problem->n,
               k = (double)problem->k;
  const microtile_part most = largest_part(problem->k, problem->n, device);
  const double across = most.columns > 0 ? ceil(n / (double)most.columns) : 1,
               along = most.rows > 0 ? ceil(k / (double)most.rows) : 1;
  tsl_grid grid;
  if (!grid_for(problem->m, most.columns, config, device, &grid))
    tsl_cost_counts_grid(&grid, count_texels(most.columns), (problem->m - 1) / config->value[HEIGHT] + 1, 0,
                         device, account);
  account->computed = ceil(m / height) * height * ceil(n / LANES) * LANES * k;
  account->launches = (int)(across * along);
  tsl_cost_counts_operands(problem, account->computed / LANES, account->computed / height, account);
  tsl_cost_counts_result(problem, along, account);
  account->sums = height * LANES;
  account->loads = account->computed / LANES / LANES + account->computed / height / LANES;
  for (int i = copies_of(&problem->b, device); i > 0; i--)
    tsl_cost_counts_copies(k * n * sizeof(float), account);
}

static tesela_status image_microtile_build(tsl_work *work) {
  const int64_t *value = work->config.value;
  microtile_state kernels;
  void *block;
  TSL_TRY(tsl_launch_kernel(work, SOURCE, "tsl_gemm_image_microtile", (int)(value[COLUMNS] * value[ROWS]),
                            &kernels.multiply));
  TSL_TRY(tsl_launch_kernel(work, SOURCE, "tsl_gemm_image_microtile_pack", TILE * TILE, &kernels.pack));
  TSL_TRY(tsl_alloc(sizeof kernels, "the kernels of image_microtile", &block));
  *(microtile_state *)block = kernels;
  work->state = block;
  return TESELA_OK;
}

/* If k is cut, a part has at most half of k: the error is smaller than that of one sum in order. */
static tsl_accuracy image_microtile_accuracy(const tsl_problem *problem, const tsl_config *config) {
  return tsl_accuracy_relaxed(tsl_accuracy_in_order(problem, config), problem, config->value[RELAXED] != 0);
}

const tsl_strategy tsl_gemm_image_microtile = {
    .name = "image_microtile",
    .idea = "micro-tiles of C in registers, B through an image of four columns a texel, A as vectors of four",
    .lifts = "loads for each multiply-add, and barriers; B has a memory path of its own",
    .partner = "tile_local",
    .rung = 8,
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_IMAGES,
    .accuracy = image_microtile_accuracy,
    .params = params,
    .refuse = image_microtile_refuse,
    .score = image_microtile_score,
    .build = image_microtile_build,
    .run = image_microtile_run,
    .release = tsl_launch_release,
    .tuning = {.ranges = {[RELAXED] = {0, TSL_LAUNCH_RELAXED_MOST}}},
    .supports = {.types = types, .why = "texels of images are f32"},
    .resources = {.scratch = image_microtile_scratch, .count_costs = image_microtile_account},
};
