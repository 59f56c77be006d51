#include "planner/nearest.h"

#include "core/status.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

/* Operands whose types must match. */
enum { BY_A = 1, BY_A_AND_B, BY_ALL };

/* Returns true if the types are the problem's: A's (BY_A), A's and B's (BY_A_AND_B), or all (BY_ALL). */
static bool types_match(const tsl_types *types, const tsl_problem *problem, int by) {
  return types->a == problem->a.type && (by < BY_A_AND_B || types->b == problem->b.type) &&
         (by < BY_ALL || types->c == problem->c.type);
}

/* Returns the types, as bits, that strategies support for B with A's type, or for C with A's and B's. */
static unsigned list_supported_types(const tsl_problem *problem, int by) {
  unsigned found = 0;
  tsl_types types;
  for (int s = 0; tsl_strategy_at(s); s++)
    for (int i = 0;
         tsl_strategy_at(s)->op == problem->op && tsl_strategy_types(tsl_strategy_at(s), i, &types); i++)
      if (types_match(&types, problem, by))
        found |= 1u << (by == BY_A ? types.b : types.c);
  return found;
}

static void nearest_add_types(unsigned found, tsl_text *text) {
  const char *separator = "";
  for (int type = 0; found >> type; type++)
    if (found >> type & 1) {
      const unsigned rest = found >> type >> 1;
      tsl_text_add(text, "%s%s", separator, tsl_type((tesela_type)type)->name);
      separator = rest & (rest - 1) ? ", " : " or ";
    }
}

bool tsl_planner_types_are_wrong(const tsl_problem *problem) {
  tsl_problem room;
  return list_supported_types(tsl_problem_without_epilogue(problem, &room), BY_ALL) == 0;
}

static const char *const names[TSL_OP_COUNT][TSL_OPERANDS] = {[TSL_OP_GEMM] = {"A", "B", "C"},
                                                              [TSL_OP_DOT] = {"x", "y", "the result"},
                                                              [TSL_OP_TRANSPOSE] = {"A", "", "B"},
                                                              [TSL_OP_SOLVE] = {"A", "B", "X"}};

static tesela_status nearest_refuse_types(const tsl_problem *problem) {
  const unsigned of_b = list_supported_types(problem, BY_A), of_c = list_supported_types(problem, BY_A_AND_B);
  const int wrong = of_c ? TSL_OPERAND_C : TSL_OPERAND_B;
  const char *const *name = names[problem->op];
  tsl_text text = {0};
  for (int i = 0; i < wrong; i++)
    if (*name[i])
      tsl_text_add(&text, "%s%s is %s", i ? " and " : "", name[i],
                   tsl_type(tsl_problem_shape(problem, i)->type)->name);
  if (of_b) {
    tsl_text_add(&text, ", so %s can be ", name[wrong]);
    nearest_add_types(of_c ? of_c : of_b, &text);
    tsl_text_add(&text, ", and it is %s", tsl_type(tsl_problem_shape(problem, wrong)->type)->name);
  } else {
    tsl_text_add(&text, ", which no strategy supports in a %s", tsl_op_name(problem->op));
  }
  const tesela_status status = tsl_fail(TESELA_UNSUPPORTED, "%s", tsl_text_get(&text));
  tsl_text_free(&text);
  return status;
}

/* Stages of refusal, the nearest to success first. Strategies that split know the least sufficient memory. */
enum { BY_GUARANTEE, BY_SPLIT, BY_SIZE, BY_FORM, BY_DEVICE };

/* Returns the first reason of a refused candidate: the larger, the farther from success. */
static int get_refusal_stage(const tsl_problem *problem, const tsl_candidate *candidate) {
  const tsl_strategy *strategy = candidate->strategy;
  tsl_problem asks_nothing = *problem;
  asks_nothing.ask = (tsl_numeric_requirements){.accuracy = TSL_ACCURACY_DEFAULT};
  return tsl_capability_missing(strategy->needs, candidate->device->capabilities)    ? BY_DEVICE
         : tsl_strategy_refuse_anywhere(strategy, &asks_nothing, &candidate->config) ? BY_FORM
         : tsl_strategy_refuse_anywhere(strategy, problem, &candidate->config)       ? BY_GUARANTEE
         : strategy->splits.parts                                                    ? BY_SPLIT
                                                                                     : BY_SIZE;
}

/* Returns the sort key of too weak guarantees: the error bound. */
static double nearest_bound_of(const tsl_problem *problem, const tsl_candidate *candidate, int stage) {
  return stage == BY_GUARANTEE ? tsl_strategy_error_bound(candidate->strategy, problem, &candidate->config)
                               : 0;
}

static const tsl_candidate *find_nearest(const tsl_problem *problem, const tsl_candidate *candidates,
                                         int count) {
  const tsl_candidate *nearest = NULL;
  int least_stage = 0;
  double least_bound = 0;
  for (int i = 0; i < count; i++) {
    const int stage = get_refusal_stage(problem, &candidates[i]);
    const double bound = nearest_bound_of(problem, &candidates[i], stage);
    if (nearest && (stage > least_stage || (stage == least_stage && !(bound < least_bound))))
      continue;
    nearest = &candidates[i];
    least_stage = stage;
    least_bound = bound;
  }
  return nearest;
}

tesela_status tsl_planner_refuse(const tsl_problem *problem, const tsl_candidate *candidates, int count) {
  tsl_problem room;
  if (tsl_planner_types_are_wrong(problem))
    return nearest_refuse_types(tsl_problem_without_epilogue(problem, &room));
  const tsl_candidate *nearest = find_nearest(problem, candidates, count);
  tsl_text more = {0};
  if (count > 1)
    tsl_text_add(&more, "; and %d more, listed by tesela explain", count - 1);
  const tesela_status status =
      tsl_fail(TESELA_UNSUPPORTED, "no strategy supports this %s: %s on %s: %s%s", tsl_op_name(problem->op),
               nearest->strategy->name, nearest->device->name, nearest->refusal, tsl_text_get(&more));
  tsl_text_free(&more);
  return status;
}
