/** @file tesela_epilogue.h
 * @brief Bias, activation and scales of a product; members of tesela_gemm_desc. */
#ifndef TESELA_TESELA_EPILOGUE_H
#define TESELA_TESELA_EPILOGUE_H

/** Direction of a bias. BIAS_ROW: a row of n elements, added to each row of C. BIAS_COLUMN: a
 * column of m elements, added to each column of C. */
typedef enum tesela_bias_axis {
  TESELA_NO_BIAS = 0,
  TESELA_BIAS_ROW,
  TESELA_BIAS_COLUMN,
  TESELA_ALONGS
} tesela_bias_axis;

/** Function applied to each element x of a product. NaN stays NaN, +infinity gives infinity, -infinity
 * gives 0. */
typedef enum tesela_activation {
  TESELA_NO_ACTIVATION = 0,
  TESELA_RELU,      /**< x if x > 0, else 0 */
  TESELA_GELU,      /**< x (1 + erf(x / sqrt(2))) / 2 */
  TESELA_GELU_TANH, /**< x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x x x))) / 2, an approximation of GELU */
  TESELA_ACTIVATIONS
} tesela_activation;

/** Number of scales of A or B.
 *
 * Scales undo a quantisation: A and B were divided by these numbers to fit a narrow type. C is f32, f16 or
 * bf16; for integers C is f32 by default. A and B have the types that are allowed with this C without scales,
 * or are both f32, or i8 and u8 in any mix. Sums are computed in f32, or exactly for integers. Then element
 * (i, j) is multiplied by scale_a[i], by scale_b[j] and by alpha, in this order in f32. Next beta C, which is
 * not scaled, and the bias are added. The activation is applied, and C is rounded once. So no value exceeds
 * the range of C's type before the end. An empty sum (k = 0 or alpha = 0) is 0, and its scales are not read.
 *
 * Integers are refused if k is so large that sums may wrap: more than 131071 for i8 x i8, 65793 for u8 x i8,
 * 33025 for u8 x u8. If C is f16 or bf16, or is read (beta is not 0), the sums need 4 m n bytes of extra
 * memory on the computing device. */
typedef enum tesela_scaling {
  TESELA_NO_SCALE = 0,
  TESELA_SCALE_TENSOR, /**< one number for the whole operand */
  TESELA_SCALE_LINES,  /**< m numbers for A (one for each row), n numbers for B (one for each column) */
  TESELA_SCALINGS
} tesela_scaling;

#endif
