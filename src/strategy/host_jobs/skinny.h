/* A product with one large matrix, seen as a C of few x many elements, for strategies that follow the large
 * matrix in memory order. Strides in elements:
 *
 *   large   element (l, j) at large + l * along + j * across            l < depth, j < many
 *   thin    element (i, l) at thin + i * thin_across + l * thin_along   i < few
 *   C       element (i, j) at c + i * c_few + j * c_many
 *
 * With a small k, C is the large matrix: `few` counts its lines, `many` the contiguous elements of a line. */
#ifndef TSL_STRATEGY_SKINNY_H
#define TSL_STRATEGY_SKINNY_H

#include "strategy/strategy.h"

typedef struct tsl_lopsided {
  bool is_large_c;
  bool is_swapped;          /* `few` counts the problem's columns: the large operand is A */
  int64_t size;             /* bytes of an element */
  int64_t few, many, depth; /* lines of the thin operand (of C if is_large_c); elements of a line; k */
  int64_t across, along, thin_across, thin_along, c_few, c_many;
  double alpha, beta;
} tsl_lopsided;

/* Returns NULL, or a refusal: m and n exceed `thin_max`, and k exceeds `k_max` or C has no unit stride. */
const char *tsl_lopsided_refuse(const tsl_problem *problem, int thin_max, int k_max);
/* Returns the skinny form of a real product that is not refused. depth is 0 where A and B are not read. */
tsl_lopsided tsl_lopsided_of(const tsl_problem *problem, const tsl_operands *strides, int thin_max);

#endif
