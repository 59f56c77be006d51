#include "strategy/gemm/host_small/job.h"

#include "base/scratch.h"
#include "base/status.h"

/* Copies of B up to this size lie on the stack. */
enum { LOCAL_BYTES = 32 << 10 };

static int64_t count_of(int64_t total, int64_t most) {
  return (total + most - 1) / most;
}

static int64_t vectors_of(const tsl_small_kernels *kernels, int64_t elements) {
  return (elements + kernels->lanes - 1) >> kernels->lanes_log2;
}

/* One of the two ways to see a product: with vectors along the columns of what is called C here. */
typedef struct view {
  int64_t rows, columns, depth;
  int64_t a_row, a_step, b_across, b_along, c_row, c_column;
  const tsl_small_kernels *kernels;
} view;

/* A stride counts only where there is a second element. */
static int64_t stride_of(int64_t stride, int64_t elements, int64_t alone) {
  return elements > 1 ? stride : alone;
}

/* Field by field, as everything here that a call at once goes through: a struct that is copied whole, just after its
 * parts were written, waits until they have reached the cache. */
static void look(const tsl_instant *p, unsigned offers, bool turned, view *out) {
  const int64_t m = p->m > 0 ? p->m : 1, n = p->n > 0 ? p->n : 1; /* none: never run */
  const int64_t depth = p->alpha_is_0 ? 0 : p->k, rows = turned ? n : m, columns = turned ? m : n;
  out->rows = rows;
  out->columns = columns;
  out->depth = depth;
  out->a_row = depth == 0 ? 0 : stride_of(turned ? p->b_col : p->a_row, rows, 0);
  out->a_step = stride_of(turned ? p->b_row : p->a_col, depth, 0);
  out->b_across = depth == 0 ? 1 : stride_of(turned ? p->a_row : p->b_col, columns, 1);
  out->b_along = stride_of(turned ? p->a_col : p->b_row, depth, 0);
  out->c_row = stride_of(turned ? p->c_col : p->c_row, rows, 0);
  out->c_column = stride_of(turned ? p->c_row : p->c_col, columns, 1);
  out->kernels = tsl_small_kernels_for(p->type, columns, offers);
}

/* Sums of a tile that grow side by side; with fewer than LATENCY multiply-adds wait for those before. */
enum { LATENCY = 4 };
static int64_t chains_of(const view *seen) {
  const int64_t vectors = vectors_of(seen->kernels, seen->columns), wide = seen->kernels->rows[1] > 0 ? 2 : 1;
  return seen->rows * (vectors < wide ? vectors : wide);
}

/* In vector multiply-adds: the products, a tile's end, copies of B, and a C that is written number by number. */
static double clocks_of(const view *seen) {
  const double rows = (double)seen->rows, columns = (double)seen->columns, depth = (double)seen->depth;
  const double vectors = (double)vectors_of(seen->kernels, seen->columns), chains = (double)chains_of(seen);
  double clocks = rows * vectors * (depth * (chains < LATENCY ? LATENCY / chains : 1) + 4) + 12;
  if (seen->b_across != 1)
    clocks += columns * depth * (seen->b_along == 1 ? 0.9 : 1.5);
  if (seen->c_column != 1)
    clocks += 2 * rows * columns;
  return clocks;
}

/* Where nothing is multiplied, alpha is not either: infinity times nothing is no number. */
static void scale(tsl_small_tile *tile, const tsl_instant *product) {
  tile->alpha = product->alpha;
  tile->beta = product->beta;
  tile->scales = tile->depth > 0 && !product->alpha_is_1;
  tile->adds = !product->beta_is_0;
}

/* The kernel for so many rows and vectors of a tile. */
static tsl_small_function kernel_of(const view *seen, const tsl_small_tile *tile, int64_t rows,
                                    int64_t vectors) {
  const tsl_small_kernels *kernels = seen->kernels;
  if (tile->last == kernels->lanes && seen->a_step == 1 && seen->c_column == 1 && !tile->scales)
    for (int i = 0; i < TSL_SMALL_EXACT_MAX; i++) {
      const tsl_small_exact *exact = &kernels->exact[i];
      if (exact->rows == rows && exact->vectors == vectors && exact->depth == seen->depth)
        return exact->multiply;
    }
  return kernels->multiply[vectors - 1][rows - 1];
}

static void make_strip(const view *seen, const tsl_instant *product, int64_t vectors, int64_t last,
                       int64_t size, tsl_small_strip *out) {
  const int64_t most = seen->kernels->rows[vectors - 1];
  const int64_t tiles = seen->rows <= most ? 1 : count_of(seen->rows, most);
  const int64_t height = tiles == 1 ? seen->rows : count_of(seen->rows, tiles);
  out->tile.depth = seen->depth;
  out->tile.a_row = seen->a_row * size;
  out->tile.a_step = seen->a_step * size;
  out->tile.b_step = seen->b_along * size;
  out->tile.c_row = seen->c_row;
  out->tile.c_column = seen->c_column;
  out->tile.last = last;
  scale(&out->tile, product);
  out->height = height;
  out->lowers = tiles * height - seen->rows;
  out->tallers = tiles - out->lowers;
  out->taller = kernel_of(seen, &out->tile, height, vectors);
  out->lower = height > 1 ? kernel_of(seen, &out->tile, height - 1, vectors) : NULL;
  out->width = vectors << seen->kernels->lanes_log2;
}

/* Nothing to copy, and vectors that are mostly full: there is no better direction. */
static bool is_plain(const view *seen) {
  return seen->b_across == 1 && seen->c_column == 1 && 2 * seen->columns > seen->kernels->lanes;
}

/* The better one of the two directions. */
static bool choose(const tsl_instant *product, unsigned offers, view *seen) {
  view other;
  look(product, offers, false, seen);
  if (is_plain(seen))
    return false;
  look(product, offers, true, &other);
  const bool turned = is_plain(&other) || clocks_of(&other) < clocks_of(seen);
  if (turned)
    look(product, offers, true, seen);
  return turned;
}

static tsl_small_function run_of(const tsl_small_job *job);

void tsl_small_job_make(const tsl_instant *product, unsigned offers, tsl_small_job *job, double *clocks) {
  view seen;
  job->is_turned = choose(product, offers, &seen);
  if (clocks)
    *clocks = clocks_of(&seen);
  const int64_t lanes = seen.kernels->lanes, vectors = vectors_of(seen.kernels, seen.columns);
  const int64_t size = product->type == TESELA_F64 ? 8 : 4;
  const bool pairs = seen.kernels->rows[1] > 0;
  const int64_t wide = pairs ? 2 : 1, strips = vectors > wide ? vectors >> pairs : 1;
  job->kernels = seen.kernels;
  job->size = size;
  job->depth = seen.depth;
  job->rows = seen.rows;
  job->columns = seen.columns;
  job->copies_b = seen.b_across != 1;
  job->waits = chains_of(&seen) < LATENCY;
  job->b_across = seen.b_across;
  job->b_along = seen.b_along;
  job->strips = strips;
  if (strips > 1)
    make_strip(&seen, product, wide, lanes, size, &job->whole);
  make_strip(&seen, product, vectors - wide * (strips - 1), seen.columns - (vectors - 1) * lanes, size,
             &job->last);
  job->run = run_of(job);
  if (job->copies_b) {
    if (strips > 1)
      job->whole.tile.b_step = job->whole.width * size;
    job->last.tile.b_step = job->last.width * size;
  }
}

tsl_instant tsl_small_product(const tsl_problem *problem, const tsl_operands *operands) {
  const tsl_operand *a = &operands->a, *b = &operands->b, *c = &operands->c;
  return (tsl_instant){.type = problem->c.type,
                       .m = problem->m,
                       .n = problem->n,
                       .k = problem->k,
                       .a_row = a->row_stride,
                       .a_col = a->col_stride,
                       .b_row = b->row_stride,
                       .b_col = b->col_stride,
                       .c_row = c->row_stride,
                       .c_col = c->col_stride,
                       .alpha = problem->alpha[0],
                       .beta = problem->beta[0],
                       .alpha_is_0 = problem->alpha[0] == 0,
                       .alpha_is_1 = problem->alpha[0] == 1,
                       .beta_is_0 = problem->beta[0] == 0};
}

static void run_strip(const tsl_small_strip *strip, int64_t size, const char *a, const void *b, char *c) {
  const int64_t a_jump = strip->height * strip->tile.a_row, c_jump = strip->height * strip->tile.c_row * size;
  for (int64_t i = 0; i < strip->tallers; i++, a += a_jump, c += c_jump)
    (void)strip->taller(&strip->tile, a, b, c);
  for (int64_t i = 0; i < strip->lowers;
       i++, a += a_jump - strip->tile.a_row, c += c_jump - strip->tile.c_row * size)
    (void)strip->lower(&strip->tile, a, b, c);
}

static void run_strips(const tsl_small_job *job, const void *a, const char *b, char *c, void *copy) {
  const int64_t width = job->strips > 1 ? job->whole.width : 0;
  for (int64_t i = 0; i < job->strips; i++) {
    const tsl_small_strip *strip = i == job->strips - 1 ? &job->last : &job->whole;
    const int64_t from = i * width, rest = job->columns - from;
    const char *b_strip = b + from * job->b_across * job->size;
    if (copy)
      job->kernels->copy(b_strip, job->b_across, job->b_along, rest < strip->width ? rest : strip->width,
                         job->depth, strip->width, copy);
    run_strip(strip, job->size, a, copy ? copy : b_strip, c + from * strip->tile.c_column * job->size);
  }
}

static __attribute__((noinline)) void run_on_stack(const tsl_small_job *job, const void *a, const void *b,
                                                   void *c) {
  _Alignas(64) char copy[LOCAL_BYTES];
  run_strips(job, a, b, c, copy);
}

/* Of a strip of B's copy. */
static int64_t copy_bytes(const tsl_small_job *job) {
  const int64_t width =
      job->strips > 1 && job->last.width < job->whole.width ? job->whole.width : job->last.width;
  return width * job->depth * job->size;
}

bool tsl_small_job_may_fail(const tsl_small_job *job) {
  return job->copies_b && copy_bytes(job) > LOCAL_BYTES;
}

static __attribute__((noinline)) tesela_status run_copying(const tsl_small_job *job, const void *a,
                                                           const void *b, void *c) {
  const int64_t bytes = copy_bytes(job);
  void *copy;
  if (bytes <= LOCAL_BYTES) {
    run_on_stack(job, a, b, c);
    return TESELA_OK;
  }
  TSL_TRY(tsl_scratch_take((size_t)bytes, "a copy of a strip of B", &copy));
  run_strips(job, a, b, c, copy);
  tsl_scratch_give(copy);
  return TESELA_OK;
}

/* The ways to run a job, each given as the address of its first member. */

static tesela_status run_turned_tile(const void *job, const void *a, const void *b, void *c) {
  return ((const tsl_small_job *)job)->last.taller(job, b, a, c);
}

static tesela_status run_one_strip(const void *of, const void *a, const void *b, void *c) {
  const tsl_small_job *job = of;
  run_strip(&job->last, job->size, job->is_turned ? b : a, job->is_turned ? a : b, c);
  return TESELA_OK;
}

static tesela_status run_any(const void *of, const void *a, const void *b, void *c) {
  const tsl_small_job *job = of;
  const void *left = job->is_turned ? b : a, *right = job->is_turned ? a : b;
  if (job->depth == 0) /* pointers that nobody reads move all the same */
    left = right = c;
  if (job->copies_b)
    return run_copying(job, left, right, c);
  run_strips(job, left, right, c, NULL);
  return TESELA_OK;
}

static tsl_small_function run_of(const tsl_small_job *job) {
  if (job->strips > 1 || job->depth == 0 || job->copies_b)
    return run_any;
  if (job->last.tallers + job->last.lowers > 1)
    return run_one_strip;
  return job->is_turned ? run_turned_tile : job->last.taller;
}
