/* Sets of indices of one dimension: spans of consecutive indices in ascending order. Each span has
 * its position in a local array. An owner's rows and a panel's columns are both lists of spans. A
 * block has one span, a block-cyclic part has many. Intersections are computed span by span, at no
 * cost per element. */
#ifndef TSL_COMM_INTERVALS_H
#define TSL_COMM_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>
#include <tesela/tesela.h>

typedef struct tsl_span {
  int64_t at, length; /* indices at, ..., at + length - 1 */
  int64_t local;      /* position of the first index in the local array */
} tsl_span;

/* Part of a list: its indices at positions [first, last), with positions counted from `first`.
 * Positions of spans ascend. */
typedef struct tsl_dim {
  const tsl_span *list;
  int64_t count;
  int64_t first, last;
} tsl_dim;

/* Returns the dim that covers a whole list. The list stays the caller's. */
tsl_dim tsl_dim_of(const tsl_span *list, int64_t count);
/* Returns the dim that covers positions [first, last) of a list. */
tsl_dim tsl_dim_part(const tsl_span *list, int64_t count, int64_t first, int64_t last);
/* Returns the number of indices. */
int64_t tsl_dim_total(const tsl_dim *dim);

/* Returns true if two dims have the same list, or equal single spans. Does not compare long lists. */
bool tsl_dim_same(const tsl_dim *a, const tsl_dim *b);

/* Iterator over the common runs of two dims, in ascending order. Zero all members except a and b. */
typedef struct tsl_spans_intersect {
  const tsl_dim *a, *b;
  int64_t i, j;
  int64_t length;     /* length of the current run */
  int64_t in_a, in_b; /* positions of the run's first index */
  bool begun;
} tsl_spans_intersect;
/* Advances to the next run; returns false after the last run. */
bool tsl_spans_intersect_next(tsl_spans_intersect *meet);
/* Returns the number of common indices. */
int64_t tsl_dim_common(const tsl_dim *a, const tsl_dim *b);

/* Distribution of a dimension of `size` indices over `parts` parts. The operand covers the indices
 * [begin, begin + length), counted from 0. block 0: part i has [i size/parts, (i + 1) size/parts).
 * Otherwise: block-cyclic with blocks of `block` indices, the first on part `first` (as in
 * ScaLAPACK). */
typedef struct tsl_dealing {
  int64_t size, begin, length, block;
  int parts, first;
} tsl_dealing;
/* Returns the maximum number of spans of a part. */
int64_t tsl_dealing_spans(const tsl_dealing *dealing, int part);
/* Writes the spans of a part, with positions in the part's local array. `out` has room for
 * tsl_dealing_spans() spans. Returns the number of spans written. */
int64_t tsl_dealing_list(const tsl_dealing *dealing, int part, tsl_span *out);
/* Returns the length of a part's local array for all `size` indices. */
int64_t tsl_dealing_local(const tsl_dealing *dealing, int part);
/* Returns floor(whole * part / parts) without overflow: the begin of part `part` of an even split. */
int64_t tsl_even(int64_t whole, int64_t part, int64_t parts);

#endif
