#include "planner/row_order.h"

#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

#include <string.h>

/* Returns a problem with all that may select an order: types, k, structures, scalars, epilogue, requirements.
 * Its operands are dense, and sizes that a structure does not fix are 64. */
static tsl_problem make_representative(const tsl_problem *problem) {
  enum { SIZE = 64 };
  const bool is_gemm = problem->op == TSL_OP_GEMM, fixes_m = problem->a.structure != TESELA_GENERAL,
             fixes_n = problem->b.structure != TESELA_GENERAL;
  tsl_problem product = *problem;
  product.batch = 0;
  if (!is_gemm)
    return product;
  product.m = fixes_m || (fixes_n && problem->c.triangle != TESELA_WHOLE) ? problem->k : SIZE;
  product.n = fixes_n || (fixes_m && problem->c.triangle != TESELA_WHOLE) ? problem->k : SIZE;
  tsl_shape *const shapes[] = {&product.a, &product.b, &product.c};
  const int64_t rows[] = {product.m, product.k, product.m}, cols[] = {product.k, product.n, product.n};
  for (int i = 0; i < 3; i++) {
    shapes[i]->rows = rows[i], shapes[i]->cols = cols[i];
    shapes[i]->row_stride = cols[i], shapes[i]->col_stride = 1;
  }
  tsl_problem_add_bias(&product, problem->bias_axis, problem->bias.type, 1);
  tsl_problem_add_scale(&product, TSL_OPERAND_SCALE_A, problem->scaling_a, 1);
  tsl_problem_add_scale(&product, TSL_OPERAND_SCALE_B, problem->scaling_b, 1);
  return product;
}

/* Returns true if fusing the epilogue changes bits: a narrow C is rounded before a separate epilogue. */
static bool rounds_before_epilogue(const tsl_problem *problem) {
  return tsl_problem_has_epilogue(problem) && !tsl_problem_has_scales(problem) &&
         tsl_type(problem->c.type)->sums != problem->c.type;
}

static bool fuses(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_config *config,
                  const tsl_device *device) {
  return rounds_before_epilogue(problem) && tsl_strategy_fuses_epilogue(strategy, problem, config, device);
}

static const char *name_of(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_config *config,
                           const tsl_device *device) {
  tsl_problem room;
  return tsl_strategy_row_order(strategy, tsl_problem_without_epilogue(problem, &room), config, device);
}

/* Finds the order of the strategy's first config that is not refused: its defaults, else in a walk. */
static bool find_order(const tsl_strategy *strategy, const tsl_problem *problem, const tsl_device *device,
                       tsl_row_order *order) {
  tsl_config config = tsl_strategy_defaults(strategy);
  tsl_walk walk = {.begun = false};
  bool is_found = !tsl_strategy_refuse(strategy, problem, &config, device);
  while (!is_found && tsl_strategy_walk(strategy, problem, device, &walk)) {
    config = walk.config;
    is_found = !tsl_strategy_refuse(strategy, problem, &config, device);
  }
  if (is_found)
    *order = (tsl_row_order){name_of(strategy, problem, &config, device),
                             fuses(strategy, problem, &config, device)};
  return is_found;
}

tsl_row_order tsl_row_order_of(const tsl_problem *problem, const tsl_device *device) {
  const tsl_problem product = make_representative(problem);
  tsl_row_order order, exact = {NULL, false};
  int count = 0;
  if (!tsl_problem_fixes_rows(problem))
    return exact;
  while (tsl_strategy_at(count))
    count++;
  for (int i = count - 1; i >= 0; i--) {
    if (!find_order(tsl_strategy_at(i), &product, device, &order))
      continue;
    if (strcmp(order.name, TSL_EXACT_ORDER) != 0)
      return order;
    exact = exact.name ? exact : order;
  }
  return exact;
}

const char *tsl_row_order_refuse(const tsl_row_order *order, const tsl_strategy *strategy,
                                 const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device) {
  if (!order->name)
    return NULL;
  const char *name = name_of(strategy, problem, config, device);
  if (name && strcmp(name, order->name) != 0)
    return tsl_refusal("adds in the order \"%s\"; bits=rows selects \"%s\" for these types and k", name,
                       order->name);
  return fuses(strategy, problem, config, device) != order->fuses
             ? "rounds C before the epilogue, or not, unlike the choice of bits=rows for these types"
             : NULL;
}
