#include "strategy/gemm/host/host_amx/host_amx_job.h"

#include "core/memory.h"
#include "strategy/host_jobs/host_job.h"

/* Returns true if C's stores bypass the caches: beta is 0, and C (tile registers: A, B and C) is large. */
static bool is_nontemporal(const tsl_amx_job *job) {
  enum { ELEMENTS_MAX = 4 << 20, BYTES_MAX = 2 << 20 };
  const int64_t bytes =
      (job->views.m + job->views.n) * job->views.k * job->size + job->views.m * job->views.n * job->c_size;
  return job->beta == 0 &&
         (job->kernels->is_amx ? bytes >= BYTES_MAX : job->views.m * job->views.n > ELEMENTS_MAX);
}

static void set_micro_panel_counts(tsl_amx_job *job) {
  job->micro_panels_a = tsl_ceil_div(job->views.m, job->kernels->height);
  job->micro_panels_b = tsl_ceil_div(job->views.n, job->kernels->width);
}

tsl_amx_job tsl_amx_rectangle_of(const tsl_amx_job *job, int64_t row, int64_t rows, int64_t column,
                                 int64_t columns) {
  tsl_amx_job part = *job;
  part.views.a.at = job->views.a.at + row * job->views.a.row_stride * job->size;
  part.views.b.at = job->views.b.at + column * job->views.b.col_stride * job->size;
  part.views.c.at =
      job->views.c.at + (row * job->views.c.row_stride + column * job->views.c.col_stride) * job->c_size;
  part.packed_a.first -= row;
  part.packed_b.first -= column;
  part.views.m = rows;
  part.views.n = columns;
  part.nontemporal = is_nontemporal(&part);
  set_micro_panel_counts(&part);
  return part;
}

/* Sets the block sizes: about `resident_bytes` of A by 512 columns, smaller if threads would be idle. */
static void choose_blocks(tsl_amx_job *job, int64_t resident_bytes, int threads) {
  const int64_t large = job->kernels->is_amx ? 2 : 1,
                wanted = threads == 1 ? 1 : (int64_t)threads * (job->kernels->is_amx ? 1 : 4);
  job->block_micro_panels_a = large * resident_bytes / (4 * job->depth * job->kernels->height);
  job->block_micro_panels_a =
      job->block_micro_panels_a < 1 ? 1 : tsl_min(job->block_micro_panels_a, job->micro_panels_a);
  job->block_micro_panels_b = tsl_min(512 / job->kernels->width, job->micro_panels_b);
  while (tsl_ceil_div(job->micro_panels_a, job->block_micro_panels_a) *
                 tsl_ceil_div(job->micro_panels_b, job->block_micro_panels_b) <
             wanted &&
         (job->block_micro_panels_a > 1 || job->block_micro_panels_b > 1)) {
    int64_t *const larger = job->block_micro_panels_a >= job->block_micro_panels_b
                                ? &job->block_micro_panels_a
                                : &job->block_micro_panels_b;
    *larger = (*larger + 1) / 2;
  }
}

/* Returns the parts of k: more than 1 if C is too small for many threads and k is long. */
static int64_t amx_split_k_of(const tsl_amx_job *job) {
  enum { SMALL_C = 256 * 256, LONGEST = 1 << 20, PANELS_OF_A_PART = 2 };
  const int64_t most = tsl_min(TSL_AMX_SPLIT_K_MAX, job->panels / PANELS_OF_A_PART);
  return job->fixes_rows || job->views.m > LONGEST || job->views.n > LONGEST ||
                 job->views.m * job->views.n > SMALL_C || most < 4
             ? 1
             : most;
}

/* Returns true if tiles should read A directly. Rows a multiple of 4 KiB apart evict each other from L1. */
static bool in_place_pays(const tsl_amx_job *job) {
  enum { CONFLICT = 4096 };
  return job->kernels->is_amx ? job->panels == 1 && job->views.a.row_stride == job->views.k
                              : job->views.a.row_stride * job->size % CONFLICT != 0;
}

tsl_amx_job tsl_amx_job_with(const tsl_amx_kernels *kernels, const tsl_problem *problem,
                             const tsl_views *views, int64_t depth, int64_t resident_bytes, int threads) {
  tsl_amx_job job = {.kernels = kernels,
                     .pack_a = kernels->packing->copy[kernels->format][kernels->a],
                     .pack_b = kernels->packing->copy[kernels->format][kernels->b],
                     .epilogue = kernels->packing->finish[problem->c.type],
                     .views = *views,
                     .size = (int64_t)tsl_type(kernels->a)->size,
                     .c_size = (int64_t)tsl_type(problem->c.type)->size,
                     .alpha = problem->alpha[0],
                     .beta = problem->beta[0],
                     .fixes_rows = tsl_problem_fixes_rows(problem)};
  job.nontemporal = is_nontemporal(&job);
  job.sums_are_c = job.c_size == 4 && job.alpha == 1 && job.beta == 0;
  const int64_t step = kernels->is_amx ? TSL_AMX_REGISTER_UNITS : 1;
  job.sums_are_c = job.sums_are_c && job.views.c.col_stride == 1 && (kernels->is_amx || !job.nontemporal);
  set_micro_panel_counts(&job);
  job.units = tsl_ceil_div(tsl_ceil_div(job.views.k, tsl_amx_elements(kernels->format)), step) * step;
  job.panels = tsl_ceil_div(job.units, depth);
  job.depth = depth;
  if (job.panels > 1) /* nearly equal panels */
    job.depth = tsl_ceil_div(tsl_ceil_div(job.units, job.panels), 16) * 16;
  job.panels = tsl_ceil_div(job.units, job.depth);
  job.resident_bytes = resident_bytes;
  choose_blocks(&job, resident_bytes, threads);
  job.split_k = amx_split_k_of(&job);
  job.reads_a = job.views.a.col_stride == 1 && job.views.k * job.size == 4 * job.units &&
                kernels->bias == 0 && in_place_pays(&job);
  job.copies_rows = !kernels->is_amx && job.views.a.col_stride == 1;
  return job;
}

/* Transposes a product of few columns, so that vectors lie along the longer side of C. Tile registers read
 * longer lines of A directly. */
static void orient_thin(tsl_views *views, int64_t size, bool is_amx) {
  enum { FEW = 16 };
  if (views->n <= FEW && views->n < views->m &&
      (views->a.col_stride != 1 || !is_amx || views->k * size <= TSL_CACHE_LINE))
    tsl_views_swap(views);
}

/* Chooses kernels with vectors along k if one operand has few lines, no more than vectors in a line, and the
 * other one's are contiguous. Adding lanes takes as long as transposing a vector. */
static bool choose_lines(const tsl_views *views, const tsl_amx_kernels *kernels, bool has_amx, bool *is_a) {
  enum { FEW_SUMS = 32, FEW_BF16 = 4 };
  const int64_t vectors = tsl_ceil_div(views->k, TSL_AMX_REGISTER_UNITS * tsl_amx_elements(kernels->format)),
                limit = has_amx && kernels->format == TSL_AMX_PAIRS_BF16 ? FEW_BF16 : TSL_AMX_LINES_MAX,
                most = views->m * views->n <= FEW_SUMS ? limit : tsl_min(limit, vectors);
  const bool a = views->a.col_stride == 1 && views->n <= most,
             b = views->b.row_stride == 1 && views->m <= most;
  *is_a = a && (!b || views->n <= views->m);
  return (a || b) && views->k > 0;
}

/* Returns true if dot instructions are faster than tile registers, which have a start-up time. */
static bool is_small(const tsl_views *views, const tsl_amx_kernels *kernels) {
  enum { CLOCKS = 1500, FEW_ROWS = 2 };
  const int64_t units = tsl_ceil_div(views->k, tsl_amx_elements(kernels->format));
  return views->m <= FEW_ROWS ||
         (double)views->m * (double)tsl_ceil_div(views->n, kernels->width) * 2 * (double)units < CLOCKS;
}

static const tsl_amx_kernels *kernels_of(const tsl_problem *problem, const tsl_views *views,
                                         unsigned offers) {
  return tsl_amx_kernels_for(views->is_swapped ? problem->b.type : problem->a.type,
                             views->is_swapped ? problem->a.type : problem->b.type, offers);
}

tsl_amx_job tsl_amx_job_for(const tsl_problem *problem, const tsl_operands *strides, int64_t depth,
                            int64_t resident_bytes, const tsl_device *device) {
  const unsigned without_amx = device->capabilities & ~(unsigned)TSL_CAN_AMX;
  tsl_views views = tsl_views_of(problem, strides);
  const tsl_amx_kernels *kernels = kernels_of(problem, &views, device->capabilities),
                        *dots = kernels_of(problem, &views, without_amx);
  const bool any_order = !tsl_problem_fixes_rows(problem) || dots->format == TSL_AMX_QUADS;
  bool large_is_a = false;
  const bool takes_lines =
      any_order && dots->lines[0] && choose_lines(&views, dots, kernels->is_amx, &large_is_a);
  if (!takes_lines) {
    orient_thin(&views, (int64_t)tsl_type(kernels->a)->size, kernels->is_amx);
    kernels = kernels_of(problem, &views, device->capabilities);
    dots = kernels_of(problem, &views, without_amx);
  }
  if (takes_lines || (any_order && kernels->format == dots->format && is_small(&views, dots)))
    kernels = dots;
  tsl_amx_job job = tsl_amx_job_with(kernels, problem, &views, depth, resident_bytes, device->threads);
  job.takes_lines = takes_lines;
  job.large_is_a = large_is_a;
  return job;
}

static tsl_amx_packed packed_in_advance(const tsl_amx_job *job, bool is_a) {
  const void *packed = is_a ? job->views.a.packed : job->views.b.packed;
  return packed ? tsl_amx_packed_in(job, is_a, (uint32_t *)(uintptr_t)packed) : (tsl_amx_packed){.at = NULL};
}

void tsl_amx_job_bind(tsl_amx_job *job, const tsl_operands *operands) {
  tsl_views_bind_operands(&job->views, operands, job->size, job->c_size);
  job->packed_a = packed_in_advance(job, true);
  job->packed_b = packed_in_advance(job, false);
}

const tsl_amx_kernels *tsl_amx_kernels_for(tesela_type a, tesela_type b, unsigned offers) {
#define SET(isa, header, needs, ...) {needs, tsl_amx_##isa},
  static const struct {
    unsigned needs;
    const tsl_amx_kernels *rows;
  } sets[] = {TSL_ISA_LIST(SET) TSL_ISA_EXTENSION_LIST(SET)}; /* in increasing order of speed */
#undef SET
  for (size_t i = sizeof sets / sizeof sets[0]; i-- > 0;)
    for (const tsl_amx_kernels *row = sets[i].rows; (sets[i].needs & ~offers) == 0 && row->packing; row++)
      if (row->a == a && row->b == b)
        return row;
  return NULL;
}
