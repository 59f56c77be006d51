/* On the cpu: tiles of C, whose rows of A and columns of B are copied side by side. */
#include "strategy/gemm/exact/exact.h"

#include "base/scratch.h"
#include "base/status.h"
#include "host/split.h"
#include "strategy/exact/sum.h"
#include "strategy/narrow.h"

#include <math.h>

/* Bytes of a tile's copies of A, and of B: of what a second-level cache holds. A tile has at most so many rows and columns. */
enum { COPY_BYTES = 1 << 18, TILE_MOST = 64, BLOCK = TSL_EXACT_BLOCK };

typedef struct running {
  const tsl_operands *at;
  tesela_type a_type, b_type;
  tsl_exact_terms terms;
  tsl_exact_store store;
  int64_t m, n, k;     /* k: terms that are read */
  int64_t side;        /* rows and columns of a tile that is not at an edge */
  size_t number, line; /* bytes of a number as blocks take it, and of a copied row or column */
  int64_t down;
  unsigned char *copies; /* a worker's rows, then its columns, one worker after the other */
} running;

/* k numbers, `stride` elements apart, to where they lie side by side, with zeros behind them. */
static void copy_line(const running *run, tesela_type type, const unsigned char *from, int64_t stride,
                      unsigned char *to) {
  enum { AT_ONCE = 1 << 20 };
  const int64_t step = stride * (int64_t)tsl_type(type)->size;
  if (type == TESELA_F64)
    for (int64_t i = 0; i < run->k; i++)
      memcpy(to + i * 8, from + i * step, 8);
  else if (type == TESELA_F32)
    for (int64_t i = 0; i < run->k; i++)
      memcpy(to + i * 4, from + i * step, 4);
  else
    for (int64_t i = 0; i < run->k; i += AT_ONCE)
      tsl_narrow_gather(type, from + i * step, stride, (int)tsl_least(run->k - i, AT_ONCE),
                        (float *)(void *)to + i);
  memset(to + (size_t)run->k * run->number, 0, run->line - (size_t)run->k * run->number);
}

static const unsigned char *element(const tsl_operand *of, tesela_type type, int64_t i, int64_t j) {
  return (const unsigned char *)of->host +
         (i * of->row_stride + j * of->col_stride) * (int64_t)tsl_type(type)->size;
}

static void add_up(const running *run, const unsigned char *x, const unsigned char *y, tsl_exact_sum *sum) {
  for (int64_t first = 0; first < run->k; first += BLOCK)
    tsl_exact_sum_add(&run->terms, sum, x + (size_t)first * run->number, y + (size_t)first * run->number,
                      (int)tsl_least(run->k - first, BLOCK));
}

static void multiply(void *argument, int64_t tile, int worker) {
  const running *run = argument;
  const tsl_operands *at = run->at;
  const int64_t row = tile % run->down * run->side, column = tile / run->down * run->side;
  const int64_t rows = tsl_least(run->side, run->m - row), columns = tsl_least(run->side, run->n - column);
  unsigned char *const a = run->copies + (size_t)worker * 2 * (size_t)run->side * run->line,
                       *const b = a + (size_t)run->side * run->line;
  int top = TSL_EXACT_TOP_LEAST;
  for (int64_t i = 0; i < rows && run->k > 0; i++)
    copy_line(run, run->a_type, element(&at->a, run->a_type, row + i, 0), at->a.col_stride,
              a + (size_t)i * run->line);
  for (int64_t j = 0; j < columns && run->k > 0; j++)
    copy_line(run, run->b_type, element(&at->b, run->b_type, 0, column + j), at->b.row_stride,
              b + (size_t)j * run->line);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) {
      tsl_exact_sum sum;
      tsl_exact_sum_begin(&sum, top);
      add_up(run, a + (size_t)i * run->line, b + (size_t)j * run->line, &sum);
      top = sum.top;
      unsigned char *c = at->c.host;
      c += ((row + i) * at->c.row_stride + (column + j) * at->c.col_stride) * (int64_t)run->store.type->size;
      tsl_exact_sum_finish(&run->store, &sum, c);
    }
}

/* As square as the copies allow, and small enough for all threads to have some. */
static int64_t side_of(int64_t m, int64_t n, size_t line, int threads) {
  const double fair = sqrt((double)m * (double)n / (4. * threads));
  const int64_t fitting = (int64_t)(COPY_BYTES / line), side = tsl_least(fitting, (int64_t)fair);
  return tsl_most(1, tsl_least(side, TILE_MOST));
}

tesela_status tsl_gemm_exact_run_host(const tsl_work *work, const tsl_operands *operands) {
  const tsl_problem *problem = &work->problem;
  const tsl_exact_store store = tsl_exact_store_of(problem);
  const int threads = tsl_team_threads(operands->team);
  running now = {.at = operands,
                 .a_type = problem->a.type,
                 .b_type = problem->b.type,
                 .terms = tsl_exact_terms_of(problem->c.type, work->device->capabilities),
                 .store = store,
                 .m = problem->m,
                 .n = problem->n,
                 .k = store.alpha == 0 ? 0 : problem->k,
                 .number = problem->c.type == TESELA_F64 ? sizeof(double) : sizeof(float)};
  void *copies;
  now.line = (size_t)tsl_round_up(tsl_most(now.k, 1), BLOCK) * now.number;
  now.side = side_of(now.m, now.n, now.line, threads);
  now.down = tsl_pieces(now.m, now.side);
  TSL_TRY(tsl_scratch_take((size_t)threads * 2 * (size_t)now.side * now.line, "copies of tiles", &copies));
  now.copies = copies;
  tsl_team_run(operands->team, now.down * tsl_pieces(now.n, now.side), multiply, &now);
  tsl_scratch_give(copies);
  return TESELA_OK;
}

/* Clocks of a term and of an element's end, NOTES.md. */
double tsl_gemm_exact_score_host(const tsl_problem *problem, const tsl_device *device) {
  const bool twice = problem->c.type == TESELA_F64,
             wide = device->capabilities & (TSL_CAN_AVX2 | TSL_CAN_AVX512);
  const double term = wide ? (twice ? 1.8 : 1.1) : twice ? 8 : 2.5, end = 250;
  const double elements = (double)problem->m * (double)problem->n,
               k = (double)tsl_round_up(problem->k, BLOCK);
  return 1e-6 + elements * (term * k + end) / (1e6 * device->clock_mhz * device->threads);
}

void tsl_gemm_exact_account_host(const tsl_problem *problem, const tsl_device *device, tsl_account *account) {
  const size_t number = problem->c.type == TESELA_F64 ? sizeof(double) : sizeof(float);
  const size_t line = (size_t)tsl_round_up(tsl_most(problem->k, 1), BLOCK) * number;
  const int64_t side = side_of(problem->m, problem->n, line, device->threads);
  const double down = (double)tsl_pieces(problem->m, side), across = (double)tsl_pieces(problem->n, side);
  account->workers = fmin(device->threads, down * across);
  const double a = across * (double)problem->m * (double)problem->k,
               b = down * (double)problem->n * (double)problem->k;
  account->local.written = (a + b) * (double)number;
  tsl_account_operands(problem, a, b, account);
  tsl_account_result(problem, 1, account);
  tsl_account_tiles(problem, 1, 1, account);
}
