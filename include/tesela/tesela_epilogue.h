/**
 * @file tesela_epilogue.h
 * @brief What a product's last step is made of: tesela.h's descriptions name it.
 */
#ifndef TESELA_TESELA_EPILOGUE_H
#define TESELA_TESELA_EPILOGUE_H

/** Where a product's bias goes: n elements, a row that is added to each row of C; or m, a column that is
 * added to each column. */
typedef enum tesela_bias_axis {
  TESELA_NO_BIAS = 0,
  TESELA_BIAS_ROW,
  TESELA_BIAS_COLUMN,
  TESELA_ALONGS
} tesela_bias_axis;

/** A function of each element of a product. NaN stays NaN; +infinity becomes infinity, and -infinity 0. */
typedef enum tesela_activation {
  TESELA_NO_ACTIVATION = 0,
  TESELA_RELU,      /**< x where x > 0, else 0 */
  TESELA_GELU,      /**< x (1 + erf(x / sqrt(2))) / 2 */
  TESELA_GELU_TANH, /**< x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x x x))) / 2, which is near that */
  TESELA_ACTIVATIONS
} tesela_activation;

/** What a factor of a product is scaled by.
 *
 * Scales are for A and B that were made narrow by dividing them by something. C is then f32, which integers
 * come to as well unless it says otherwise, f16 or bf16; A and B are what they may be beside such a C, f32
 * beside each of them, or i8 and u8 in any mix. Sums are made in f32, or of integers exactly. Then element
 * (i, j) is multiplied by scale_a[i], by scale_b[j] and by alpha, one after the other in f32; beta C, which
 * is not scaled, and the bias are added, the function is taken, and C is rounded once, whose range nothing
 * passes before. A sum of no terms (k = 0, alpha = 0) is 0 and not scaled, and its scales are not read.
 * Integers are refused where k is so large that sums might wrap: beyond 131071 of i8 x i8, 65793 of u8 x i8,
 * 33025 of u8 x u8. Sums that C cannot hold meanwhile, as it is f16 or bf16 or is read, take 4 m n bytes on
 * the device that computes. */
typedef enum tesela_scaling {
  TESELA_NO_SCALE = 0,
  TESELA_SCALE_TENSOR, /**< one number, for all of the factor */
  TESELA_SCALE_LINES,  /**< m numbers of A, n of B: one for each row, or column */
  TESELA_SCALINGS
} tesela_scaling;

#endif
