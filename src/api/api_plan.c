#include "api/api.h"
#include "api/api_counted.h"

#include "core/floats.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/status.h"
#include "planner/kernel_self_test.h"
#include "planner/subplan_choice.h"
#include "tune/plan_race.h"

/* Returns the extent of an operand of this shape. */
static tsl_address_range address_range_of(const tsl_shape *shape, const char *name, bool used) {
  const tsl_type_info *type = tsl_type(shape->type);
  const int64_t below = tsl_shape_below(shape), extent = tsl_shape_extent(shape);
  return (tsl_address_range){.name = name,
                             .below = below,
                             .above = extent - below,
                             .size = type->size,
                             .align = tsl_type(type->component)->size,
                             .used = used && extent > 0,
                             .dense = tsl_shape_is_dense(shape)};
}

/* Names of the caller's members by operation and operand; second row: in place. */
static const char *const operand_names[TSL_OP_COUNT][2][TSL_ALL_OPERANDS] = {
    [TSL_OP_GEMM] = {{"a", "b", "c", "epilogue.bias", "epilogue.scale_a", "epilogue.scale_b"},
                     {"a", "b", "c"}},
    [TSL_OP_DOT] = {{"x", "y", "result"}},
    [TSL_OP_TRANSPOSE] = {{"a", "", "b"}, {"", "", "b"}},
    [TSL_OP_SOLVE] = {{"a", "b", "x"}, {"a", "", "x"}},
};

tesela_status tsl_api_plan_around(tsl_plan *plan, tesela_plan **out) {
  void *block;
  const tesela_status status = tsl_alloc_zeroed(sizeof **out, "a plan", &block);
  if (status != TESELA_OK) {
    tsl_plan_destroy(plan);
    return status;
  }
  *out = block;
  (*out)->plan = plan;
  const tsl_problem *problem = &plan->work.problem;
  const char *const *names = operand_names[problem->op][problem->in_place];
  for (int i = 0; i < TSL_ALL_OPERANDS; i++)
    if (tsl_problem_has_operand(problem, i))
      (*out)->reach[i] =
          address_range_of(tsl_problem_shape(problem, i), names[i], tsl_problem_uses(problem, i));
  (*out)->workspace = (size_t)tsl_plan_workspace(plan);
  (*out)->direct = tsl_api_direct(*out);
  return TESELA_OK;
}

tesela_status tsl_api_begin_plan(tesela_plan **plan) {
  if (!plan)
    return tsl_fail(TESELA_BAD_CALL, "plan is NULL");
  *plan = NULL;
  return TESELA_OK;
}

/* Refuses operands of other operations: a dot has vectors, others have matrices. */
static tesela_status check_given(const tesela_operands *operands, tsl_op op) {
  const void *const members[] = {operands->a, operands->b, operands->c,     operands->epilogue,
                                 operands->x, operands->y, operands->result};
  static const char *const names[] = {"a", "b", "c", "epilogue", "x", "y", "result"};
  static const bool are_used[TSL_OP_COUNT][sizeof names / sizeof *names] = {
      [TSL_OP_GEMM] = {true, true, true, true},
      [TSL_OP_DOT] = {false, false, false, false, true, true, true},
      [TSL_OP_TRANSPOSE] = {true, false, true},
      [TSL_OP_SOLVE] = {true, true, true}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (members[i] && !are_used[op][i])
      return tsl_fail(TESELA_BAD_CALL, "operands.%s is given, but the plan is for a %s", names[i],
                      tsl_op_name(op));
  return TESELA_OK;
}

tesela_status tsl_api_as_operands(const tesela_operands *operands, tsl_op op, tsl_api_operands *out) {
  *out = (tsl_api_operands){.given = {operands->a, operands->b}};
  TSL_TRY(check_given(operands, op));
  if (operands->x)
    out->copies[TSL_OPERAND_A] = tsl_api_vector_as_matrix(operands->x, true);
  if (operands->y)
    out->copies[TSL_OPERAND_B] = tsl_api_vector_as_matrix(operands->y, false);
  if (operands->result || operands->c)
    out->copies[TSL_OPERAND_C] =
        operands->c ? tsl_api_as_matrix(operands->c) : tsl_api_scalar_as_matrix(operands->result);
  if (op == TSL_OP_DOT) {
    out->given[TSL_OPERAND_A] = operands->x ? &out->copies[TSL_OPERAND_A] : NULL;
    out->given[TSL_OPERAND_B] = operands->y ? &out->copies[TSL_OPERAND_B] : NULL;
  }
  out->given[TSL_OPERAND_C] = operands->result || operands->c ? &out->copies[TSL_OPERAND_C] : NULL;
  if (!operands->epilogue)
    return TESELA_OK;
  const tesela_epilogue *epilogue = operands->epilogue;
  const tesela_vector *const vectors[] = {&epilogue->bias, &epilogue->scale_a, &epilogue->scale_b};
  for (int i = 0; i < TSL_ALL_OPERANDS - TSL_OPERANDS; i++) {
    out->copies[TSL_OPERANDS + i] = tsl_api_as_line(vectors[i]);
    out->given[TSL_OPERANDS + i] =
        vectors[i]->data || vectors[i]->buffer ? &out->copies[TSL_OPERANDS + i] : NULL;
  }
  return TESELA_OK;
}

/* Checks the operands and runs the plan. Not inlined, so that the shortcut saves no registers for it. */
static __attribute__((noinline)) tesela_status run_checked(tesela_plan *plan, const tesela_operands *operands,
                                                           tesela_record *record, size_t operands_size,
                                                           size_t record_size) {
  TSL_NOT_CANCELLED;
  tsl_api_operands matrices;
  tesela_operands copy;
  tesela_record full;
  if (!plan || !operands)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !plan ? "plan" : "operands");
  if (plan->batch.count > 1)
    return tsl_fail(TESELA_UNSUPPORTED, "the plan is of a batch: tesela_plan_enqueue() queues its runs");
  TSL_API_STRUCT_IMPORT(operands, operands_size, copy, tesela_operands, c);
  TSL_TRY(tsl_api_as_operands(operands, plan->plan->work.problem.op, &matrices));
  tesela_record *full_record = tsl_api_record(record, record_size, &full);
  const tesela_status status = plan->plan->spread
                                   ? tsl_api_run_single(plan, matrices.given, full_record)
                                   : tsl_api_run(plan, "", matrices.given, plan->checks, full_record);
  return tsl_api_recorded(status, record, record_size, &full);
}

static inline tesela_status plan_run(tesela_plan *plan, const tesela_operands *operands,
                                     tesela_record *record, size_t operands_size, size_t record_size) {
  if (plan && operands && !record && operands->c && operands_size == sizeof *operands &&
      !operands->epilogue && !tsl_log_may_want(TSL_LOG_CALLS)) {
    const tesela_matrix *a = operands->a, *b = operands->b, written = tsl_api_as_matrix(operands->c);
    if (tsl_api_runs_directly(plan, a, b, &written))
      return tsl_fast_call_run(&plan->direct, &plan->plan->work.problem, a->data, b->data, operands->c->data);
  }
  return run_checked(plan, operands, record, operands_size, record_size);
}

/* Counts a run; the plan has the sizes, and the operands the addresses. */
static __attribute__((noinline)) tesela_status plan_run_counted(tesela_plan *plan,
                                                                const tesela_operands *operands,
                                                                tesela_record *record, size_t operands_size,
                                                                size_t record_size) {
  tsl_counted counted;
  tsl_counted_begin(&counted, record, record_size, true);
  const tesela_status status = plan_run(plan, operands, record, operands_size, record_size);
  if (status == TESELA_OK) {
    const tsl_problem *problem = &plan->plan->work.problem;
    tesela_gemm_desc desc = tsl_api_desc_of(operands);
    desc.m = problem->m;
    desc.n = problem->n;
    desc.k = problem->k;
    desc.beta = problem->beta;
    desc.a.type = problem->a.type;
    tsl_counted_product(&counted, problem->op == TSL_OP_GEMM ? &desc : NULL, 0, 1);
    if (problem->op != TSL_OP_GEMM)
      tsl_counted_sizes(&counted, problem->m, problem->n);
  }
  counted.own.plan = status == TESELA_OK ? plan->plan->text : NULL;
  counted.record = &counted.own;
  counted.record_size = sizeof counted.own;
  return tsl_counted_end(&counted, "tesela_plan_run", status);
}

tesela_status tesela_plan_run_sized(tesela_plan *plan, const tesela_operands *operands, tesela_record *record,
                                    size_t operands_size, size_t record_size) {
  return tsl_calls_are_kept() ? plan_run_counted(plan, operands, record, operands_size, record_size)
                              : plan_run(plan, operands, record, operands_size, record_size);
}

void tesela_plan_info_sized(const tesela_plan *plan, tesela_plan_info *info, size_t info_size) {
  const tesela_plan_info full = {.text = plan ? plan->plan->text : "",
                                 .seconds = plan ? plan->plan->expected : 0,
                                 .workspace = plan ? plan->workspace : 0};
  tsl_api_struct_export(info, info_size, &full, sizeof full);
}

tesela_status tesela_plan_parse(tesela_context *context, const char *text, tesela_plan **plan) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  tsl_devices *devices;
  tsl_plan *parsed;
  if (!context || !text || !plan)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !context ? "context" : !text ? "text" : "plan");
  *plan = NULL;
  TSL_TRY(tsl_api_devices(context, &devices));
  TSL_TRY(tsl_planner_parse(devices, text, &parsed));
  if (tsl_problem_batch(&parsed->work.problem) > 1) {
    tsl_plan_destroy(parsed);
    return tsl_fail(TESELA_BAD_INPUT, "batch= is only for tesela_gemm_batched(): a plan runs one product");
  }
  const tesela_status status = tsl_self_test_plan(parsed);
  if (status != TESELA_OK) {
    tsl_plan_destroy(parsed);
    return status;
  }
  TSL_TRY(tsl_api_plan_around(parsed, plan));
  tsl_api_set_checks(*plan, context->checks);
  return TESELA_OK;
}

void tesela_plan_destroy(tesela_plan *plan) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  if (!plan)
    return;
  tsl_plan_race_free(plan->race);
  tsl_plan_destroy(plan->plan);
  tsl_free(plan);
}
