/* Repair of wrong tiles of C in host memory: the strategy "sequential", the specification, computes them
 * again from A and B. C0 is copied before a run that reads it. */
#ifndef TSL_JUDGE_VERIFY_REPAIR_H
#define TSL_JUDGE_VERIFY_REPAIR_H

#include "plan/plan.h"

typedef struct tsl_repair tsl_repair;

typedef struct tsl_repair_tile {
  int64_t row, rows, col, cols;
} tsl_repair_tile;

/* Returns true if tiles of this plan's results can be computed alone, as exactly as its guarantee says. */
bool tsl_repair_supports(const tsl_plan *plan);
/* Starts before the run. Operands of the run, in host memory, must stay. Free with tsl_repair_free(). */
tesela_status tsl_repair_begin(const tsl_plan *plan, const tsl_operands *operands, tsl_team team,
                               tsl_repair **repair);
/* Computes a tile of C again, in the caller's floating-point mode. */
tesela_status tsl_repair_run(const tsl_repair *repair, const tsl_repair_tile *tile);
/* Returns the name of the strategy that computes tiles again. */
const char *tsl_repair_strategy(const tsl_repair *repair);
/* Returns its guaranteed error relative to |alpha||A||B| + |beta||C0|. */
double tsl_repair_error_bound(const tsl_repair *repair);
/* Frees a repair. NULL is allowed. */
void tsl_repair_free(tsl_repair *repair);

#endif
