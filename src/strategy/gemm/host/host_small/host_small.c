/* Idea: A product whose operands fit the first-level cache is computed without packing, tile by tile in the
 * vector registers, by the caller's thread. Beyond `host_packed`: no copies, threads or blocks, and so no
 * decisions at run time. The plan chooses the tiles; a run is one call of a micro-kernel for each.
 *
 *             columns             Panels have two vectors, the last one to three; one vector where AVX-512
 *          B |panel|panel|        has one multiply-add a clock. A last vector may be masked: memory after
 *    depth   |     |     |        it is not accessed.
 *            +-----+-----+        The rows are cut into as few tiles as registers allow, all nearly equal:
 *   A depth                       AVX-512 has tiles of up to 12 x 1 vectors, AVX2 12 x 1, 6 x 2 and 4 x 3,
 *   +-----+  +-----+-----+        16-byte vectors 8 x 1, 4 x 2 and 4 x 3.
 *   |     |  |tile |tile | rows C
 *   |     |  |-----|-----|        Each step of k loads a row of B's panel and broadcasts a column of A from
 *   |     |  |tile |tile |        the operands' memory.
 *   +-----+  +-----+-----+
 *
 * Vectors lie along C's rows or, if the transposed product is cheaper, along its columns. If B's elements are
 * not contiguous in that direction, each panel of B is packed first. If C's are not, a tile is stored element
 * by element. Rows of C that fit half or a quarter of a vector use vectors of that size. The smallest whole
 * products have tiles without loops (host_small_exact.h). For batches that exceed all caches, AVX-512 panels
 * are up to four vectors wide, so that memory is accessed in order.
 *
 * Sums run along k in order: the bits depend only on the operands. For bits=rows, panels of k of real types
 * are added to C one after the other. Complex types have two sums for each vector (tile_epilogue.h), and so
 * half the rows unless there are 32 registers. Types: f32, f64, c64 and c128. Large operands are read
 * repeatedly, since the loops have no cache blocking. Measurements: docs/lab/host_small.md. */
#include "core/memory.h"
#include "core/status.h"
#include "dispatch/crossovers.h"
#include "host/int_math.h"
#include "strategy/cost_counts.h"
#include "strategy/gemm/host/host_small/host_small_job.h"
#include "strategy/host_jobs/host_job.h"
#include "strategy/model_constants.h"
#include "strategy/support.h"

#include <math.h>
#include <string.h>

/* Returns the bytes that are read more than once: A for each panel of B, and the panel for each tile, unless
 * the second-level cache holds them. If A's rows are far apart, a quarter of the cache counts. */
static double moved_again(const tsl_small_job *job, double level_2) {
  const tsl_small_panel *panel = job->panels > 1 ? &job->whole : &job->last;
  const double depth_bytes = (double)job->depth * (double)job->size, a = (double)job->rows * depth_bytes,
               b = (double)job->columns * depth_bytes;
  const bool is_apart = (double)tsl_abs(job->last.tile.a_row) > 2 * depth_bytes;
  const double again_a = a > (is_apart ? level_2 / 4 : level_2) ? (double)(job->panels - 1) * a : 0,
               tiles = (double)(panel->tallers + panel->lowers),
               again_b = (double)panel->width * depth_bytes > level_2 ? (tiles - 1) * b : 0;
  return again_a + again_b;
}

static double pages_of(int64_t rows, int64_t stride) {
  enum { PAGE = 4096 };
  return (double)rows * fmin(1, (double)tsl_abs(stride) / PAGE);
}

/* Returns the seconds of address translation: pages beyond the TLB, of rows for each panel of B, and of steps
 * for each tile; and pages of steps beyond the first level of the TLB. */
static double translation_seconds(const tsl_small_job *job, const tsl_small_constants *cost) {
  const tsl_small_panel *panel = job->panels > 1 ? &job->whole : &job->last;
  const double row_pages = pages_of(job->rows, panel->tile.a_row) +
                           pages_of(job->rows, panel->tile.c_row * job->size),
               step_pages = pages_of(job->depth, panel->tile.a_step) +
                            (job->copies_b ? 0 : pages_of(job->depth, panel->tile.b_step)),
               panels = (double)job->panels, tiles = panels * (double)(panel->tallers + panel->lowers);
  return cost->page_seconds * ((row_pages > cost->near_pages ? row_pages * panels : 0) +
                               (step_pages > cost->near_pages ? step_pages * tiles : 0)) +
         (step_pages > cost->first_pages ? cost->first_page_seconds * step_pages * tiles : 0);
}

/* Returns the extra clocks of a panel down C if rows a power of two apart share cache sets (measured). */
static double conflict_clocks(const tsl_small_job *job, bool reads_c) {
  enum { PAGE = 4096, LINE = 64, WAYS = 8, WRITTEN = 5, READ_TOO = 22 };
  const int64_t step = tsl_abs(job->last.tile.c_row) * job->size, power = step & -step,
                sets = power < LINE ? PAGE / LINE : PAGE / tsl_min(power, PAGE);
  const double lines = (double)job->rows * (double)job->columns * (double)job->size / LINE;
  return job->rows <= WAYS * sets ? 0 : lines * (reads_c ? READ_TOO : WRITTEN) / (double)sets;
}

/* Returns the lines of A that come from beyond the first-level cache, if A's steps are not contiguous. Each
 * tile reads its lines again if they exceed that cache, else each panel reads all lines again. */
static double lines_apart(const tsl_small_job *job, double level_1) {
  enum { LINE = 64 };
  const tsl_small_panel *panel = job->panels > 1 ? &job->whole : &job->last;
  const double depth = (double)job->depth, size = (double)job->size,
               room = level_1 - depth * (double)panel->width * size,
               lines = fmax(1, (double)job->rows * size / LINE) * depth;
  if (job->depth < 2 || tsl_abs(panel->tile.a_step) <= LINE || lines * LINE < room)
    return 0;
  return (double)job->panels *
         (depth * LINE < room ? lines : depth * (double)(panel->tallers + panel->lowers));
}

/* Returns the predicted seconds: multiply-adds at nearly the peak, and cache traffic. A panel that exceeds
 * the first-level cache is read again for each tile. Tiles do not prefetch and wait for data from memory. */
static double host_small_score(const tsl_problem *problem, const tsl_config *config,
                               const tsl_device *device) {
  const tsl_operands strides = tsl_strides_of(problem);
  const tsl_call product = tsl_call_of(problem, &strides);
  const double clock = 1e6 * device->clock_mhz, bytes = tsl_problem_bytes(problem);
  const double level_1 = device->level_bytes[0] ? (double)device->level_bytes[0] : 32 << 10;
  const double level_2 = device->level_bytes[1] ? (double)device->level_bytes[1] : 512 << 10;
  const bool is_f64 = tsl_type(problem->c.type)->component == TESELA_F64,
             pairs = (device->capabilities & TSL_CAN_AVX512_PAIRS) != 0;
  const tsl_small_constants *cost = &tsl_model_constants_of(device)->small;
  tsl_small_job job;
  double clocks;
  (void)config;
  tsl_small_job_make(&product, device->capabilities, &job, &clocks);
  const double lanes = (double)(job.kernels->lanes * job.kernels->parts), depth = (double)job.depth;
  const double elements = (is_f64 ? device->peak_f64 : device->peak_f32) / (2 * clock * device->threads);
  clocks /= fmin(2, fmax(1, elements / lanes)); /* narrow vectors: two multiply-adds a clock, too */
  const tsl_small_panel *panel = job.panels > 1 ? &job.whole : &job.last;
  const double tiles = (double)(panel->tallers + panel->lowers),
               b_lines = depth * (double)job.columns * (double)job.size / 64,
               panel_bytes = depth * (double)panel->width * (double)job.size;
  if (bytes > level_1)
    clocks += cost->line_clocks * b_lines +
              (panel_bytes > 0.75 * level_1 ? cost->again_line_clocks * (tiles - 1) * b_lines : 0);
  const int64_t k_panels =
      tsl_problem_fixes_rows(problem) ? tsl_ceil_div_or_one(job.depth, TSL_ROW_PANEL) : 1;
  clocks += (cost->tile_clocks * (double)k_panels + cost->step_clocks * depth) * tiles * (double)job.panels +
            (bytes > level_2 && !job.copies_b ? cost->far_line_clocks * b_lines : 0);
  const tsl_small_tile *tile = &job.last.tile;
  const double far = fmax(0, 1 - level_2 / ((double)job.rows * depth * (double)job.size));
  clocks += (cost->apart_line_clocks + cost->far_apart_line_clocks * far) * lines_apart(&job, level_1);
  if (!job.copies_b && tsl_small_has_conflict(tile->b_step, job.depth))
    clocks *= bytes > level_2 ? 3 : 1.5;
  else if (!pairs && depth * (double)(job.kernels->lanes * job.size) > 0.75 * level_1)
    clocks *= 1.2;
  if (!pairs && bytes > 16 * level_1 && elements > 1.5 * lanes)
    clocks *= 1.2;
  const double c_elements = (double)(job.rows * job.columns), parts = (double)job.kernels->parts;
  clocks += (job.copies_b ? cost->copy_clocks * parts * depth * (double)job.columns : 0) +
            (tile->c_column != 1 ? cost->element_clocks * parts * c_elements : 0) +
            (bytes > level_2 ? cost->written_clocks * c_elements * (double)job.size / 64 : 0);
  clocks += tsl_written_clocks(problem, device);
  clocks += conflict_clocks(&job, problem->beta[0] != 0);
  if (k_panels > 1)
    clocks += tile->c_column != 1 ? cost->element_clocks * c_elements
                                  : (double)(k_panels - 1) * conflict_clocks(&job, true);
  const double rate = device->bandwidth / device->threads,
               rest = fmax(0, tsl_problem_cache_bytes(problem) - tsl_near_bytes(device));
  const double fetched =
      rest / (tsl_rest_speed(device, bytes) * rate) + moved_again(&job, level_2) / (cost->again_speed * rate);
  return cost->call_seconds + clocks / (cost->rate * clock) + fetched + translation_seconds(&job, cost);
}

static void host_small_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                               tsl_cost_counts *account) {
  const tsl_operands strides = tsl_strides_of(problem);
  const tsl_call product = tsl_call_of(problem, &strides);
  tsl_small_job job;
  (void)config;
  tsl_small_job_make(&product, device->capabilities, &job, NULL);
  const tsl_small_panel *panel = job.panels > 1 ? &job.whole : &job.last;
  const double width =
                   panel->width > 0 ? fmin((double)panel->width, (double)job.columns) : (double)job.columns,
               height = fmax(1, fmin((double)panel->height, (double)job.rows)), size = (double)job.size;
  const double of_a = account->useful / width * size, of_b = account->useful / height * size,
               copied = job.copies_b ? (double)job.depth * (double)job.columns * size : 0;
  account->global.read = of_a + (job.copies_b ? copied : of_b);
  account->local = (tsl_moved){.read = job.copies_b ? of_b : 0, .written = copied};
  tsl_cost_counts_result(problem, 1, account);
}

static tsl_accuracy host_small_accuracy(const tsl_problem *problem, const tsl_config *config) {
  return tsl_accuracy_of_components(tsl_accuracy_in_order(problem, config), problem);
}

/* Returns host_packed's order for real types: jobs for bits=rows have its panels of k. */
static const char *host_small_row_order(const tsl_problem *problem, const tsl_config *config,
                                        const tsl_device *device) {
  (void)config, (void)device;
  return tsl_type(problem->c.type)->is_complex ? NULL : TSL_ROW_PANELS;
}

/* Job of a plan. `whole`, the first member, is used alone unless k is cut into panels. */
typedef struct small_plan_job {
  tsl_small_job whole;
  tsl_call product;
  unsigned offers;
  int64_t panel; /* steps of a panel of k, whose sums are added to C */
} small_plan_job;

/* Adds the panels of k one after the other to C. */
static tesela_status add_panels(const small_plan_job *job, tsl_call part, const char *a, const char *b,
                                void *c) {
  const int64_t size = (int64_t)tsl_type(part.type)->size, k = part.k;
  for (int64_t first = 0; first < k; first += job->panel) {
    tsl_small_job small;
    part.k = tsl_min(job->panel, k - first);
    if (first > 0)
      part.beta[0] = 1, part.beta_is_0 = false;
    tsl_small_job_make(&part, job->offers, &small, NULL);
    TSL_TRY(tsl_small_job_run(&small, a + first * part.a.col * size, b + first * part.b.row * size, c));
  }
  return TESELA_OK;
}

/* Copies rows x columns elements; strides in elements. */
static void copy_elements(const char *from, int64_t from_row, int64_t from_col, char *dst, int64_t dst_row,
                          int64_t dst_col, int64_t rows, int64_t columns, int64_t size) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      if (size == sizeof(float))
        memcpy(dst + (i * dst_row + j * dst_col) * size, from + (i * from_row + j * from_col) * size,
               sizeof(float));
      else
        memcpy(dst + (i * dst_row + j * dst_col) * size, from + (i * from_row + j * from_col) * size,
               sizeof(double));
}

/* As add_panels(), where tiles would store single elements: strips of C are computed in a dense copy. */
static __attribute__((noinline)) tesela_status add_panels_to_copies(const small_plan_job *job, const char *a,
                                                                    const char *b, char *c) {
  enum { COPY_BYTES = 16 << 10 };
  _Alignas(64) char copy[COPY_BYTES];
  tsl_call part = job->product;
  const bool along_n = job->whole.is_swapped;
  const int64_t size = (int64_t)tsl_type(part.type)->size, row = part.c.row, col = part.c.col,
                many = along_n ? part.n : part.m, others = along_n ? part.m : part.n,
                width = COPY_BYTES / (others * size);
  const tsl_call_matrix *const large = along_n ? &part.b : &part.a;
  part.c.row = along_n ? 1 : others, part.c.col = along_n ? others : 1;
  for (int64_t from = 0; from < many; from += width) {
    *(along_n ? &part.n : &part.m) = tsl_min(width, many - from);
    const int64_t moved = from * (along_n ? large->col : large->row) * size;
    char *const strip = c + from * (along_n ? col : row) * size;
    if (!part.beta_is_0)
      copy_elements(strip, row, col, copy, part.c.row, part.c.col, part.m, part.n, size);
    TSL_TRY(add_panels(job, part, a + (along_n ? 0 : moved), b + (along_n ? moved : 0), copy));
    copy_elements(copy, part.c.row, part.c.col, strip, row, col, part.m, part.n, size);
  }
  return TESELA_OK;
}

static tesela_status run_in_panels(const void *state, const void *a, const void *b, void *c) {
  enum { OTHERS_MAX = 256 }; /* maximum elements of a line of a copy */
  const small_plan_job *job = state;
  const int64_t others = job->whole.is_swapped ? job->product.m : job->product.n;
  return job->whole.last.tile.c_column != 1 && others <= OTHERS_MAX ? add_panels_to_copies(job, a, b, c)
                                                                    : add_panels(job, job->product, a, b, c);
}

static void host_small_make(const tsl_problem *problem, const tsl_operands *strides, const tsl_config *config,
                            const tsl_device *device, void *memory) {
  small_plan_job *job = memory;
  (void)config;
  *job = (small_plan_job){.product = tsl_call_of(problem, strides),
                          .offers = device->capabilities,
                          .panel = tsl_problem_fixes_rows(problem) ? tsl_row_panel(problem->k) : problem->k};
  tsl_small_job_make(&job->product, job->offers, &job->whole, NULL);
  if (job->panel < problem->k && problem->alpha[0] != 0)
    job->whole.run = run_in_panels;
}

static tesela_status host_small_run(const void *job, const tsl_operands *operands) {
  return tsl_small_job_run(job, operands->a.host, operands->b.host, operands->c.host);
}

_Static_assert(sizeof(small_plan_job) <= TSL_JOB_MOST, "tsl_job_run() has so many bytes for a job");
static const tsl_host_job_ops jobs = {
    .size = sizeof(small_plan_job), .make = host_small_make, .run = host_small_run};

static tsl_fast_kernel *host_small_run_at(const tsl_work *work, const void **state) {
  const tsl_small_job *job = tsl_job_of(work);
  *state = job;
  return job->run;
}

static bool make_fast_job(const tsl_call *product, const tsl_device *device, tsl_small_job *job) {
  const tsl_crossover_table *limits = &tsl_crossovers;
  const int64_t most = limits->small_volume, m = product->m, n = product->n, k = product->k;
  if (m > most || n > most || k > most || m * n * k > most ||
      (k <= limits->small_steps && m * n >= limits->small_c))
    return false;
  tsl_small_job_make(product, device->capabilities, job, NULL);
  return !(job->waits && m * n * k > limits->stall_volume) &&
         !(job->depth > limits->narrow_steps && job->columns * job->size <= limits->narrow_bytes) &&
         !(m * n * k > limits->conflict_volume && !job->copies_b &&
           tsl_small_has_conflict(job->last.tile.b_step, job->depth));
}

/* Not inlined, since a job takes much stack. */
static __attribute__((noinline)) bool multiply_by_job(const tsl_call *product, const tsl_device *device) {
  tsl_small_job job;
  return make_fast_job(product, device, &job) &&
         tsl_small_job_run(&job, product->a.data, product->b.data, tsl_writable(product->c.data)) ==
             TESELA_OK;
}

/* Makes the job of a product that a binding repeats, maybe for operands in no cache. */
static bool make_bound_job(const tsl_call *product, const tsl_device *device, tsl_small_job *job) {
  return product->streams ? tsl_small_job_make_far(product, device->capabilities, job) && !job->copies_b
                          : make_fast_job(product, device, job);
}

static bool host_small_bind(const tsl_call *product, const tsl_device *device, tsl_binding *binding) {
  tsl_small_job job;
  if (!binding)
    return tsl_small_run_direct(product, device->capabilities) || multiply_by_job(product, device);
  if (!make_bound_job(product, device, &job) ||
      tsl_alloc(sizeof job, "a product's job", &binding->state) != TESELA_OK)
    return false;
  memcpy(binding->state, &job, sizeof job);
  binding->kernel = job.run;
  binding->may_fail = tsl_small_job_may_fail(&job);
  return true;
}

const tsl_strategy tsl_gemm_host_small = {
    .name = "host_small",
    .idea = "operands without packing, tiles of C in the vector registers, masks at the edges; one thread",
    .lifts = "copies and decisions that take longer than the product",
    .partner = "host_packed",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_HOST,
    .accuracy = host_small_accuracy,
    .row_order = host_small_row_order,
    .score = host_small_score,
    .build = tsl_job_build,
    .run = tsl_job_run,
    .release = tsl_job_release,
    .jobs = &jobs,
    .supports = {.types = tsl_types_blas, .conjugates = true},
    .resources = {.count_costs = host_small_account},
    .direct = {.bind = host_small_bind, .run_at = host_small_run_at},
};
