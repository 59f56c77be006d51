/* What the processor does with a block of a transpose, once per instruction set and size of an element. */
#ifndef TSL_STRATEGY_TRANSPOSE_VECTOR_VECTOR_MOVES_H
#define TSL_STRATEGY_TRANSPOSE_VECTOR_VECTOR_MOVES_H

#include "host/host_isa.h"

#include <stdbool.h>
#include <stdint.h>

/* to(i, j) = factor from(i, j). Strides in bytes, of any sign. In place, from = to, and the mirrored elements
 * are exchanged. */
typedef struct tsl_moves {
  const unsigned char *from;
  unsigned char *to;
  int64_t from_stride; /* from j to j + 1 */
  int64_t to_stride;   /* from i to i + 1 */
  int64_t from_step;   /* from i to i + 1; an element but for gather() and exchange_apart() */
  int64_t to_step;     /* from j to j + 1; likewise */
  double factor;       /* of the functions that scale */
  bool nontemporal;    /* transpose() and copy() store past the caches */
} tsl_moves;

/* Elements (i, j) of i0 <= i < i1 and j0 <= j < j1; for transpose(), at most TSL_MOVES_ROWS of i. */
typedef struct tsl_moves_block {
  int64_t i0, i1, j0, j1;
} tsl_moves_block;

/* A page of a row of `from`, or a thousand rows of `to`: a block whose pages a processor's address cache
 * holds. */
#define TSL_MOVES_ROWS(size) ((size) <= 4 ? 1024 : 4096 / (size))

typedef struct tsl_moves_functions {
  /* All of the block. Where the job stores past the caches, `tails` keeps what lies between the last whole
   * line of each of its rows and the band of columns that comes next. */
  void (*transpose)(const tsl_moves *job, const tsl_moves_block *block, unsigned char (*tails)[64]);
  /* The same for any steps. */
  void (*gather)(const tsl_moves *job, const tsl_moves_block *block);
  /* In place: the block and its mirror image, which are apart, or one and the same. `next`, where it is not
   * NULL, is fetched meanwhile. */
  void (*exchange)(const tsl_moves *job, const tsl_moves_block *block, const tsl_moves_block *next);
  void (*exchange_apart)(const tsl_moves *job, const tsl_moves_block *block, const tsl_moves_block *next);
  /* `count` elements that lie side by side on both sides. */
  void (*copy)(const tsl_moves *job, const unsigned char *from, unsigned char *dst, int64_t count);
} tsl_moves_functions;

/* X(name, bytes of an element): what is moved, and the two that are scaled. */
#define TSL_MOVES_LIST(X) X(1, 1) X(2, 2) X(4, 4) X(8, 8) X(16, 16) X(f32, 4) X(f64, 8)

enum {
#define TSL_MOVES_MEMBER(name, bytes) TSL_MOVES_##name,
  TSL_MOVES_LIST(TSL_MOVES_MEMBER)
#undef TSL_MOVES_MEMBER
      TSL_MOVES_COUNT
};

/* By the enumeration above. */
#define TSL_DECLARE(isa, header, needs, ...)                                                                 \
  extern const tsl_moves_functions tsl_moves_##isa[TSL_MOVES_COUNT];
TSL_ISA_LIST(TSL_DECLARE)
#undef TSL_DECLARE

/* Those of the best set among what a device offers. */
static inline const tsl_moves_functions *tsl_moves_for(unsigned offers) {
#define SET(isa, header, needs, ...) tsl_moves_##isa,
  static const tsl_moves_functions *const sets[] = {TSL_ISA_LIST(SET)};
#undef SET
  return sets[tsl_isa_best(offers)];
}

#endif
