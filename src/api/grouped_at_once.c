/* Products of a group that are so small that each is done without a plan, as single ones are (at_once.c): of shapes that nobody has seen, making
 * a plan of each takes ten times as long as the group. What is looked at once for a single product is looked at once for all. */
#include "api/dispatch.h"
#include "api/grouped.h"

#include "base/checked.h"
#include "base/log.h"
#include "base/scratch.h"
#include "planner/at_once.h"
#include "planner/planner.h"
#include "strategy/prepared.h"

#include <math.h>

/* Below this many operations all are one thread's. */
static const double shared_group = 2e5;
enum { PARTS_OF_A_THREAD = 8 };

/* --- which they are --- */

/* What is the same for all of them. */
typedef struct finding {
  tesela_context *context;
  tsl_choice choice;
  tsl_problem problem; /* its sizes, strides and scalars are each member's in turn */
  const tsl_strategy *strategy;
} finding;

/* From the lowest byte to behind the highest, of `lines` that are `length` elements long and so far apart; false: they are not a matrix of lines
 * side by side whose elements are aligned. */
static bool extent(const void *data, int64_t lines, int64_t length, int64_t apart, int64_t size,
                   uintptr_t *start, uintptr_t *end) {
  *start = (uintptr_t)data;
  if (apart < length || apart > INT32_MAX || !data || (*start & (uintptr_t)(size - 1)) != 0)
    return false;
  *end = *start + (uintptr_t)(((lines - 1) * apart + length) * size);
  return *end > *start;
}

/* How a matrix of rows x cols lies, where its numbers lie side by side along a row or a column. */
static bool place(const tesela_matrix *matrix, int64_t rows, int64_t cols, int64_t size, tsl_shape *shape,
                  uintptr_t *start, uintptr_t *end) {
  tsl_api_strides(matrix, rows, cols, &shape->row_stride, &shape->col_stride);
  shape->rows = rows;
  shape->cols = cols;
  return shape->col_stride == 1 ? extent(matrix->data, rows, cols, shape->row_stride, size, start, end)
                                : shape->row_stride == 1 &&
                                      extent(matrix->data, cols, rows, shape->col_stride, size, start, end);
}

static bool is_one(const tesela_batch *batch) {
  return !batch || (batch->count == 1 && !batch->a && !batch->b && !batch->c);
}

static bool is_small(const tesela_gemm_desc *desc) {
  return desc->m > 0 && desc->n > 0 && desc->k > 0 &&
         ((uint64_t)desc->m | (uint64_t)desc->n | (uint64_t)desc->k) < 2 * TSL_AT_ONCE_SIDE;
}

/* Rounded as tsl_problem_round() does. */
static double factor(const double *given, double fallback, tesela_type type) {
  const double value = given ? *given : fallback;
  return type == TESELA_F32 ? (double)(float)value : value;
}

/* Whether a member is one; what is wrong with it is for the long way to say. */
static bool take(finding *of, const tesela_gemm_desc *desc, const tesela_batch *batch, tsl_at_once *out) {
  tsl_dispatch_key key;
  tsl_problem *p = &of->problem;
  const tesela_matrix c = tsl_api_as_matrix(&desc->c);
  uintptr_t start[TSL_OPERAND_C], end[TSL_OPERAND_C];
  if (!is_one(batch) || !is_small(desc) || !tsl_api_dispatch_key(of->context, desc, &key))
    return false;
  const tesela_type type = desc->a.type == TESELA_TYPE_DEFAULT ? TESELA_F32 : desc->a.type;
  const int64_t size = type == TESELA_F64 ? 8 : 4;
  p->m = desc->m;
  p->n = desc->n;
  p->k = desc->k;
  p->a.type = p->b.type = p->c.type = type;
  p->alpha[0] = factor(desc->alpha, 1, type);
  p->beta[0] = factor(desc->beta, 0, type);
  of->choice.device = desc->device ? desc->device : of->context->device;
  if (!isfinite(p->alpha[0]) || !isfinite(p->beta[0]) ||
      !place(&desc->a, p->m, p->k, size, &p->a, &start[TSL_OPERAND_A], &end[TSL_OPERAND_A]) ||
      !place(&desc->b, p->k, p->n, size, &p->b, &start[TSL_OPERAND_B], &end[TSL_OPERAND_B]) ||
      !place(&c, p->m, p->n, size, &p->c, &out->start, &out->end))
    return false;
  for (int i = 0; i < TSL_OPERAND_C; i++)
    if (start[i] < out->end && out->start < end[i])
      return false;
  out->is_dense = out->end - out->start == (uintptr_t)(p->m * p->n * size);
  out->product = tsl_api_fast_product(p, desc->a.data, desc->b.data, desc->c.data);
  of->strategy = tsl_planner_at_once(p, &of->choice);
  return of->strategy != NULL;
}

static tesela_status begin(tesela_context *context, finding *of, tsl_known **known) {
  *of = (finding){.context = context,
                  .choice = {.vendors = tsl_planner_vendors(), .sparing = true},
                  .problem = tsl_problem_gemm(1, 1, 1, TESELA_F32)};
  of->problem.ask = context->ask;
  TSL_TRY(tsl_api_devices(context, &of->choice.devices));
  TSL_TRY(tsl_api_wisdom(context, known));
  of->choice.wisdom = (*known)->wisdom;
  return TESELA_OK;
}

static void find(finding *of, const tesela_gemm_desc *descs, const tesela_batch *batches, int64_t count,
                 tsl_at_once_group *out) {
  for (int64_t i = 0; i < count; i++) {
    tsl_at_once *one = &out->all[out->count];
    if (take(of, &descs[i], batches ? &batches[i] : NULL, one)) {
      one->number = i;
      out->strategy = of->strategy;
      out->count++;
    }
  }
}

int64_t tsl_grouped_find_at_once(tesela_context *context, const tesela_gemm_desc *descs,
                                 const tesela_batch *batches, int64_t count, tsl_at_once_group *out) {
  finding of;
  tsl_known *known;
  size_t bytes;
  void *block;
  tsl_status_saved saved;
  *out = (tsl_at_once_group){.count = 0};
  if (context->measure != 0 || tsl_log_may_want(TSL_LOG_CALLS) ||
      !tsl_size_mul((size_t)count, sizeof *out->all, &bytes))
    return 0;
  tsl_status_save(&saved);
  if (begin(context, &of, &known) == TESELA_OK) {
    out->cpu = tsl_devices_of_kind(of.choice.devices, 0, 0);
    if (out->cpu && tsl_device_open(out->cpu) == TESELA_OK &&
        tsl_scratch_take(bytes, "small products of a group", &block) == TESELA_OK) {
      out->all = block;
      find(&of, descs, batches, count, out);
    }
    tsl_api_wisdom_release(known);
  }
  tsl_status_restore(&saved);
  return out->count;
}

/* --- what they compute --- */

/* The strategy's, or what needs no memory and takes any strides, so that no product is left out when others are done. */
static tesela_status multiply(const tsl_fast_product *product, const tsl_strategy *strategy,
                              tsl_device *cpu) {
  if (strategy->fast_path.multiply(product, cpu))
    return TESELA_OK;
  const tsl_strategy *plainest = tsl_strategy_specification(TSL_OP_GEMM);
  tsl_plan plan = {.work = {.strategy = plainest,
                            .problem = tsl_problem_gemm(product->m, product->n, product->k, product->type),
                            .config = tsl_strategy_defaults(plainest),
                            .device = cpu},
                   .place = TSL_PLACE_HOST};
  tsl_problem *problem = &plan.work.problem;
  problem->alpha[0] = product->alpha;
  problem->beta[0] = product->beta;
  problem->a.row_stride = product->a_row;
  problem->a.col_stride = product->a_col;
  problem->b.row_stride = product->b_row;
  problem->b.col_stride = product->b_col;
  problem->c.row_stride = product->c_row;
  problem->c.col_stride = product->c_col;
  tsl_operands operands = tsl_strides_of(problem);
  operands.a.host = tsl_writable(product->a);
  operands.b.host = tsl_writable(product->b);
  operands.c.host = product->c;
  return tsl_plan_run(&plan, &operands, NULL);
}

typedef struct running {
  const tsl_at_once_group *of;
  tsl_grouped *group;
  int64_t parts;
} running;

static void multiply_part(void *argument, int64_t part, int worker) {
  const running *run = argument;
  const int64_t count = run->of->count, most = count % run->parts, size = count / run->parts;
  const int64_t first = part * size + (part < most ? part : most), end = first + size + (part < most);
  (void)worker;
  for (int64_t i = first; i < end; i++)
    tsl_grouped_note(run->group, multiply(&run->of->all[i].product, run->of->strategy, run->of->cpu));
}

void tsl_grouped_at_once(tsl_grouped *group) {
  const tsl_at_once_group *of = &group->at_once;
  double work = 0;
  for (int64_t i = 0; i < of->count; i++)
    work += 2.0 * (double)(of->all[i].product.m * of->all[i].product.n * of->all[i].product.k);
  const tsl_team team = work < shared_group ? (tsl_team){0} : tsl_device_team(of->cpu);
  const int64_t most = (int64_t)PARTS_OF_A_THREAD * tsl_team_threads(team);
  running all = {of, group, tsl_team_threads(team) == 1 ? 1 : of->count < most ? of->count : most};
  tsl_team_run(team, all.parts, multiply_part, &all);
}
