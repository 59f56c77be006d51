/* A product with one large matrix, for strategies that walk it the way it lies: seen so that C is few x many.
 * Strides in elements:
 *
 *   large   element (l, j) at large + l * along + j * across            l < depth, j < many
 *   thin    element (i, l) at thin + i * thin_across + l * thin_along   i < few
 *   C       element (i, j) at c + i * c_few + j * c_many
 *
 * Or its sums are short and C itself is large: then few counts C's lines, and many the elements of one, side
 * by side. */
#ifndef TSL_STRATEGY_SKINNY_H
#define TSL_STRATEGY_SKINNY_H

#include "strategy/strategy.h"

typedef struct tsl_lopsided {
  bool is_large_c;
  bool is_swapped; /* few counts the problem's columns: the large operand is A */
  int64_t size;    /* of an element */
  int64_t few, many, depth;
  int64_t across, along, thin_across, thin_along, c_few, c_many;
  double alpha, beta;
} tsl_lopsided;

/* NULL, or why a product has neither `most` or fewer rows or columns nor `steps` or fewer steps along such a
 * C: a sentence. */
const char *tsl_lopsided_refuse(const tsl_problem *problem, int most, int steps);
/* A product of real numbers that is not refused, on operands with these strides. depth is 0 where nothing is
 * multiplied. */
tsl_lopsided tsl_lopsided_of(const tsl_problem *problem, const tsl_operands *strides, int most);

#endif
