/* Idea: every element of C is the exact sum of its k products, rounded once to the nearest number of C's
 * type, ties to even. Nearly exact sums with error bounds come first. If all values within the bounds round
 * to one number, that is the element (Ziv 1991): all but one in some thousands. The rest use
 * superaccumulators as in the dot `exact`.
 *
 * Beyond `sequential`: no rounding but the last. The result does not depend on cancellation, exponents, the
 * order of additions, the number of threads or the instruction set.
 *
 *   f32:  a b is exact in f64   sum += a b                              |----[ sum ]----|  bounds of the sum
 *   f64:  next = sum + a b      low += a b - (next - sum)   sum = next  ...x.....x.|...x.....x..  numbers of
 *                                                                                          C's type
 *
 * Blocks of C are summed by panels of 256 terms (exact_near.h). The undecided elements of a block are
 * computed in tiles of packed rows of A and columns of B. Blocks of terms are added to a window of levels,
 * levels to digits (strategy/exact_sums/sum.h). On devices each work-item does both for its elements
 * (exact.cl).
 *
 * Limits: real types. If everything cancels, or wide exponents hide the sum's digits, all elements need
 * superaccumulators: ten times as long. Without fused multiply-adds all elements of f64 do.
 * Measurements: docs/lab/gemm_exact.md. */
#include "strategy/model_constants.h"

#include "core/memory.h"
#include "core/scratch.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/cost_counts.h"
#include "strategy/gemm/emulated/exact/gemm_exact_blocks.h"
#include "strategy/host_jobs/low_precision.h"
#include "strategy/kernel_launch/launch.h"
#include "strategy/strategy.h"

#include <math.h>
#include <stdio.h>

/* Bytes of a tile's packed A and of its packed B in the second-level cache; maximum rows and columns of a
 * tile. HEIGHT and WIDTH: maximum size of a block of nearly exact sums. */
enum {
  COPY_BYTES = 1 << 18,
  TILE_SIDE_MAX = 64,
  BLOCK = TSL_EXACT_BLOCK,
  HEIGHT = 96,
  WIDTH = TSL_NEAR_COLUMNS
};

typedef struct exact_launch {
  tsl_exact_run base;
  tsl_exact_terms terms;
  int64_t side;        /* rows and columns of a tile that is not at an edge */
  size_t number, line; /* bytes of a superaccumulator's term, and of a packed row or column */
  int64_t blocks_down;
  size_t worker_bytes; /* block's sums, packed lines, flags of undecided elements */
  unsigned char *memory;
} exact_launch;

/* Packs k numbers, `stride` elements apart, followed by zeros. */
static void copy_line(const exact_launch *run, tesela_type type, const unsigned char *from, int64_t stride,
                      unsigned char *dst) {
  enum { AT_ONCE = 1 << 20 };
  const int64_t k = run->base.k, step = stride * (int64_t)tsl_type(type)->size;
  if (type == TESELA_F64)
    for (int64_t i = 0; i < k; i++)
      memcpy(dst + i * 8, from + i * step, 8);
  else if (type == TESELA_F32)
    for (int64_t i = 0; i < k; i++)
      memcpy(dst + i * 4, from + i * step, 4);
  else
    for (int64_t i = 0; i < k; i += AT_ONCE)
      tsl_narrow_gather(type, from + i * step, stride, (int)tsl_min(k - i, AT_ONCE),
                        (float *)(void *)dst + i);
  memset(dst + (size_t)k * run->number, 0, run->line - (size_t)k * run->number);
}

static void add_line_products(const exact_launch *run, const unsigned char *x, const unsigned char *y,
                              tsl_exact_sum *sum) {
  for (int64_t first = 0; first < run->base.k; first += BLOCK)
    tsl_exact_sum_add(&run->terms, sum, x + (size_t)first * run->number, y + (size_t)first * run->number,
                      (int)tsl_min(run->base.k - first, BLOCK));
}

/* Rows of A or columns of B of a tile; a line is packed when it is first needed. */
typedef struct packed_lines {
  const tsl_operand *operand;
  tesela_type type;
  int64_t stride; /* elements from term to term */
  unsigned char *memory;
  bool has[TILE_SIDE_MAX];
} packed_lines;

/* Returns packed line `index`, which begins with element (row, col) of the operand. */
static const unsigned char *get_packed_line(const exact_launch *run, packed_lines *lines, int64_t index,
                                            int64_t row, int64_t col) {
  unsigned char *const line = lines->memory + (size_t)index * run->line;
  if (!lines->has[index] && run->base.k > 0)
    copy_line(run, lines->type, tsl_exact_element(lines->operand, lines->type, row, col), lines->stride,
              line);
  lines->has[index] = true;
  return line;
}

/* Computes the undecided elements of the tile at (row, column); `undecided` has flags in rows of `row_stride`
 * elements. `top`: binary exponent where an element's sum begins, passed on from element to element. */
static void exact_add_tile(const exact_launch *run, int64_t row, int64_t column, int64_t rows,
                           int64_t columns, const unsigned char *undecided, int64_t row_stride,
                           unsigned char *memory, int *top) {
  const tsl_exact_run *base = &run->base;
  const tsl_operands *operands = base->operands;
  unsigned char *const memory_b = memory + (size_t)run->side * run->line;
  packed_lines a = {&operands->a, base->a_type, operands->a.col_stride, memory, {false}},
               b = {&operands->b, base->b_type, operands->b.row_stride, memory_b, {false}};
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) {
      tsl_exact_sum sum;
      if (!undecided[i * row_stride + j])
        continue;
      tsl_exact_sum_begin(&sum, *top);
      add_line_products(run, get_packed_line(run, &a, i, row + i, 0),
                        get_packed_line(run, &b, j, 0, column + j), &sum);
      *top = sum.top;
      tsl_exact_sum_finish(&base->store, &sum,
                           tsl_exact_element(&operands->c, base->store.type->type, row + i, column + j));
    }
}

static void exact_multiply(void *argument, int64_t block, int worker) {
  const exact_launch *run = argument;
  const tsl_exact_run *exact_run = &run->base;
  const int64_t row = block % run->blocks_down * exact_run->height,
                column = block / run->blocks_down * exact_run->width;
  const int64_t rows = tsl_min(exact_run->height, exact_run->m - row),
                columns = tsl_min(exact_run->width, exact_run->n - column);
  unsigned char *const memory = run->memory + (size_t)worker * run->worker_bytes,
                       *const lines = memory + tsl_exact_block_doubles(exact_run) * sizeof(double),
                       *const undecided = lines + 2 * (size_t)run->side * run->line;
  int top = TSL_EXACT_TOP_LEAST;
  if (!exact_run->near)
    memset(undecided, 1, (size_t)(rows * columns));
  else if (!tsl_exact_decide(exact_run, row, column, rows, columns, (double *)(void *)memory, undecided))
    return;
  for (int64_t i = 0; i < rows; i += run->side)
    for (int64_t j = 0; j < columns; j += run->side)
      exact_add_tile(run, row + i, column + j, tsl_min(run->side, rows - i), tsl_min(run->side, columns - j),
                     undecided + i * columns + j, columns, lines, &top);
}

/* Returns the side of a tile: as large as the copies allow, and small enough to occupy all threads. */
static int64_t choose_tile_side(int64_t m, int64_t n, size_t line, int threads) {
  const double fair = sqrt((double)m * (double)n / (4. * threads));
  const int64_t fitting = (int64_t)(COPY_BYTES / line), side = tsl_min(fitting, (int64_t)fair);
  return tsl_max(1, tsl_min(side, TILE_SIDE_MAX));
}

/* Chooses a block size that occupies all threads. */
static void choose_block_size(int64_t m, int64_t n, int threads, int64_t *height, int64_t *width) {
  const int64_t wanted = threads > 1 ? 4 * (int64_t)threads : 1;
  *height = tsl_min(m, HEIGHT);
  *width = tsl_min(n, WIDTH);
  while (tsl_ceil_div_or_one(m, *height) * tsl_ceil_div_or_one(n, *width) < wanted && *width > TILE_SIDE_MAX)
    *width = tsl_max(TILE_SIDE_MAX, *width / 2);
  while (tsl_ceil_div_or_one(m, *height) * tsl_ceil_div_or_one(n, *width) < wanted &&
         *height > TILE_SIDE_MAX / 2)
    *height = tsl_max(TILE_SIDE_MAX / 2, *height / 2);
}

static const tsl_near_kernels *choose_near_kernels(tesela_type result, int64_t k, unsigned capabilities) {
#define SET(isa, header, needs, ...) &tsl_near_##isa,
  static const tsl_near *const sets[] = {TSL_ISA_LIST(SET)};
#undef SET
  const tsl_near *table = sets[tsl_isa_best(capabilities)];
  const tsl_near_kernels *kernels = result == TESELA_F64 ? &table->f64 : &table->f32;
  return kernels->add && k < INT32_MAX ? kernels : NULL;
}

/* exact on the processor. A run fails only if memory is short. */
static tesela_status gemm_exact_run_host(const tsl_work *work, const tsl_operands *operands) {
  const tsl_problem *problem = &work->problem;
  const tsl_exact_store store = tsl_exact_store_of(problem);
  const int threads = tsl_team_threads(operands->team);
  exact_launch launch = {.base = {.operands = operands,
                                  .a_type = problem->a.type,
                                  .b_type = problem->b.type,
                                  .store = store,
                                  .m = problem->m,
                                  .n = problem->n,
                                  .k = store.alpha == 0 ? 0 : problem->k},
                         .terms = tsl_exact_terms_of(problem->c.type, work->device->capabilities),
                         .number = problem->c.type == TESELA_F64 ? sizeof(double) : sizeof(float)};
  tsl_exact_run *const exact_run = &launch.base;
  void *memory;
  exact_run->near = choose_near_kernels(problem->c.type, exact_run->k, work->device->capabilities);
  choose_block_size(exact_run->m, exact_run->n, threads, &exact_run->height, &exact_run->width);
  launch.line = (size_t)tsl_round_up(tsl_max(exact_run->k, 1), BLOCK) * launch.number;
  launch.side = choose_tile_side(exact_run->height, exact_run->width, launch.line, 1);
  launch.blocks_down = tsl_ceil_div_or_one(exact_run->m, exact_run->height);
  launch.worker_bytes = tsl_exact_block_doubles(exact_run) * sizeof(double) +
                        2 * (size_t)launch.side * launch.line +
                        (size_t)tsl_round_up(exact_run->height * exact_run->width, sizeof(double));
  const size_t lines = tsl_exact_lines_doubles(exact_run) * sizeof(double);
  TSL_TRY(
      tsl_scratch_take((size_t)threads * launch.worker_bytes + lines, "sums and copies of tiles", &memory));
  launch.memory = memory;
  if (exact_run->near)
    tsl_exact_measure(exact_run, (double *)(void *)(launch.memory + (size_t)threads * launch.worker_bytes),
                      operands->team);
  tsl_team_run(operands->team, launch.blocks_down * tsl_ceil_div_or_one(exact_run->n, exact_run->width),
               exact_multiply, &launch);
  tsl_scratch_give(memory);
  return TESELA_OK;
}

/* Returns the clocks of a term if nearly exact sums decide, by instruction set (docs/lab/gemm_exact.md). */
static double term_clocks(bool is_f64, unsigned capabilities) {
  static const double f32[] = {0.8, 0.23, 0.2}, f64[] = {8, 0.43, 0.5};
  const int set = capabilities & TSL_CAN_AVX512 ? 2 : capabilities & (TSL_CAN_AVX2 | TSL_CAN_NEON) ? 1 : 0;
  return is_f64 ? f64[set] : f32[set];
}

/* Copies of a run on the processor, and threads that have work: at most one for each block of C. */
typedef struct exact_host_work {
  double a, b; /* copied elements of A and of B */
  double workers;
} exact_host_work;

static exact_host_work count_host_work(const tsl_problem *problem, const tsl_device *device) {
  int64_t height, width;
  choose_block_size(problem->m, problem->n, device->threads, &height, &width);
  const double down = (double)tsl_ceil_div_or_one(problem->m, height),
               across = (double)tsl_ceil_div_or_one(problem->n, width), k = (double)problem->k;
  return (exact_host_work){across * (double)problem->m * k, down * (double)problem->n * k,
                           fmin(device->threads, down * across)};
}

static double gemm_exact_score_host(const tsl_problem *problem, const tsl_device *device) {
  enum { END = 15, COPY = 6 }; /* clocks of an element of C, and of a copied one of A or B */
  const exact_host_work work = count_host_work(problem, device);
  const double term = term_clocks(problem->c.type == TESELA_F64, device->capabilities),
               elements = (double)problem->m * (double)problem->n;
  return 1e-6 + (elements * (term * (double)problem->k + END) + COPY * (work.a + work.b)) /
                    (1e6 * device->clock_mhz * work.workers);
}

static void gemm_exact_account_host(const tsl_problem *problem, const tsl_device *device,
                                    tsl_cost_counts *account) {
  const exact_host_work work = count_host_work(problem, device);
  account->workers = work.workers;
  account->local.written = (work.a + work.b) * (double)sizeof(double);
  tsl_cost_counts_operands(problem, work.a, work.b, account);
  tsl_cost_counts_result(problem, 1, account);
  tsl_cost_counts_tiles(problem, 1, 1, account);
}

/* Constants of exact.cl: items of a group in each direction; lines that a group measures; bytes for each line
 * and for an item's word; steps of a panel. */
enum { SIDE = 16, ITEMS = SIDE * SIDE, LINES = 16, LINE_BYTES = 24, WORD_BYTES = 2, STEP = 16 };
enum { ITEM_SIDE_MAX = 4 };

enum { OF_LINES, NEAR, PAIRS, LEFT, KERNELS };
/* work->state; NULL on the processor */
typedef struct exact_kernels {
  tsl_kernel *list[KERNELS];
} exact_kernels;

static tsl_accuracy exact_accuracy(const tsl_problem *problem, const tsl_config *config) {
  (void)problem;
  (void)config;
  return (tsl_accuracy){.factor = 1, .is_reproducible = true, .is_correctly_rounded = true};
}

/* Returns an item's elements in each direction: the maximum that leaves a group for each compute unit. */
static int64_t choose_elements_of_item(const tsl_problem *problem, const tsl_device *device) {
  int64_t each = ITEM_SIDE_MAX;
  while (each > 1 && tsl_ceil_div(problem->m, SIDE * each) * tsl_ceil_div(problem->n, SIDE * each) <
                         tsl_max(device->compute_units, 1))
    each /= 2;
  return each;
}

/* Returns true if a group adds up the undecided elements together (exact.cl). */
static bool sums_undecided_by_groups(const tsl_problem *problem, const tsl_device *device) {
  return problem->c.type != TESELA_F64 && !device->is_cpu;
}

static tsl_grid grid_of_tiles(const tsl_problem *problem, const tsl_device *device) {
  const int64_t tile = SIDE * choose_elements_of_item(problem, device);
  return (tsl_grid){{(uint64_t)tsl_ceil_div(problem->n, tile),
                     tsl_launch_limited(device, 1, tsl_ceil_div(problem->m, tile)), 1},
                    {SIDE, SIDE, 1}};
}

static tsl_grid grid_of_lines(const tsl_problem *problem) {
  return (tsl_grid){{(uint64_t)(tsl_ceil_div(problem->m, LINES) + tsl_ceil_div(problem->n, LINES)), 1, 1},
                    {SIDE, SIDE, 1}};
}

static const char *exact_refuse(const tsl_problem *problem, const tsl_config *config,
                                const tsl_device *device) {
  (void)config;
  if (tsl_device_is_host(device))
    return NULL;
  const char *missing = tsl_refuse_missing(TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_F64, device);
  if (missing)
    return missing;
  const tsl_grid tiles = grid_of_tiles(problem, device), lines = grid_of_lines(problem);
  const char *why = tsl_launch_fits(device, &tiles);
  return why ? why : tsl_launch_fits(device, &lines);
}

static uint64_t exact_scratch(const tsl_problem *problem, const tsl_config *config,
                              const tsl_device *device) {
  (void)config;
  if (tsl_device_is_host(device))
    return 0;
  const double tile = (double)(SIDE * choose_elements_of_item(problem, device)),
               lines = (double)problem->m + (double)problem->n;
  const double bytes = lines * LINE_BYTES +
                       ceil((double)problem->m / tile) * ceil((double)problem->n / tile) * ITEMS * WORD_BYTES;
  return bytes < 0x1p63 ? (uint64_t)bytes : UINT64_MAX;
}

static double exact_score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  static const tsl_exact_constants of_processors = {.f32_term = 2.2, .f64_term = 2.5, .epilogue = 100};
  (void)config;
  if (tsl_device_is_host(device))
    return gemm_exact_score_host(problem, device);
  const tsl_exact_constants *measured = &tsl_model_constants_of(device)->exact,
                            *cost = device->is_cpu ? &of_processors : measured; /* clocks of a processor */
  const double terms = (double)problem->k,
               rate = device->is_cpu ? 1e6 * device->clock_mhz * device->compute_units : device->peak_f32 / 4;
  const double term = problem->c.type == TESELA_F64 ? cost->f64_term : cost->f32_term;
  const int64_t tile = device->is_cpu ? 1 : SIDE * choose_elements_of_item(problem, device);
  const double work = (double)tsl_round_up(problem->m, tile) * (double)tsl_round_up(problem->n, tile) *
                      (term * terms + cost->epilogue);
  return device->launch_seconds + measured->fixed_seconds + fmax(work / rate, terms * cost->wait_seconds);
}

static void exact_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                          tsl_cost_counts *account) {
  (void)config;
  if (tsl_device_is_host(device)) {
    gemm_exact_account_host(problem, device, account);
    return;
  }
  const int64_t tile = SIDE * choose_elements_of_item(problem, device);
  const tsl_grid grid = grid_of_tiles(problem, device);
  const double m = (double)problem->m, n = (double)problem->n, k = (double)problem->k,
               local = 2.0 * STEP * (double)(tile + 2) * 8;
  tsl_cost_counts_grid(&grid, tsl_ceil_div(problem->n, tile / SIDE), tsl_ceil_div(problem->m, tile / SIDE),
                       (int64_t)local, device, account);
  tsl_cost_counts_operands(problem, m * k * (ceil(n / (double)tile) + 1),
                           k * n * (ceil(m / (double)tile) + 1), account);
  tsl_cost_counts_result(problem, 1, account);
}

static tesela_status exact_build(tsl_work *work) {
  static const char *const names[KERNELS] = {[OF_LINES] = "tsl_exact_lines",
                                             [NEAR] = "tsl_exact_near",
                                             [PAIRS] = "tsl_exact_pairs",
                                             [LEFT] = "tsl_exact_left"};
  tsl_text defines = {0};
  exact_kernels kernels = {{NULL}};
  void *block;
  tesela_status status;
  if (tsl_device_is_host(work->device))
    return TESELA_OK;
  tsl_launch_define_types(&work->problem, &defines);
  const bool together = sums_undecided_by_groups(&work->problem, work->device);
  tsl_text_add(&defines, "#define EACH %d\n#define TOGETHER %d\n",
               (int)choose_elements_of_item(&work->problem, work->device), together);
  TSL_GO(tsl_text_status(&defines));
  for (int i = 0; i < KERNELS; i++)
    if (i != PAIRS || together)
      TSL_GO(tsl_launch_kernel_with(work, "strategy/gemm/emulated/exact/exact.cl", names[i], ITEMS,
                                    tsl_text_get(&defines), &kernels.list[i]));
  TSL_GO(tsl_alloc(sizeof kernels, "exact's kernels", &block));
  *(exact_kernels *)block = kernels;
  work->state = block;
out:
  tsl_text_free(&defines);
  return status;
}

static tesela_status run_kernels(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  const exact_kernels *kernels = work->state;
  const tsl_device_ops *ops = work->device->ops;
  const tsl_gemm_sizes sizes = tsl_launch_sizes(work, operands);
  const tsl_gemm_argument scalars = tsl_launch_scalars(work, &sizes);
  const tsl_grid of_lines = grid_of_lines(&work->problem),
                 tiles = grid_of_tiles(&work->problem, work->device);
  /* kernels need a buffer for each argument, even if it is not read */
  tsl_buffer *c = operands->c.buffer, *a = operands->a.buffer ? operands->a.buffer : c,
             *b = operands->b.buffer ? operands->b.buffer : c, *scratch = operands->scratch;
  const tsl_argument arguments = {.value = &scalars, .bytes = scalars.bytes};
  const tsl_argument lines[] = {TSL_ARG_BUFFER(a), TSL_ARG_BUFFER(b), TSL_ARG_BUFFER(scratch), arguments},
                     list[] = {TSL_ARG_BUFFER(a),       TSL_ARG_BUFFER(b),       TSL_ARG_BUFFER(c),
                               TSL_ARG_BUFFER(scratch), TSL_ARG_BUFFER(scratch), arguments};
  TSL_TRY(ops->launch(stream, kernels->list[OF_LINES], &of_lines, lines, sizeof lines / sizeof *lines));
  for (int i = NEAR; i < KERNELS; i++)
    if (kernels->list[i])
      TSL_TRY(ops->launch(stream, kernels->list[i], &tiles, list, sizeof list / sizeof *list));
  return TESELA_OK;
}

static tesela_status exact_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  return tsl_device_is_host(work->device) ? gemm_exact_run_host(work, operands)
                                          : run_kernels(work, operands, stream);
}

static const tsl_types types[] = {{TESELA_F32, TESELA_F32, TESELA_F32},
                                  {TESELA_F64, TESELA_F64, TESELA_F64},
                                  {TESELA_BF16, TESELA_BF16, TESELA_F32},
                                  {TESELA_F16, TESELA_F16, TESELA_F32},
                                  {TESELA_BF16, TESELA_BF16, TESELA_BF16},
                                  {TESELA_F16, TESELA_F16, TESELA_F16},
                                  {0, 0, 0}};

const tsl_strategy tsl_gemm_exact = {
    .name = "exact",
    .idea = "exact sums, each rounded once: nearly exact sums with error bounds, else a superaccumulator",
    .lifts = "every rounding but the last, and the order of the sums (not time)",
    .partner = "sequential",
    .op = TSL_OP_GEMM,
    .version = 1,
    .accuracy = exact_accuracy,
    .needs_nearest = true,
    .refuse = exact_refuse,
    .score = exact_score,
    .build = exact_build,
    .run = exact_run,
    .release = tsl_launch_release,
    .supports = {.types = types,
                 .why = "integer sums are exact in other strategies, and complex types are not supported"},
    .resources = {.scratch = exact_scratch, .count_costs = exact_account},
};
