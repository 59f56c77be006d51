/* Complex products of residue_int8: three products of residues for each modulus instead of four.
 *   x = re A re B,   y = im A im B,   z = (re A + im A)(re B + im B)      all modulo p
 *   re C' = x - y,   im C' = z - x - y
 * Karatsuba's identity; Ozaki, Uchino and Imamura, arXiv 2512.08321, apply it to residues. Modulo p it is
 * exact for parts of any size; in floating point it has no bound by |A||B| of the parts. Sums of parts are
 * reduced before the product, so that they are bytes.
 * Both parts of a number have one scale. A line is 2 k real numbers. An element's real part is the row (re a,
 * im a) times the column (re b, -im b). Its imaginary part is the same row times (im b, re b). Order does not
 * change norms, so the claim of docs/lab/residue_int8.md holds for both parts with 2 k terms. */
#include "strategy/gemm/emulated/residue_int8/residue_int8.h"

const char *tsl_residue_native_defines(const tsl_problem *problem) {
  return tsl_residue_is_precise(problem) ? "#define TSL_RESIDUE_PRECISE\n" : tsl_residue_defines(problem);
}

const char *tsl_residue_defines(const tsl_problem *problem) {
  static const char *const defines[2][2] = {
      {"", "#define TSL_RESIDUE_COMPLEX\n"},
      {"#define TSL_RESIDUE_F64\n", "#define TSL_RESIDUE_F64\n#define TSL_RESIDUE_COMPLEX\n"}};
  return defines[tsl_residue_type(problem) == TESELA_F64][tsl_type(problem->c.type)->is_complex];
}
