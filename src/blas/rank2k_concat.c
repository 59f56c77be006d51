/* Updates of rank 2k with few terms as one product with twice as many: X Y' + Y X' = [X Y] [Y X]', so that C
 * is read and written once. The factors are concatenated in their storage order:
 *
 *      | X | Y | X |        left factor: the first two; right factor: the last two, transposed */
#include "blas/blas_level3.h"

#include "core/checked.h"
#include "core/memory.h"
#include "dispatch/crossovers.h"

#include <string.h>

enum { PARTS = 3 };

static bool is_thin(const tsl_blas_layout *layout) {
  const bool is_two = layout->routine == TSL_BLAS_SYR2K || layout->routine == TSL_BLAS_HER2K;
  const bool is_same =
      layout->work.alpha[0] == layout->alpha2[0] && layout->work.alpha[1] == layout->alpha2[1];
  return is_two && is_same && layout->work.k > 0 && layout->work.k < tsl_crossovers.rank2k_terms &&
         tsl_crossovers.rank2k_ratio * layout->work.k <= layout->work.m &&
         (layout->work.alpha[0] != 0 || layout->work.alpha[1] != 0);
}

/* Copies a factor of m x k elements to part `part`; lines are columns or rows. */
static void rank2k_concat_copy_factor(const tsl_call_matrix *from, bool by_row, int64_t m, int64_t k,
                                      size_t size, int part, char *dst) {
  const int64_t lines = by_row ? m : k, length = by_row ? k : m;
  const int64_t distance = by_row ? from->row : from->col;
  for (int64_t i = 0; i < lines; i++) {
    const int64_t at = by_row ? (i * PARTS + part) * k : (part * k + i) * m;
    memcpy(dst + (size_t)at * size, (const char *)from->data + (size_t)(i * distance) * size,
           (size_t)length * size);
  }
}

void *tsl_blas_level3_join(tsl_blas_layout *layout) {
  tsl_call *work = &layout->work;
  const int64_t m = work->m, k = work->k;
  const size_t size = tsl_blas_size(work->type);
  size_t bytes;
  void *joined;
  if (!is_thin(layout) || !tsl_size_mul((size_t)m, PARTS * (size_t)k, &bytes) ||
      !tsl_size_mul(bytes, size, &bytes) ||
      tsl_alloc(bytes, "two factors side by side", &joined) != TESELA_OK)
    return NULL;
  /* A single row-major term without gaps looks like a column; the other factor may have gaps. */
  const bool by_row = work->a.row != 1 || layout->a2.row != 1;
  const tsl_call_matrix *const parts[PARTS] = {&work->a, &layout->a2, &work->a};
  for (int i = 0; i < PARTS; i++)
    rank2k_concat_copy_factor(parts[i], by_row, m, k, size, i, joined);
  const int64_t row = by_row ? PARTS * k : 1, col = by_row ? 1 : m;
  work->a = (tsl_call_matrix){joined, row, col, work->a.conjugate};
  work->b = (tsl_call_matrix){(char *)joined + (size_t)(k * col) * size, col, row, work->b.conjugate};
  work->k = 2 * k;
  work->c_is = layout->hermitian ? TESELA_HERMITIAN : TESELA_GENERAL;
  layout->routine = layout->routine == TSL_BLAS_HER2K ? TSL_BLAS_HERK : TSL_BLAS_SYRK;
  return joined;
}
