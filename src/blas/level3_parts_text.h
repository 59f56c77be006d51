/* Helpers for one type. Macros: ELEMENT (type), CONJUGATE(x), REAL_PART(x), FROM_PARTS(doubles), NAME(what).
 */
static ELEMENT NAME(at)(const tsl_call_matrix *view, int64_t i, int64_t j) {
  const ELEMENT value = ((const ELEMENT *)view->data)[i * view->row + j * view->col];
  return view->conjugate ? CONJUGATE(value) : value;
}

static void NAME(mirror_block)(const tsl_call_matrix *a, bool hermitian, int64_t m, int64_t row,
                               int64_t column, ELEMENT *out) {
  const int64_t last_row = row + BLOCK < m ? row + BLOCK : m;
  const int64_t last_column = column + BLOCK < m ? column + BLOCK : m;
  for (int64_t j = column; j < last_column; j++)
    for (int64_t i = j > row ? j : row; i < last_row; i++) {
      const ELEMENT value = NAME(at)(a, i, j);
      out[j + i * m] = hermitian ? CONJUGATE(value) : value;
      out[i + j * m] = value;
    }
}

static void NAME(mirror)(const tsl_call_matrix *a, int uplo, bool hermitian, int64_t m, void *out) {
  /* An upper triangle is the lower triangle of the transpose. */
  tsl_call_matrix lower = *a;
  ELEMENT *all = out;
  if (uplo == 'U') {
    lower.row = a->col;
    lower.col = a->row;
    lower.conjugate = a->conjugate != hermitian;
  }
  for (int64_t column = 0; column < m; column += BLOCK)
    for (int64_t row = column; row < m; row += BLOCK)
      NAME(mirror_block)(&lower, hermitian, m, row, column, all);
  for (int64_t i = 0; hermitian && i < m; i++)
    all[i + i * m] = REAL_PART(all[i + i * m]);
}

static void NAME(spread)(const tsl_call_matrix *a, int uplo, bool unit, int64_t m,
                         const tsl_call_matrix *target) {
  const bool by_row = a->col == 1 && a->row != 1, before = (uplo == 'L') == by_row;
  const tsl_call_matrix lines = {a->data, by_row ? a->row : a->col, by_row ? a->col : a->row, a->conjugate};
  ELEMENT *out = tsl_writable(target->data);
  for (int64_t i = 0; i < m; i++, out += m) {
    const int64_t first = before ? 0 : i, end = before ? i + 1 : m;
    memset(out, 0, (size_t)m * sizeof *out);
    if (lines.col == 1 && !a->conjugate)
      memcpy(out + first, (const ELEMENT *)lines.data + i * lines.row + first,
             (size_t)(end - first) * sizeof *out);
    else
      for (int64_t j = first; j < end; j++)
        out[j] = NAME(at)(&lines, i, j);
    if (unit)
      out[i] = 1;
  }
}

/* Returns true if all numbers are finite: only then x * 0 is 0. Eight partial sums for vectorisation. */
static bool NAME(copy_line)(const ELEMENT *from, int64_t count, ELEMENT *out) {
  const REAL_OF *numbers = (const REAL_OF *)from;
  const int64_t parts = count * (int64_t)(sizeof(ELEMENT) / sizeof(REAL_OF));
  REAL_OF zeros[8] = {0}, sum = 0;
  int64_t i = 0;
  memcpy(out, from, (size_t)count * sizeof *out);
  for (; i + 8 <= parts; i += 8)
    for (int t = 0; t < 8; t++)
      zeros[t] += 0 * numbers[i + t];
  for (; i < parts; i++)
    sum += 0 * numbers[i];
  for (int t = 0; t < 8; t++)
    sum += zeros[t];
  return sum == 0;
}

static bool NAME(copy)(const tsl_call_matrix *from, int64_t m, int64_t n, const tsl_call_matrix *target) {
  const bool by_row = from->col == 1;
  const int64_t across = by_row ? m : n, along = by_row ? n : m;
  ELEMENT *out = tsl_writable(target->data);
  bool all = true;
  for (int64_t j = 0; j < across; j++) {
    const ELEMENT *line = (const ELEMENT *)from->data + j * (by_row ? from->row : from->col);
    all &= NAME(copy_line)(line, along, out + j * (by_row ? target->row : target->col));
  }
  return all;
}

static void NAME(fold_block)(const ELEMENT *square, bool lower, bool hermitian, int64_t n, int64_t row,
                             int64_t column, ELEMENT beta, ELEMENT *c, int64_t ld) {
  const int64_t rows = n - row < BLOCK ? n - row : BLOCK, columns = n - column < BLOCK ? n - column : BLOCK;
  ELEMENT turned[BLOCK][BLOCK];
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) {
      const ELEMENT value = square[column + j + (row + i) * n];
      turned[j][i] = hermitian ? CONJUGATE(value) : value;
    }
  for (int64_t j = 0; j < columns; j++) {
    const ELEMENT *from = square + row + (column + j) * n;
    ELEMENT *to = c + row + (column + j) * ld;
    const int64_t first = row == column && lower ? j : 0, end = row == column && !lower ? j + 1 : rows;
    if (beta == 0)
      for (int64_t i = first; i < end; i++)
        to[i] = from[i] + turned[j][i];
    else if (beta == 1)
      for (int64_t i = first; i < end; i++)
        to[i] += from[i] + turned[j][i];
    else
      for (int64_t i = first; i < end; i++)
        to[i] = beta * to[i] + (from[i] + turned[j][i]);
  }
}

static void NAME(fold)(const void *square, bool lower, bool hermitian, int64_t n, const double beta[2],
                       void *c, int64_t ld) {
  for (int64_t column = 0; column < n; column += BLOCK)
    for (int64_t row = lower ? column : 0; row < (lower ? n : column + 1); row += BLOCK)
      NAME(fold_block)(square, lower, hermitian, n, row, column, FROM_PARTS(beta), c, ld);
}

static void NAME(put)(const void *square, bool lower, int64_t n, const double beta[2], void *c, int64_t ld) {
  const ELEMENT factor = FROM_PARTS(beta);
  for (int64_t j = 0; j < n; j++) {
    const int64_t first = lower ? j : 0, count = lower ? n - j : j + 1;
    const ELEMENT *from = (const ELEMENT *)square + j * n + first;
    ELEMENT *to = (ELEMENT *)c + j * ld + first;
    if (factor == 0)
      memcpy(to, from, (size_t)count * sizeof *to);
    else
      for (int64_t i = 0; i < count; i++)
        to[i] = factor * to[i] + from[i];
  }
}
