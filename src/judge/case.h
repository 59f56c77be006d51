#ifndef TSL_JUDGE_CASE_H
#define TSL_JUDGE_CASE_H

#include "judge/data.h"

typedef struct tsl_case {
  tsl_problem problem;
  tsl_data data;
  uint64_t seed;
  int repeats;            /* runs whose bits must be equal where the strategy guarantees that; 0: 1 */
  int64_t operations_max; /* as in tsl_judge */
  /* factory of sub-plans, for strategies that make any (planner/subplan_choice.h); NULL: none are made */
  const struct tsl_subplan_factory *children;
  bool loaded_only; /* refuse a strategy that needs kernels which are not loaded yet */
  /* operands only in buffers of exactly their size, for memory checkers; false: with guard bands */
  bool tight;
} tsl_case;

#endif
