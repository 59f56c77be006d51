#ifndef TSL_STRATEGY_TRANSPOSE_VECTOR_VECTOR_MOVES_H
#define TSL_STRATEGY_TRANSPOSE_VECTOR_VECTOR_MOVES_H

#include "host/host_isa.h"

#include <stdbool.h>
#include <stdint.h>

/* Transpose to(i, j) = factor from(i, j), strides in bytes. In place, from = to: elements are exchanged.
 * Steps are the element size except for gather() and exchange_elementwise(). */
typedef struct tsl_moves {
  const unsigned char *from;
  unsigned char *to;
  int64_t from_stride; /* bytes from j to j + 1 */
  int64_t to_stride;   /* bytes from i to i + 1 */
  int64_t from_step;   /* bytes from i to i + 1 */
  int64_t to_step;     /* bytes from j to j + 1 */
  double factor;       /* for functions that scale */
  bool nontemporal;    /* transpose() and copy() use non-temporal stores */
} tsl_moves;

/* Elements (i, j) with i0 <= i < i1 and j0 <= j < j1; for transpose(), at most TSL_MOVES_ROWS of i. */
typedef struct tsl_moves_block {
  int64_t i0, i1, j0, j1;
} tsl_moves_block;

/* Maximum rows of a block: a page of a row of `from`, or 1024 rows of `to`, whose pages fit the TLB. */
#define TSL_MOVES_ROWS(size) ((size) <= 4 ? 1024 : 4096 / (size))

typedef struct tsl_moves_functions {
  /* Transposes a block. With non-temporal stores, `tails` keeps the remainder of each row after its last
   * whole line until the next band of columns. */
  void (*transpose)(const tsl_moves *job, const tsl_moves_block *block, unsigned char (*tails)[64]);
  /* Transposes a block element by element, with any steps. */
  void (*gather)(const tsl_moves *job, const tsl_moves_block *block);
  /* Exchanges a block in place with its mirror image, disjoint or identical. Prefetches `next` (or NULL). */
  void (*exchange)(const tsl_moves *job, const tsl_moves_block *block, const tsl_moves_block *next);
  /* Exchanges like exchange(), element by element, with any steps. */
  void (*exchange_elementwise)(const tsl_moves *job, const tsl_moves_block *block,
                               const tsl_moves_block *next);
  /* Copies `count` elements that are contiguous on both sides. */
  void (*copy)(const tsl_moves *job, const unsigned char *from, unsigned char *dst, int64_t count);
} tsl_moves_functions;

/* X(name, bytes of an element): sizes that are moved, and two types that are scaled. */
#define TSL_MOVES_LIST(X) X(1, 1) X(2, 2) X(4, 4) X(8, 8) X(16, 16) X(f32, 4) X(f64, 8)

enum {
#define TSL_MOVES_MEMBER(name, bytes) TSL_MOVES_##name,
  TSL_MOVES_LIST(TSL_MOVES_MEMBER)
#undef TSL_MOVES_MEMBER
      TSL_MOVES_COUNT
};

#define TSL_DECLARE(isa, header, needs, ...)                                                                 \
  extern const tsl_moves_functions tsl_moves_##isa[TSL_MOVES_COUNT];
TSL_ISA_LIST(TSL_DECLARE)
#undef TSL_DECLARE

/* Returns the functions of the best instruction set in the bits `offers` (TSL_CAN_...). */
static inline const tsl_moves_functions *tsl_moves_for(unsigned offers) {
#define SET(isa, header, needs, ...) tsl_moves_##isa,
  static const tsl_moves_functions *const sets[] = {TSL_ISA_LIST(SET)};
#undef SET
  return sets[tsl_isa_best(offers)];
}

#endif
