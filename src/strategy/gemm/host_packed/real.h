/* The last step of a tile, in a real type, as text: with REAL and SUFFIX. complex.h has the same for complex types. */

static inline bool NAME(is_zero)(const double *scalar) {
  return (REAL)scalar[0] == 0;
}
static inline NAME(vector) NAME(scaled)(const double *scalar, NAME(vector) value) {
  return (REAL)scalar[0] * value;
}
/* The sums of a row, from those of its parts, of which there is one. */
static inline NAME(vector) NAME(joined)(const double *signs, NAME(vector) first, NAME(vector) last) {
  (void)signs, (void)last;
  return first;
}

/* A row of C whose columns do not lie side by side: c = sums + beta c, where beta = 0 never reads c. */
static void NAME(scatter)(const REAL *sums, int64_t count, REAL *c, int64_t column, const double *beta) {
  const REAL factor = (REAL)beta[0];
  for (int64_t j = 0; j < count; j++, c += column)
    *c = factor == 0 ? sums[j] : factor * *c + sums[j];
}

/* kernels.h has the contract. */
static void NAME(add_parts)(const void *sums, int64_t parts, int64_t stride, int64_t count, void *c,
                            int64_t column, const double *alpha, const double *beta) {
  const REAL *first = sums, factor = (REAL)alpha[0];
  REAL *out = c;
  for (int64_t j = 0; j < count; j++, out += column) {
    REAL sum = first[j];
    for (int64_t part = 1; part < parts; part++)
      sum += first[part * stride + j];
    sum *= factor;
    NAME(scatter)(&sum, 1, out, column, beta);
  }
}
