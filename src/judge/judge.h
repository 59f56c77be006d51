/* The judge: whether a result is right, by a reference in higher precision and a bound from k, the types and
 * |A||B|.
 *
 *  |C - R| <= factor * u * G + underflow,  G = |alpha| |A||B| + |beta| |C0|,  element by element,
 *
 * where R is summed in double for f32 and in double-double (TwoSum, TwoProd: Dekker 1971, Knuth) for f64,
 * factor is the strategy's accuracy() and u the unit roundoff of C's type. alpha and beta are taken as the
 * type of the sums has them, which is C's, or f32 for f16 and bf16. underflow is half the smallest subnormal
 * for each rounding that may lose so much: (max(1, |alpha|) k + 2) smallest covers them. Where G is 0 the
 * result must be 0. Integer data whose sums are exact must be equal, or what one rounding to C makes of them.
 * Where the strategy says that it flushes small magnitudes to 0, or that factors may count as off by so much,
 * underflow is what that may cost: flushes |alpha| k (max |A| + max |B| + 2), and an infinity that meets one
 * of them may become NaN.
 *
 * Integers are compared modulo 2^32, bit by bit.
 *
 * A dot is judged as the product that it is. Where the strategy promises a result rounded once, the bound is
 * that of one rounding, u |R|, and what the reference itself may be off. A transpose with alpha = 1 must have
 * A's bits; else factor * u * |alpha| |A| bounds it, part by part where elements are complex.
 *
 * A solve is judged by what its rows leave, |alpha B - A X| <= factor * u * |A||X| and alpha B's rounding:
 * judge/judge_solve.c.
 *
 * Complex results are judged part by part: each part is a real product of twice the depth, and of more where
 * alpha is complex, |A||B| being that of the parts. A complex product is (x u - y v, x v + y u), in real
 * operations of IEEE 754 and nothing more: C99's Annex G, which makes infinities of some NaN, is not
 * followed. So an infinity among the factors leaves no part of a sum finite. A part of alpha or beta that is
 * 0 may be multiplied or left out.
 *
 * alpha scales what A B came to, also where alpha is infinite or NaN; an empty sum is not scaled, whatever
 * alpha is.
 *
 * Operands with structures are completed by their definition and judged as general ones; of C its triangle is
 * looked at, and a hermitian diagonal must be real. Zeros beside a triangle may be multiplied or left out.
 *
 * A last step is computed of R in higher precision, f(R + bias), and judged by what f, whose slope factor
 * counts, makes of both bounds: |bias| belongs to G. C may have been rounded before, and so pass its type's
 * range there and be infinite. Of -infinity f is 0, but of none.
 *
 * With scales that is R = alpha a(i) b(j) (A B) + beta C0 and G = |alpha a(i) b(j)| |A||B| + |beta| |C0| +
 * |bias|; underflow is what it is of the sums, times what multiplies them afterwards. C is rounded once,
 * behind all of it, so that nothing passes its range before. The sums may pass theirs, and what is left of
 * them once a(i) has multiplied them, which makes infinities and NaN of it.
 *
 * Infinities and NaN follow IEEE 754, in whatever order the sum is made: NaN or 0 * infinity among the terms
 * gives NaN, so do infinities of both signs, and those of one sign give that infinity. Terms that are finite
 * may overflow on their way: +infinity is right where the positive terms alone, before or after alpha, pass
 * the largest number (less the bound), -infinity likewise, NaN where both do; the finite R stays right as
 * well.
 * Measurements: docs/lab/judge.md. */
#ifndef TSL_JUDGE_JUDGE_H
#define TSL_JUDGE_JUDGE_H

#include "base/pool.h"
#include "strategy/problem.h"

typedef struct tsl_verdict {
  bool right;
  double error;       /* largest |C - R| */
  double error_ratio; /* largest |C - R| over its bound: right means <= 1 */
  double grade;       /* largest |C - R| / (u G), underflow taken off: the figure to compare strategies by */
  int64_t row, col;   /* of the largest ratio */
  int64_t checked;    /* elements that were looked at */
  char why[256];      /* a sentence when wrong, else "" */
} tsl_verdict;

typedef struct tsl_judge {
  double factor;       /* the strategy's accuracy */
  bool exact;          /* data are integers with exact sums: equality is asked for */
  bool rounded;        /* the exact result, rounded once */
  double flushes;      /* the strategy's accuracy: tsl_accuracy_underflow() */
  bool finite;         /* likewise: elements that are not finite may be anything */
  const double *added; /* m x n, row after row: magnitudes of what beta added, where they are not |beta||C0|;
                          else NULL */
  const unsigned char
      *kinds; /* m x n, row after row: what an element may be, of TSL_KIND_...; 0: what its terms say. Or
                 NULL. Where an operand is complex, what nobody looks at alone */
  const void *bias;              /* its element (0, 0), in host memory; NULL where the problem has none */
  const void *scale_a, *scale_b; /* likewise; not looked at where they are not read */
  double allowance;              /* absolute error that is forgiven beside underflow in C's type */
  int64_t operations_max;        /* look at a sample of rows when m n k is above this; 0: 2^31 */
  uint64_t seed;                 /* of the sample */
  int threads;                   /* most of the shared pool's; 0: all */
} tsl_judge;
static inline tsl_team tsl_judge_team(const tsl_judge *judge) {
  return tsl_pool_team(tsl_pool_shared(), judge->threads);
}

/* Judges host operands of a problem, by its operation. `before` is C before the run (same shape and strides
 * as C), NULL where it is not read; operands that are not read may be NULL, too. */
tesela_status tsl_judge_result(const tsl_problem *problem, const void *a, const void *b, const void *before,
                               const void *c, const tsl_judge *judge, tsl_verdict *verdict);
/* Returns the most bytes of host memory that judging such a result takes, in TSL_JUDGE_BLOCKS blocks at most.
 * Operands have no structures, and the operation is no solve. */
enum { TSL_JUDGE_BLOCKS = 16 };
size_t tsl_judge_bytes(const tsl_problem *problem, const tsl_judge *judge);
/* The parts of tsl_judge_bytes(), by types and operation. */
size_t tsl_judge_real_bytes(int64_t rows, int64_t cols, int64_t terms, const tsl_judge *judge);
size_t tsl_judge_complex_bytes(const tsl_problem *problem, const tsl_judge *judge);
size_t tsl_judge_integer_bytes(const tsl_problem *problem, const tsl_judge *judge);
size_t tsl_judge_transpose_bytes(const tsl_judge *judge);
/* Of gemm and dot, of gemm whose operands have structures, and of transpose. */
tesela_status tsl_judge_gemm(const tsl_problem *problem, const void *a, const void *b, const void *before,
                             const void *c, const tsl_judge *judge, tsl_verdict *verdict);
/* tsl_judge_gemm() where all operands are real, and C no integer. */
tesela_status tsl_judge_real(const tsl_problem *problem, const void *a, const void *b, const void *before,
                             const void *c, const tsl_judge *judge, tsl_verdict *verdict);
/* tsl_judge_gemm() where C is an integer. */
tesela_status tsl_judge_integer(const tsl_problem *problem, const void *a, const void *b, const void *before,
                                const void *c, const tsl_judge *judge, tsl_verdict *verdict);
/* tsl_judge_gemm() where an operand is complex. */
tesela_status tsl_judge_complex(const tsl_problem *problem, const void *a, const void *b, const void *before,
                                const void *c, const tsl_judge *judge, tsl_verdict *verdict);
tesela_status tsl_judge_structured(const tsl_problem *problem, const void *a, const void *b,
                                   const void *before, const void *c, const tsl_judge *judge,
                                   tsl_verdict *verdict);
tesela_status tsl_judge_transpose(const tsl_problem *problem, const void *a, const void *b,
                                  const void *before, const void *c, const tsl_judge *judge,
                                  tsl_verdict *verdict);
/* By the rows of alpha B - A X (judge/judge_solve.c). */
tesela_status tsl_judge_solve(const tsl_problem *problem, const void *a, const void *b, const void *before,
                              const void *c, const tsl_judge *judge, tsl_verdict *verdict);

#endif
