/* Epilogue of sums of parts of k; tiles have host/tile_epilogue.h. */
#include "host/tile_epilogue.h"

static void add_split_k(const void *sums, int64_t parts, int64_t stride, int64_t count, void *c,
                        int64_t column, const double *alpha, const double *beta) {
  enum { LANES = NAME(LANES), ELEMENTS = LANES / COMPONENTS };
  const REAL *first = sums;
  REAL *out = c;
  for (; count > 0; count -= ELEMENTS, first += LANES, out += ELEMENTS * COMPONENTS * column) {
    const int64_t some = count < ELEMENTS ? count : ELEMENTS;
    REAL block[LANES] = {0};
    for (int64_t i = 0; i < some * COMPONENTS; i++)
      block[i] = first[i];
    for (int64_t part = 1; part < parts; part++)
      for (int64_t i = 0; i < some * COMPONENTS; i++)
        block[i] += first[part * stride * COMPONENTS + i];
    NAME(store)(block, scaled(alpha, NAME(load)(block)));
    scatter(block, some, out, column, beta);
  }
}
