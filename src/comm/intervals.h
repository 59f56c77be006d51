/* Where the indices of one dimension lie: spans of consecutive indices, in ascending order, each with its
 * place in a local array. Both an operand's owner and a panel that a product needs are such lists, one for
 * the rows and one for the columns: a block has one span, a block-cyclic part has many. What two of them have
 * in common is found span by span, so that nothing costs time for each element. */
#ifndef TSL_COMM_INTERVALS_H
#define TSL_COMM_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>
#include <tesela/tesela.h>

typedef struct tsl_span {
  int64_t at, length; /* indices at, at + 1, ... */
  int64_t local;      /* where the first of them lies */
} tsl_span;

/* A list, or a part of one: of its indices only those whose place is in [first, last), counted from first.
 * The spans' places ascend. */
typedef struct tsl_dim {
  const tsl_span *list;
  int64_t count;
  int64_t first, last;
} tsl_dim;

/* The whole of a list. */
tsl_dim tsl_dim_of(const tsl_span *list, int64_t count);
/* Places [first, last) of a list. */
tsl_dim tsl_dim_part(const tsl_span *list, int64_t count, int64_t first, int64_t last);
/* How many indices it has. */
int64_t tsl_dim_total(const tsl_dim *dim);

/* Whether two dims are the same list, or the same one span: what is told without looking through lists. */
bool tsl_dim_same(const tsl_dim *a, const tsl_dim *b);

/* Walks over what two dims have in common, from the lowest index: zero it but for a and b, then
 * tsl_spans_intersect_next() until it says false. */
typedef struct tsl_spans_intersect {
  const tsl_dim *a, *b;
  int64_t i, j;
  int64_t length;     /* of the run that was found */
  int64_t in_a, in_b; /* places of its first index */
  bool begun;
} tsl_spans_intersect;
bool tsl_spans_intersect_next(tsl_spans_intersect *meet);
/* How many indices two dims have in common. */
int64_t tsl_dim_common(const tsl_dim *a, const tsl_dim *b);

/* How a dimension of `size` indices is dealt out to `parts` parts: the indices [begin, begin + length) of it
 * are the operand's, and are counted from 0 there. block 0: in even blocks, part i has [i size/parts, (i + 1)
 * size/parts). Else blocks of so many indices by turns, the first to part `first` (ScaLAPACK's). */
typedef struct tsl_dealing {
  int64_t size, begin, length, block;
  int parts, first;
} tsl_dealing;
/* The spans of one part, whose places are those in the part's local array. out has room for
 * tsl_dealing_spans() of them; returns how many there are. */
int64_t tsl_dealing_spans(const tsl_dealing *dealing, int part);
int64_t tsl_dealing_list(const tsl_dealing *dealing, int part, tsl_span *out);
/* Length of a part's local array in this dimension, all of `size` dealt out. */
int64_t tsl_dealing_local(const tsl_dealing *dealing, int part);
/* Of `whole` things in `parts` even parts, those before part `part`: floor(whole part / parts), without
 * overflow. */
int64_t tsl_even(int64_t whole, int64_t part, int64_t parts);

#endif
