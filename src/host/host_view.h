/* A product as its loops want to see it: orientation, negative strides, conjugates and empty sums are decided
 * here once. */
#ifndef TSL_HOST_HOST_VIEW_H
#define TSL_HOST_HOST_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <tesela/tesela.h>

/* A matrix where it lies: element (i, j) at `at`, i * row_stride + j * col_stride elements further. */
typedef struct tsl_view {
  unsigned char *at;
  int64_t row_stride, col_stride;
  int64_t offset;     /* elements from the caller's element (0, 0) to the one here */
  const void *packed; /* NULL, or what was packed of it before: then nothing is read at `at` */
  /* As a problem's shapes have them: what a factor is, and which triangle of it is stored, or of C is
   * computed. */
  tesela_structure structure;
  tesela_triangle triangle;
} tsl_view;

/* C (m x n) = alpha A (m x k) B (k x n) + beta C. k is 0 where nothing of A and B is read. */
typedef struct tsl_views {
  int64_t m, n, k;
  tsl_view a, b, c;
  bool is_swapped; /* the transposed product: A is the caller's B, transposed, and B its A */
  bool conjugates_a, conjugates_b;
  bool in_place; /* the general factor beside a triangular one is what C holds, and has its strides */
} tsl_views;

/* A stride counts only where there is a second element; where not, it is `alone`. */
static inline int64_t tsl_stride_of(int64_t stride, int64_t elements, int64_t alone) {
  return elements > 1 ? stride : alone;
}

/* The triangle that is stored where rows become columns, or both are reversed. */
tesela_triangle tsl_triangle_opposite(tesela_triangle triangle);

/* C' = B' A'. */
void tsl_views_swap(tsl_views *views);

/* C's columns side by side, or at least nearer to each other than its rows: else swaps. No stride of C is
 * negative then: where one is, C's and A's rows, or C's and B's columns, are taken in the opposite order.
 * Strides of operands that are not read become 0, so that pointers to them stay where they are, and they have
 * no structure.
 *
 * Where A's rows are reversed and it has a structure, so are its columns and B's rows: its triangle becomes
 * the other one. B's likewise. Where a triangle of C is computed, C stays as it is, with whatever strides.
 *
 *   C row-major       as it is            C column-major    swapped         C upside down   from the last row
 * on 0 1 2                                 0 2 4             C': 0 1         4 5             0 1 3 4 5 1 3 5
 * 2 3         2 3             2 3    (A's rows, too) 4 5         0 1             4 5
 */
void tsl_views_orient(tsl_views *views);

/* conj(a) b needs the sign of a's imaginary parts alone; a conj(b) = conj(conj(a) b), and conj(a) conj(b) =
 * conj(a b). signs[0], 1 or -1, is that of a's imaginary parts, signs[1] that of the imaginary parts of what
 * comes out. */
void tsl_views_signs(const tsl_views *views, double signs[2]);

/* The caller's operands, which lie here now: element (0, 0) of each, and what was packed of A and B, or NULL.
 * Strides are those that the views were made with. What is not read has C's address, since pointers that
 * nobody reads move all the same. `size` is an element's of A and B, `c_size` one's of C. */
void tsl_views_bind(tsl_views *views, const tsl_view *a, const tsl_view *b, void *c, int64_t size,
                    int64_t c_size);

#endif
