/* Idea: packed product: the five loops of Goto and van de Geijn (2008) and of BLIS (Van Zee, van de Geijn
 * 2015). They surround a micro-kernel whose tile of C fills the vector registers. The shape decides the order
 * of the loops. Beyond `blocked`: micro-kernels for every number of rows and for partial vectors, so that
 * edges cost no more than their products; packing by vector instructions, and only where it pays; block sizes
 * from this processor's caches; prefetches of C and of the next micro-panels; copies shared by all threads.
 *
 *              n, jc        loop  over      index  a round
 *              NR, jr       5     n by NC   jc     a block of B, KC x NC  (schedules: panels,
 *          B: | | | ||      4     k by KC   pc     sums of KC steps        column_strips.c,
 *      k, pc  +-------+     3     m by MC   ic     a panel of A, MC x KC   stationary.c, split_k.c)
 *    A        | tile ||     2     NC by NR  jr     a micro-panel of B     (macro_kernel.c)
 *    +-----+  |-+-+-+-|     1     MC by MR  ir     a micro-panel of A     (schedules)
 *    |-----|  | | | | | m, ic
 *    +-----+  +-------+ MR, ir    Micro-kernel, MR x NR over KC: a micro-panel of A, element by element,
 *                 C               times one of B. AVX-512 14 x 2 vectors, AVX2 and 16-byte vectors 6 x 2.
 *
 * In BLIS a micro-panel of B stays in the first cache and loop 1 is the innermost. Here A and B are
 * exchanged: a micro-panel of A stays there while loop 2 walks B's block in the second cache. A's panel fills
 * the last cache. Loops of each schedule, outermost first; threads share the loops after the bar:
 *
 *   PANELS   one thread 3 4 5 1 2      A and B are large. Micro-panels of A are packed in loop 1.
 *            threads    3 5 4 | 1 2    Both copies are shared; a task packs a part of the next round's.
 *            strips     5 3 | 1 4 2    C is cut: each thread packs B for itself.
 *   ROWS     4 | 1 2                   B's panel fits the second cache and is packed whole; A streams.
 *   COLUMNS  4 | 5 1 2                 A's panel is packed whole; B streams.
 *   SPLIT_K  | 4, then as ROWS         C is small, k long: each part of k has a C of its own, added in order.
 *
 * Reading order: blocking.c (sizes), host_packed_run.c, host_packed_panels.c, macro_kernel.c, the tile.
 *
 * The m rows are cut into as few micro-panels of A as possible, all nearly equal. The last micro-panel of B
 * has only the vectors that it needs. If C's columns are contiguous instead of its rows, the transposed
 * product is computed. If neither are, a tile is stored element by element.
 *
 * Rows of A are read directly if at most 1 KiB of columns of C would use the copy (transposed A: 2 KiB).
 * Tiles are then six rows by four vectors. Rows of B are read directly for few micro-panels of A.
 *
 * Rounding: at most KC times within a panel, once with alpha, and once for each further panel or part. Any
 * number of threads gives equal bits. All schedules give equal bits, except for SPLIT_K and for products of a
 * triangular factor added to beta C. In place, panels may be added from the last to the first.
 *
 * Structures: a factor of which one triangle is stored is packed, mirrored if it is symmetric or hermitian.
 * Tiles skip steps in which a triangular factor is zero and elements outside C's triangle:
 * host_packed_structure.c. Rank-2k updates: rank2k.c.
 *
 * Parameters: KC, and KiB of the resident block in the second cache. A, B and C have one type: f32, f64, c64
 * or c128. Measurements: docs/lab/host_packed.md. */
#include "core/memory.h"
#include "strategy/cost_counts.h"
#include "strategy/gemm/host/host_packed/blocking.h"
#include "strategy/host_jobs/host_job.h"
#include "strategy/model_constants.h"
#include "strategy/support.h"

#include <math.h>

enum { DEPTH, BLOCK };
static const tsl_param params[] = {
    [DEPTH] = {"depth", "products of a panel", 512, {128, 256, 384, 512}},
    [BLOCK] = {"block", "KiB of the resident block in the second-level cache", 512, {256, 512, 1024}},
    {NULL, NULL, 0, {0}},
};

static const char *const probes[] = {"depth=128 block=256", "depth=512 block=512", "depth=256 block=1024",
                                     NULL};

static tsl_accuracy packed_accuracy(const tsl_problem *problem, const tsl_config *config) {
  return tsl_accuracy_of_components(tsl_accuracy_of_panels(problem, config->value[DEPTH]), problem);
}

/* Returns the order of sums: panels of nearly equal k. Steps that a triangular factor skips are zeros. */
static const char *packed_row_order(const tsl_problem *problem, const tsl_config *config,
                                    const tsl_device *device) {
  const bool is_triangular =
      tsl_is_triangular(problem->a.structure) || tsl_is_triangular(problem->b.structure);
  (void)device;
  if (config->value[DEPTH] != TSL_ROW_PANEL || tsl_is_sum(problem->c.structure))
    return NULL;
  return is_triangular ? "panels of a triangle" : TSL_ROW_PANELS;
}

/* Returns the job of a product, or of the first product of a rank-2k update. */
static tsl_packed_job packed_job_of(const tsl_problem *problem, const tsl_operands *strides,
                                    const tsl_config *config, const tsl_device *device) {
  return tsl_packed_product_for(problem, strides, config->value[DEPTH], config->value[BLOCK] * 1024, device)
      .first;
}

/* Returns the contiguous bytes of a row of B that are packed before the next row. */
static double row_bytes_of(const tsl_packed_job *job, const tsl_device *device) {
  const bool is_group = job->schedule == TSL_PACKED_COLUMNS || device->threads == 1;
  return (double)((is_group ? job->nc : job->views.n) * job->size);
}

/* Returns the extra cost of a config as a fraction of the multiplication time: micro-panels exceed the
 * first-level cache; B's block differs from half of the second-level cache (a quarter if micro-panels of B
 * stream or threads share B); short rows of B come from a far last cache; a large C is written by columns;
 * parts of k copy B each for itself, or run in one thread. */
static double packed_misfit(const tsl_packed_job *job, const tsl_config *config, const tsl_device *device) {
  const double level_1 = device->level_bytes[0] ? (double)device->level_bytes[0] : 32 << 10;
  const double half_level_2 = device->level_bytes[1] ? (double)device->level_bytes[1] / 2 : 256 << 10;
  const double depth_bytes = (double)(config->value[DEPTH] * job->size),
               block_bytes = (double)config->value[BLOCK] * 1024;
  const bool by_micros_b = job->schedule == TSL_PACKED_COLUMNS, is_far = tsl_last_cache_is_far(device);
  const double stays = depth_bytes * (double)(by_micros_b ? job->nr : job->mr),
               passes = by_micros_b ? depth_bytes * (double)job->mr : 0,
               wanted = is_far && by_micros_b                ? half_level_2
                        : by_micros_b || device->threads > 1 ? half_level_2 / 2
                                                             : half_level_2,
               row_bytes = row_bytes_of(job, device);
  return (stays > 1.01 * level_1  ? 0.03
          : stays > 0.9 * level_1 ? 0.002
                                  : 0) +
         (stays + passes > 1.01 * level_1 ? 0.015 : 0) + 0.002 * fabs(log2(block_bytes / wanted)) +
         (is_far && row_bytes < 1024 && job->copies_b && job->nc < job->views.n
              ? 0.03 * log2(1024 / row_bytes)
              : 0) +
         (by_micros_b && (double)(job->views.m * job->views.n * job->size) > 4 * half_level_2 ? 0.05 : 0) +
         (job->schedule != TSL_PACKED_SPLIT_K ? 0
          : job->copies_b                     ? 0.4
          : device->threads == 1              ? 0.15
                                              : 0);
}

static double barrier_seconds(int64_t threads) {
  return 2e-6 + 2e-7 * (double)threads;
}

/* Returns the seconds of reading packed copies again, beyond a quarter of the multiplication time. */
static double again_seconds(double bytes, double multiplying, const tsl_device *device) {
  const double speed = 1e9 * (tsl_last_cache_is_far(device) ? TSL_PACKED_AGAIN_FAR : TSL_PACKED_AGAIN_NEAR);
  return fmax(0, bytes / speed - multiplying / 4);
}

/* Returns the seconds of invalidating lines that other threads have read: 50 ns each from a far cache. */
static double called_back_seconds(double shared, const tsl_device *device) {
  static const double each = 50e-9;
  const double threads = device->threads, held = fmin(shared, (double)device->level_bytes[1] * threads);
  return tsl_last_cache_is_far(device) ? held / TSL_CACHE_LINE * each * fmax(0, 1 - 2 / threads) / threads
                                       : 0;
}

static bool has_unaligned_rows_of_b(const tsl_packed_job *job) {
  return job->views.b.row_stride * job->size % TSL_CACHE_LINE != 0;
}

/* Returns the seconds of fetching operands that the near caches do not hold between calls. Most of it
 * overlaps multiplication. Partial sums of split k are written and read again. */
static double fetched_seconds(const tsl_problem *problem, const tsl_packed_job *job, bool alone,
                              const tsl_device *device) {
  static const double few_rows = 16, few_columns = 16;
  const tsl_packed_constants *cost = &tsl_model_constants_of(device)->packed;
  const double bandwidth = tsl_rest_speed(device, tsl_problem_cache_bytes(problem)) *
                           (alone ? device->bandwidth / device->threads : device->bandwidth);
  const double size = (double)job->size, b_bytes = (double)job->views.n * (double)job->views.k * size,
               lines = tsl_problem_cache_bytes(problem), m = (double)job->views.m;
  const bool in_rows = job->views.b.col_stride == 1;
  const double past = tsl_last_cache_is_far(device) ? tsl_near_bytes(device) : (double)device->level_bytes[2];
  const double idle = lines > past ? cost->waited_one_row / m : 0,
               ragged = has_unaligned_rows_of_b(job)
                            ? fmax(0, fmin(1, 2 - m / few_rows)) * TSL_CACHE_LINE / row_bytes_of(job, device)
                            : 0;
  const double b = ((in_rows ? cost->waited_in_rows + ragged : cost->waited) + idle) * b_bytes,
               sums = job->schedule == TSL_PACKED_SPLIT_K
                          ? 2 * (double)job->split_k * m * (double)job->views.n * size
                          : 0;
  const double a = cost->waited_few_columns * fmax(0, fmin(1, 2 - (double)job->views.n / few_columns)) * m *
                   (double)job->views.k * size;
  const double cold = fmax(0, 1 - tsl_near_bytes(device) / lines);
  return cold * (cost->waited * (lines - b_bytes) + a + b + sums) / bandwidth;
}

/* Returns the extra time of a line of B with few rows, in rows' multiply-adds (measured). */
static double missing_rows(const tsl_problem *problem, double m, const tsl_device *device) {
  const tsl_packed_constants *cost = &tsl_model_constants_of(device)->packed;
  const bool is_near = tsl_problem_cache_bytes(problem) <= tsl_near_bytes(device);
  return fmax(0, (is_near ? cost->near_rows : cost->far_rows) - m / 2);
}

/* Returns the fraction of the products that is computed if a factor or C is a triangle. */
static double computed_fraction(const tsl_problem *problem) {
  tsl_problem whole = *problem;
  whole.a.triangle = whole.b.triangle = whole.c.triangle = TESELA_WHOLE;
  return problem->k > 0 ? tsl_problem_flops(problem) / tsl_problem_flops(&whole) : 1;
}

/* Rows of A and columns of B that are packed, counted once for each copy. */
typedef struct copied_lines {
  double rows, columns;
} copied_lines;
static copied_lines count_copied_lines(const tsl_packed_job *job, int64_t threads) {
  const double m = (double)job->views.m, n = (double)job->views.n;
  if (!tsl_packed_has_strips(job, threads))
    return (copied_lines){job->copies_a ? m : 0, job->copies_b ? n : 0};
  const tsl_packed_grid grid = tsl_packed_cut_strips(job, threads);
  return (copied_lines){tsl_packed_strip_of(job, grid.columns).copies_a ? (double)grid.across * m : 0,
                        (double)grid.down * n};
}

/* Returns the lines of A that tiles read in place, if its steps are not contiguous. Each micro-panel reads
 * its lines again if they exceed half of the first-level cache. */
static double lines_apart(const tsl_packed_job *job, const tsl_device *device) {
  const double level_1 = device->level_bytes[0] ? (double)device->level_bytes[0] : 32 << 10;
  if (job->copies_a || job->views.a.col_stride == 1)
    return 0;
  return (double)job->views.k * ((double)(job->kc * TSL_CACHE_LINE) > level_1 / 2
                                     ? (double)tsl_ceil_div_or_one(job->views.m, job->mr)
                                     : (double)(job->views.m * job->size) / TSL_CACHE_LINE);
}

/* Returns the predicted seconds of one product: 95 % of the peak, packing, and the tiles' epilogues. */
static double score_one(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_operands strides = tsl_strides_of(problem);
  const tsl_packed_constants *cost = &tsl_model_constants_of(device)->packed;
  const tsl_packed_job job = packed_job_of(problem, &strides, config, device);
  const double m = (double)job.views.m, k = (double)job.views.k, clock = 1e6 * device->clock_mhz;
  const tsl_type_info *type = tsl_type(problem->c.type);
  const double fused = (type->component == TESELA_F64 ? device->peak_f64 : device->peak_f32) /
                       (2 * clock * device->threads) / (type->is_complex ? 4 : 1);
  const double panels = (double)tsl_ceil_div_or_one(job.views.k, config->value[DEPTH]);
  const double width = (double)(tsl_packed_vectors(job.kernels, job.views.n) << job.kernels->lanes_log2);
  const double products = computed_fraction(problem) * (m + missing_rows(problem, m, device)) * width *
                          (k + cost->panel_steps * panels) /
                          ((type->is_complex ? cost->complex_rate : cost->rate) * fused) *
                          (1 + packed_misfit(&job, config, device));
  const bool has_edge = job.views.n % tsl_packed_lanes(job.kernels) != 0;
  const double edges = (has_edge ? cost->edge_clocks * m * panels : 0) +
                       cost->micro_clocks * (double)tsl_ceil_div_or_one(job.views.m, job.mr) * panels +
                       cost->apart_line_clocks * lines_apart(&job, device);
  const copied_lines lines = count_copied_lines(&job, job.is_alone ? 1 : device->threads);
  const double column = job.views.b.col_stride == 1 ? cost->row_clocks : cost->column_clocks,
               copies = (cost->row_clocks * lines.rows + column * lines.columns) * k /
                        (double)tsl_packed_lanes(job.kernels);
  const bool alone = device->threads == 1 || job.is_alone;
  const double seconds = (products + edges + copies + tsl_written_clocks(problem, device)) / clock,
               fetched = fetched_seconds(problem, &job, alone, device);
  if (alone)
    return cost->call_seconds + seconds + fetched;
  const tsl_packed_sharing sharing = tsl_packed_share(&job, device->threads);
  const double each = seconds * sharing.uneven / (0.95 * device->threads);
  return sharing.waits * barrier_seconds(device->threads) + each +
         again_seconds(sharing.again, each, device) + called_back_seconds(sharing.shared, device) + fetched;
}

static double packed_score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  if (!tsl_is_sum(problem->c.structure))
    return score_one(problem, config, device);
  tsl_problem part;
  tsl_operands strides = tsl_strides_of(problem);
  const tsl_packed_sum sum =
      tsl_packed_part_of_sum(problem, config->value[DEPTH], device, false, &part, &strides);
  const double product_seconds = score_one(&part, config, device),
               elements = (double)problem->m * (double)problem->n;
  return sum == TSL_PACKED_FOLDED  ? product_seconds + elements / (1e6 * device->clock_mhz)
         : sum == TSL_PACKED_TWICE ? 2 * product_seconds
                                   : product_seconds;
}

/* Counts memory traffic. A is packed once, and B once for each panel of A or for each strip. */
static void packed_account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                           tsl_cost_counts *account) {
  const tsl_operands strides = tsl_strides_of(problem);
  const tsl_packed_job job = packed_job_of(problem, &strides, config, device);
  const double size = (double)job.size, k = (double)job.views.k;
  const double height = (double)tsl_max(1, tsl_min(job.mr, job.views.m)),
               width = (double)tsl_max(1, tsl_min(job.nr, job.views.n)), products = account->useful;
  const int64_t threads = job.is_alone ? 1 : device->threads;
  const bool in_panels = job.schedule == TSL_PACKED_PANELS && !tsl_packed_has_strips(&job, threads);
  const double again = in_panels ? (double)tsl_ceil_div_or_one(job.views.m, tsl_max(1, job.mc)) : 1;
  const copied_lines lines = count_copied_lines(&job, threads);
  const double copied = (lines.rows + again * lines.columns) * k;
  account->workers = threads;
  account->sums = height * width;
  account->local.written = copied * size;
  account->local.read =
      (job.copies_a ? products / width : 0) * size + (job.copies_b ? products / height : 0) * size;
  account->global.read =
      (copied + (job.copies_a ? 0 : products / width) + (job.copies_b ? 0 : products / height)) * size;
  tsl_cost_counts_result(problem, (double)tsl_ceil_div_or_one(job.views.k, config->value[DEPTH]), account);
}

/* Returns the largest k of a partial product with equal bits: equal whole panels, or one panel; 0: none. */
static int64_t packed_part(const tsl_problem *whole, const tsl_config *config, const tsl_device *device,
                           int64_t m, int64_t n, int64_t index, int64_t most) {
  const tsl_operands strides = tsl_strides_of(whole);
  const tsl_packed_job all = packed_job_of(whole, &strides, config, device);
  const int64_t left = whole->k - index;
  if (all.is_structured || all.schedule == TSL_PACKED_SPLIT_K || left <= 0)
    return 0;
  for (int64_t panels = tsl_ceil_div_or_one(tsl_min(most, left), all.kc); panels > 0; panels--) {
    tsl_problem next = *whole;
    next.m = m;
    next.n = n;
    next.k = tsl_min(panels * all.kc, left);
    const tsl_packed_job job = packed_job_of(&next, &strides, config, device);
    if (next.k <= most && job.schedule != TSL_PACKED_SPLIT_K && (panels == 1 || job.kc == all.kc))
      return next.k;
  }
  return 0;
}

static void make(const tsl_problem *problem, const tsl_operands *strides, const tsl_config *config,
                 const tsl_device *device, void *job) {
  *(tsl_packed_product *)job =
      tsl_packed_product_for(problem, strides, config->value[DEPTH], config->value[BLOCK] * 1024, device);
}

static tsl_shape packed_shape_of(const tsl_call *call, const tsl_call_matrix *matrix, int64_t rows,
                                 int64_t cols) {
  return (tsl_shape){
      .type = call->type, .rows = rows, .cols = cols, .row_stride = matrix->row, .col_stride = matrix->col};
}
static tsl_operand packed_operand_of(const tsl_call_matrix *matrix) {
  return (tsl_operand){
      .host = tsl_writable(matrix->data), .row_stride = matrix->row, .col_stride = matrix->col};
}

/* Computes a product of any size and structure at once. */
static bool packed_bind(const tsl_call *call, const tsl_device *device, tsl_binding *binding) {
  enum { RESIDENT_GUESS = 256 << 10 };
  const bool in_place = tsl_is_triangular(call->a_is);
  const tsl_call_matrix *b = in_place ? &call->c : &call->b;
  tsl_problem problem = {.op = TSL_OP_GEMM,
                         .m = call->m,
                         .n = call->n,
                         .k = call->k,
                         .a = packed_shape_of(call, &call->a, call->m, call->k),
                         .b = packed_shape_of(call, b, call->k, call->n),
                         .c = packed_shape_of(call, &call->c, call->m, call->n),
                         .in_place = in_place,
                         .conjugate_a = call->a.conjugate,
                         .conjugate_b = b->conjugate,
                         .alpha = {call->alpha[0], call->alpha[1]}};
  const tsl_operands operands = {.a = packed_operand_of(&call->a),
                                 .b = packed_operand_of(b),
                                 .c = packed_operand_of(&call->c),
                                 .team = call->team};
  const int64_t depth = tsl_type(call->type)->component == TESELA_F64 ? 256 : 512,
                resident = device->level_bytes[1] ? (int64_t)device->level_bytes[1] / 2 : RESIDENT_GUESS;
  if (binding)
    return false;
  problem.a.structure = call->a_is;
  problem.a.triangle = call->a_triangle;
  problem.c.structure = call->c_is;
  problem.c.triangle = call->c_triangle;
  for (int part = 0; part < 2 && !in_place; part++)
    problem.beta[part] = call->beta[part];
  if (tsl_is_sum(call->c_is)) {
    const tsl_packed_product product = tsl_packed_product_for(&problem, &operands, depth, resident, device);
    return tsl_packed_run_product(&product, &operands) == TESELA_OK;
  }
  tsl_packed_job job = tsl_packed_job_for(&problem, &operands, depth, resident, device);
  tsl_packed_job_bind(&job, &operands);
  return tsl_packed_run(&job, job.is_alone ? (tsl_team){0} : operands.team) == TESELA_OK;
}

static size_t packed_form_bytes(const void *job, int operand) {
  const tsl_packed_product *product = job;
  const tsl_packed_job *first = &product->first;
  return product->sum == TSL_PACKED_ONE
             ? tsl_packed_form_bytes(first, tsl_views_take_as_a(&first->views, operand))
             : 0; /* both factors are packed as A and as B */
}

static void packed_make_form(const void *job, int operand, const tsl_operands *operands, void *dst,
                             tsl_team team) {
  tsl_packed_job bound = ((const tsl_packed_product *)job)->first;
  tsl_packed_job_bind(&bound, operands);
  tsl_packed_make_form(&bound, tsl_views_take_as_a(&bound.views, operand), dst, team);
}

_Static_assert(sizeof(tsl_packed_product) <= TSL_JOB_MOST, "tsl_job_run() has so many bytes for a job");
static const tsl_host_job_ops jobs = {sizeof(tsl_packed_product), make, tsl_packed_run_product,
                                      packed_form_bytes, packed_make_form};

const tsl_strategy tsl_gemm_host_packed = {
    .name = "host_packed",
    .idea = "packed panels, copied for the caches, around tiles of C in the vector registers, on all cores",
    .lifts = "caches that a shape does not fit, addresses far apart, and waiting for memory",
    .partner = "blocked",
    .op = TSL_OP_GEMM,
    .version = 1,
    .needs = TSL_CAN_HOST,
    .accuracy = packed_accuracy,
    .row_order = packed_row_order,
    .params = params,
    .score = packed_score,
    .build = tsl_job_build,
    .run = tsl_job_run,
    .release = tsl_job_release,
    .jobs = &jobs,
    .supports = {.types = tsl_types_blas, .conjugates = true, .structures = true},
    .resources = {.count_costs = packed_account},
    .k_split = {.steps = packed_part},
    .direct = {.bind = packed_bind},
    .prepack = {.bytes = tsl_job_form_bytes, .pack = tsl_job_make_form},
    .testing = {.probes = probes},
};
