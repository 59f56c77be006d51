/* The judge: whether a result is right, by a reference in higher precision and a bound from k, the types and
 * |A||B|.
 *
 *  |C - R| <= factor * u * G + underflow,  G = |alpha| |A||B| + |beta| |C0|,  element by element,
 *
 * where R is summed in double for f32 and in double-double (TwoSum, TwoProd: Dekker 1971, Knuth) for f64,
 * factor is the strategy's accuracy() and u the unit roundoff of C's type. alpha and beta are taken as the type of
 * the sums has them, which is C's, or f32 for f16 and bf16. underflow is half the smallest subnormal for each
 * rounding that may lose so much: (max(1, |alpha|) k + 2) smallest covers them. Where G is 0 the result must be 0.
 * Integer data whose sums are exact must be equal, or what one rounding to C makes of them. Where the strategy says
 * that it flushes small magnitudes to 0, underflow is what that may cost: flushes |alpha| k (max |A| + max |B| + 2),
 * and an infinity that meets one of them may become NaN.
 *
 * Integers are compared modulo 2^32, bit by bit.
 *
 * A dot is judged as the product that it is. Where the strategy promises a result rounded once, the bound is that of
 * one rounding, u |R|, and what the reference itself may be off. A transpose with alpha = 1 must have A's bits; else
 * factor * u * |alpha| |A| bounds it, part by part where elements are complex.
 *
 * Complex results are judged part by part: each part is a real product of twice the depth, and of more where alpha is
 * complex, |A||B| being that of the parts. A complex product is (x u - y v, x v + y u), in real operations of IEEE 754 and
 * nothing more: C99's Annex G, which makes infinities of some NaN, is not followed. So an infinity among the factors leaves
 * no part of a sum finite. A part of alpha or beta that is 0 may be multiplied or left out.
 *
 * alpha scales what A B came to, also where alpha is infinite or NaN; an empty sum is not scaled, whatever alpha is.
 *
 * Infinities and NaN follow IEEE 754, in whatever order the sum is made: NaN or 0 * infinity among the terms
 * gives NaN, so do infinities of both signs, and those of one sign give that infinity. Terms that are finite
 * may overflow on their way: +infinity is right where the positive terms alone, before or after alpha, pass the
 * largest number (less the bound), -infinity likewise, NaN where both do; the finite R stays right as well. */
#ifndef TSL_JUDGE_CHECK_H
#define TSL_JUDGE_CHECK_H

#include "base/random.h"
#include "plan/plan.h"

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
  double factor;  /* the strategy's accuracy */
  bool exact;     /* data are integers with exact sums: equality is asked for */
  bool rounded;   /* the exact result, rounded once */
  double flushes; /* the strategy's accuracy */
  bool finite;    /* likewise: elements that are not finite may be anything */
  const double *
      added; /* m x n, row after row: magnitudes of what beta added, where they are not |beta||C0|; else NULL */
  const unsigned char *
      kinds; /* m x n, row after row: what an element may be, of TSL_KIND_...; 0: what its terms say. Or NULL */
  double allowance;       /* absolute error that is forgiven beside underflow in C's type */
  int64_t operations_max; /* look at a sample of rows when m n k is above this; 0: 2^31 */
  uint64_t seed;          /* of the sample */
} tsl_judge;

/* Judges host operands of a problem, by its operation. `before` is C before the run (same shape and strides as C),
 * NULL where it is not read; operands that are not read may be NULL, too. */
tesela_status tsl_judge_result(const tsl_problem *problem, const void *a, const void *b, const void *before,
                               const void *c, const tsl_judge *judge, tsl_verdict *verdict);
/* Of gemm and dot; of transpose. */
tesela_status tsl_judge_gemm(const tsl_problem *problem, const void *a, const void *b, const void *before,
                             const void *c, const tsl_judge *judge, tsl_verdict *verdict);
/* tsl_judge_gemm() where C is an integer. */
tesela_status tsl_judge_integer(const tsl_problem *problem, const void *a, const void *b, const void *before,
                                const void *c, const tsl_judge *judge, tsl_verdict *verdict);
/* tsl_judge_gemm() where an operand is complex. */
tesela_status tsl_judge_complex(const tsl_problem *problem, const void *a, const void *b, const void *before,
                                const void *c, const tsl_judge *judge, tsl_verdict *verdict);
tesela_status tsl_judge_transpose(const tsl_problem *problem, const void *a, const void *b,
                                  const void *before, const void *c, const tsl_judge *judge,
                                  tsl_verdict *verdict);

/* What data a case is made of. X(NAME, name, what) */
#define TSL_DATA_LIST(X)                                                                                     \
  X(NORMAL, normal, "standard normal; of integers, all values alike")                                        \
  X(INTEGER, integer, "small integers: the result must be exact")                                            \
  X(GRADED, graded, "normal over 24 binary orders of magnitude")                                             \
  X(SPECIAL, special, "normal with NaN, infinities, zeros and subnormals")

typedef enum tsl_data {
#define TSL_DATA_MEMBER(name, text, what) TSL_DATA_##name,
  TSL_DATA_LIST(TSL_DATA_MEMBER)
#undef TSL_DATA_MEMBER
      TSL_DATA_COUNT
} tsl_data;
const char *tsl_data_name(tsl_data data);

/* One thing to check: a problem with data. */
typedef struct tsl_case {
  tsl_problem problem;
  tsl_data data;
  uint64_t seed;
  int repeats;            /* runs whose bits must be equal where the strategy promises that; 0: 1 */
  int64_t operations_max; /* as tsl_judge has it */
  bool loaded_only;       /* refused where it would take kernels that are not loaded yet */
  bool tight;             /* in buffers alone, which hold an operand and nothing else: for memory checkers */
} tsl_case;

typedef enum tsl_case_result {
  TSL_CASE_RIGHT,
  TSL_CASE_WRONG,
  TSL_CASE_REFUSED,
  TSL_CASE_FAILED
} tsl_case_result;

typedef struct tsl_case_report {
  tsl_case_result result;
  tsl_verdict verdict;
  char why[512];   /* the refusal, the failure's sentence, or what is wrong */
  char plan[512];  /* the plan's text */
  tsl_hash source; /* as work->source has it */
  double
      seconds; /* of the first run, by the host's clock: no measurement, as it is the first, and copies count */
} tsl_case_report;

/* Runs one strategy with one config on one device on one case, for check, explore and tune alike: operands
 * with guard bands before and behind and in every gap, C full of NaN where beta = 0, the judge, the guards,
 * equal bits over the repeats. Returns a failure only when the check itself could not be made (host memory). */
tesela_status tsl_check_case(const tsl_strategy *strategy, const tsl_config *config, tsl_device *device,
                             const tsl_case *what, tsl_case_report *report);

/* The standard list: 0, 1, tile edges (7 8 9, 15 16 17, 31 32 33), primes, thin and k-dominant shapes,
 * padded, transposed and negative strides, alpha and beta in {0, 1, -0.5, 1.5}, every kind of data; of dot, lengths
 * from 0 to 300,000; of transpose, in place too. Case `index`; false past the end. */
bool tsl_case_standard(tsl_op op, int index, tesela_type type, tsl_case *out);
/* A random one: sizes to a few hundred (dot: to 100,000), any layout, any scalars, any data; a pure function of
 * its arguments. */
void tsl_case_random(tsl_op op, uint64_t seed, uint64_t index, tesela_type type, tsl_case *out);
/* One of the short list that is tried before a kernel's first use on a device: case 0 is like the problem, but small. */
bool tsl_case_quick(const tsl_problem *like, int index, tsl_case *out);
/* Gives a case's operands these types. Where C is complex, scalars other than 0 and 1 get an imaginary part; where it is
 * an integer, they become whole. */
void tsl_case_set_types(tsl_case *out, const tsl_types *types);

#endif
