/* The judge: checks a result against a reference in higher precision, with a bound from k, the types and
 * |A||B|:
 *
 *   |C - R| <= factor * u * G + underflow,  G = |alpha| |A||B| + |beta| |C0|,  for each element.
 *
 * R is summed in double for f32, in double-double (TwoSum, TwoProd: Dekker 1971, Knuth) for f64. factor is
 * from the strategy's accuracy(); u is the unit roundoff of C's type. alpha and beta are rounded to the type
 * of the sums. underflow is half the smallest subnormal for each rounding, covered by (max(1, |alpha|) k + 2)
 * smallest. Where G is 0 the result must be 0. Integer data with exact sums must be equal, apart from one
 * rounding to C. If the strategy flushes small magnitudes or has an error from subnormal inputs, underflow
 * grows to flushes |alpha| k (max |A| + max |B| + 2). Then infinity times a flushed number may be NaN.
 *
 *   Integers are equal modulo 2^32.
 *   A dot is judged as a product. For a result rounded once the bound is u |R| and the reference's error.
 *   A transpose with alpha = 1 must have A's bits. Else each part's bound is factor * u * |alpha| |A|.
 *   A solve is judged by its residual, |alpha B - A X| <= factor * u * |A||X| plus the rounding of alpha B.
 *   Complex results are judged part by part, as real products of twice the depth, or more where alpha is
 *     complex. |A||B| is that of the parts. A product is (x u - y v, x v + y u) in IEEE 754 operations,
 *     without C99's Annex G. So an infinity among the factors leaves no part of a sum finite. A zero part of
 *     alpha or beta may be multiplied or left out.
 *   alpha multiplies the sum, also where alpha is infinite or NaN; an empty sum is not scaled.
 *   Structured operands are completed by their definition. Of C only its triangle is judged; a hermitian
 *     diagonal must be real. Zeros outside of a triangle may be multiplied or left out.
 *   The epilogue is applied to R in higher precision, f(R + bias). G includes |bias|; factor includes the
 *     slope of f. C may be rounded before the epilogue, and overflow there. An activation of -infinity is 0.
 *   With scales, R = alpha a(i) b(j) (A B) + beta C0, with G accordingly. underflow is that of the sums
 *     times the later factors. C is rounded once at the end. Sums may overflow, also once multiplied by a(i).
 *
 * Infinities and NaN follow IEEE 754 in any order of the sum: NaN or 0 * infinity among the terms gives NaN,
 * infinities of both signs give NaN, of one sign that infinity. Finite terms may overflow. +infinity is right
 * where the positive terms alone, before or after alpha, exceed the largest number (less the bound);
 * -infinity with the negative terms. NaN is right where both are, the finite R always. (docs/lab/judge.md) */
#ifndef TSL_JUDGE_JUDGE_H
#define TSL_JUDGE_JUDGE_H

#include "core/pool.h"
#include "problem/problem.h"

typedef struct tsl_verdict {
  bool right;
  double error;       /* largest |C - R| */
  double error_ratio; /* largest |C - R| / bound; right means <= 1 */
  /* largest |C - R| / (u G) after underflow is subtracted: the figure to compare strategies */
  double grade;
  int64_t row, col; /* element of the largest ratio */
  int64_t checked;  /* number of elements judged */
  int64_t wrong;    /* number of wrong elements among these */
  char why[256];    /* a sentence when wrong, else "" */
} tsl_verdict;

typedef struct tsl_judge {
  double factor;  /* allowed error in units of u G: the strategy's accuracy */
  bool exact;     /* integer data with exact sums: require equality */
  bool rounded;   /* require the exact result, rounded once to nearest */
  double flushes; /* magnitude below which the strategy may flush to 0: tsl_accuracy_underflow() */
  bool finite;    /* accept any value for elements that are not finite (accuracy's finite_only) */
  /* m x n, row by row: magnitudes of the addend where they differ from |beta||C0|; else NULL */
  const double *added;
  /* m x n, row by row: allowed TSL_KIND_... of each element, 0: by its terms; or NULL. With complex operands
   * only ignored elements are marked. */
  const unsigned char *kinds;
  /* m x n, row by row: 1 for each element that was counted as wrong before, and is not counted again. The
   * judge sets the bytes of wrong elements. Only for real products without a sample; or NULL. */
  unsigned char *counted;
  const void *bias;              /* element (0, 0) of the bias in host memory; NULL without a bias */
  const void *scale_a, *scale_b; /* element (0, 0) of each scale; ignored where it is not read */
  double allowance;              /* additional absolute error allowed, besides underflow in C's type */
  int64_t operations_max;        /* judge a sample of rows when m n k exceeds it; 0: 2^31 */
  uint64_t seed;                 /* seed of the sample */
  int threads;                   /* maximum threads of the shared pool; 0: all */
} tsl_judge;
/* Returns true for a larger ratio, or an equal ratio of an earlier element in row order. */
static inline bool tsl_verdict_is_exceeded(const tsl_verdict *verdict, double ratio, int64_t row,
                                           int64_t col) {
  if (verdict->row < 0 || ratio != verdict->error_ratio)
    return verdict->row < 0 || ratio > verdict->error_ratio;
  return row != verdict->row ? row < verdict->row : col < verdict->col;
}
static inline tsl_team tsl_judge_team(const tsl_judge *judge) {
  return tsl_pool_team(tsl_pool_shared(), judge->threads);
}

/* Judges host operands. `before` is C before the run, with C's shape; operands that are not read may be NULL.
 * Fails only for lack of memory. */
typedef tesela_status tsl_judge_function(const tsl_problem *problem, const void *a, const void *b,
                                         const void *before, const void *c, const tsl_judge *judge,
                                         tsl_verdict *verdict);
/* Judges a problem of any operation. */
tsl_judge_function tsl_judge_result;
/* Judges a gemm of general operands or a dot. */
tsl_judge_function tsl_judge_gemm;
/* Judges a gemm with real operands, and C not an integer. */
tsl_judge_function tsl_judge_real;
/* Judges a gemm of integers: equal modulo 2^32. */
tsl_judge_function tsl_judge_integer;
/* Judges a gemm with a complex operand. */
tsl_judge_function tsl_judge_complex;
/* Judges a gemm with structured operands, or with a triangle of C. */
tsl_judge_function tsl_judge_structured;
/* Judges every element of a transpose, by equal bytes if alpha is 1. Does not read b. */
tsl_judge_function tsl_judge_transpose;
/* Judges a solve by the residual alpha B - A X (judge/judge_solve.c). */
tsl_judge_function tsl_judge_solve;

/* Returns the maximum bytes, in TSL_JUDGE_BLOCKS blocks at most. Not for structures or a solve. */
enum { TSL_JUDGE_BLOCKS = 16 };
size_t tsl_judge_bytes(const tsl_problem *problem, const tsl_judge *judge);
/* Returns the part of tsl_judge_bytes() for a real product. */
size_t tsl_judge_real_bytes(int64_t rows, int64_t cols, int64_t terms, const tsl_judge *judge);
size_t tsl_judge_complex_bytes(const tsl_problem *problem, const tsl_judge *judge);
size_t tsl_judge_integer_bytes(const tsl_problem *problem, const tsl_judge *judge);
size_t tsl_judge_transpose_bytes(const tsl_judge *judge);

#endif
