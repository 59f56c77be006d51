/* Product for the loops: orientation, negative strides, conjugation and empty sums are resolved here. */
#ifndef TSL_HOST_HOST_VIEW_H
#define TSL_HOST_HOST_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <tesela/tesela.h>

typedef struct tsl_view {
  unsigned char *at; /* element (0, 0); (i, j) is i * row_stride + j * col_stride elements after it */
  int64_t row_stride, col_stride;
  int64_t offset;     /* elements from the caller's element (0, 0) to the view's */
  const void *packed; /* packed form, or NULL; with it nothing is read at `at` */
  /* structure and stored triangle of a factor, or C's computed triangle */
  tesela_structure structure;
  tesela_triangle triangle;
} tsl_view;

/* Product C (m x n) = alpha A (m x k) B (k x n) + beta C. k is 0 if A and B are not read. */
typedef struct tsl_views {
  int64_t m, n, k;
  tsl_view a, b, c;
  bool is_swapped; /* the product is transposed: A is the caller's B transposed, B its A */
  bool conjugates_a, conjugates_b;
  bool in_place; /* a triangular product: the other factor is C itself */
} tsl_views;

/* Returns a stride, or `alone` for one element, which needs none. */
static inline int64_t tsl_stride_or_alone(int64_t stride, int64_t elements, int64_t alone) {
  return elements > 1 ? stride : alone;
}

/* Returns the triangle after a transpose, or reversed rows and columns. */
tesela_triangle tsl_triangle_opposite(tesela_triangle triangle);

/* Transposes the product: C' = B' A'. */
void tsl_views_swap(tsl_views *views);

/* Orients the product: C's columns become contiguous, or closer than its rows; else the product is
 * transposed. C's strides become non-negative: rows of C and A, or columns of C and B, are reversed. Strides
 * of operands that are not read become 0, and their structure general.
 *
 * If the rows of A with a structure are reversed, its columns and B's rows are, too, and its triangle changes
 * sides; correspondingly for B. If only a triangle of C is computed, C is not reversed.
 *
 *   C row-major       unchanged       C column-major    transposed      C upside down   rows reversed
 *   0 1               0 1             0 2 4             C': 0 1         4 5             0 1
 *   2 3               2 3             1 3 5                 2 3         2 3             2 3
 *   4 5               4 5                                   4 5         0 1             4 5 */
void tsl_views_orient(tsl_views *views);

/* Sets the signs of conjugation: signs[0] of A's imaginary parts, signs[1] of the result's. From a conj(b) =
 * conj(conj(a) b) and conj(a) conj(b) = conj(a b). */
void tsl_views_conjugation_signs(const tsl_views *views, double signs[2]);

/* Sets the operands' addresses, and the packed A and B or NULL. Strides as in tsl_views_orient(). Operands
 * that are not read get C's address: pointers advance. Element bytes: `size` of A and B, `c_size` of C. */
void tsl_views_bind(tsl_views *views, const tsl_view *a, const tsl_view *b, void *c, int64_t size,
                    int64_t c_size);

#endif
