/* Epilogue of tiles, for texts with REAL, SUFFIX of components, and COMPONENTS. Vectors of a complex type
 * hold pairs. A complex tile has two sums for each vector: of the real parts of A times pairs of B, and of
 * the imaginary parts. conj(A) B differs in the sign of the second sum, and A conj(B) is the conjugate of
 * conj(A) B. So conjugates are two signs here. Fused multiply-adds are explicit: a compiler would fuse
 * differently in different tiles. */
#if COMPONENTS == 1

static inline bool is_zero(const double *scalar) {
  return (REAL)scalar[0] == 0;
}
static inline NAME(vector) scaled(const double *scalar, NAME(vector) value) {
  return (REAL)scalar[0] * value;
}
static inline NAME(vector) added(NAME(vector) sum, const double *scalar, NAME(vector) value) {
  return NAME(fma)(sum, (REAL)scalar[0], value);
}
/* Returns a vector of a real tile: its only sum. */
static inline NAME(vector) join_sums(const double *signs, NAME(vector) first, NAME(vector) last) {
  (void)signs, (void)last;
  return first;
}

#else

static inline bool is_zero(const double *scalar) {
  return (REAL)scalar[0] == 0 && (REAL)scalar[1] == 0;
}
static inline NAME(vector) scaled(const double *scalar, NAME(vector) value) {
  const REAL real = (REAL)scalar[0], imaginary = (REAL)scalar[1];
  if (imaginary == 0)
    return real * value;
  return NAME(fma)(imaginary * NAME(times_i)(value), real, value);
}
static inline NAME(vector) added(NAME(vector) sum, const double *scalar, NAME(vector) value) {
  const REAL real = (REAL)scalar[0], imaginary = (REAL)scalar[1];
  if (imaginary == 0)
    return NAME(fma)(sum, real, value);
  return NAME(fma)(imaginary * NAME(times_i)(value), real, value) + sum;
}
/* Signs change before the addition: A conj(B) then has the bits of the transposed product conj(B') A', also
 * if a sum is 0 or the rounding is directed. */
static inline NAME(vector) join_sums(const double *signs, NAME(vector) first, NAME(vector) last) {
  NAME(vector) turned = NAME(times_i)(last);
  if (signs[1] < 0)
    TSL_UNROLL for (size_t i = 1; i < sizeof first / sizeof(REAL); i += 2) {
      first[i] = -first[i];
      turned[i] = -turned[i];
    }
  return signs[0] < 0 ? first - turned : first + turned;
}

#endif

/* Stores a row of C whose columns are not contiguous: c = sums + beta c; beta = 0 never reads c. Works by
 * whole vectors, so that bits do not depend on how tiles are cut. */
static void scatter(const REAL *sums, int64_t count, REAL *c, int64_t column, const double *beta) {
  enum { LANES = NAME(LANES), ELEMENTS = LANES / COMPONENTS };
  for (; count > 0; count -= ELEMENTS, sums += LANES, c += ELEMENTS * COMPONENTS * column) {
    const int64_t some = count < ELEMENTS ? count : ELEMENTS;
    REAL block[LANES] = {0}, old[LANES] = {0};
    for (int64_t i = 0; i < some * COMPONENTS; i++)
      block[i] = sums[i];
    if (!is_zero(beta)) {
      for (int64_t i = 0; i < some; i++)
        for (int part = 0; part < COMPONENTS; part++)
          old[i * COMPONENTS + part] = c[i * COMPONENTS * column + part];
      NAME(store)(block, added(NAME(load)(block), beta, NAME(load)(old)));
    }
    for (int64_t i = 0; i < some; i++)
      for (int part = 0; part < COMPONENTS; part++)
        c[i * COMPONENTS * column + part] = block[i * COMPONENTS + part];
  }
}
