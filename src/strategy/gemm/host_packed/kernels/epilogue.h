/* The last step of a tile, as text in packed.c: with REAL, COMPONENTS and SUFFIX, that of the numbers' names. Vectors
 * of a complex type hold pairs. A tile has two sums for each of its own: of the real parts of A times pairs of B, and
 * of the imaginary ones. conj(A) B differs in the sign of the latter, and A conj(B) is the conjugate of conj(A) B:
 * conjugates are two signs, here, and cost nothing in the loop. */
#if COMPONENTS == 1

static inline bool is_zero(const double *scalar) {
  return (REAL)scalar[0] == 0;
}
static inline NAME(vector) scaled(const double *scalar, NAME(vector) value) {
  return (REAL)scalar[0] * value;
}
/* The sums of a row, from those of its parts, of which there is one. */
static inline NAME(vector) joined(const double *signs, NAME(vector) first, NAME(vector) last) {
  (void)signs, (void)last;
  return first;
}

/* A row of C whose columns do not lie side by side: c = sums + beta c, where beta = 0 never reads c. */
static void scatter(const REAL *sums, int64_t count, REAL *c, int64_t column, const double *beta) {
  const REAL factor = (REAL)beta[0];
  for (int64_t j = 0; j < count; j++, c += column)
    *c = factor == 0 ? sums[j] : factor * *c + sums[j];
}

/* kernels.h has the contract. */
static void add_split_k(const void *sums, int64_t parts, int64_t stride, int64_t count, void *c,
                        int64_t column, const double *alpha, const double *beta) {
  const REAL *first = sums, factor = (REAL)alpha[0];
  REAL *out = c;
  for (int64_t j = 0; j < count; j++, out += column) {
    REAL sum = first[j];
    for (int64_t part = 1; part < parts; part++)
      sum += first[part * stride + j];
    sum *= factor;
    scatter(&sum, 1, out, column, beta);
  }
}

#else

static inline bool is_zero(const double *scalar) {
  return (REAL)scalar[0] == 0 && (REAL)scalar[1] == 0;
}
static inline NAME(vector) scaled(const double *scalar, NAME(vector) value) {
  const REAL real = (REAL)scalar[0], imaginary = (REAL)scalar[1];
  return imaginary == 0 ? real * value : real * value + imaginary * NAME(times_i)(value);
}
static inline NAME(vector) joined(const double *signs, NAME(vector) first, NAME(vector) last) {
  const NAME(vector) turned = NAME(times_i)(last);
  NAME(vector) pairs = signs[0] < 0 ? first - turned : first + turned;
  if (signs[1] < 0)
    TSL_UNROLL for (size_t i = 1; i < sizeof pairs / sizeof(REAL); i += 2) pairs[i] = -pairs[i];
  return pairs;
}

static void add_scaled(const double *scalar, const REAL *value, REAL *to) {
  const REAL real = (REAL)scalar[0], imaginary = (REAL)scalar[1], at[2] = {value[0], value[1]};
  to[0] += real * at[0] - (imaginary == 0 ? 0 : imaginary * at[1]);
  to[1] += real * at[1] + (imaginary == 0 ? 0 : imaginary * at[0]);
}

/* A row of C whose columns do not lie side by side: c = sums + beta c, where beta = 0 never reads c. */
static void scatter(const REAL *sums, int64_t count, REAL *c, int64_t column, const double *beta) {
  for (int64_t j = 0; j < count; j++, c += 2 * column) {
    REAL result[2] = {sums[2 * j], sums[2 * j + 1]};
    if (!is_zero(beta))
      add_scaled(beta, c, result);
    c[0] = result[0];
    c[1] = result[1];
  }
}

/* kernels.h has the contract. */
static void add_split_k(const void *sums, int64_t parts, int64_t stride, int64_t count, void *c,
                        int64_t column, const double *alpha, const double *beta) {
  const REAL *first = sums;
  REAL *out = c;
  for (int64_t j = 0; j < count; j++, first += 2, out += 2 * column) {
    REAL sum[2] = {first[0], first[1]}, scaled[2] = {0, 0};
    for (int64_t part = 1; part < parts; part++)
      for (int i = 0; i < 2; i++)
        sum[i] += first[2 * part * stride + i];
    add_scaled(alpha, sum, scaled);
    scatter(scaled, 1, out, column, beta);
  }
}

#endif
