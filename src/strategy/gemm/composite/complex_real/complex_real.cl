/* Idea: copies for complex products as real ones (complex_real.c has the picture). One factor's numbers
 * become matrices of 2 x 2, of twice the columns and twice the terms.
 *
 *   B's number b    its two lines, along k          or along n                     conjugates are signs
 *      re, im       ... re, -im, ...                ... re,  im, ...
 *                   ... im,  re, ...                ... -im, re, ...
 *
 * A group of 32 x 8 items moves 32 x 32 numbers at a time through local memory, read along memory and written
 * along lines. Groups advance to further numbers along dimension 0, and to further lines of all products
 * along dimension 1. Kernel tsl_gemm_complex_real_copy expands a factor, separates its parts, or copies a
 * factor whose rows are not contiguous. Kernel tsl_gemm_complex_real_finish computes C from sums. The host
 * defines TSL_REAL. Limits: no two elements of C may share an address. */
#include "kernel_gemm.h"

#include "complex_real_shared.h"

#define SIDE COMPLEX_REAL_SIDE
#define LINES COMPLEX_REAL_LINES

TSL_FUNCTION void store_adjacent_pair(TSL_GLOBAL TSL_REAL *dst, TSL_REAL first, TSL_REAL second) {
  TSL_VECTOR(TSL_REAL, 2) pair;
  TSL_LANE(pair, 0) = first;
  TSL_LANE(pair, 1) = second;
  TSL_STORE_ALIGNED(TSL_REAL, 2, dst, pair);
}

TSL_KERNEL(COMPLEX_REAL_SIDE, COMPLEX_REAL_LINES, 1)
tsl_gemm_complex_real_copy(TSL_GLOBAL const TSL_REAL *from, TSL_GLOBAL TSL_REAL *dst,
                           const complex_real_copy copy) {
  TSL_LOCAL TSL_REAL real[SIDE][SIDE + 1];
  TSL_LOCAL TSL_REAL imaginary[SIDE][SIDE + 1];
  const TSL_INDEX down = (copy.lines + SIDE - 1) / SIDE;
  const TSL_REAL imaginary_above = (TSL_REAL)copy.sign[0], imaginary_below = (TSL_REAL)copy.sign[1],
                 real_below = (TSL_REAL)copy.sign[2];
  if (tsl_is_unwanted(copy.wanted, copy.wanted_above))
    return;
  for (TSL_INDEX block = TSL_GROUP(1); block < down * copy.products; block += TSL_GROUPS(1))
    for (TSL_INDEX first = (TSL_INDEX)TSL_GROUP(0) * SIDE; first < copy.length;
         first += (TSL_INDEX)TSL_GROUPS(0) * SIDE) {
      const TSL_INDEX top = block % down * SIDE, product = block / down;
      TSL_UNROLL
      for (int y = 0; y < SIDE; y += LINES) {
        const int along = copy.is_across ? y + TSL_ITEM(1) : TSL_ITEM(0),
                  below = copy.is_across ? TSL_ITEM(0) : y + TSL_ITEM(1);
        const TSL_INDEX line = top + below, place = first + along;
        if (line < copy.lines && place < copy.length) {
          TSL_GLOBAL const TSL_REAL *at = from + 2 * (copy.offset + product * copy.step +
                                                      line * copy.line_stride + place * copy.element_stride);
          real[below][along] = at[0];
          imaginary[below][along] = at[1];
        }
      }
      TSL_BARRIER();
      TSL_UNROLL
      for (int y = 0; y < SIDE; y += LINES) {
        const int below = y + TSL_ITEM(1);
        const TSL_INDEX line = top + below, place = first + TSL_ITEM(0);
        if (line < copy.lines && place < copy.length) {
          const TSL_REAL re = real[below][TSL_ITEM(0)], im = imaginary[below][TSL_ITEM(0)];
          TSL_GLOBAL TSL_REAL *at = dst + copy.to + product * copy.to_step + line * copy.to_line + place;
          if (copy.form == COMPLEX_REAL_SEPARATED) {
            at[0] = re;
            at[copy.lines * copy.to_line] = im;
          } else if (copy.form == COMPLEX_REAL_EXPANDED) {
            at += line * copy.to_line + place;
            store_adjacent_pair(at, re, imaginary_above * im);
            store_adjacent_pair(at + copy.to_line, imaginary_below * im, real_below * re);
          } else {
            store_adjacent_pair(at + place, re, im);
          }
        }
      }
      TSL_BARRIER();
    }
}

TSL_KERNEL(COMPLEX_REAL_SIDE, COMPLEX_REAL_LINES, 1)
tsl_gemm_complex_real_finish(TSL_GLOBAL const TSL_REAL *sums, TSL_GLOBAL TSL_REAL *c,
                             const complex_real_result result, const TSL_REAL alpha_re,
                             const TSL_REAL alpha_im, const TSL_REAL beta_re, const TSL_REAL beta_im) {
  if (tsl_is_unwanted(result.wanted, result.wanted_above))
    return;
  for (TSL_INDEX line = (TSL_INDEX)TSL_GROUP(1) * LINES + TSL_ITEM(1); line < result.rows * result.products;
       line += (TSL_INDEX)TSL_GROUPS(1) * LINES)
    for (TSL_INDEX col = (TSL_INDEX)TSL_GROUP(0) * SIDE + TSL_ITEM(0); col < result.cols;
         col += (TSL_INDEX)TSL_GROUPS(0) * SIDE) {
      const TSL_INDEX row = line % result.rows, product = line / result.rows;
      TSL_GLOBAL TSL_REAL *at =
          c + 2 * (result.offset + product * result.step + row * result.row_stride + col * result.col_stride);
      TSL_REAL re = 0, im = 0;
      if (!result.is_empty) {
        TSL_GLOBAL const TSL_REAL *sum =
            sums + result.sums + product * result.sums_step + row * result.sums_row + 2 * col;
        TSL_REAL sum_re = sum[0], sum_im = sum[1];
        if (result.imaginary_offset > 0) {
          sum_re -= (TSL_REAL)result.sign[0] * sum[result.imaginary_offset + 1];
          sum_im =
              (TSL_REAL)result.sign[1] * sum_im + (TSL_REAL)result.sign[2] * sum[result.imaginary_offset];
        }
        re = TSL_FMA(alpha_re, sum_re, -(alpha_im * sum_im));
        im = TSL_FMA(alpha_re, sum_im, alpha_im * sum_re);
      }
      if (result.reads) {
        const TSL_REAL old_re = at[0], old_im = at[1];
        re += TSL_FMA(beta_re, old_re, -(beta_im * old_im));
        im += TSL_FMA(beta_re, old_im, beta_im * old_re);
      }
      at[0] = re;
      at[1] = im;
    }
}
