#ifndef TSL_EXPLAIN_CROSSOVER_H
#define TSL_EXPLAIN_CROSSOVER_H

#include "planner/planner.h"
#include "planner/transfer_cost.h"

typedef struct tsl_crossover_part {
  int64_t from; /* smallest size of squares that run on `device`, up to the next part */
  const tsl_device *device;
} tsl_crossover_part;

enum { TSL_CROSSOVER_PARTS = 8, TSL_CROSSOVER_MIN = 16, TSL_CROSSOVER_MAX = 16384 };

typedef struct tsl_crossover {
  tsl_crossover_part parts[TSL_CROSSOVER_PARTS];
  int count;
} tsl_crossover;

/* Finds the predicted ranges for square products like this one (types, transposes, scalars), operands at
 * choice->place. Sizes are TSL_CROSSOVER_MIN to TSL_CROSSOVER_MAX. */
tesela_status tsl_crossover_find(const tsl_problem *like, const tsl_choice *choice, tsl_crossover *out);
/* Appends the ranges: "cpu, from 640 on cuda:0". */
void tsl_crossover_print(const tsl_crossover *found, tsl_text *out);

#endif
