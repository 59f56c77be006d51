#include "judge/judge_verify.h"

#include "core/log.h"
#include "core/memory.h"
#include "core/status.h"
#include "host/int_math.h"
#include "judge/checksum.h"
#include "judge/device_checksum.h"
#include "judge/judge_measure.h"
#include "plan/plan.h"
#include "problem/structure.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Repair of wrong tiles of C in host memory: the strategy "sequential", the specification, computes them
 * again from A and B. C0 is copied before a run that reads it. */
typedef struct tsl_repair tsl_repair;

typedef struct tsl_repair_tile {
  int64_t row, rows, col, cols;
} tsl_repair_tile;

struct tsl_repair {
  tsl_device host; /* the caller's thread */
  tsl_plan plan;   /* of the whole product, by the specification */
  tsl_operands operands;
  unsigned char *before; /* C0, line by line without gaps; NULL: not read */
};

static tsl_work make_specification(const tsl_problem *problem) {
  const tsl_strategy *strategy = tsl_strategy_specification(problem->op);
  return (tsl_work){.strategy = strategy, .problem = *problem, .config = tsl_strategy_defaults(strategy)};
}

/* Returns true if tiles of this plan's results can be computed alone, as exactly as its guarantee says. */
static bool repair_supports(const tsl_plan *plan) {
  const tsl_problem *problem = &plan->work.problem;
  const tsl_work own = make_specification(problem);
  const bool is_as_exact =
      !tsl_numeric_requirements_has_accuracy(&problem->ask) ||
      tsl_strategy_error_bound(own.strategy, problem, &own.config) <= tsl_plan_error_bound(plan);
  return !tsl_problem_has_structure(problem) && !problem->in_place && problem->batch <= 1 &&
         problem->ask.bits == TSL_REPRODUCIBILITY_ANY && is_as_exact;
}

/* Copies a tile of C to the copy of C0, or back. */
static void copy_tile(const tsl_repair *repair, const tsl_repair_tile *tile, bool is_restored) {
  const tsl_shape *c = &repair->plan.work.problem.c;
  const size_t size = tsl_type(c->type)->size;
  const bool by_rows = tsl_abs(c->col_stride) <= tsl_abs(c->row_stride);
  const int64_t lines = by_rows ? tile->rows : tile->cols, length = by_rows ? tile->cols : tile->rows;
  for (int64_t line = 0; line < lines; line++)
    for (int64_t i = 0; i < length; i++) {
      const int64_t row = tile->row + (by_rows ? line : i), col = tile->col + (by_rows ? i : line);
      unsigned char *own = (unsigned char *)repair->operands.c.host + tsl_shape_offset(c, row, col),
                    *saved =
                        repair->before + (size_t)(by_rows ? row * c->cols + col : col * c->rows + row) * size;
      memcpy(is_restored ? own : saved, is_restored ? saved : own, size);
    }
}

/* Starts before the run. Operands of the run, in host memory, must stay. Free with repair_free(). */
static void repair_free(tsl_repair *repair) {
  if (!repair)
    return;
  tsl_free(repair->before);
  tsl_free(repair);
}

static tesela_status repair_begin(const tsl_plan *plan, const tsl_operands *operands, tsl_team team,
                                  tsl_repair **repair) {
  const tsl_problem *problem = &plan->work.problem;
  void *block, *before = NULL;
  *repair = NULL;
  TSL_TRY(tsl_alloc_zeroed(sizeof **repair, "a repair", &block));
  tsl_repair *made = block;
  made->host = (tsl_device){.kind = "cpu", .name = "cpu", .capabilities = TSL_CAN_HOST, .threads = 1};
  made->plan = (tsl_plan){.work = make_specification(problem), .place = TSL_PLACE_HOST};
  made->plan.work.device = &made->host;
  made->operands = *operands;
  made->operands.team = team;
  if (tsl_problem_reads(problem, TSL_OPERAND_C)) {
    const size_t bytes = (size_t)(problem->m * problem->n) * tsl_type(problem->c.type)->size;
    const tesela_status status = tsl_alloc(bytes, "a copy of C for its repair", &before);
    if (status != TESELA_OK) {
      repair_free(made);
      return status;
    }
    made->before = before;
    copy_tile(made, &(tsl_repair_tile){.rows = problem->m, .cols = problem->n}, false);
  }
  *repair = made;
  return TESELA_OK;
}

/* Computes a tile of C again, in the caller's floating-point mode. */
static tesela_status repair_run(const tsl_repair *repair, const tsl_repair_tile *tile) {
  tsl_plan plan = repair->plan;
  tsl_problem *problem = &plan.work.problem;
  tsl_operands operands = repair->operands;
  tsl_shape *const shapes[TSL_ALL_OPERANDS] = {&problem->a,    &problem->b,       &problem->c,
                                               &problem->bias, &problem->scale_a, &problem->scale_b};
  for (int i = 0; i < TSL_ALL_OPERANDS; i++) {
    tsl_shape *shape = shapes[i];
    tsl_operand *at = &operands.at[i];
    const bool has_rows = i != TSL_OPERAND_B && shape->rows == problem->m,
               has_cols = i != TSL_OPERAND_A && shape->cols == problem->n;
    if (!at->host || !tsl_type(shape->type))
      continue;
    const int64_t first =
        (has_rows ? tile->row * shape->row_stride : 0) + (has_cols ? tile->col * shape->col_stride : 0);
    at->host = (unsigned char *)at->host + first * (int64_t)tsl_type(shape->type)->size;
    shape->rows = has_rows ? tile->rows : shape->rows;
    shape->cols = has_cols ? tile->cols : shape->cols;
  }
  problem->m = tile->rows;
  problem->n = tile->cols;
  if (repair->before)
    copy_tile(repair, tile, true);
  return tsl_plan_run(&plan, &operands, NULL);
}

/* Returns the name of the strategy that computes tiles again. */
static const char *repair_strategy(const tsl_repair *repair) {
  return repair->plan.work.strategy->name;
}

/* Returns its guaranteed error relative to |alpha||A||B| + |beta||C0|. */
static double repair_error_bound(const tsl_repair *repair) {
  const tsl_work *work = &repair->plan.work;
  return tsl_strategy_error_bound(work->strategy, &work->problem, &work->config);
}

/* Frees a repair. NULL is allowed. */
struct tsl_verification {
  const tsl_plan *plan;
  tsl_operands operands;
  tsl_floats_before floats; /* floating-point mode of the caller, in which the product runs */
  tsl_checksum *checksum;   /* of host operands; both NULL: C is empty */
  tsl_device_checksum *device_checksum;
  tsl_repair *repair; /* NULL: wrong tiles are not computed again */
};

static bool is_in_host_memory(const tsl_plan *plan) {
  return plan->place == TSL_PLACE_HOST || tsl_device_is_host(plan->work.device);
}

/* Returns why operands on a device cannot be verified. */
static const char *refuse_on_device(const tsl_plan *plan, const tsl_operands *operands) {
  const tsl_problem *problem = &plan->work.problem;
  return tsl_problem_has_structure(problem)  ? "an operand in device memory has a structure"
         : tsl_problem_has_epilogue(problem) ? "its bias or its scales are in device memory"
         : !tsl_device_checksum_supports(plan, operands)
             ? "the device of its operands has no double precision"
             : NULL;
}

const char *tsl_verify_refuse(const tsl_plan *plan, const tsl_operands *operands) {
  const tsl_problem *problem = &plan->work.problem;
  return problem->op == TSL_OP_SOLVE ? "a solve has no checksums"
         : problem->op == TSL_OP_TRANSPOSE
             ? "a transpose has no checksums; measure_error compares its elements"
         : problem->c.triangle != TESELA_WHOLE ? "only a triangle of C is computed"
         : problem->activation != TESELA_NO_ACTIVATION
             ? "its activation hides the sums that checksums compare"
         : operands->a.packed || operands->b.packed ? "an operand is packed, and its elements are gone"
         : is_in_host_memory(plan)                  ? NULL
                                                    : refuse_on_device(plan, operands);
}

/* Returns the address of element (0, 0); NULL: the problem lacks the operand, or does not use it. */
static void *host_address(const tsl_problem *problem, const tsl_operands *operands, int operand) {
  const tsl_operand *used = &operands->at[operand];
  const tsl_type_info *type = tsl_type(tsl_problem_shape(problem, operand)->type);
  void *base = used->buffer ? used->buffer->host : used->host;
  return base && type ? (unsigned char *)base + used->offset * (int64_t)type->size : NULL;
}

/* Divides the guaranteed error of an element. *sums is the error of its sum, relative to |A||B|; *rounding is
 * the error of rounding that sum to C, relative to the element. */
static void split_guarantee(const tsl_verification *verification, const tsl_judge *rule, double *sums,
                            double *rounding) {
  const tsl_type_info *type = tsl_type(verification->plan->work.problem.c.type);
  const double unit = type->unit_roundoff * (verification->floats.rounding == FE_TONEAREST ? 1 : 2);
  const bool is_rounded_once = (rule->rounded || type->sums != type->type) &&
                               !tsl_problem_has_epilogue(&verification->plan->work.problem);
  *sums = rule->factor * type->unit_roundoff;
  *rounding = 0;
  if (type->is_integer || !is_rounded_once)
    return;
  *sums = fmax(0, *sums - type->unit_roundoff);
  *rounding = unit * (1 + unit);
}

static tesela_status begin_on_host(tsl_verification *verification, bool repairs) {
  const tsl_plan *plan = verification->plan;
  const tsl_device *device = plan->work.device;
  const tsl_problem *problem = &plan->work.problem;
  const tsl_operands *operands = &verification->operands;
  const tsl_judge rule = tsl_measure_rule(plan, &verification->floats);
  double sums, rounding;
  split_guarantee(verification, &rule, &sums, &rounding);
  const tsl_checksum_product product = {.problem = problem,
                                        .a = host_address(problem, operands, TSL_OPERAND_A),
                                        .b = host_address(problem, operands, TSL_OPERAND_B),
                                        .c = host_address(problem, operands, TSL_OPERAND_C),
                                        .bias = host_address(problem, operands, TSL_OPERAND_BIAS),
                                        .scale_a = host_address(problem, operands, TSL_OPERAND_SCALE_A),
                                        .scale_b = host_address(problem, operands, TSL_OPERAND_SCALE_B),
                                        .relative = sums,
                                        .rounding = rounding,
                                        .flushes = rule.flushes,
                                        .saturates = verification->floats.rounding != FE_TONEAREST,
                                        .team = tsl_device_is_host(device) ? tsl_device_team(device)
                                                                           : tsl_device_host_team(device)};
  TSL_TRY(tsl_checksum_begin(&product, &verification->checksum));
  if (!repairs || !repair_supports(plan))
    return TESELA_OK;
  tsl_operands in_host_memory = *operands;
  for (int i = 0; i < TSL_ALL_OPERANDS; i++)
    in_host_memory.at[i] = (tsl_operand){.host = host_address(problem, operands, i)};
  return repair_begin(plan, &in_host_memory, product.team, &verification->repair);
}

static tesela_status begin_on_device(tsl_verification *verification) {
  const tsl_judge rule = tsl_measure_rule(verification->plan, &verification->floats);
  double sums, rounding;
  split_guarantee(verification, &rule, &sums, &rounding);
  const tsl_checksum_product product = {.problem = &verification->plan->work.problem,
                                        .relative = sums,
                                        .rounding = rounding,
                                        .flushes = rule.flushes};
  return tsl_device_checksum_begin(verification->plan, &verification->operands, &product,
                                   &verification->device_checksum);
}

tesela_status tsl_verify_begin(const tsl_plan *plan, const tsl_operands *operands, bool repairs,
                               tsl_verification **verification) {
  TSL_DEFAULT_FLOATS;
  const char *why = tsl_verify_refuse(plan, operands);
  void *block;
  *verification = NULL;
  if (why)
    return tsl_fail(TESELA_UNSUPPORTED, "the result of this %s cannot be verified: %s",
                    plan->work.problem.op == TSL_OP_GEMM ? "product" : tsl_op_name(plan->work.problem.op),
                    why);
  TSL_TRY(tsl_alloc_zeroed(sizeof **verification, "a verification", &block));
  tsl_verification *made = block;
  *made = (tsl_verification){.plan = plan, .operands = *operands, .floats = floats_before};
  const bool is_empty = plan->work.problem.m == 0 || plan->work.problem.n == 0;
  const tesela_status status = is_empty                  ? TESELA_OK
                               : is_in_host_memory(plan) ? begin_on_host(made, repairs)
                                                         : begin_on_device(made);
  if (status != TESELA_OK) {
    tsl_verify_free(made);
    return status;
  }
  *verification = made;
  return TESELA_OK;
}

/* Judges the elements of a segment. Returns true if they are certainly right. */
static bool judge_listed_segment(const tsl_verification *verification, const tsl_checksum_result *result,
                                 int index, tsl_verdict *verdict) {
  const tsl_problem *problem = &verification->plan->work.problem;
  const int64_t col = result->listed[index].segment * result->segment_cols,
                cols = tsl_min(result->segment_cols, problem->n - col);
  tsl_status_saved saved;
  *verdict = (tsl_verdict){.right = false};
  if (!tsl_verify_can_repeat(verification) || tsl_problem_has_structure(problem) ||
      tsl_problem_has_scales(problem))
    return false;
  tsl_status_save(&saved);
  const tesela_status status =
      tsl_measure_segment(verification->plan, &verification->operands, &verification->floats,
                          result->listed[index].row, col, cols, verdict);
  tsl_status_restore(&saved);
  if (status != TESELA_OK)
    *verdict = (tsl_verdict){.right = false};
  return verdict->right;
}

/* Fails with the wrong element if the judge found it, else with the part of the row. */
static tesela_status fail_with_segment(const tsl_verification *verification,
                                       const tsl_checksum_result *result, int index,
                                       const tsl_verdict *verdict, tsl_verified *verified) {
  const tsl_work *work = &verification->plan->work;
  const char *is = strstr(verdict->why, " is "), *end = is ? strstr(is, " where A(") : NULL;
  verified->row = result->listed[index].row;
  verified->col = result->listed[index].segment * result->segment_cols;
  verified->cols = tsl_min(result->segment_cols, work->problem.n - verified->col);
  if (!is)
    return tsl_fail(
        TESELA_WRONG_RESULT,
        "a result of %s on %s is wrong: row %lld of C, columns %lld to %lld. The checksum is off by "
        "%.3g, with a bound of %.3g; %lld parts of rows are wrong",
        work->strategy->name, work->device->name, (long long)verified->row, (long long)verified->col,
        (long long)(verified->col + verified->cols - 1), result->listed[index].off,
        result->listed[index].bound, (long long)result->wrong);
  verified->col = verdict->col;
  verified->cols = 1;
  return tsl_fail(
      TESELA_WRONG_RESULT, "a result of %s on %s is wrong: C(%lld, %lld)%.*s; %lld parts of rows are wrong",
      work->strategy->name, work->device->name, (long long)verified->row, (long long)verified->col,
      end ? (int)(end - is) : (int)strlen(is), is, (long long)result->wrong);
}

const tsl_concurrent_hook *tsl_verify_hook(tsl_verification *verification, bool reads_memory) {
  return verification->device_checksum ? tsl_device_checksum_hook(verification->device_checksum, reads_memory)
                                       : NULL;
}

tesela_status tsl_verify_ready(tsl_verification *verification) {
  TSL_DEFAULT_FLOATS;
  return verification->device_checksum ? tsl_device_checksum_ready(verification->device_checksum) : TESELA_OK;
}

/* Compares once. */
static tesela_status compare_result(tsl_verification *verification, tsl_checksum_result *result,
                                    tsl_verified *verified) {
  TSL_DEFAULT_FLOATS;
  const tsl_problem *problem = &verification->plan->work.problem;
  *verified = (tsl_verified){0};
  *result = (tsl_checksum_result){0};
  if (verification->device_checksum)
    TSL_TRY(tsl_device_checksum_end(verification->device_checksum, result, &verified->seconds_in_run));
  else if (verification->checksum)
    tsl_checksum_end(verification->checksum, result);
  else
    return TESELA_OK;
  verified->elements = problem->m * problem->n - result->unchecked;
  verified->unchecked = result->unchecked;
  verified->hidden = result->hidden;
  for (int i = 0; i < result->listed_count; i++) {
    tsl_verdict verdict;
    if (!judge_listed_segment(verification, result, i, &verdict))
      return fail_with_segment(verification, result, i, &verdict, verified);
    tsl_log(TSL_LOG_CALLS, "%s: the checksum of row %lld is off by %.3g of %.3g, but its elements are right",
            verification->plan->text, (long long)result->listed[i].row, result->listed[i].off,
            result->listed[i].bound);
  }
  /* a device that fails in so many sums is not trusted, although the elements that were judged are right */
  if (result->wrong > TSL_CHECKSUM_LISTED)
    return fail_with_segment(verification, result, 0, &(tsl_verdict){.right = false}, verified);
  return TESELA_OK;
}

/* Returns the smallest tile with all wrong segments of a listed block of rows. */
static tsl_repair_tile get_wrong_tile(const tsl_problem *problem, const tsl_checksum_result *result,
                                      int index) {
  const int64_t col = result->listed[index].first_segment * result->segment_cols,
                end = (result->listed[index].last_segment + 1) * result->segment_cols;
  return (tsl_repair_tile){.row = result->listed[index].first_row,
                           .rows = result->listed[index].last_row - result->listed[index].first_row + 1,
                           .col = col,
                           .cols = tsl_min(end, problem->n) - col};
}

/* Computes the wrong tiles again, and compares. TESELA_WRONG_RESULT: C is still wrong. */
static tesela_status repair_tiles(tsl_verification *verification, const tsl_checksum_result *wrong,
                                  tsl_verified *verified) {
  const tsl_problem *problem = &verification->plan->work.problem;
  const tsl_repair_tile first = get_wrong_tile(problem, wrong, 0);
  tsl_checksum_result result;
  char why[384];
  snprintf(why, sizeof why, "%s", tesela_last_error());
  for (int i = 0; i < wrong->listed_count; i++) {
    const tsl_repair_tile tile = get_wrong_tile(problem, wrong, i);
    if (repair_run(verification->repair, &tile) != TESELA_OK)
      return tsl_fail(TESELA_WRONG_RESULT, "%s; computing it again failed", why);
  }
  TSL_TRY(compare_result(verification, &result, verified));
  verified->repaired = wrong->listed_count;
  verified->error_bound = repair_error_bound(verification->repair);
  snprintf(verified->note, sizeof verified->note,
           "wrong tiles of C, computed again by %s: %d, the first one in rows %lld to %lld and columns %lld "
           "to %lld; %s",
           repair_strategy(verification->repair), wrong->listed_count, (long long)first.row,
           (long long)(first.row + first.rows - 1), (long long)first.col,
           (long long)(first.col + first.cols - 1), why);
  return TESELA_OK;
}

tesela_status tsl_verify_end(tsl_verification *verification, tsl_verified *verified) {
  tsl_checksum_result result;
  const tesela_status status = compare_result(verification, &result, verified);
  if (status != TESELA_WRONG_RESULT || !verification->repair || !result.is_complete)
    return status;
  return repair_tiles(verification, &result, verified);
}

bool tsl_verify_can_repeat(const tsl_verification *verification) {
  return !tsl_problem_reads(&verification->plan->work.problem, TSL_OPERAND_C);
}

void tsl_verify_free(tsl_verification *verification) {
  if (!verification)
    return;
  tsl_checksum_free(verification->checksum);
  repair_free(verification->repair);
  tsl_device_checksum_free(verification->device_checksum);
  tsl_free(verification);
}
