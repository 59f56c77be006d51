/* Idea: substitution by blocks. Right-hand sides are copied, a few vectors at a time, to a row-major
 * micro-panel. Diagonal blocks of A are solved tile by tile in registers. A solved block is subtracted
 * from all lower rows as a product, with packed copies of A that fit the second cache. Threads share the
 * right-hand sides. Beyond `sequential`: each number from a cache serves a tile; vectors for any
 * strides; all cores.
 *
 *              depth               n right-hand sides
 *            +------+            +--------+--------+
 *      depth |\     |            |  x     |        |  a task is some columns: for each block of `depth` rows,
 *            | \    |            |        |        |    solve its triangle,
 *            |  \   |            +--------+        |    and subtract A below it times these rows of X
 *            +---\--+-----+      |  b     |        |    from all lower rows
 *      chunk |    | \     |      |        |        |
 *            |    |   \   |      |        |        |
 *
 * Each element of X comes from the terms of its row in column order and one quotient, for any blocks and
 * threads. So the error is that of substitution, and each call has equal bits. Memory for a task's columns
 * and a block of A is allocated for each run. Measurements: docs/lab/solve_host_blocked.md. */
#include "core/memory.h"
#include "core/scratch.h"
#include "core/status.h"
#include "dispatch/crossovers.h"
#include "host/int_math.h"
#include "strategy/cost_counts.h"
#include "strategy/host_jobs/host_job.h"
#include "strategy/solve/host/host_blocked/kernel.h"
#include "strategy/support.h"

#include <string.h>

enum { TYPES = 4 };

static int type_index(tesela_type type) {
  int at = 0;
  while (tsl_types_blas[at].c != type)
    at++;
  return at;
}

static const tsl_solve_kernel *kernel_for(const tsl_device *device, tesela_type type) {
#define KERNEL_ROW(isa, header, needs, ...)                                                                  \
  {&tsl_solve_##isa##_f32, &tsl_solve_##isa##_f64, &tsl_solve_##isa##_c64, &tsl_solve_##isa##_c128},
  static const tsl_solve_kernel *const kernels[][TYPES] = {TSL_ISA_LIST(KERNEL_ROW)};
#undef KERNEL_ROW
  return kernels[tsl_isa_best(device->capabilities)][type_index(type)];
}

static tsl_solve_small_product *small_product_for(const tsl_device *device, tesela_type type) {
#define KERNEL_ROW(isa, header, needs, ...)                                                                  \
  {tsl_solve_small_product_##isa##_f32, tsl_solve_small_product_##isa##_f64,                                 \
   tsl_solve_small_product_##isa##_c64, tsl_solve_small_product_##isa##_c128},
  static tsl_solve_small_product *const kernels[][TYPES] = {TSL_ISA_LIST(KERNEL_ROW)};
#undef KERNEL_ROW
  return kernels[tsl_isa_best(device->capabilities)][type_index(type)];
}

typedef struct solve_job {
  tsl_solve_blocks blocks;
  const tsl_solve_kernel *kernel;
  int64_t columns; /* columns of a task: a multiple of the kernel's columns, except in the last task */
  int64_t tasks;
  int64_t size;            /* bytes of an element */
  size_t x_bytes, a_bytes; /* bytes of a worker's copies */
  bool is_zero;            /* alpha is 0, and so is X */
  bool is_upper, in_place;
} solve_job;

/* Rows of a diagonal block: a tile's rows of X fill half of the first cache, its copy half of the second. */
enum { DEPTH = 192, DEPTH_OF_C128 = 96, COLUMNS_MAX = 256 };
/* Bytes of a task's columns, read again for each block; minimum multiply-adds for another thread. */
static const double task_bytes = 4 << 20, thread_terms = 1e5;

static int64_t columns_of_task(const solve_job *job, int64_t threads) {
  const int64_t unit = job->kernel->columns, n = job->blocks.n, m = job->blocks.m;
  const double most = task_bytes / (double)(m * job->size), terms = (double)m * (double)m / 2 * (double)n;
  const int64_t fits = tsl_max(unit, tsl_min(COLUMNS_MAX, (int64_t)most) / unit * unit);
  const int64_t workers = tsl_max(1, tsl_min(threads, (int64_t)(terms / thread_terms)));
  const int64_t rounds = tsl_ceil_div(n, fits * workers);
  return tsl_max(unit, tsl_round_up(tsl_ceil_div(n, tsl_max(rounds, 1) * workers), unit));
}

/* Turns an upper triangle into a lower one, from its last row on. */
static void reverse_rows(tsl_view *view, int64_t rows, int64_t cols, int64_t size, bool both) {
  view->at += ((rows - 1) * view->row_stride + (both ? (cols - 1) * view->col_stride : 0)) * size;
  view->row_stride = -view->row_stride;
  view->col_stride = both ? -view->col_stride : view->col_stride;
}

static void choose_partition(solve_job *job, tesela_type type, const tsl_device *device, int64_t threads) {
  const int64_t size = (int64_t)tsl_type(type)->size, m = job->blocks.m;
  job->kernel = kernel_for(device, type);
  job->size = size;
  job->is_zero = job->blocks.alpha[0] == 0 && job->blocks.alpha[1] == 0;
  job->blocks.depth = job->blocks.chunk = size > 8 ? DEPTH_OF_C128 : DEPTH;
  job->columns = columns_of_task(job, threads);
  job->tasks = tsl_ceil_div_or_one(job->blocks.n, job->columns);
  const int64_t rows = tsl_round_up(m, TSL_SOLVE_ROWS_UNIT);
  const int64_t width = tsl_round_up(job->columns, job->kernel->columns);
  const int64_t tall = tsl_min(job->blocks.depth, rows);
  job->x_bytes = (size_t)tsl_round_up(rows * width * size, TSL_CACHE_LINE);
  job->a_bytes = (size_t)tsl_round_up(tall * (job->blocks.depth + job->kernel->a_row_extra) * size + size,
                                      TSL_CACHE_LINE);
}

static void solve_job_make(const tsl_problem *problem, const tsl_operands *strides, const tsl_config *config,
                           const tsl_device *device, void *out) {
  solve_job *job = out;
  (void)config;
  const tsl_operand *a = &strides->a, *b = &strides->b, *c = &strides->c;
  memset(job, 0, sizeof *job);
  job->blocks = (tsl_solve_blocks){.m = problem->m,
                                   .n = problem->n,
                                   .a = {.row_stride = a->row_stride, .col_stride = a->col_stride},
                                   .b = {.row_stride = b->row_stride, .col_stride = b->col_stride},
                                   .x = {.row_stride = c->row_stride, .col_stride = c->col_stride},
                                   .alpha = {problem->alpha[0], problem->alpha[1]},
                                   .is_unit = problem->a.structure == TESELA_UNIT_TRIANGULAR,
                                   .conjugates = problem->conjugate_a};
  job->is_upper = problem->a.triangle == TESELA_UPPER;
  job->in_place = problem->in_place;
  if (problem->in_place)
    job->blocks.b = job->blocks.x;
  choose_partition(job, problem->c.type, device, device->threads);
}

typedef struct solve_launch {
  const solve_job *job;
  tsl_solve_blocks blocks;
  unsigned char *copies;
} solve_launch;

static void solve_task(void *argument, int64_t index, int worker) {
  const solve_launch *launch = argument;
  const solve_job *job = launch->job;
  unsigned char *copies = launch->copies + (size_t)worker * (job->x_bytes + job->a_bytes);
  const int64_t first = index * job->columns;
  job->kernel->solve(&launch->blocks, first, tsl_min(job->columns, job->blocks.n - first), copies,
                     copies + job->x_bytes);
}

static void write_zeros(const solve_job *job, unsigned char *data) {
  const tsl_view *x = &job->blocks.x;
  for (int64_t i = 0; i < job->blocks.m; i++)
    for (int64_t j = 0; j < job->blocks.n; j++)
      memset(data + (i * x->row_stride + j * x->col_stride) * job->size, 0, (size_t)job->size);
}

static void bind_operands(const solve_job *job, const tsl_operands *operands, tsl_solve_blocks *blocks) {
  const int64_t m = job->blocks.m, n = job->blocks.n;
  blocks->a.at = operands->a.host;
  blocks->x.at = operands->c.host;
  blocks->b.at = job->in_place ? operands->c.host : operands->b.host;
  if (!job->is_upper)
    return;
  reverse_rows(&blocks->a, m, m, job->size, true);
  reverse_rows(&blocks->b, m, n, job->size, false);
  reverse_rows(&blocks->x, m, n, job->size, false);
}

static tesela_status solve_job_run(const void *src, const tsl_operands *operands) {
  const solve_job *job = src;
  solve_launch launch = {.job = job, .blocks = job->blocks};
  const int64_t threads = tsl_min(tsl_team_threads(operands->team), job->tasks);
  const tsl_team team = {operands->team.pool, (int)threads};
  void *copies;
  if (job->is_zero) {
    write_zeros(job, operands->c.host);
    return TESELA_OK;
  }
  bind_operands(job, operands, &launch.blocks);
  if (job->kernel->solve_few(&launch.blocks))
    return TESELA_OK;
  TSL_TRY(tsl_scratch_take((size_t)threads * (job->x_bytes + job->a_bytes), "right-hand sides", &copies));
  launch.copies = copies;
  tsl_team_run(team, job->tasks, solve_task, &launch);
  tsl_scratch_give(copies);
  return TESELA_OK;
}

/* Returns the blocks of a solve without a job, member by member: copying uncached memory takes longer. */
static inline tsl_solve_blocks make_direct_blocks(const tsl_call *solve) {
  const bool up = solve->a_triangle == TESELA_UPPER;
  const int64_t size = (int64_t)tsl_type(solve->type)->size, last = up ? (solve->m - 1) * size : 0;
  const int64_t a_row = solve->a.row, a_col = solve->a.col, x_row = solve->c.row;
  unsigned char *a = tsl_writable(solve->a.data),
                *x = (unsigned char *)tsl_writable(solve->c.data) + last * x_row;
  return (tsl_solve_blocks){
      .m = solve->m,
      .n = solve->n,
      .a = {a + last * (a_row + a_col), .row_stride = up ? -a_row : a_row, .col_stride = up ? -a_col : a_col},
      .b = {x, .row_stride = up ? -x_row : x_row, .col_stride = solve->c.col},
      .x = {x, .row_stride = up ? -x_row : x_row, .col_stride = solve->c.col},
      .alpha = {solve->alpha[0], solve->alpha[1]},
      .is_unit = solve->a_is == TESELA_UNIT_TRIANGULAR,
      .conjugates = solve->a.conjugate};
}

static __attribute__((noinline)) bool solve_by_job(const tsl_call *solve, const tsl_device *device) {
  const tsl_view x = {.row_stride = solve->c.row, .col_stride = solve->c.col};
  const tsl_operands operands = {.a = {.host = tsl_writable(solve->a.data)},
                                 .c = {.host = tsl_writable(solve->c.data)},
                                 .team = solve->team};
  solve_job job = {.blocks = {.m = solve->m,
                              .n = solve->n,
                              .a = {.row_stride = solve->a.row, .col_stride = solve->a.col},
                              .b = x,
                              .x = x,
                              .alpha = {solve->alpha[0], solve->alpha[1]},
                              .is_unit = solve->a_is == TESELA_UNIT_TRIANGULAR,
                              .conjugates = solve->a.conjugate},
                   .size = (int64_t)tsl_type(solve->type)->size,
                   .is_upper = solve->a_triangle == TESELA_UPPER,
                   .in_place = true};
  choose_partition(&job, solve->type, device, tsl_team_threads(solve->team));
  return solve_job_run(&job, &operands) == TESELA_OK;
}

/* Solves without a plan, with few rows and right-hand sides without a job. */
static bool solve_direct(const tsl_call *solve, const tsl_device *device) {
  if (solve->alpha[0] != 0 || solve->alpha[1] != 0) {
    const tsl_solve_blocks blocks = make_direct_blocks(solve);
    if (kernel_for(device, solve->type)->solve_few(&blocks))
      return true;
  }
  return solve_by_job(solve, device);
}

/* Multiplies by a triangle of few rows with the same tiles, without copies of it and without a job. */
static bool multiply_triangle_direct(const tsl_call *product, const tsl_device *device) {
  _Alignas(64) unsigned char copies[TSL_SOLVE_MULTIPLIED_ROWS_MAX * TSL_SOLVE_ROW_BYTES_MAX];
  const int64_t m = product->m, size = (int64_t)tsl_type(product->type)->size;
  tsl_solve_blocks blocks;
  if (m > TSL_SOLVE_MULTIPLIED_ROWS_MAX)
    return false;
  blocks.m = m;
  blocks.n = product->n;
  blocks.a.at = tsl_writable(product->a.data);
  blocks.a.row_stride = product->a.row;
  blocks.a.col_stride = product->a.col;
  blocks.x.at = tsl_writable(product->c.data);
  blocks.x.row_stride = product->c.row;
  blocks.x.col_stride = product->c.col;
  blocks.alpha[0] = product->alpha[0];
  blocks.alpha[1] = product->alpha[1];
  blocks.is_unit = product->a_is == TESELA_UNIT_TRIANGULAR;
  blocks.conjugates = product->a.conjugate;
  if (product->a_triangle == TESELA_UPPER) {
    reverse_rows(&blocks.a, m, m, size, true);
    reverse_rows(&blocks.x, m, product->n, size, false);
  }
  kernel_for(device, product->type)->multiply(&blocks, copies);
  return true;
}

static bool multiply_small_direct(const tsl_call *product, const tsl_device *device) {
  const int64_t most = TSL_SOLVE_SMALL_PRODUCT_MAX;
  return product->m <= most && product->n <= most && product->k <= most &&
         small_product_for(device, product->type)(product);
}

/* Returns true if vectors along the columns of a triangle and of C are fastest. */
static bool is_faster_by_vectors(const tsl_call *product) {
  return (product->type == TESELA_F32 || product->type == TESELA_F64) && product->a.row == 1 &&
         product->c.row == 1 && product->n <= tsl_crossovers.triangle_vector_columns &&
         product->m <= tsl_crossovers.triangle_vector_rows;
}

static bool host_blocked_bind(const tsl_call *call, const tsl_device *device, tsl_binding *binding) {
  if (binding)
    return false;
  if (call->solves)
    return solve_direct(call, device);
  if (call->alpha[0] == 0 && call->alpha[1] == 0)
    return false;
  if (call->a_is != TESELA_TRIANGULAR && call->a_is != TESELA_UNIT_TRIANGULAR)
    return multiply_small_direct(call, device);
  return (is_faster_by_vectors(call) && multiply_small_direct(call, device)) ||
         multiply_triangle_direct(call, device);
}

/* Predicts the seconds of terms, at a fraction of the peak that grows with the triangle, and of copies. */
static double host_blocked_score(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device) {
  solve_job job;
  const tsl_operands strides = tsl_strides_of(problem);
  solve_job_make(problem, &strides, config, device, &job);
  const bool is_double = tsl_type(problem->c.type)->component == TESELA_F64;
  const double threads = (double)tsl_min(device->threads, job.tasks), m = (double)problem->m;
  const double width =
      (double)(tsl_round_up(problem->n, job.kernel->columns)) / (double)tsl_max(1, problem->n);
  const double peak = (is_double ? device->peak_f64 : device->peak_f32) / device->threads * threads;
  const double computing = tsl_problem_flops(problem) * width / (peak * (0.3 + 0.5 * m / (m + 100)));
  const double copied = m * m / 2 * (double)job.tasks + 2 * m * (double)problem->n;
  return 3e-7 + computing + copied * 0.5 / (1e6 * device->clock_mhz * threads);
}

static void host_blocked_account(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device, tsl_cost_counts *account) {
  solve_job job;
  const tsl_operands strides = tsl_strides_of(problem);
  solve_job_make(problem, &strides, config, device, &job);
  const double size = (double)job.size, m = (double)problem->m, n = (double)problem->n;
  account->workers = (double)tsl_min(device->threads, job.tasks);
  account->global.read += size * (m * (m + 1) / 2 * (double)job.tasks + m * n);
  account->global.written += size * m * n;
  account->local =
      (tsl_moved){.read = account->useful * size * (1.0 / job.kernel->rows + 1.0 / job.kernel->columns),
                  .written = size * (m * (m + 1) / 2 * (double)job.tasks + m * n)};
}

_Static_assert(sizeof(solve_job) <= TSL_JOB_MOST, "tsl_job_run() has so many bytes for a job");
static const tsl_host_job_ops job_ops = {
    .size = sizeof(solve_job), .make = solve_job_make, .run = solve_job_run};

const tsl_strategy tsl_solve_host_blocked = {
    .name = "host_blocked",
    .idea =
        "substitution by blocks on all cores: tiles of right-hand sides in registers, copies of A in caches",
    .lifts = "traffic to memory and caches on the host",
    .partner = "sequential",
    .op = TSL_OP_SOLVE,
    .version = 1,
    .needs = TSL_CAN_HOST,
    .accuracy = tsl_accuracy_of_substitution,
    .score = host_blocked_score,
    .build = tsl_job_build,
    .run = tsl_job_run,
    .release = tsl_job_release,
    .jobs = &job_ops,
    .direct = {.bind = host_blocked_bind},
    .supports = {.types = tsl_types_blas, .conjugates = true, .structures = true},
    .resources = {.count_costs = host_blocked_account},
};
