/* Idea: products of narrow types with instructions that multiply two or four neighbours along k and add them
 * to 32-bit sums: AMX tile registers, or the dot products of AVX-512 (BF16, VNNI). Beyond host_packed: the
 * types f16, bf16, 8-bit floating point and integers; copies in units of 32 bits along k; up to 16 times the
 * operations of f32 in a clock.
 *
 *            k                    unit: 2 bf16 (also made from 8-bit numbers), 4 i8 or u8, or an f32
 *   A  +-----------+              micro-panel of A:  unit 0 of its rows, unit 1 of its rows, ...
 *      |uuuu uuuu..| micro-panel  micro-panel of B:  unit 0 of its columns, unit 1 of its columns, ...
 *      +-----------+
 *                                 panel 0          panel 1          panels of at most KC units
 *   copies:                       |s|s|s|..|s|     |s|s|s|..        micro-panels one after the other
 *
 *   AVX-512  14 x 2 vectors of sums: a unit of each row, broadcast, by two vectors of units of B
 *   AMX      2 x 2 tile registers of 16 x 16 sums; the units of a micro-panel of A lie in 16s, row after
 *            row (host_amx_registers.h)
 *   others   6 x 2 vectors (AVX2, any processor); f32 for floating-point types, pairs of 16-bit integers
 *            for integer types
 *
 * Dot instructions: all threads pack all of A and B once; then they take blocks of C, panel after panel. A's
 * rows are read directly or copied as rows. Tile registers: each thread takes a rectangle of C and packs
 * operands immediately before use, during other products (thread_rectangle.c). If C is small and k long, k is
 * cut into parts (schedule.c). Copies are padded with zeros, so tiles have no edges. Operands may have any
 * strides; if C's columns are contiguous, the transposed product is computed.
 *
 * If one operand has few lines, and lines of the large one are contiguous along k, vectors lie along k. The
 * large operand is read in place, and only the thin one is copied (amx_lines.c). Other products of few
 * columns are transposed, so that vectors lie along the longer side. Dot instructions also compute products
 * that are too small for the start-up time of tile registers. For bits=rows, bf16 keeps the order of tile
 * registers.
 *
 * VPDPBUSD needs an unsigned and a signed operand. If both are alike, the sign bits of A are flipped. Each
 * element becomes 128 too large (or too small), and sums start with -128 (128) times the sum of B's column.
 *
 * Sums of floating-point types are f32: the units of a panel, panels in order, parts in order; rounded to C
 * once. Vectors along k have a sum a lane. The bits are equal for any number of threads. Integers are exact
 * modulo 2^32.
 *
 * AMX and VDPBF16PS flush bf16 and sums below 2^-126 to 0. So packing computes the minimum magnitude of each
 * micro-panel. If a sum could be subnormal, tiles of f32 multiply the packed copies (tsl_amx_needs_care()).
 *
 * Parameters: KC in units, KiB of A in the second-level cache. AVX512-FP16 is not used: its sums are f16, and
 * C of f16 needs f32. Measurements: docs/lab/host_amx.md. */
#include "strategy/cost_counts.h"
#include "strategy/gemm/host/host_amx/host_amx_job.h"
#include "strategy/host_jobs/host_job.h"
#include "strategy/model_constants.h"

#include <math.h>

enum { DEPTH, BLOCK };
static const tsl_param params[] = {
    [DEPTH] = {"depth", "32-bit units of a panel", 256, {128, 256, 512, 1024}},
    [BLOCK] = {"block", "KiB of A in the second-level cache", 256, {128, 256, 512, 1024}},
    {NULL, NULL, 0, {0}},
};
static const char *const probes[] = {"depth=256 block=256", "depth=128 block=128", "depth=1024 block=1024",
                                     NULL};

/* Returns the error bound. A unit has two bf16, or one number without instructions for pairs. The bound
 * covers the longer panel and the larger number of panels. */
static tsl_accuracy host_amx_accuracy(const tsl_problem *problem, const tsl_config *config) {
  const bool pairs = problem->a.type != TESELA_F16;
  const int64_t k = problem->k, depth = config->value[DEPTH], panel = (pairs ? 2 : 1) * depth,
                panels = k == 0 ? 1 : (k - 1) / depth + 1;
  const double factor = (double)(k < panel ? k : panel) + (double)panels + 5 + 0x1p-23 * (double)k;
  return tsl_accuracy_in_type((tsl_accuracy){.factor = factor, .is_reproducible = true}, problem->c.type);
}

static tsl_amx_job host_amx_job_of(const tsl_problem *problem, const tsl_operands *strides,
                                   const tsl_config *config, const tsl_device *device) {
  return tsl_amx_job_for(problem, strides, config->value[DEPTH], config->value[BLOCK] * 1024, device);
}

static double one_thread_flops_max(const tsl_amx_job *job) {
  return job->kernels->is_amx ? 3e7 : 1e7;
}

static double units_per_clock(const tsl_amx_job *job, const tsl_device *device) {
  return job->kernels->is_amx ? 256 : device->peak_f32 / (2e6 * device->clock_mhz * device->threads);
}

/* Returns the lines that are copied into units: of both operands, or of the thin one. */
static double packed_lines(const tsl_amx_job *job) {
  const double m = (double)job->views.m, n = (double)job->views.n;
  return job->takes_lines ? fmin(m, n) : m + n;
}

static bool uses_one_thread(const tsl_problem *problem, const tsl_amx_job *job, const tsl_device *device) {
  return device->threads == 1 || tsl_problem_flops(problem) < one_thread_flops_max(job);
}

/* Returns the clocks to pack A or B; 0: A is read in place. */
static double packing_clocks(const tsl_amx_job *job, const tsl_amx_constants *constants, bool is_a) {
  const double lines = (double)(is_a ? job->views.m : job->views.n);
  const bool is_in_rows = (is_a ? job->views.a.col_stride : job->views.b.col_stride) == 1;
  if (is_a && job->reads_a)
    return 0;
  return lines * (double)job->units * (is_in_rows ? constants->copy_clocks : constants->turn_clocks);
}

/* Returns the clocks of a product by dot instructions, with vectors along k or with tiles. `rate`: units a
 * clock at the peak. */
static double dots_clocks(const tsl_amx_job *job, const tsl_amx_constants *constants, double rate) {
  const double m = (double)job->views.m, n = (double)job->views.n, units = (double)job->units;
  const double width = (double)(job->micro_panels_b * job->kernels->width);
  const double stores = job->sums_are_c ? 0 : m * n * constants->element_operations / rate;
  if (job->takes_lines)
    return m * n *
               (ceil(units / TSL_AMX_REGISTER_UNITS) * constants->line_vector_clocks +
                constants->line_sum_clocks) +
           packed_lines(job) * units * constants->line_copy_clocks;
  return m * width * (units + constants->panel_units * (double)job->panels) / (constants->rate * rate) +
         packing_clocks(job, constants, true) + packing_clocks(job, constants, false) + stores;
}

/* Returns the clocks of a product by tile registers, which multiply 16^3 units in 16 clocks. */
static double registers_clocks(const tsl_amx_job *job, double vectors) {
  const double m = (double)job->views.m, n = (double)job->views.n, units = (double)job->units;
  const double width = (double)(job->micro_panels_b * job->kernels->width);
  return m * width * (units + 8 * (double)job->panels) / (0.9 * 256) + packed_lines(job) * units +
         8 * m * n / vectors;
}

/* Returns the predicted seconds: clocks, or the time of operands that the near caches do not hold. */
static double host_amx_score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  const tsl_amx_constants *constants = &tsl_model_constants_of(device)->amx;
  const tsl_operands strides = tsl_strides_of(problem);
  const tsl_amx_job job = host_amx_job_of(problem, &strides, config, device);
  const double clock = 1e6 * device->clock_mhz, rate = units_per_clock(&job, device);
  const double misfit = 1 + 0.01 * fabs(log2((double)config->value[DEPTH] / 256)) +
                        0.01 * fabs(log2((double)config->value[BLOCK] / 256));
  const double clocks = job.kernels->is_amx
                            ? registers_clocks(&job, device->peak_f32 / (2 * clock * device->threads))
                            : dots_clocks(&job, constants, rate);
  const bool alone = uses_one_thread(problem, &job, device);
  const double bytes = tsl_problem_bytes(problem), rest = fmax(0, bytes - tsl_near_bytes(device)),
               fetched = job.kernels->is_amx ? bytes / device->bandwidth
                                             : rest / (tsl_rest_speed(device, bytes) * device->bandwidth);
  return (alone ? constants->call_seconds : 1e-5) +
         fmax(clocks * misfit / clock / (alone ? 1 : 0.95 * device->threads), fetched);
}

static void account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                    tsl_cost_counts *account) {
  const tsl_operands strides = tsl_strides_of(problem);
  const tsl_amx_job job = host_amx_job_of(problem, &strides, config, device);
  const double units = (double)job.units, in_unit = units > 0 ? (double)job.views.k / units : 1,
               bytes = sizeof(uint32_t) / in_unit;
  const double height = job.kernels->height, width = job.kernels->width;
  account->computed = ceil((double)job.views.m / height) * height * ceil((double)job.views.n / width) *
                      width * (double)job.views.k;
  account->workers = uses_one_thread(problem, &job, device) ? 1 : device->threads;
  account->rate = 2e6 * device->clock_mhz * device->threads * units_per_clock(&job, device) * in_unit;
  account->local.written = packed_lines(&job) * units * sizeof(uint32_t);
  account->local.read = account->computed * bytes * (1 / width + 1 / height);
  tsl_cost_counts_operands(problem, (double)problem->m * (double)problem->k,
                           (double)problem->k * (double)problem->n, account);
  tsl_cost_counts_result(problem, 1, account);
}

static void host_amx_make_job(const tsl_problem *problem, const tsl_operands *strides,
                              const tsl_config *config, const tsl_device *device, void *job) {
  tsl_amx_job *amx_job = job;
  *amx_job = host_amx_job_of(problem, strides, config, device);
  amx_job->uses_one_thread = tsl_problem_flops(problem) < one_thread_flops_max(amx_job);
}

static tesela_status host_amx_run_job(const void *job, const tsl_operands *operands) {
  tsl_amx_job bound = *(const tsl_amx_job *)job;
  tsl_amx_job_bind(&bound, operands);
  return tsl_amx_run(&bound, bound.uses_one_thread ? (tsl_team){0} : operands->team);
}

static size_t host_amx_packed_bytes(const void *job, int operand) {
  const tsl_amx_job *amx_job = job;
  return (size_t)tsl_amx_packed_words(amx_job, tsl_views_take_as_a(&amx_job->views, operand)) *
         sizeof(uint32_t);
}

static void host_amx_pack(const void *job, int operand, const tsl_operands *operands, void *dst,
                          tsl_team team) {
  tsl_amx_job bound = *(const tsl_amx_job *)job;
  tsl_amx_job_bind(&bound, operands);
  tsl_amx_pack_all(&bound, tsl_views_take_as_a(&bound.views, operand), dst, team);
}

/* Runs the job of build() with other addresses, in the caller's thread. */
static tesela_status host_amx_run_prepared(const void *state, const void *a, const void *b, void *c) {
  tsl_amx_job job = *(const tsl_amx_job *)state;
  tsl_views_bind(&job.views, &(tsl_view){.at = (unsigned char *)(uintptr_t)a},
                 &(tsl_view){.at = (unsigned char *)(uintptr_t)b}, c, job.size, job.c_size);
  return tsl_amx_run(&job, (tsl_team){0});
}

static tsl_fast_kernel *host_amx_run_at(const tsl_work *work, const void **state) {
  const tsl_amx_job *job = tsl_job_of(work);
  *state = job;
  return job->uses_one_thread ? host_amx_run_prepared : NULL;
}

_Static_assert(sizeof(tsl_amx_job) <= TSL_JOB_MOST, "tsl_job_run() has so many bytes for a job");
static const tsl_host_job_ops job_ops = {sizeof(tsl_amx_job), host_amx_make_job, host_amx_run_job,
                                         host_amx_packed_bytes, host_amx_pack};

/* Returns the order of sums: panels of nearly equal k of the default depth, the only one for bits=rows. */
static const char *host_amx_row_order(const tsl_problem *problem, const tsl_config *config,
                                      const tsl_device *device) {
  (void)problem, (void)device;
  return config->value[DEPTH] == params[DEPTH].fallback ? "panels of pairs" : NULL;
}

const tsl_strategy tsl_gemm_host_amx = {
    .name = "host_amx",
    .idea = "narrow types in packed panels by tile registers (AMX) or dot instructions (AVX-512 BF16, VNNI), "
            "on all cores",
    .lifts = "one product a lane and instruction",
    .partner = "host_packed",
    .op = TSL_OP_GEMM,
    .version = 5,
    .needs = TSL_CAN_HOST,
    .accuracy = host_amx_accuracy,
    .row_order = host_amx_row_order,
    .params = params,
    .score = host_amx_score,
    .build = tsl_job_build,
    .run = tsl_job_run,
    .release = tsl_job_release,
    .jobs = &job_ops,
    .supports = {.types = tsl_types_small, .why = "host_packed is for wide types"},
    .resources = {.count_costs = account},
    .direct = {.run_at = host_amx_run_at},
    .testing = {.probes = probes},
    .prepack = {.bytes = tsl_job_form_bytes, .pack = tsl_job_make_form},
};
