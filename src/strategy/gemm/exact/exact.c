/* Idea: every element of C is the exact sum of its k products, rounded once to the nearest number of C's type, ties to even. Sums that are
 * nearly exact come first, with a bound of what they are off: where all that lies within it rounds to one number, that is the
 * element (Ziv 1991), which all but one in some thousands are. The rest have superaccumulators, those of the dot `exact`.
 *
 * What it adds to `sequential`: no rounding but the last. However much cancels, whatever the exponents are, and in whatever order
 * anybody adds, the result is the same, on any number of threads and any instruction set.
 *
 *   f32:  a b is exact in f64   sum += a b                                        |----[ sum ]----|  what the sum may be
 *   f64:  next = sum + a b      low += a b - (next - sum)   sum = next       ...x.....x.|...x.....x..  numbers of C's type
 *                                                                                       ' a superaccumulator's
 *
 * Blocks of C are added up by panels of 256 terms (near.h); what is left of a block goes by tiles whose rows of A and columns of B are
 * copied side by side: blocks of terms into a window of levels, levels into digits (strategy/exact/sum.h). The window starts where
 * the element before needed it, which most matrices' elements share.
 * On devices with kernels each work-item does both for its elements (exact.cl): the same bits, term by term.
 * Limits: real types. Where everything cancels, or exponents are so wide that k largest products hide the sum's digits, all elements need
 * superaccumulators: a clock or two a term, ten times as long. f64 needs fused multiply-adds, else all do. */
#include "strategy/gemm/exact/exact.h"

#include "strategy/launch.h"

#include <math.h>

/* Items of exact.cl's groups. */
enum { COLUMNS = 16, ROWS = 4 };

static tsl_accuracy accuracy(const tsl_problem *problem, const tsl_config *config) {
  (void)problem;
  (void)config;
  return (tsl_accuracy){.factor = 1, .repeats = true, .rounded = true};
}

static bool is_host(const tsl_device *device) {
  return (device->capabilities & TSL_CAN_HOST) != 0;
}

static const char *grid_for(const tsl_problem *problem, const tsl_device *device, tsl_grid *grid) {
  return tsl_launch_grid(device, problem->n, problem->m, COLUMNS, ROWS, grid);
}

static const char *refuse(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  tsl_grid grid;
  (void)config;
  if (is_host(device))
    return NULL;
  const char *missing = tsl_capability_missing(TSL_CAN_KERNELS | TSL_CAN_F64, device->capabilities);
  return missing ? tsl_refusal("%s lacks: %s", device->name, missing) : grid_for(problem, device, &grid);
}

/* Clocks of a term and of an element's end on a processor's unit (PoCL on two cores), operations of f32 on a graphics processor's (an H100),
 * where sums that are nearly exact decide; and the seconds of a term that waits for memory, which bound few items with long sums. */
typedef struct costs {
  double f32, f64, end, wait;
} costs;
static const costs of_processors = {8, 16, 100, 0}, of_graphics = {16, 23, 200, 5e-7};

static double score(const tsl_problem *problem, const tsl_config *config, const tsl_device *device) {
  (void)config;
  if (is_host(device))
    return tsl_gemm_exact_score_host(problem, device);
  const costs *cost = device->is_cpu ? &of_processors : &of_graphics;
  const double terms = (double)problem->k,
               rate = device->is_cpu ? 1e6 * device->clock_mhz * device->compute_units : device->peak_f32 / 4;
  const double term = problem->c.type == TESELA_F64 ? cost->f64 : cost->f32;
  const double work = (double)problem->m * (double)problem->n * (term * terms + cost->end);
  return device->launch_seconds + fmax(work / rate, terms * cost->wait);
}

static void account(const tsl_problem *problem, const tsl_config *config, const tsl_device *device,
                    tsl_account *account) {
  tsl_grid grid;
  (void)config;
  if (is_host(device)) {
    tsl_gemm_exact_account_host(problem, device, account);
    return;
  }
  if (!grid_for(problem, device, &grid))
    tsl_account_grid(&grid, problem->n, problem->m, 0, device, account);
  tsl_account_operands(problem, account->useful, account->useful, account);
  tsl_account_result(problem, 1, account);
}

static tesela_status build(tsl_work *work) {
  tsl_grid grid;
  tsl_text types = {0};
  if (is_host(work->device))
    return TESELA_OK;
  grid_for(&work->problem, work->device, &grid);
  tsl_launch_define_types(&work->problem, &types);
  tesela_status status = tsl_text_status(&types);
  if (status == TESELA_OK)
    status = tsl_launch_build_with(work, "strategy/gemm/exact/exact.cl", "tsl_gemm_exact", &grid,
                                   tsl_type(work->problem.c.type)->sums, tsl_text_get(&types));
  tsl_text_free(&types);
  return status;
}

static tesela_status run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  return is_host(work->device) ? tsl_gemm_exact_run_host(work, operands)
                               : tsl_launch_gemm(work, operands, stream);
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
    .idea =
        "the exact sums, each rounded once: nearly exact ones that know how nearly, else a superaccumulator",
    .lifts = "none in time: every rounding but the last, and the order of the sums",
    .op = TSL_OP_GEMM,
    .version = 1,
    .accuracy = accuracy,
    .refuse = refuse,
    .score = score,
    .build = build,
    .run = run,
    .release = tsl_launch_release,
    .takes = {.types = types,
              .why = "integers' sums are exact elsewhere, and of complex types there is none yet"},
    .uses = {.account = account},
};
