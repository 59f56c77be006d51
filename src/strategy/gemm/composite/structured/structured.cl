/* Idea: products with a triangle of C, or with a factor that stores one triangle, as general products of
 * blocks. Half of the work is skipped if the structure allows: C's other triangle, and a triangular factor's
 * zeros. The general products are child plans (strategy/subplans.h), the fastest that the device has. This
 * strategy only cuts, and copies the blocks that the diagonal crosses.
 *
 *   a triangle of C         D          a level's rectangles lie equally far apart on the diagonal: one batch
 *   (syrk, herk, syr2k)     1 D        that writes C. Diagonal blocks are a batch in scratch memory, whose
 *                           2 2 D      triangles are copied to C. If C is read, they are copied first,
 *                           2 2 1 D    so that the child applies alpha and beta.
 *   a triangular factor     as above with the factor, real types: diagonal blocks completed by zeros and
 *   (trmm)                  ones in scratch memory. The first batch applies beta, later levels add to C.
 *                           In place, the factor is a copy of C.
 *   symmetric, hermitian    completed in scratch memory: one general product.
 *   (symm, hemm), complex trmm
 *
 * Limits: one product at a time. Measurements: docs/lab/structured.md.
 *
 * The kernel copies blocks of a matrix that stores one triangle: completed by their structure, or the
 * triangle alone. A group has 32 x 8 items for 32 x 32 elements at a time; item (x, y) copies rows y, y + 8,
 * y + 16, y + 24 of column x. Mirrored elements are read down their columns, by whole cache lines. Groups
 * advance along dimension 0 to further columns of a block, along dimension 1 to further rows of all blocks.
 *
 * The host defines TSL_REAL, and TSL_COMPLEX if an element has two components. */
#include "dialect.h"

#include "structured_shared.h"

#ifdef TSL_COMPLEX
#define PARTS 2
#else
#define PARTS 1
#endif

TSL_FUNCTION TSL_INDEX index_of_element(tsl_structured_side side, TSL_INDEX block, TSL_INDEX row,
                                        TSL_INDEX col) {
  return (side.offset + block * side.step + row * side.row_stride + col * side.col_stride) * PARTS;
}

TSL_FUNCTION void copy_element(TSL_GLOBAL const TSL_REAL *from, TSL_GLOBAL TSL_REAL *dst,
                               const tsl_structured_copy copy, TSL_INDEX block, TSL_INDEX row,
                               TSL_INDEX col) {
  const int is_beside = (copy.triangle == 1 && row < col) || (copy.triangle == 2 && row > col),
            is_mirrored = is_beside && copy.outside == STRUCTURED_MIRROR, is_diagonal = row == col;
  TSL_REAL real = 0;
#ifdef TSL_COMPLEX
  TSL_REAL imaginary = 0;
#endif
  if (is_beside && copy.outside == STRUCTURED_SKIP)
    return;
  if (is_diagonal && copy.diagonal == STRUCTURED_ONES) {
    real = 1;
  } else if (!is_beside || is_mirrored) {
    TSL_GLOBAL const TSL_REAL *at =
        from + index_of_element(copy.from, block, is_mirrored ? col : row, is_mirrored ? row : col);
    real = at[0];
#ifdef TSL_COMPLEX
    imaginary = is_diagonal && copy.diagonal == STRUCTURED_REAL ? 0 : at[1];
    if (is_mirrored ? copy.conjugates_mirrored : copy.conjugates_stored)
      imaginary = -imaginary;
#endif
  }
  TSL_GLOBAL TSL_REAL *own = dst + index_of_element(copy.to, block, row, col);
  own[0] = real;
#ifdef TSL_COMPLEX
  own[1] = imaginary;
#endif
}

TSL_KERNEL(STRUCTURED_SIDE, STRUCTURED_LINES, 1)
tsl_structured_blocks(TSL_GLOBAL const TSL_REAL *from, TSL_GLOBAL TSL_REAL *dst,
                      const tsl_structured_copy copy) {
  const TSL_INDEX down = (copy.rows + STRUCTURED_SIDE - 1) / STRUCTURED_SIDE;
  for (TSL_INDEX line = TSL_GROUP(1); line < down * copy.blocks; line += TSL_GROUPS(1))
    for (TSL_INDEX first = (TSL_INDEX)TSL_GROUP(0) * STRUCTURED_SIDE; first < copy.cols;
         first += (TSL_INDEX)TSL_GROUPS(0) * STRUCTURED_SIDE) {
      const TSL_INDEX col = first + TSL_ITEM(0);
      TSL_UNROLL
      for (int y = 0; y < STRUCTURED_SIDE; y += STRUCTURED_LINES) {
        const TSL_INDEX row = line % down * STRUCTURED_SIDE + y + TSL_ITEM(1);
        if (row < copy.rows && col < copy.cols)
          copy_element(from, dst, copy, line / down, row, col);
      }
    }
}
