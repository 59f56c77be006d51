/* A case: a problem with data, on which strategies are tried. */
#ifndef TSL_JUDGE_CASE_H
#define TSL_JUDGE_CASE_H

#include "judge/data.h"

typedef struct tsl_case {
  tsl_problem problem;
  tsl_data data;
  uint64_t seed;
  int repeats;            /* runs whose bits must be equal where the strategy promises that; 0: 1 */
  int64_t operations_max; /* as tsl_judge has it */
  const struct tsl_subplan_factory
      *children;    /* of a strategy that splits (strategy/subplans.h); NULL: as plans make them */
  bool loaded_only; /* refused where it would take kernels that are not loaded yet */
  bool tight;       /* in buffers alone, which hold an operand and nothing else: for memory checkers */
} tsl_case;

#endif
