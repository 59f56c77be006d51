/* What cases of solves are filled with: triangles that can be solved with. */
#ifndef TSL_JUDGE_SOLVE_DATA_H
#define TSL_JUDGE_SOLVE_DATA_H

#include "judge/data.h"

/* Makes a triangle to solve with of what tsl_data_fill() left there: elements beside the diagonal small
 * enough that a solution does not grow with the number of rows, and a diagonal from 1 to 2 in magnitude.
 * Graded, rows and columns are scaled by powers of 2 on 24 orders, and the first 64 rows grow from one to the
 * next, so that inverse(A) is large. Integers have powers of 2 on the diagonal. Special, one of the diagonal
 * may be zero, subnormal, huge, infinite or NaN. What is not read is NaN. */
void tsl_solve_settle(tsl_data data, uint64_t seed, const tsl_shape *shape, void *a);

/* Fills A, and what holds B: integers are B = A X / alpha of an X of small integers, where
 * tsl_solve_is_exact(). */
tesela_status tsl_solve_fill(const tsl_problem *problem, tsl_data data, uint64_t seed, void *a, void *b);
/* Whether integer data of such a problem are exact all the way: alpha is a power of 2. */
bool tsl_solve_is_exact(const tsl_problem *problem, tsl_data data);

#endif
