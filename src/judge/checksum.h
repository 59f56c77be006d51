/* Checksums of a product in host memory (Huang, Abraham 1984). With weights r(j) of one sign or the other,
 * each row i of a segment J of columns must satisfy
 *
 *   d = sum of r(j) C(i, j) - (alpha A (B r) + beta C0 r)(i)     over the columns j of J
 *   |d| <= T(i),  T(i) = |alpha| sum over l of |A(i, l)| t(l) + u sum of |C(i, j)| + ...
 *
 *            B   | J |        s(l) = sum of r(j) B(l, j): one vector for each segment
 *            s   | s |        t(l): largest sum of |B(l, j)| of a segment, times the error of one element
 *     A      C               d: a row of C against a row of A times s
 *     ---      |---|
 *
 * T is the sum of the guaranteed errors of the segment's elements plus the error of the checksum itself. So a
 * right result never exceeds T, and an element that is off by more than 2 T always does. Integers use odd
 * weights modulo 2^32, and one segment: d must be 0. A single wrong element always makes d another number. A
 * complex product is checked by parts, |A| and |B| being sums of magnitudes of both parts. Threads of `team`
 * divide the rows. */
#ifndef TSL_JUDGE_CHECKSUM_H
#define TSL_JUDGE_CHECKSUM_H

#include "core/pool.h"
#include "problem/problem.h"

typedef struct tsl_checksum tsl_checksum;

typedef struct tsl_checksum_product {
  const tsl_problem *problem; /* a gemm or dot, C being general, without an activation */
  const void *a, *b, *c;      /* elements (0, 0) in host memory; a and b may be NULL if they are not read */
  const void *bias, *scale_a, *scale_b; /* element (0, 0) of each; NULL where there is none */
  double relative;                      /* guaranteed error of a sum relative to |alpha||A||B| + |beta||C0| */
  double rounding; /* error of an element relative to itself, where sums are rounded once to C; else 0 */
  double flushes;  /* magnitude below which factors may be replaced by 0 */
  bool saturates;  /* sums that overflow may become the largest number, as in directed rounding */
  tsl_team team;
} tsl_checksum_product;

/* Wrong segments of a block of rows. */
typedef struct tsl_checksum_fault {
  int64_t row, segment;                                     /* of the largest ratio */
  double off, bound;                                        /* |d| and T */
  int64_t first_row, last_row, first_segment, last_segment; /* smallest tile with all wrong segments */
} tsl_checksum_fault;

/* Blocks of rows with wrong segments, of which the first are listed. */
enum { TSL_CHECKSUM_LISTED = 16 };
typedef struct tsl_checksum_result {
  int64_t segment_cols; /* columns of a segment; the last may have fewer */
  int64_t unchecked;    /* elements in segments with numbers that are not finite */
  double hidden;        /* largest error of an element that can be overlooked: the maximum of 2 T */
  int64_t wrong;        /* wrong segments */
  tsl_checksum_fault listed[TSL_CHECKSUM_LISTED];
  int listed_count;
  bool is_complete; /* all blocks with wrong segments are listed, with their tiles */
} tsl_checksum_result;

/* Returns the columns of a segment of floats: few segments where A is multiplied fast, as A is multiplied by
 * a vector of each. A multiple of 256, or n. */
int64_t tsl_checksum_segment(const tsl_problem *problem);
/* Allocates all memory of a check, and sums C before the run if the product reads it. */
tesela_status tsl_checksum_begin(const tsl_checksum_product *product, tsl_checksum **checksum);
/* Compares after the run. Does not fail. */
void tsl_checksum_end(tsl_checksum *checksum, tsl_checksum_result *result);
/* Frees a check. NULL is allowed. */
void tsl_checksum_free(tsl_checksum *checksum);

#endif
