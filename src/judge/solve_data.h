#ifndef TSL_JUDGE_SOLVE_DATA_H
#define TSL_JUDGE_SOLVE_DATA_H

#include "judge/data.h"

/* Turns the data of tsl_data_fill() into a solvable triangle: off-diagonal elements are small, diagonals 1 to
 * 2 in magnitude. Graded: rows and columns are scaled by powers of 2 over 24 orders, and the first 64 rows
 * grow, so that inverse(A) is large. Integer: the diagonal has powers of 2. Special: a diagonal element may
 * be zero, subnormal, huge, infinite or NaN. Unread elements are NaN. */
void tsl_solve_make_triangle(tsl_data data, uint64_t seed, const tsl_shape *shape, void *a);

/* Fills A and B. Integer data have B = A X / alpha, X of small integers, where tsl_solve_is_exact(). */
tesela_status tsl_solve_fill(const tsl_problem *problem, tsl_data data, uint64_t seed, void *a, void *b);
/* Returns true if integer data of the problem are exact in all steps: alpha is a power of 2. */
bool tsl_solve_is_exact(const tsl_problem *problem, tsl_data data);

#endif
