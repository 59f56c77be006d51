/* exact on the processor: nearly exact sums for blocks of C, then superaccumulators tile by tile. */
#include "strategy/gemm/emulated/exact/exact.h"

#include "core/scratch.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/emulated/exact/gemm_exact_blocks.h"
#include "strategy/host_jobs/low_precision.h"

#include <math.h>

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

typedef struct packed_lines {
  unsigned char *a, *b;
  bool has_a[TILE_SIDE_MAX], has_b[TILE_SIDE_MAX];
} packed_lines;

static const unsigned char *get_packed_row(const exact_launch *run, packed_lines *copies, int64_t row,
                                           int64_t i) {
  const tsl_exact_run *exact_run = &run->base;
  unsigned char *const line = copies->a + (size_t)i * run->line;
  if (!copies->has_a[i] && exact_run->k > 0)
    copy_line(run, exact_run->a_type,
              tsl_exact_element(&exact_run->operands->a, exact_run->a_type, row + i, 0),
              exact_run->operands->a.col_stride, line);
  copies->has_a[i] = true;
  return line;
}

static const unsigned char *get_packed_column(const exact_launch *run, packed_lines *copies, int64_t column,
                                              int64_t j) {
  const tsl_exact_run *exact_run = &run->base;
  unsigned char *const line = copies->b + (size_t)j * run->line;
  if (!copies->has_b[j] && exact_run->k > 0)
    copy_line(run, exact_run->b_type,
              tsl_exact_element(&exact_run->operands->b, exact_run->b_type, 0, column + j),
              exact_run->operands->b.row_stride, line);
  copies->has_b[j] = true;
  return line;
}

/* Computes the undecided elements of the tile at (row, column); `undecided` has flags in rows of `row_stride`
 * elements. `top`: binary exponent where an element's sum begins, passed on from element to element. */
static void exact_add_tile(const exact_launch *run, int64_t row, int64_t column, int64_t rows,
                           int64_t columns, const unsigned char *undecided, int64_t row_stride,
                           unsigned char *memory, int *top) {
  const tsl_exact_store *store = &run->base.store;
  packed_lines copies = {.a = memory, .b = memory + (size_t)run->side * run->line};
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) {
      tsl_exact_sum sum;
      if (!undecided[i * row_stride + j])
        continue;
      tsl_exact_sum_begin(&sum, *top);
      add_line_products(run, get_packed_row(run, &copies, row, i), get_packed_column(run, &copies, column, j),
                        &sum);
      *top = sum.top;
      tsl_exact_sum_finish(store, &sum,
                           tsl_exact_element(&run->base.operands->c, store->type->type, row + i, column + j));
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

tesela_status tsl_gemm_exact_run_host(const tsl_work *work, const tsl_operands *operands) {
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

double tsl_gemm_exact_score_host(const tsl_problem *problem, const tsl_device *device) {
  enum { END = 15, LINE = 4 }; /* clocks of an element of C, and of one of A or B to measure and to pack */
  const double elements = (double)problem->m * (double)problem->n, lines = (double)(problem->m + problem->n),
               k = (double)problem->k,
               term = term_clocks(problem->c.type == TESELA_F64, device->capabilities);
  return 1e-6 +
         (elements * (term * k + END) + LINE * lines * k) / (1e6 * device->clock_mhz * device->threads);
}

void tsl_gemm_exact_account_host(const tsl_problem *problem, const tsl_device *device,
                                 tsl_cost_counts *account) {
  int64_t height, width;
  choose_block_size(problem->m, problem->n, device->threads, &height, &width);
  const double down = (double)tsl_ceil_div_or_one(problem->m, height),
               row_stride = (double)tsl_ceil_div_or_one(problem->n, width);
  account->workers = fmin(device->threads, down * row_stride);
  const double a = row_stride * (double)problem->m * (double)problem->k,
               b = down * (double)problem->n * (double)problem->k;
  account->local.written = (a + b) * (double)sizeof(double);
  tsl_cost_counts_operands(problem, a, b, account);
  tsl_cost_counts_result(problem, 1, account);
  tsl_cost_counts_tiles(problem, 1, 1, account);
}
