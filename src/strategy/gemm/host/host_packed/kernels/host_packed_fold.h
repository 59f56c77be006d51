/* Adds a product and its transpose. A vector of a row is added to STEPS columns, transposed in registers. */
#define OF_ELEMENTS(word) JOIN(word##_, TSL_TYPE)
enum { FOLD_LANES = OF_ELEMENTS(LANES), FOLD_STEPS = OF_ELEMENTS(STEPS) };

/* Stores elements `from` to before `end` of a vector at their columns of C. */
static void store_elements(const tsl_packed_fold *fold, const REAL *values, int64_t from, int64_t end,
                           REAL *c) {
  if (from < end)
    scatter(values + from * COMPONENTS, end - from, c + from * fold->c_column * COMPONENTS, fold->c_column,
            fold->beta);
}

static inline void store_vector(const tsl_packed_fold *fold, NAME(vector) value, int64_t from, int64_t end,
                                REAL *c) {
  if (fold->c_column == 1 && from == 0 && end == FOLD_LANES) {
    if (!is_zero(fold->beta))
      value = added(value, fold->beta, NAME(load)(c));
    NAME(store)(c, value);
    return;
  }
  REAL values[FOLD_LANES * COMPONENTS];
  NAME(store)(values, value);
  store_elements(fold, values, from, end, c);
}

/* Returns the conjugate if C is hermitian, else the value. */
static inline NAME(vector) turned(const tsl_packed_fold *fold, NAME(vector) value) {
#if COMPONENTS == 2
  const REAL sign = fold->is_hermitian ? -1 : 1;
  NAME(vector) signs = {0};
  TSL_UNROLL for (size_t i = 0; i < sizeof signs / sizeof(REAL); i++) signs[i] = i % 2 ? sign : 1;
  return value * signs;
#else
  (void)fold;
  return value;
#endif
}

/* Stores a hermitian diagonal element: its imaginary part is not read, and is written as 0. */
static void store_diagonal(const tsl_packed_fold *fold, REAL value, REAL *c) {
  const REAL factor = (REAL)fold->beta[0];
  c[0] = factor == 0 ? value : NAME(fma_number)(value, factor, c[0]);
  c[COMPONENTS - 1] = 0;
}

static void fold_vector(const tsl_packed_fold *fold, NAME(vector) value, int64_t i, int64_t j) {
  REAL *c = (REAL *)fold->c + (i * fold->c_row + j * fold->c_column) * COMPONENTS;
  const int64_t end = tsl_min(FOLD_LANES, fold->count - j), diagonal = i - j;
  int64_t from = 0, stop = end;
  if (fold->is_lower)
    stop = tsl_min(end, diagonal + 1);
  else
    from = tsl_max(0, diagonal);
  if (COMPONENTS == 2 && fold->is_hermitian && diagonal >= from && diagonal < stop) {
    REAL values[FOLD_LANES * COMPONENTS];
    NAME(store)(values, value);
    store_elements(fold, values, from, diagonal, c);
    store_elements(fold, values, diagonal + 1, stop, c);
    store_diagonal(fold, values[diagonal * COMPONENTS], c + diagonal * fold->c_column * COMPONENTS);
  } else {
    store_vector(fold, value, from, stop, c);
  }
}

static void fold(const tsl_packed_fold *fold, int64_t first, int64_t end) {
  typedef OF_ELEMENTS(element) whole;
  const whole *square = fold->square;
  for (int64_t i = first; i < end; i += FOLD_STEPS) {
    const int64_t last = tsl_min(i + FOLD_STEPS, end),
                  begin = fold->is_lower ? 0 : i / FOLD_LANES * FOLD_LANES,
                  behind = fold->is_lower ? last : fold->count;
    for (int64_t j = begin; j < behind; j += FOLD_LANES) {
      const whole *row[FOLD_LANES];
      OF_ELEMENTS(vector) across[FOLD_STEPS];
      for (int64_t t = 0; t < FOLD_LANES; t++)
        row[t] = square + (j + t < fold->count ? j + t : j) * fold->line;
      OF_ELEMENTS(transpose)(row, i, across);
      for (int64_t s = 0; s < last - i; s++)
        fold_vector(fold,
                    NAME(load)((const REAL *)(square + (i + s) * fold->line + j)) + turned(fold, across[s]),
                    i + s, j);
    }
  }
}
#undef OF_ELEMENTS
