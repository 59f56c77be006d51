#include "strategy/gemm/peer/vendor_cublaslt/vendor_cublaslt_types.h"

uint32_t tsl_lt_element_alignment(const tsl_problem *problem) {
  const tsl_type_info *info = tsl_type(problem->a.type);
  return info->is_integer ? 4 : info->size == 1 ? 16 : (uint32_t)info->size;
}

static double allows(const tsl_problem *problem, const tsl_numeric_requirements *ask) {
  const double unit = tsl_type(TESELA_F32)->unit_roundoff;
  const int64_t terms = tsl_type(problem->c.type)->is_complex ? 2 * problem->k : problem->k;
  return tsl_numeric_requirements_error_limit(ask, terms, unit, unit);
}

static tsl_numeric_requirements tf32_ask(void) {
  tsl_numeric_requirements ask = {.bits = TSL_REPRODUCIBILITY_ANY};
  (void)tsl_numeric_requirements_parse_accuracy("tf32", &ask);
  return ask;
}

double tsl_lt_tf32_bound(const tsl_problem *problem) {
  const tsl_numeric_requirements tf32 = tf32_ask();
  return allows(problem, &tf32);
}

bool tsl_lt_takes_tf32(const tsl_problem *problem) {
  const tsl_numeric_requirements *ask = &problem->ask;
  return (problem->c.type == TESELA_F32 || problem->c.type == TESELA_C64) &&
         tsl_numeric_requirements_has_accuracy(ask) && ask->accuracy != TSL_ACCURACY_EXACT &&
         allows(problem, ask) >= tsl_lt_tf32_bound(problem);
}
