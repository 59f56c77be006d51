/* Error bounds of strategies, and where they come from. */
#ifndef TSL_STRATEGY_ACCURACY_H
#define TSL_STRATEGY_ACCURACY_H

#include "problem/problem.h"
#include "strategy/config.h"

/* Error bound and reproducibility of a result. For each element of C, |computed - exact| <= factor u (|alpha|
 * |A||B| + |beta| |C|) + underflow; u: unit roundoff of C's type. Transpose: factor u |alpha||A|. */
typedef struct tsl_accuracy {
  double factor; /* in unit roundoffs of C's type; 0: exact (integers) */
  /* equal inputs, device and config give equal bits */
  bool is_reproducible;
  /* the exact result rounded once to nearest even, hence the same on every device */
  bool is_correctly_rounded;
  bool has_fixed_tree;    /* same summation tree on every device, hence the same bits on every device */
  double flush_threshold; /* magnitudes below it in A, B and sums may be replaced by 0; 0: no flush */
  /* A and B may be truncated to fewer digits, within `factor`; magnitudes below `flush_threshold` may become
   * 0 */
  bool truncates_inputs;
  double subnormal_error; /* additional absolute error of each element of A and B, from subnormal inputs; 0:
                             none */
  bool finite_only;       /* the bound holds for finite inputs and results only */
} tsl_accuracy;

/* Returns `underflow` of the bound above: the absolute error of a factor from flushed and subnormal
 * numbers. */
static inline double tsl_accuracy_underflow(const tsl_accuracy *accuracy) {
  return accuracy->flush_threshold + accuracy->subnormal_error;
}

/* Returns the bound of sums of k products in any fixed order, scaled and added to beta C, fused or not. The
 * factor is k + 4. The k terms cost k u for any k (Jeannerod, Rump 2013); alpha, beta, the last addition and
 * second-order terms cost the rest. */
tsl_accuracy tsl_accuracy_of_sum(int64_t k);
/* Returns the bound of sums that were made in the type's `sums` and rounded once to `type`; exact for
 * integers. The functions below apply it to their results. */
tsl_accuracy tsl_accuracy_in_type(tsl_accuracy of_sums, tesela_type type);
/* Returns the bound of sequential sums, as a descriptor's accuracy(). */
tsl_accuracy tsl_accuracy_in_order(const tsl_problem *problem, const tsl_config *config);
/* Returns the bound of substitution with a triangle of k = m rows, terms subtracted one after the other:
 *
 *   |alpha B - A X| <= factor u |A||X|     for each element, |A| and |X| being magnitudes
 *
 * The distance from the exact solution depends on the condition of A. The factor is k + 4: a sum of k terms,
 * and two roundings for a quotient or a rounded reciprocal. For complex types it is 2 k + 16: 2 k terms a
 * part, and 12 roundings for a quotient by Smith's method or such a reciprocal. */
tsl_accuracy tsl_accuracy_of_substitution(const tsl_problem *problem, const tsl_config *config);
/* Returns the bound for kernels with fast, relaxed arithmetic where `relaxed`, else `of_sums`. Relaxed: any
 * order of the sums, subnormals flushed to 0, finite values only. */
tsl_accuracy tsl_accuracy_relaxed(tsl_accuracy of_sums, const tsl_problem *problem, bool relaxed);
/* Returns the bound of NVIDIA's matrix instructions on narrow types. Products are exact. An instruction
 * aligns 8 products (16 on newer devices) and the accumulator to the largest magnitude, and truncates each
 * below f32's last digit (Fasi, Higham, Mikaitis, Pranesh 2021). So 8 products have at most nine truncations
 * of 2 u. Subnormals keep the exponent of the smallest normal number s, 2^-14 (f16) or 2^-126 (bf16), so they
 * count as (|a| + s) (|b| + s) in sums of magnitudes. `subnormal_error` is s times the factor of such sums.
 */
tsl_accuracy tsl_accuracy_of_tensor_cores(const tsl_problem *problem, const tsl_config *config);
/* Returns the factor of tensor-core sums of k products, in roundings of f32. */
double tsl_accuracy_cuts(double k);
/* Returns the factor where sums of `panel` products are added in f32, in roundings of f32. Holds for parts of
 * k with at least four panels, too. */
double tsl_accuracy_cuts_of_panels(double k, double panel);
/* Returns `subnormal_error` for a factor of `factor` roundings of f32; 0 for integers and types above two
 * bytes. */
double tsl_accuracy_slips(const tsl_problem *problem, double factor);
/* Returns the bound of tensor cores for 8-bit floating point, where sums of `panel` products are added in f32
 * (`panel` >= k: no additions). An instruction aligns 32 exact products and the accumulator to their largest
 * exponent. It truncates each, and the sum, 13 binary places below. (DeepSeek-AI, "DeepSeek-V3 Technical
 * Report", 2024, section 3.5.2: 14 bits; measured: docs/lab/cuda_wgmma.md.) */
tsl_accuracy tsl_accuracy_of_eights(const tsl_problem *problem, int64_t panel);
/* Returns the bound of sums in panels of `panel` products, each multiplied by alpha and added to C. The
 * factor is min(k, panel) + ceil(k / panel) + 3, plus 2 k u for second-order terms. A product is rounded
 * min(k, panel) times in its panel, once with alpha, and at each addition to C. One panel: a sum of k. */
tsl_accuracy tsl_accuracy_of_panels(const tsl_problem *problem, int64_t panel);

/* Returns the bound of a C with scales, rounded once after the epilogue, relative to
 * |alpha||scale_a||A||B||scale_b| + |beta||C| + |bias|. `of_sums` is the bound of sums in f32 or integers.
 * The sums, three factors, beta C and the bias cost six roundings of f32, second-order terms two. */
tsl_accuracy tsl_accuracy_scaled(tsl_accuracy of_sums, const tsl_problem *problem);
/* Returns the bound after an epilogue without scales on the stored C, relative to |alpha||A||B| + |beta||C| +
 * |bias|. The activation's slope (at most 1.13 for GELU) multiplies the error of C and of the bias addition.
 * GELU costs a few roundings (OpenCL's erf up to 16 ulp) and one for the result; ReLU costs none. */
tsl_accuracy tsl_accuracy_finished(tsl_accuracy of_product, const tsl_problem *problem);

/* Returns the bound of a sum of `slabs` parts of k, computed by sub-plans in any fixed order, or on tensor
 * cores. Slabs are added in order, so the factor is `slabs` times that of one slab. */
tsl_accuracy tsl_accuracy_of_parts(const tsl_problem *problem, int64_t slabs);
/* Returns tsl_accuracy_of_parts(), or all that the problem's requirement allows if more, truncated f32 inputs
 * included. So a requirement for tf32 or a number reaches the sub-plans. */
tsl_accuracy tsl_accuracy_asked_of_parts(const tsl_problem *problem, int64_t slabs);
/* Returns the bound that a sub-plan must meet for one slab `part` of `slabs` slabs of `whole`. */
tsl_accuracy tsl_accuracy_of_one_part(const tsl_problem *whole, const tsl_problem *part, int64_t slabs);

/* Returns the terms of a sum for numeric requirements: two real terms for a term of a complex product. */
int64_t tsl_accuracy_terms(const tsl_problem *problem);
/* Returns the strongest reproducibility that `accuracy` guarantees, for an equal strategy and config. */
tsl_reproducibility tsl_accuracy_bits(const tsl_accuracy *accuracy);

#endif
