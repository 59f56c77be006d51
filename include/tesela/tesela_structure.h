/**
 * @file tesela_structure.h
 * @brief What matrices may be beside general: tesela.h's descriptions name it.
 */
#ifndef TESELA_TESELA_STRUCTURE_H
#define TESELA_TESELA_STRUCTURE_H

/** What a matrix is of which one triangle is stored. The other one is neither read nor written, whatever lies
 * there. */
typedef enum tesela_structure {
  TESELA_GENERAL = 0, /**< all of it is stored */
  TESELA_SYMMETRIC,   /**< the other triangle is this one's transpose */
  TESELA_HERMITIAN,   /**< the other triangle is this one's conjugate transpose, and the diagonal is real: its
                         imaginary   parts are not read, and 0 where it is written */
  TESELA_TRIANGULAR,  /**< the other triangle is 0 */
  TESELA_UNIT_TRIANGULAR, /**< so, and the diagonal is 1 and not read */
  TESELA_SYMMETRIC_SUM,   /**< of a result: the product's transpose is added to it, an update of rank 2k */
  TESELA_HERMITIAN_SUM, /**< of a result: its conjugate transpose is, and the diagonal is as TESELA_HERMITIAN
                           says */
  TESELA_STRUCTURES
} tesela_structure;

/** Which part of a matrix is meant: where i >= j, or i <= j, element (i, j) lies in the lower, or the upper
 * triangle, as it is stored. */
typedef enum tesela_triangle {
  TESELA_WHOLE = 0,
  TESELA_LOWER,
  TESELA_UPPER,
  TESELA_TRIANGLES
} tesela_triangle;

#endif
