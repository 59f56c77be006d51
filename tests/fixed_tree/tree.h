/* The tree of src/strategy/dot/portable/fixed_tree/fixed_tree.h once more, term by term, for comparison. */
#ifndef TSL_TESTS_FIXED_TREE_TREE_H
#define TSL_TESTS_FIXED_TREE_TREE_H

#include "problem/problem.h"

/* C's bits for x and y (element 0 of each; strides as the problem has them) and C before. 32 bits of f32. */
uint64_t tree_bits(const tsl_problem *problem, const void *x, const void *y, const void *before);

#endif
