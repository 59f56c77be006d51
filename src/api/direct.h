/* A run whose operands are known by their addresses alone: a product may take less time than all else that a plan knows. */
#ifndef TSL_API_DIRECT_H
#define TSL_API_DIRECT_H

#include "strategy/strategy.h"

/* What runs, and what it has to look at when nothing is wrong and nobody listens. */
typedef struct tsl_direct {
  tsl_fast_kernel *run; /* NULL: there is no such way */
  const void *state;
  uintptr_t unaligned; /* bits that no operand's address has */
  /* A and B are certain to overlap C where their address less C's and plus `from` is below `span`. */
  uintptr_t from[TSL_OPERAND_C], span[TSL_OPERAND_C];
} tsl_direct;

/* Whether these addresses may be given to it; if not, the long way says why. */
static inline bool tsl_direct_takes(const tsl_direct *direct, const void *a, const void *b, const void *c) {
  const uintptr_t a_at = (uintptr_t)a, b_at = (uintptr_t)b, c_at = (uintptr_t)c;
  return a && b && c && ((a_at | b_at | c_at) & direct->unaligned) == 0 &&
         a_at - c_at + direct->from[TSL_OPERAND_A] >= direct->span[TSL_OPERAND_A] &&
         b_at - c_at + direct->from[TSL_OPERAND_B] >= direct->span[TSL_OPERAND_B];
}

#endif
