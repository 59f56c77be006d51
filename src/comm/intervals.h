/* Index sets of one dimension: ascending spans of consecutive indices with positions in a local array. A
 * block has one span, a block-cyclic part many. Intersections are computed span by span. */
#ifndef TSL_COMM_INTERVALS_H
#define TSL_COMM_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>
#include <tesela/tesela.h>

typedef struct tsl_span {
  int64_t at, length; /* indices at, ..., at + length - 1 */
  int64_t local;      /* the first index's position */
} tsl_span;

/* Part of a list: indices at positions [first, last), counted from `first`. Positions of spans ascend. */
typedef struct tsl_dim {
  const tsl_span *list;
  int64_t count;
  int64_t first, last;
} tsl_dim;

/* Covers a whole list, which stays the caller's. */
tsl_dim tsl_dim_of(const tsl_span *list, int64_t count);
/* Covers positions [first, last) of a list. */
tsl_dim tsl_dim_part(const tsl_span *list, int64_t count, int64_t first, int64_t last);
int64_t tsl_dim_total(const tsl_dim *dim);

/* Returns true for the same list, or equal single spans. Does not compare long lists. */
bool tsl_dim_same(const tsl_dim *a, const tsl_dim *b);

/* Iterator over common runs, ascending. Zero all members except a and b. */
typedef struct tsl_spans_intersect {
  const tsl_dim *a, *b;
  int64_t i, j;
  int64_t length;     /* of the current run */
  int64_t in_a, in_b; /* positions of its first index */
  bool begun;
} tsl_spans_intersect;
/* Advances to the next common run; returns false after the last run. */
bool tsl_spans_intersect_next(tsl_spans_intersect *meet);
/* Returns the number of common indices. */
int64_t tsl_dim_common(const tsl_dim *a, const tsl_dim *b);

/* Distribution of `size` indices over `parts` parts; the operand has [begin, begin + length). block 0: part i
 * has [i size/parts, (i + 1) size/parts). Else block-cyclic from part `first` on, as in ScaLAPACK. */
typedef struct tsl_dealing {
  int64_t size, begin, length, block;
  int parts, first;
} tsl_dealing;
/* Returns the maximum number of spans. */
int64_t tsl_dealing_spans(const tsl_dealing *dealing, int part);
/* Writes a part's spans to `out`, which has room for tsl_dealing_spans(). Returns their number. */
int64_t tsl_dealing_list(const tsl_dealing *dealing, int part, tsl_span *out);
/* Returns the length of a part's local array. */
int64_t tsl_dealing_local(const tsl_dealing *dealing, int part);
/* Returns floor(whole * part / parts) without overflow. */
int64_t tsl_even(int64_t whole, int64_t part, int64_t parts);

#endif
