#include "inventory/strategy_limits.h"

#include "core/status.h"

/* Returns a sample problem of a type, for asking a strategy about the type. */
static tsl_problem strategy_limits_sample(tsl_op op, tesela_type type) {
  return tsl_problem_of(op, TSL_TERMS_K, TSL_TERMS_K, TSL_TERMS_K, type);
}

bool tsl_strategy_takes(const tsl_strategy *strategy, tesela_type type) {
  tsl_types types;
  for (int i = 0; tsl_strategy_types(strategy, i, &types); i++)
    if (types.a == type)
      return true;
  return false;
}

void tsl_strategy_each_need(const tsl_strategy *strategy, void (*add)(void *argument, const char *need),
                            void *argument) {
  unsigned offers = 0;
  const char *missing;
  while ((missing = tsl_capability_missing(strategy->needs, offers)) != NULL) {
    unsigned next = offers;
    /* the refusal named the lowest missing capability */
    next |= strategy->needs & ~offers & (~(strategy->needs & ~offers) + 1);
    if (next == offers)
      return;
    add(argument, missing);
    offers = next;
  }
}

tsl_accuracy tsl_strategy_accuracy(const tsl_strategy *strategy) {
  const tsl_problem problem = strategy_limits_sample(strategy->op, TESELA_F32);
  const tsl_config config = tsl_strategy_defaults(strategy);
  return strategy->accuracy(&problem, &config);
}

tesela_status tsl_terms_check_type(tsl_op op, tesela_type type) {
  tsl_text taken = {0};
  const tsl_type_info *each;
  bool found = false;
  for (int i = 0; (each = tsl_type_at(i)) != NULL; i++) {
    bool any = false;
    const tsl_strategy *strategy;
    for (int s = 0; (strategy = tsl_strategy_at(s)) != NULL; s++)
      any |= strategy->op == op && !strategy->vendor.load && tsl_strategy_takes(strategy, each->type);
    if (any)
      tsl_text_add(&taken, "%s%s", taken.length ? ", " : "", each->name);
    found |= any && each->type == type;
  }
  const tesela_status status =
      found ? TESELA_OK
            : tsl_fail(TESELA_UNSUPPORTED, "no %s strategy here takes %snumbers of type %s yet; there are %s",
                       tsl_op_name(op), tsl_type(type)->is_complex ? "complex " : "", tsl_type(type)->name,
                       tsl_text_get(&taken));
  tsl_text_free(&taken);
  return status;
}

static bool takes_together(const tsl_strategy *strategy, const tsl_types *wanted) {
  tsl_types types;
  for (int i = 0; tsl_strategy_types(strategy, i, &types); i++)
    if (types.a == wanted->a && types.b == wanted->b && types.c == wanted->c)
      return true;
  return false;
}

tesela_status tsl_terms_check_types(tsl_op op, const tsl_types *types) {
  const tsl_strategy *strategy;
  for (int i = 0; (strategy = tsl_strategy_at(i)) != NULL; i++)
    if (strategy->op == op && !strategy->vendor.load && takes_together(strategy, types))
      return TESELA_OK;
  TSL_TRY(tsl_terms_check_type(op, types->a));
  return tsl_fail(TESELA_UNSUPPORTED, "no %s strategy here takes %s x %s -> %s", tsl_op_name(op),
                  tsl_type(types->a)->name, tsl_type(types->b)->name, tsl_type(types->c)->name);
}
