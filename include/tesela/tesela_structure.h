/** @file tesela_structure.h
 * @brief Structures of matrices: symmetric, hermitian, triangular; members of tesela_gemm_desc and
 * tesela_solve_desc. */
#ifndef TESELA_TESELA_STRUCTURE_H
#define TESELA_TESELA_STRUCTURE_H

/** Structure of a matrix of which only one triangle is stored. The other triangle is neither read nor
 * written. */
typedef enum tesela_structure {
  TESELA_GENERAL = 0, /**< all elements are stored */
  TESELA_SYMMETRIC,   /**< the other triangle is the transpose of the stored one */
  /** the other triangle is the conjugate transpose of the stored one. Imaginary parts of the diagonal
   * are not read, and are written as 0. */
  TESELA_HERMITIAN,
  TESELA_TRIANGULAR,      /**< the other triangle is 0 */
  TESELA_UNIT_TRIANGULAR, /**< triangular with a diagonal of ones, which is not read */
  TESELA_SYMMETRIC_SUM,   /**< only for a result: the product plus its transpose, an update of rank 2k */
  /** only for a result: the product plus its conjugate transpose; the diagonal is handled as in
   * TESELA_HERMITIAN */
  TESELA_HERMITIAN_SUM,
  TESELA_STRUCTURES
} tesela_structure;

/** Part of a stored matrix. Element (i, j) is in the lower triangle if i >= j, in the upper one if i <= j. */
typedef enum tesela_triangle {
  TESELA_WHOLE = 0,
  TESELA_LOWER,
  TESELA_UPPER,
  TESELA_TRIANGLES
} tesela_triangle;

#endif
