/* Idea: a product with a triangle of C, or with a factor of which a triangle stands for all, as general products of its blocks. Half of
 * the work is left out where the structure lets it: the other triangle of C, and a triangular factor's zeros.
 * What it adds to the rungs below: kernels for general products, which know of no structure. They are children (strategy/subplans.h), the fastest
 * that the device has; this only cuts, and copies what the diagonal crosses.
 *
 *   a triangle of C         D          a level's rectangles are equally far apart along the diagonal: one batch, straight into C. Blocks
 *   (syrk, herk, syr2k)     1 D        of the diagonal are a batch into scratch memory, whose triangles are copied to C; where C is read, they
 *                           2 2 D      are copied there before, so that alpha and beta are the children's.
 *                           2 2 1 D
 *   a triangular factor     the same of the factor, real ones: blocks of the diagonal completed by zeros, and ones, in scratch memory; the first batch brings
 *   (trmm)                  beta, the levels after it add to C. In place, the factor is a copy of C.
 *   symmetric, hermitian    completed in scratch memory: one general product.
 *   (symm, hemm), complex trmm
 *
 * Parameters: block, rows of a block of the diagonal; 0: by the device (structured_model.c). Limits: one product at a time.
 *
 * The kernel here copies blocks of a matrix of which one triangle counts: completed to what their structure says, or their triangle
 * alone.
 *
 *   a group: 32 x 8 items, 32 x 32 elements at a time               item (x, y): rows y, y + 8, y + 16, y + 24 of column x
 *
 * Groups go on to further blocks of columns along dimension 0, and of rows, of all blocks of the matrix, along dimension 1. What is
 * mirrored is read down its columns: the 32 rows that a group reads so lie in as many cache lines, all of which it uses. Elements that
 * do not count are not read.
 *
 * From the host: TSL_REAL, and TSL_COMPLEX for two of them an element. */
#include "dialect.h"

#include "structured_shared.h"

#ifdef TSL_COMPLEX
#define PARTS 2
#else
#define PARTS 1
#endif

TSL_FUNCTION TSL_INDEX structured_place(tsl_structured_side side, TSL_INDEX block, TSL_INDEX row,
                                        TSL_INDEX col) {
  return (side.offset + block * side.step + row * side.row_stride + col * side.col_stride) * PARTS;
}

TSL_FUNCTION void structured_element(TSL_GLOBAL const TSL_REAL *from, TSL_GLOBAL TSL_REAL *dst,
                                     const tsl_structured_copy copy, TSL_INDEX block, TSL_INDEX row,
                                     TSL_INDEX col) {
  const int is_beside = (copy.triangle == 1 && row < col) || (copy.triangle == 2 && row > col),
            is_mirrored = is_beside && copy.beside == STRUCTURED_MIRROR, is_diagonal = row == col;
  TSL_REAL real = 0;
#ifdef TSL_COMPLEX
  TSL_REAL imaginary = 0;
#endif
  if (is_beside && copy.beside == STRUCTURED_SKIP)
    return;
  if (is_diagonal && copy.diagonal == STRUCTURED_ONES) {
    real = 1;
  } else if (!is_beside || is_mirrored) {
    TSL_GLOBAL const TSL_REAL *at =
        from + structured_place(copy.from, block, is_mirrored ? col : row, is_mirrored ? row : col);
    real = at[0];
#ifdef TSL_COMPLEX
    imaginary = is_diagonal && copy.diagonal == STRUCTURED_REAL ? 0 : at[1];
    if (is_mirrored ? copy.conjugates_mirrored : copy.conjugates_stored)
      imaginary = -imaginary;
#endif
  }
  TSL_GLOBAL TSL_REAL *own = dst + structured_place(copy.to, block, row, col);
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
          structured_element(from, dst, copy, line / down, row, col);
      }
    }
}
