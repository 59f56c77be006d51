/* --verify and --expect of ranks: each rank checks its own elements of C, tile by tile. For a tile, its parts
 * of A, B, C0 and the expected file are read again. A rank needs memory for the product and for two pieces:
 *
 *        A (m x k)         B (k x n)          C
 *       +---------+      +---+---+---+      +---+---+---+   rank 0
 *   r ->|#########|  x   |   |###|   |  ->  |   |###|   |   rank 1
 *       +---------+      +---+---+---+      +---+---+---+   rank 2
 *
 * The ranks combine their results into one verdict. */
#include "core/clock.h"
#include "core/memory.h"
#include "core/status.h"
#include "product/mpi_product.h"

#include <math.h>
#include <string.h>

typedef struct mpi_product_check_checking {
  tsl_together *work;
  int64_t rows, cols; /* the largest size of a tile */
  double tiles;
  void *a, *b, *c, *before, *expected; /* operands and results of the present tile; C is packed by rows */
} mpi_product_check_checking;

uint64_t tsl_together_memory(const tsl_together *work) {
  const int on_host = work->ranks->host_ranks > 0 ? work->ranks->host_ranks : 1;
  const uint64_t all = work->product.request.memory ? work->product.request.memory
                                                    : tsl_memory_available() / 2 / (uint64_t)on_host;
  return all > work->held ? all - work->held : 1;
}

static size_t mpi_product_check_size_of(tesela_type type) {
  return tsl_type(type)->size;
}

/* Returns the number of lines of length k that fit into `bytes`, at most `most`. */
static int64_t lines_in(double bytes, int64_t k, tesela_type type, int64_t most) {
  const double lines = bytes / (fmax(1, (double)k) * (double)mpi_product_check_size_of(type));
  return lines >= (double)most ? most : lines >= 1 ? (int64_t)lines : 1;
}

static tesela_status mpi_product_check_take(int64_t rows, int64_t cols, tesela_type type, const char *what,
                                            void **out) {
  size_t bytes;
  if (!tsl_size_mul((size_t)rows, (size_t)cols, &bytes) ||
      !tsl_size_mul(bytes, mpi_product_check_size_of(type), &bytes))
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s has more bytes than 64 bits count", what);
  return tsl_alloc(bytes + 1, what, out);
}

static tesela_status mpi_product_check_allocate(mpi_product_check_checking *job) {
  enum { SHARE = 4 };
  static const double most = 64e6;
  const tsl_product *p = &job->work->product;
  const double bytes = fmin(most, (double)tsl_together_memory(job->work) / SHARE) / 2;
  job->rows = lines_in(bytes, p->k, p->types.a, job->work->c.own.rows);
  job->cols = lines_in(bytes, p->k, p->types.b, p->n);
  job->tiles =
      ceil((double)job->work->c.own.rows / (double)job->rows) * ceil((double)p->n / (double)job->cols);
  TSL_TRY(mpi_product_check_take(job->rows, p->k, p->types.a, p->a.path, &job->a));
  TSL_TRY(mpi_product_check_take(p->k, job->cols, p->types.b, p->b.path, &job->b));
  TSL_TRY(mpi_product_check_take(job->rows, job->cols, p->type, "a tile of the product", &job->c));
  if (p->c0.reader)
    TSL_TRY(mpi_product_check_take(job->rows, job->cols, p->type, p->c0.path, &job->before));
  if (p->expected.reader)
    TSL_TRY(mpi_product_check_take(job->rows, job->cols, p->expected.as, p->expected.path, &job->expected));
  return TESELA_OK;
}

static tesela_status mpi_product_check_read_piece(const tsl_matrix_source *feed, int64_t row, int64_t rows,
                                                  int64_t col, int64_t cols, void *dst) {
  const tsl_rectangle piece = {row, rows, col, cols};
  if (!feed->reader || rows == 0 || cols == 0)
    return TESELA_OK;
  const tesela_status status = tsl_reader_block(feed->reader, &piece, feed->as, dst, cols, 1);
  return status == TESELA_IO_FAILED ? TESELA_BAD_INPUT : status;
}

static tsl_file_layout mpi_product_check_layout_of(const tsl_product *p, const tsl_rectangle *tile) {
  const tsl_product_request *request = &p->request;
  return (tsl_file_layout){.a_row = request->transpose_a ? 1 : p->k,
                           .a_col = request->transpose_a ? tile->rows : 1,
                           .b_row = request->transpose_b ? 1 : tile->cols,
                           .b_col = request->transpose_b ? p->k : 1};
}

static tsl_problem mpi_product_check_problem_of(const tsl_product *p, const tsl_rectangle *tile) {
  const tsl_file_layout at = mpi_product_check_layout_of(p, tile);
  tsl_problem problem = tsl_problem_of(TSL_OP_GEMM, tile->rows, tile->cols, p->k, p->types.a);
  problem.a.row_stride = at.a_row, problem.a.col_stride = at.a_col;
  problem.b.row_stride = at.b_row, problem.b.col_stride = at.b_col;
  problem.b.type = p->types.b;
  problem.c.type = p->types.c;
  problem.conjugate_a = p->request.conjugate_a;
  problem.conjugate_b = p->request.conjugate_b;
  memcpy(problem.alpha, p->whole.alpha, sizeof problem.alpha);
  memcpy(problem.beta, p->whole.beta, sizeof problem.beta);
  return problem;
}

/* Returns the guarantee of the ranks' product: the record's bound, in units of C's type. */
static tsl_plan_bound guaranteed_by(const tsl_together *work) {
  const double u = tsl_type(work->product.type)->unit_roundoff, bound = work->record.error_bound;
  return (tsl_plan_bound){.factor = u > 0 ? bound / u : 0, .bound = bound};
}

static tesela_status verify_tile(mpi_product_check_checking *job, const tsl_rectangle *tile) {
  enum { OPERATIONS = 1 << 30 };
  tsl_product *p = &job->work->product;
  const tsl_problem problem = mpi_product_check_problem_of(p, tile);
  const double most = 2.0 * OPERATIONS / job->tiles;
  const tsl_judge rule = {
      .factor = guaranteed_by(job->work).factor, .operations_max = most >= 1 ? (int64_t)most : 1, .seed = 1};
  tsl_verdict verdict;
  TSL_TRY(tsl_judge_result(&problem, job->a, job->b, job->before, job->c, &rule, &verdict));
  const tsl_product_verdict where = {.row = tile->row, .col = tile->col};
  return tsl_product_add_verdict(p, &verdict, &where);
}

static void compare_tile(mpi_product_check_checking *job, const tsl_rectangle *tile) {
  tsl_product *p = &job->work->product;
  if (p->difference.count == TSL_DIFFERENCES_MAX)
    return;
  (void)tsl_product_compare(p,
                            &(tsl_compared){.factors = {job->a, job->b, mpi_product_check_layout_of(p, tile)},
                                            .c = job->c,
                                            .before = job->before,
                                            .expected = job->expected,
                                            .row = tile->row,
                                            .col = tile->col,
                                            .rows = tile->rows,
                                            .cols = tile->cols,
                                            .guaranteed = guaranteed_by(job->work)},
                            0);
}

static void pack_tile(mpi_product_check_checking *job, const tsl_rectangle *tile) {
  const tsl_dealt *c = &job->work->c;
  const size_t item = mpi_product_check_size_of(job->work->product.type), bytes = (size_t)tile->cols * item;
  for (int64_t row = 0; row < tile->rows; row++)
    memcpy((char *)job->c + (size_t)row * bytes,
           (const char *)c->data +
               (size_t)((tile->row - c->own.row + row) * c->row_stride + tile->col) * item,
           bytes);
}

/* Checks one tile; A's lines are already in memory. */
static tesela_status check_tile(mpi_product_check_checking *job, const tsl_rectangle *tile) {
  const tsl_product *p = &job->work->product;
  const bool across = p->request.transpose_b;
  TSL_TRY(mpi_product_check_read_piece(&p->b, across ? tile->col : 0, across ? tile->cols : p->k,
                                       across ? 0 : tile->col, across ? p->k : tile->cols, job->b));
  TSL_TRY(mpi_product_check_read_piece(&p->c0, tile->row, tile->rows, tile->col, tile->cols, job->before));
  TSL_TRY(mpi_product_check_read_piece(&p->expected, tile->row, tile->rows, tile->col, tile->cols,
                                       job->expected));
  pack_tile(job, tile);
  if (p->expected.reader)
    compare_tile(job, tile);
  return p->request.verify ? verify_tile(job, tile) : TESELA_OK;
}

static tesela_status mpi_product_check_check_rows(mpi_product_check_checking *job, int64_t row,
                                                  int64_t rows) {
  const tsl_product *p = &job->work->product;
  const bool across = p->request.transpose_a;
  TSL_TRY(mpi_product_check_read_piece(&p->a, across ? 0 : row, across ? p->k : rows, across ? row : 0,
                                       across ? rows : p->k, job->a));
  for (int64_t col = 0; col < p->n; col += job->cols) {
    const int64_t cols = p->n - col < job->cols ? p->n - col : job->cols;
    TSL_TRY(check_tile(job, &(tsl_rectangle){row, rows, col, cols}));
  }
  return TESELA_OK;
}

static tesela_status check_own(mpi_product_check_checking *job) {
  const tsl_rectangle *own = &job->work->c.own;
  const tsl_product *p = &job->work->product;
  job->work->product.verdict = (tsl_verdict){.right = true};
  if (own->rows == 0 || p->n == 0)
    return TESELA_OK;
  TSL_TRY(mpi_product_check_allocate(job));
  for (int64_t row = 0; row < own->rows; row += job->rows) {
    const int64_t rows = own->rows - row < job->rows ? own->rows - row : job->rows;
    TSL_TRY(mpi_product_check_check_rows(job, own->row + row, rows));
  }
  return tsl_product_tell_difference(p, true);
}

/* --- what all came to --- */

typedef struct mpi_product_check_outcome {
  tsl_verdict verdict;
  tsl_difference difference;
} mpi_product_check_outcome;

static void add_outcome(tsl_product *p, const mpi_product_check_outcome *other) {
  const tsl_verdict *v = &other->verdict;
  tsl_verdict *all = &p->verdict;
  const tsl_difference *d = &other->difference, sum = p->difference;
  if (all->right && (!v->right || v->error_ratio > all->error_ratio)) {
    all->row = v->row;
    all->col = v->col;
    memcpy(all->why, v->why, sizeof all->why);
  }
  all->right = all->right && v->right;
  all->error = fmax(all->error, v->error);
  all->error_ratio = fmax(all->error_ratio, v->error_ratio);
  all->grade = fmax(all->grade, v->grade);
  all->checked += v->checked;
  all->wrong += v->wrong;
  if (sum.count == 0)
    p->difference = *d; /* `d` holds the first differing element, if one differs */
  p->difference.count = sum.count + d->count;
  p->difference.error = fmax(sum.error, d->error);
  p->difference.by_print = sum.by_print + d->by_print;
  p->difference.weak = sum.weak + d->weak;
}

static void free_tiles(mpi_product_check_checking *job) {
  void *const all[] = {job->a, job->b, job->c, job->before, job->expected};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    tsl_free(all[i]);
}

tesela_status tsl_together_check(tsl_together *work) {
  const double start = tsl_clock();
  mpi_product_check_checking job = {.work = work};
  tsl_status_saved saved;
  const tesela_status status = check_own(&job);
  tsl_status_save(&saved);
  free_tiles(&job);
  tsl_status_restore(&saved);
  work->verify = tsl_clock() - start;
  return status;
}

/* Ranks own rows of C in rank order, so the first rank with a difference has the first element. */
tesela_status tsl_together_sum_up(tsl_together *work) {
  tsl_product *p = &work->product;
  const mpi_product_check_outcome own = {p->verdict, p->difference};
  p->verdict = (tsl_verdict){.right = true};
  p->difference = (tsl_difference){.count = 0};
  for (int i = 0; i < work->ranks->size; i++) {
    mpi_product_check_outcome one = own;
    TSL_TRY(work->ranks->ops->broadcast(work->ranks, i, &one, sizeof one));
    add_outcome(p, &one);
  }
  return p->verdict.right ? tsl_product_tell_difference(p, true) : TESELA_OK;
}
