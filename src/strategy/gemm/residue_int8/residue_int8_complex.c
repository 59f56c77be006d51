/* Complex products of residue_int8: three of residues for each modulus, in place of four.
 *
 *   x = re A re B,   y = im A im B,   z = (re A + im A)(re B + im B)      all modulo p
 *   re C' = x - y,   im C' = z - x - y
 *
 * (Karatsuba's identity; Ozaki, Uchino and Imamura, arXiv 2512.08321, have it of residues.) Modulo p it is
 * exact, whatever the parts' sizes are: in floating point it has no bound by |A||B| of the parts. Sums of
 * parts are reduced before they are multiplied, so that they are bytes as all residues are.
 *
 * For it both parts of a number have one scale. A line, a row of A or a column of B, is one of 2 k real
 * numbers; an element's real part is the row (re a, im a) by the column (re b, -im b), its imaginary part the
 * same row by (im b, re b): the same numbers in another order, on which neither norms nor the claim of
 * docs/lab/residue_int8.md depend, so that all of it holds for both parts with 2 k terms. */
#include "strategy/gemm/residue_int8/residue_int8.h"

const char *tsl_residue_native_defines(const tsl_problem *problem) {
  return tsl_residue_is_precise(problem) ? "#define TSL_RESIDUE_PRECISE\n" : tsl_residue_defines(problem);
}

const char *tsl_residue_defines(const tsl_problem *problem) {
  static const char *const defines[2][2] = {
      {"", "#define TSL_RESIDUE_COMPLEX\n"},
      {"#define TSL_RESIDUE_F64\n", "#define TSL_RESIDUE_F64\n#define TSL_RESIDUE_COMPLEX\n"}};
  return defines[tsl_residue_type(problem) == TESELA_F64][tsl_type(problem->c.type)->is_complex];
}
