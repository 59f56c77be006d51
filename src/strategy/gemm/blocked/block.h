/* One block of C, as text. Included per type by files that differ in their compiler flags, with
 *   REAL            the element type
 *   NAME(word)      the type's version of a name
 *   VECTOR_BYTES    a vector register
 *   TILE_ROWS, TILE_VECTORS   a tile of C in registers: TILE_ROWS x TILE_VECTORS vectors, and a few registers left
 *
 * Vectors are the compiler's own type, because whether a compiler turns nested loops of small constant length
 * into vectors depends on the compiler: gcc 12 does for rows of 32 numbers and not of 16, clang 14 for 48 and not for
 * 32, and a tile that is not turned into vectors runs at a hundredth of the speed. */

typedef REAL NAME(vector) __attribute__((vector_size(VECTOR_BYTES), may_alias));
enum { NAME(tile_columns) = TILE_VECTORS * VECTOR_BYTES / (int)sizeof(REAL) };

/* Copies `count` neighbours, each `depth` numbers long, as strips of `width` neighbours: for each strip, for each
 * step along the panel, `width` numbers; zeros after the last neighbour. `across` is the stride from neighbour to
 * neighbour, `along` the stride along the panel; where the neighbours lie side by side they are read so. */
static inline void NAME(copy)(const REAL *restrict in, int64_t across, int64_t count, int64_t along,
                              int64_t depth, int width, REAL *restrict out) {
  for (; count > 0; count -= width, in += width * across, out += width * depth)
    if (across == 1 && count >= width)
      for (int64_t d = 0; d < depth; d++)
        for (int t = 0; t < width; t++)
          out[d * width + t] = in[d * along + t];
    else if (across == 1)
      for (int64_t d = 0; d < depth; d++)
        for (int t = 0; t < width; t++)
          out[d * width + t] = t < count ? in[d * along + t] : 0;
    else
      for (int t = 0; t < width; t++)
        for (int64_t d = 0; d < depth; d++)
          out[d * width + t] = t < count ? in[t * across + d * along] : 0;
}

/* out = a sliver times a strip. The sums stay in registers: loops of constant length, unrolled. */
static void NAME(multiply_tile)(int64_t depth, const REAL *restrict a, const REAL *restrict b,
                                REAL *restrict out) {
  NAME(vector) sum[TILE_ROWS][TILE_VECTORS] = {{{0}}};
  for (int64_t l = 0; l < depth; l++, a += TILE_ROWS, b += NAME(tile_columns))
    for (int i = 0; i < TILE_ROWS; i++)
      for (int j = 0; j < TILE_VECTORS; j++)
        sum[i][j] += a[i] * ((const NAME(vector) *)b)[j];
  for (int i = 0; i < TILE_ROWS; i++)
    for (int j = 0; j < TILE_VECTORS; j++)
      ((NAME(vector) *)out)[i * TILE_VECTORS + j] = sum[i][j];
}

/* One row of a tile: c = alpha sum + beta c, where beta = 0 never reads c. The caller's stride 1 is a constant
 * here, for vectors. */
static inline void NAME(finish_row)(REAL *restrict c, int64_t stride, const REAL *restrict sum, int columns,
                                    REAL alpha, REAL beta) {
  if (beta == 0)
    for (int j = 0; j < columns; j++)
      c[j * stride] = alpha * sum[j];
  else
    for (int j = 0; j < columns; j++)
      c[j * stride] = beta * c[j * stride] + alpha * sum[j];
}

static void NAME(finish_tile)(const tsl_blocks *job, int64_t row, int rows, int64_t column, int columns,
                              const REAL *sums, REAL beta) {
  const int64_t stride = job->c.col_stride;
  for (int i = 0; i < rows; i++, sums += NAME(tile_columns)) {
    REAL *c = (REAL *)job->c.host + (row + i) * job->c.row_stride + column * stride;
    if (stride == 1)
      NAME(finish_row)(c, 1, sums, columns, (REAL)job->alpha, beta);
    else
      NAME(finish_row)(c, stride, sums, columns, (REAL)job->alpha, beta);
  }
}

/* Panel after panel: copies, tiles, and C between panels; the first panel alone looks at beta, and k = 0 is one
 * empty panel. */
static void NAME(multiply_block)(const tsl_blocks *job, int64_t row, int64_t column, void *a_copy,
                                 void *b_copy) {
  enum { HEIGHT = TILE_ROWS, WIDTH = NAME(tile_columns) };
  const int64_t rows = tsl_blocks_least(job->rows, job->m - row),
                columns = tsl_blocks_least(job->columns, job->n - column);
  const tsl_operand *a = &job->a, *b = &job->b;
  _Alignas(64) REAL sums[HEIGHT * WIDTH];
  for (int64_t l = 0; l == 0 || l < job->k; l += job->depth) {
    const int64_t depth = tsl_blocks_least(job->depth, job->k - l);
    NAME(copy)
    ((const REAL *)a->host + row * a->row_stride + l * a->col_stride, a->row_stride, rows, a->col_stride,
     depth, HEIGHT, a_copy);
    NAME(copy)
    ((const REAL *)b->host + column * b->col_stride + l * b->row_stride, b->col_stride, columns,
     b->row_stride, depth, WIDTH, b_copy);
    for (int64_t i = 0; i < rows; i += HEIGHT)
      for (int64_t j = 0; j < columns; j += WIDTH) {
        NAME(multiply_tile)(depth, (const REAL *)a_copy + i * depth, (const REAL *)b_copy + j * depth, sums);
        NAME(finish_tile)
        (job, row + i, (int)tsl_blocks_least(HEIGHT, rows - i), column + j,
         (int)tsl_blocks_least(WIDTH, columns - j), sums, l == 0 ? (REAL)job->beta : 1);
      }
  }
}
