#include "judge/device_checksum.h"

#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"
#include "plan/run_slot.h"
#include "strategy/kernel_launch/launch.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

#include "judge/device_checksum_shared.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
  ROWS = TSL_DEVICE_CHECKSUM_ROWS,
  LANES = TSL_DEVICE_CHECKSUM_LANES,
  GROUP_ROWS = TSL_DEVICE_CHECKSUM_GROUP_ROWS,
  NUMBERS = TSL_DEVICE_CHECKSUM_NUMBERS,
  ITEMS = LANES * GROUP_ROWS
};
/* Columns of a segment. Narrow types are multiplied so fast that fewer vectors must do. */
enum { SEGMENT_F64 = 256, SEGMENT_F32 = 512, SEGMENT_NARROW = 2048 };

enum { SUMS_OF_B, SUMS_OF_C, BOUND, COMPARE };
static const struct {
  const char *name;
  bool of_c;
} kernels[TSL_DEVICE_CHECKSUM_KERNELS] = {[SUMS_OF_B] = {"tsl_device_checksum_sums", false},
                                          [SUMS_OF_C] = {"tsl_device_checksum_sums", true},
                                          [BOUND] = {"tsl_device_checksum_bound", false},
                                          [COMPARE] = {"tsl_device_checksum_compare", false}};

struct tsl_device_checksum {
  const tsl_plan *plan;
  tsl_operands operands;
  tsl_kernel *kernel[TSL_DEVICE_CHECKSUM_KERNELS];
  tsl_run_slot *slot;
  tsl_device_checksum_arguments arguments;
  int64_t blocks;
  double *block; /* comparisons, on the host */
  bool is_done;
};

bool tsl_device_checksum_supports(const tsl_plan *plan, const tsl_operands *operands) {
  const tsl_problem *problem = &plan->work.problem;
  const tesela_type a = problem->a.type, c = problem->c.type;
  const unsigned needs = TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_F64;
  const bool is_narrow = a == TESELA_F16 || a == TESELA_BF16,
             is_real = c == TESELA_F64 || c == TESELA_F32 || c == TESELA_F16 || c == TESELA_BF16;
  const bool is_alike =
      is_real ? a == problem->b.type && (a == c || (is_narrow && c == TESELA_F32)) : c == TESELA_I32;
  return plan->looks && !(needs & ~plan->work.device->capabilities) && is_alike && operands->c.buffer;
}

tesela_status tsl_device_checksum_build(const tsl_problem *problem, tsl_device *device,
                                        tsl_kernel *compiled[TSL_DEVICE_CHECKSUM_KERNELS]) {
  tsl_work own = {.problem = *problem,
                  .device = device,
                  .strategy = tsl_strategy_specification(TSL_OP_GEMM)}; /* no strategy's options */
  tsl_text defines[2] = {{0}, {0}};
  tesela_status status = TESELA_OK;
  own.config = tsl_strategy_defaults(own.strategy);
  for (int of_c = 0; of_c < 2; of_c++) {
    tsl_launch_define_types(problem, &defines[of_c]);
    tsl_text_add(&defines[of_c], "#define CHECKSUM_OF_C %d\n", of_c);
    TSL_GO(tsl_text_status(&defines[of_c]));
  }
  for (int i = 0; i < TSL_DEVICE_CHECKSUM_KERNELS; i++)
    TSL_GO(tsl_launch_kernel_with(&own, "judge/device_checksum.cl", kernels[i].name, ITEMS,
                                  tsl_text_get(&defines[kernels[i].of_c]), &compiled[i]));
out:
  tsl_text_free(&defines[0]);
  tsl_text_free(&defines[1]);
  return status;
}

static tesela_status get_or_compile_checksum_kernels(tsl_device_checksum *checksum) {
  tsl_looks *looks = checksum->plan->looks;
  tesela_status status = TESELA_OK;
  pthread_mutex_lock(&looks->slots->lock);
  if (!looks->checksums[0]) {
    tsl_kernel *made[TSL_DEVICE_CHECKSUM_KERNELS] = {NULL};
    status = tsl_device_checksum_build(&checksum->plan->work.problem, checksum->plan->work.device, made);
    if (status == TESELA_OK)
      memcpy(looks->checksums, made, sizeof made);
  }
  memcpy(checksum->kernel, looks->checksums, sizeof checksum->kernel);
  pthread_mutex_unlock(&looks->slots->lock);
  return status;
}

/* Sets the layout of the buffer, and returns its bytes; 0: overflow. */
static size_t set_checksum_layout(tsl_device_checksum *checksum) {
  tsl_device_checksum_arguments *g = &checksum->arguments;
  const tsl_problem *problem = &checksum->plan->work.problem;
  const bool is_integer = tsl_type(problem->c.type)->is_integer;
  const int64_t segment = problem->c.type == TESELA_F64   ? SEGMENT_F64
                          : problem->a.type == TESELA_F32 ? SEGMENT_F32
                                                          : SEGMENT_NARROW;
  g->width = is_integer ? problem->n : tsl_min(segment, problem->n);
  g->segments = tsl_ceil_div(problem->n, g->width);
  checksum->blocks = tsl_ceil_div(problem->m, ROWS);
  g->first_vector = 0;
  g->first_size = g->segments * problem->k;
  g->first_bound = 2 * g->first_size;
  g->first_c = g->first_bound + problem->k;
  g->first_before = g->first_c + 2 * g->segments * problem->m;
  g->first_block = g->first_before + (g->reads_c ? 2 * g->segments * problem->m : 0);
  return (size_t)(g->first_block + checksum->blocks * NUMBERS) * sizeof(double);
}

/* Sets the bound's terms as judge/checksum.c does. The longest sums have a lane's numbers and joins of lanes.
 */
static void set_checksum_terms(tsl_device_checksum *checksum, const tsl_checksum_product *product) {
  tsl_device_checksum_arguments *g = &checksum->arguments;
  const tsl_problem *problem = &checksum->plan->work.problem;
  const tsl_type_info *c = tsl_type(problem->c.type), *sums = tsl_type(c->sums);
  const double k = (double)problem->k, width = (double)g->width, guaranteed = product->relative,
               roundings = 2 * (width / GROUP_ROWS + 16) + k / LANES + 48;
  const double alpha = fabs(problem->alpha[0]), beta = fabs(problem->beta[0]);
  g->alpha = problem->alpha[0];
  g->beta = problem->beta[0];
  g->relative =
      (guaranteed * (1 + roundings * DBL_EPSILON) + roundings * (DBL_EPSILON / 2) * (1 + guaranteed)) *
      (1 + 0x1p-20);
  g->flushes = product->flushes;
  g->rounding = product->rounding;
  g->fixed = 2 * width * ((fmax(1, alpha) * k + 2) * 2 * sums->smallest + c->smallest) +
             product->flushes * (alpha * 4 * k + beta + 2) * width;
  g->limit =
      g->relative * fmin(c->largest, g->reads_factors ? sums->largest * fmin(1, alpha) : sums->largest) / 4;
}

static tesela_status launch_checksum(const tsl_device_checksum *checksum, int kernel, uint64_t groups,
                                     uint64_t segments, const tsl_argument *list, int count) {
  const tsl_grid grid = {{groups, segments, 1},
                         {kernel == BOUND ? ITEMS : LANES, kernel == BOUND ? 1 : GROUP_ROWS, 1}};
  return checksum->plan->work.device->ops->launch(checksum->slot->stream, checksum->kernel[kernel], &grid,
                                                  list, count);
}

/* Sums the rows of B, or of C, by segments. */
static tesela_status enqueue_sums(const tsl_device_checksum *checksum, int kernel, int64_t first) {
  const tsl_device_checksum_arguments arguments = checksum->arguments;
  const tsl_problem *problem = &checksum->plan->work.problem;
  const int64_t rows = kernel == SUMS_OF_B ? problem->k : problem->m;
  const tsl_argument list[] = {
      TSL_ARG_BUFFER(kernel == SUMS_OF_B ? checksum->operands.b.buffer : checksum->operands.c.buffer),
      TSL_ARG_BUFFER(checksum->slot->scratch), TSL_ARG_VALUE(arguments), TSL_ARG_VALUE(first)};
  return launch_checksum(checksum, kernel, (uint64_t)tsl_ceil_div(rows, ROWS),
                         (uint64_t)checksum->arguments.segments, list, 4);
}

static tesela_status start_checksum(tsl_device_checksum *checksum, const tsl_checksum_product *product) {
  const tsl_work *work = &checksum->plan->work;
  tsl_device_checksum_arguments *g = &checksum->arguments;
  const tsl_gemm_sizes sizes = tsl_launch_sizes(work, &checksum->operands);
  void *block;
  memcpy(g, &sizes, sizeof sizes);
  g->k = work->problem.k;
  g->reads_c = tsl_problem_reads(&work->problem, TSL_OPERAND_C);
  g->reads_factors = tsl_problem_reads(&work->problem, TSL_OPERAND_A);
  TSL_TRY(get_or_compile_checksum_kernels(checksum));
  TSL_TRY(tsl_run_slot_take(checksum->plan->looks->slots, &checksum->slot));
  const size_t bytes = set_checksum_layout(checksum);
  set_checksum_terms(checksum, product);
  TSL_TRY(tsl_run_slot_scratch(checksum->slot, bytes));
  TSL_TRY(
      tsl_alloc((size_t)(checksum->blocks * NUMBERS) * sizeof(double), "comparisons of checksums", &block));
  checksum->block = block;
  if (!g->reads_c)
    return TESELA_OK;
  TSL_TRY(enqueue_sums(checksum, SUMS_OF_C, g->first_before));
  return work->device->ops->finish(checksum->slot->stream);
}

tesela_status tsl_device_checksum_begin(const tsl_plan *plan, const tsl_operands *operands,
                                        const tsl_checksum_product *product, tsl_device_checksum **checksum) {
  void *block;
  *checksum = NULL;
  TSL_TRY(tsl_alloc_zeroed(sizeof **checksum, "checksums of a product", &block));
  tsl_device_checksum *made = block;
  *made = (tsl_device_checksum){.plan = plan, .operands = *operands};
  tsl_plan_set_strides(plan, &made->operands);
  const tesela_status status = start_checksum(made, product);
  if (status != TESELA_OK) {
    tsl_device_checksum_free(made);
    return status;
  }
  *checksum = made;
  return TESELA_OK;
}

static tesela_status enqueue_comparison(const tsl_device_checksum *checksum) {
  const tsl_device_checksum_arguments arguments = checksum->arguments;
  const tsl_argument bound[] = {TSL_ARG_BUFFER(checksum->slot->scratch), TSL_ARG_VALUE(arguments)};
  const tsl_argument compare[] = {TSL_ARG_BUFFER(checksum->operands.a.buffer),
                                  TSL_ARG_BUFFER(checksum->slot->scratch), TSL_ARG_VALUE(arguments)};
  const bool has_factors = arguments.reads_factors != 0,
             is_integer = tsl_type(checksum->plan->work.problem.c.type)->is_integer;
  if (has_factors)
    TSL_TRY(enqueue_sums(checksum, SUMS_OF_B, arguments.first_vector));
  if (has_factors && !is_integer)
    TSL_TRY(launch_checksum(checksum, BOUND, (uint64_t)tsl_ceil_div(arguments.k, ITEMS), 1, bound, 2));
  TSL_TRY(enqueue_sums(checksum, SUMS_OF_C, arguments.first_c));
  return launch_checksum(checksum, COMPARE, (uint64_t)checksum->blocks, 1, compare, 3);
}

tesela_status tsl_device_checksum_end(tsl_device_checksum *checksum, tsl_checksum_result *result) {
  TSL_TRY(enqueue_comparison(checksum));
  TSL_TRY(tsl_device_read(checksum->slot->stream, checksum->slot->scratch,
                          (size_t)checksum->arguments.first_block * sizeof(double), checksum->block,
                          (size_t)(checksum->blocks * NUMBERS) * sizeof(double)));
  checksum->is_done = true;
  *result = (tsl_checksum_result){.segment_cols = checksum->arguments.width};
  for (int64_t i = 0; i < checksum->blocks; i++) {
    const double *block = checksum->block + i * NUMBERS;
    result->unchecked += (int64_t)block[0];
    result->wrong += (int64_t)block[1];
    result->hidden = fmax(result->hidden, block[2]);
    if (block[1] == 0 || result->listed_count == TSL_CHECKSUM_LISTED)
      continue;
    const int at = result->listed_count++;
    result->listed[at].row = (int64_t)block[3];
    result->listed[at].segment = (int64_t)block[4];
    result->listed[at].off = block[5];
    result->listed[at].bound = block[6];
  }
  return TESELA_OK;
}

void tsl_device_checksum_free(tsl_device_checksum *checksum) {
  if (!checksum)
    return;
  if (checksum->slot)
    tsl_run_slot_give(checksum->plan->looks->slots, checksum->slot, checksum->is_done);
  tsl_free(checksum->block);
  tsl_free(checksum);
}
