/* Kernels that work by lines. `q` counts thin rows. The number of registers decides:
 *
 *   HELD                  elements of the thin operand that are kept in registers, a vector each
 *   NEAR_ROWS(q)          rows of a group if q rows are added up from the caches
 *   OUTER_ROWS(steps)     rows of C that are computed together in an outer product
 *   COLUMNS_OF(q)         columns that are reduced together with q rows */
#if REGISTERS >= 32
#define HELD 24
#define NEAR_ROWS(q) ((q) == 1 ? 16 : (q) == 4 || (q) == 5 ? 4 : 8)
#define OUTER_ROWS(steps) ((steps) == 1 ? 1 : 4)
#define COLUMNS_OF(q) ((q) <= 2 ? 8 : (q) <= 4 ? 4 : 2)
#else
#define HELD 8
#define NEAR_ROWS(q) 8
#define OUTER_ROWS(steps) ((steps) == 1 ? 1 : 2)
#define COLUMNS_OF(q) ((q) == 1 ? 8 : (q) == 2 ? 4 : (q) <= 4 ? 2 : 1)
#endif

enum {
  FAR_ROWS = 8,                        /* rows of a group from memory */
  NARROW = 2,                          /* maximum rows of sums that may stay in registers */
  NARROW_VECTORS = 8,                  /* vectors of such a row, unless its steps are fewer than a group's */
  STRIP = 4,                           /* vectors of such a row that are added at a time */
  SUMS_MAX = 16,                       /* maximum vectors of sums in a reduction */
  PREFETCHED = 512 / (int)sizeof(REAL) /* prefetch distance in a row of C that is written */
};

/* Adds one vector, or `count` elements of it, of each row of a group. Rows of sums are whole vectors. */
TSL_INLINE void add_vectors(const REAL *x, int64_t along, const vector *held, const REAL *y, REAL *sums,
                            int64_t pitch, int q, int rows, bool prefetches, int64_t count) {
  vector sum[TSL_SKINNY_LINES_MAX];
  TSL_UNROLL for (int i = 0; i < q; i++) sum[i] = NAME(load)(sums + i * pitch);
  TSL_UNROLL for (int l = 0; l < rows; l++) {
    const REAL *row = x + l * along;
    vector from = count == LANES ? NAME(load)(row) : NAME(load_part)(row, count);
    if (q > 1)
      TSL_KEEP(from);
    if (prefetches)
      __builtin_prefetch(row + rows * along, 0, 2);
    TSL_UNROLL for (int i = 0; i < q; i++) sum[i] = rows * q <= HELD
                                                        ? NAME(fma_vectors)(sum[i], held[l * q + i], from)
                                                        : NAME(fma)(sum[i], y[l * q + i], from);
  }
  TSL_UNROLL for (int i = 0; i < q; i++) NAME(store)(sums + i * pitch, sum[i]);
}

/* Adds a group of rows. The thin elements are copied first: stores to sums might change them. */
TSL_INLINE void add_group(const tsl_skinny_lines *lines, const REAL *x, int64_t along, const REAL *y,
                          REAL *sums, int64_t pitch, int64_t width, int q, int rows, bool prefetches) {
  vector held[HELD];
  REAL copied[TSL_SKINNY_LINES_MAX * FAR_ROWS];
  int64_t j = 0;
  TSL_UNROLL for (int i = 0; i < q; i++) {
    TSL_UNROLL for (int r = 0; r < rows; r++) {
      const REAL number = y[i * lines->y_across + r * lines->y_along];
      if (rows * q <= HELD)
        held[r * q + i] = number - (vector){0};
      else
        copied[r * q + i] = number;
    }
  }
  for (; j + LANES <= width; j += LANES)
    add_vectors(x + j, along, held, copied, sums + j, pitch, q, rows, prefetches, LANES);
  if (j < width)
    add_vectors(x + j, along, held, copied, sums + j, pitch, q, rows, prefetches, width - j);
}

/* Adds all rows of `vectors` vectors, the last one of `last` elements, in registers. */
TSL_INLINE void add_strip(const tsl_skinny_lines *lines, const REAL *x, const REAL *y, REAL *sums, int q,
                          int vectors, int64_t last) {
  const int64_t along = lines->x_pitch, across = lines->y_across, step = lines->y_along, depth = lines->depth,
                pitch = lines->out_pitch;
  vector sum[NARROW][STRIP];
  TSL_UNROLL for (int i = 0; i < q; i++) {
    TSL_UNROLL for (int v = 0; v < vectors; v++) sum[i][v] = (vector){0};
  }
  for (int64_t l = 0; l < depth; l++, x += along, y += step)
    TSL_UNROLL for (int v = 0; v < vectors; v++) {
      vector from =
          v < vectors - 1 || last == LANES ? NAME(load)(x + v * LANES) : NAME(load_part)(x + v * LANES, last);
      if (q > 1)
        TSL_KEEP(from);
      TSL_UNROLL for (int i = 0; i < q; i++) sum[i][v] = NAME(fma)(sum[i][v], y[i * across], from);
    }
  TSL_UNROLL for (int i = 0; i < q; i++) {
    TSL_UNROLL for (int v = 0; v < vectors; v++) NAME(store)(sums + i * pitch + v * LANES, sum[i][v]);
  }
}

TSL_INLINE void add_strips(const tsl_skinny_lines *lines, const REAL *x, const REAL *y, REAL *sums,
                           int64_t width, int q) {
  int64_t j = 0;
  for (; j + STRIP * LANES <= width; j += STRIP * LANES)
    add_strip(lines, x + j, y, sums + j, q, STRIP, LANES);
  if (j + 2 * LANES <= width) {
    add_strip(lines, x + j, y, sums + j, q, 2, LANES);
    j += 2 * LANES;
  }
  if (j + LANES < width)
    add_strip(lines, x + j, y, sums + j, q, 2, width - j - LANES);
  else if (j < width)
    add_strip(lines, x + j, y, sums + j, q, 1, width - j);
}

TSL_INLINE void add(const tsl_skinny_lines *lines, const REAL *x, const REAL *y, REAL *sums, int64_t rows,
                    int64_t width, int q) {
  const int near = NEAR_ROWS(q);
  const int64_t depth = lines->depth, along = lines->x_pitch, step = lines->y_along, pitch = lines->out_pitch;
  int64_t l = 0;
  (void)rows;
  if (q <= NARROW && (width <= NARROW_VECTORS * LANES || depth < near)) {
    add_strips(lines, x, y, sums, width, q);
    return;
  }
  for (int i = 0; i < q; i++)
    for (int64_t j = 0; j < width; j += LANES)
      NAME(store)(sums + i * pitch + j, (vector){0});
  if (lines->prefetches)
    for (; l + FAR_ROWS <= depth; l += FAR_ROWS)
      add_group(lines, x + l * along, along, y + l * step, sums, pitch, width, q, FAR_ROWS, true);
  for (; l + near <= depth; l += near)
    add_group(lines, x + l * along, along, y + l * step, sums, pitch, width, q, near, false);
  if (near > 4)
    for (; l + 4 <= depth; l += 4)
      add_group(lines, x + l * along, along, y + l * step, sums, pitch, width, q, 4, false);
  for (; l < depth; l++)
    add_group(lines, x + l * along, along, y + l * step, sums, pitch, width, q, 1, false);
}

TSL_INLINE void reduce_some(const REAL *x, int64_t across, int64_t depth, const REAL *y, int64_t pitch,
                            REAL *dst, int q, int columns, bool prefetches) {
  const int fours = columns * q / 4 * 4;
  vector sum[SUMS_MAX];
  int64_t l = 0;
  TSL_UNROLL for (int t = 0; t < columns * q; t++) sum[t] = (vector){0};
  for (; l + LANES <= depth; l += LANES) {
    vector row[TSL_SKINNY_LINES_MAX];
    TSL_UNROLL for (int i = 0; i < q; i++) row[i] = NAME(load)(y + i * pitch + l);
    TSL_UNROLL for (int j = 0; j < columns; j++) {
      vector column = NAME(load)(x + j * across + l);
      if (q > 1)
        TSL_KEEP(column);
      if (prefetches)
        __builtin_prefetch(x + (columns + j) * across + l, 0, 2);
      TSL_UNROLL for (int i = 0; i < q; i++) sum[j * q + i] =
          NAME(fma_vectors)(sum[j * q + i], row[i], column);
    }
  }
  if (l < depth) {
    vector row[TSL_SKINNY_LINES_MAX];
    TSL_UNROLL for (int i = 0; i < q; i++) row[i] = NAME(load_part)(y + i * pitch + l, depth - l);
    TSL_UNROLL for (int j = 0; j < columns; j++) {
      const vector column = NAME(load_part)(x + j * across + l, depth - l);
      TSL_UNROLL for (int i = 0; i < q; i++) sum[j * q + i] =
          NAME(fma_vectors)(sum[j * q + i], row[i], column);
    }
  }
  TSL_UNROLL for (int t = 0; t < fours; t += 4) NAME(sum_lanes_of_4)(sum + t, dst + t);
  TSL_UNROLL for (int t = fours; t < columns * q; t++) dst[t] = NAME(sum_lanes)(sum[t]);
}

/* Reduces all columns in groups; the last group may overlap its predecessor. */
TSL_INLINE void reduce(const tsl_skinny_lines *lines, const REAL *x, const REAL *y, REAL *out, int64_t rows,
                       int64_t width, int q) {
  const int64_t across = lines->x_pitch, depth = lines->depth, pitch = lines->y_across,
                last = width - COLUMNS_OF(q);
  (void)rows;
  if (last < 0)
    for (int64_t j = 0; j < width; j++)
      reduce_some(x + j * across, across, depth, y, pitch, out + j * q, q, 1, false);
  else if (lines->prefetches)
    for (int64_t j = 0; j < width; j += COLUMNS_OF(q)) {
      const int64_t group = tsl_min(j, last);
      reduce_some(x + group * across, across, depth, y, pitch, out + group * q, q, COLUMNS_OF(q), true);
    }
  else
    for (int64_t j = 0; j < width; j += COLUMNS_OF(q)) {
      const int64_t group = tsl_min(j, last);
      reduce_some(x + group * across, across, depth, y, pitch, out + group * q, q, COLUMNS_OF(q), false);
    }
}

/* Sums of pairs times pairs, and times swapped pairs, for some columns; `parts` sums each hide the latency of
 * multiply-adds. Factors of 1 and -1 for the lanes make these the real and imaginary parts. */
TSL_INLINE void dots_some(const REAL *x, int64_t across, int64_t depth, const REAL *y, const vector signs[2],
                          REAL *dst, int columns, int parts, bool prefetches) {
  const int fours = VECTOR_BYTES > 16 ? 2 * columns / 4 * 4 : 0; /* 16 bytes: not measured */
  vector sum[8];
  int64_t l = 0;
  TSL_UNROLL for (int t = 0; t < 2 * columns * parts; t++) sum[t] = (vector){0};
  for (; l + parts * LANES <= depth; l += parts * LANES)
    TSL_UNROLL for (int part = 0; part < parts; part++) {
      const vector row = NAME(load)(y + l + part * LANES), swapped = NAME(swap_pairs)(row);
      TSL_UNROLL for (int j = 0; j < columns; j++) {
        const REAL *const at = x + j * across + l + part * LANES;
        vector column = NAME(load)(at), *const sums = sum + 2 * (part * columns + j);
        TSL_KEEP(column);
        if (prefetches)
          __builtin_prefetch(at + columns * across, 0, 2);
        sums[0] = NAME(fma_vectors)(sums[0], row, column);
        sums[1] = NAME(fma_vectors)(sums[1], swapped, column);
      }
    }
  for (; l < depth; l += LANES) {
    const int64_t count = tsl_min(depth - l, LANES);
    const vector row = NAME(load_part)(y + l, count), swapped = NAME(swap_pairs)(row);
    TSL_UNROLL for (int j = 0; j < columns; j++) {
      const vector column = NAME(load_part)(x + j * across + l, count);
      sum[2 * j] = NAME(fma_vectors)(sum[2 * j], row, column);
      sum[2 * j + 1] = NAME(fma_vectors)(sum[2 * j + 1], swapped, column);
    }
  }
  TSL_UNROLL for (int t = 2 * columns; t < 2 * columns * parts; t++) sum[t % (2 * columns)] += sum[t];
  TSL_UNROLL for (int t = 0; t < 2 * columns; t++) sum[t] *= signs[t % 2];
  TSL_UNROLL for (int t = 0; t < fours; t += 4) NAME(sum_lanes_of_4)(sum + t, dst + t);
  TSL_UNROLL for (int t = fours; t < 2 * columns; t++) dst[t] = NAME(sum_lanes)(sum[t]);
}

/* Computes the real and imaginary parts of dots of `width` columns and one thin row of pairs. */
static void dots(const tsl_skinny_lines *lines, const void *x, const void *y, void *out, int64_t rows,
                 int64_t width) {
  const REAL *column = x;
  const int64_t across = lines->x_pitch, depth = lines->depth;
  const REAL thin = (REAL)lines->signs[0], large = (REAL)lines->signs[1];
  REAL factors[2][LANES], *dst = out;
  int64_t j = 0;
  (void)rows;
  for (int i = 0; i < LANES; i++) {
    factors[0][i] = i % 2 ? -thin * large : 1;
    factors[1][i] = i % 2 ? large : thin;
  }
  const vector signs[2] = {NAME(load)(factors[0]), NAME(load)(factors[1])};
  if (lines->prefetches)
    for (; j + 4 <= width; j += 4, column += 4 * across, dst += 8)
      dots_some(column, across, depth, y, signs, dst, 4, 1, true);
  for (; j + 4 <= width; j += 4, column += 4 * across, dst += 8)
    dots_some(column, across, depth, y, signs, dst, 4, 1, false);
  if (j + 2 <= width) {
    dots_some(column, across, depth, y, signs, dst, 2, 2, false);
    j += 2, column += 2 * across, dst += 4;
  }
  if (j < width)
    dots_some(column, across, depth, y, signs, dst, 1, 4, false);
}

/* Steps of k that are transposed together: a cache line of each column where the instruction set can. */
#if VECTOR_BYTES == 64
enum { LINE_STEPS = LINE };
#define TRANSPOSE_STEPS NAME(transpose_line)
#else
enum { LINE_STEPS = STEPS };
#define TRANSPOSE_STEPS NAME(transpose)
#endif

/* Blocks of LANES columns whose chains of additions overlap with q rows. 64 bytes: a block has chains enough.
 * 16 bytes: not measured. */
#if VECTOR_BYTES == 32
#define ORDERED_BLOCKS(q) ((q) == 1 ? 16 / LANES : (q) < 4 ? 2 : 1)
#else
#define ORDERED_BLOCKS(q) 1
#endif
enum { ORDERED_SUMS_MAX = 8 }; /* of these blocks, or of 8 rows */

/* Computes sums of LANES columns, or `columns` of these, in the order of k: rows of vectors along the columns
 * are made by transposition. */
TSL_INLINE void reduce_block(const REAL *x, int64_t across, int64_t depth, const REAL *y, int64_t pitch,
                             REAL *dst, int q, int64_t columns) {
  vector sum[TSL_SKINNY_LINES_MAX];
  const REAL *column[LANES];
  int64_t l = 0;
  for (int64_t j = 0; j < LANES; j++)
    column[j] = x + (j < columns ? j : 0) * across;
  TSL_UNROLL for (int i = 0; i < q; i++) sum[i] = (vector){0};
  for (; l + LINE_STEPS <= depth; l += LINE_STEPS) {
    vector row[LINE_STEPS];
    TRANSPOSE_STEPS(column, l, row);
    TSL_UNROLL for (int s = 0; s < LINE_STEPS; s++) TSL_UNROLL for (int i = 0; i < q; i++) sum[i] =
        NAME(fma)(sum[i], y[i * pitch + l + s], row[s]);
  }
  REAL last[LANES];
  for (; l < depth; l++) {
    for (int64_t j = 0; j < LANES; j++)
      last[j] = column[j][l];
    const vector row = NAME(load)(last);
    TSL_UNROLL for (int i = 0; i < q; i++) sum[i] = NAME(fma)(sum[i], y[i * pitch + l], row);
  }
  for (int i = 0; i < q; i++) {
    NAME(store)(last, sum[i]);
    for (int64_t j = 0; j < columns; j++)
      dst[j * q + i] = last[j];
  }
}

/* Adds STEPS steps of the LANES columns from `x` on to their sums, from step `first` of these on. `odd`: 1,
 * 3, 5 and 7 strides, since compilers would make a pointer of each column. */
TSL_INLINE void add_ordered_steps(const REAL *x, const int64_t *odd, const REAL *y, int64_t pitch, int q,
                                  int first, vector *sum) {
  const REAL *row[LANES];
  vector steps[STEPS];
  TSL_UNROLL for (int j = 0; j < LANES; j++) row[j] = x + (j % 2    ? odd[j / 2]
                                                           : j == 6 ? 2 * odd[1]
                                                                    : j * odd[0]);
  NAME(transpose)(row, 0, steps);
  TSL_UNROLL for (int s = 0; s < STEPS; s++) if (s >= first) TSL_UNROLL for (int i = 0; i < q; i++) sum[i] =
      NAME(fma)(sum[i], y[i * pitch + s], steps[s]);
}

/* As reduce_block(), for `blocks` blocks of whole vectors and of one panel of k each, in turn of `parts`
 * panels: parts is 1 or 2, and the last part has at least STEPS steps. */
TSL_INLINE void reduce_blocks(const REAL *first, int64_t across, int64_t depth, int64_t panel, int parts,
                              const REAL *row, int64_t pitch, REAL *dst, int64_t width, int q, int blocks) {
  const int64_t last_part = depth - (parts - 1) * panel, whole = last_part - last_part % STEPS;
  int64_t odd[4] = {across, 3 * across, 5 * across, 7 * across};
  const REAL *x[ORDERED_BLOCKS(1)], *y[ORDERED_BLOCKS(1)];
  vector sum[ORDERED_SUMS_MAX];
  TSL_UNROLL for (int b = 0; b < blocks; b++) {
    const int64_t skipped = (b & (parts - 1)) * panel;
    x[b] = first + (b >> (parts - 1)) * LANES * across + skipped, y[b] = row + skipped;
  }
  TSL_UNROLL for (int t = 0; t < blocks * q; t++) sum[t] = (vector){0};
  for (int64_t l = 0; l < whole; l += STEPS) {
    __asm__("" : "+r"(odd[0]), "+r"(odd[1]), "+r"(odd[2]), "+r"(odd[3]));
    TSL_UNROLL for (int b = 0; b < blocks; b++) {
      add_ordered_steps(x[b], odd, y[b], pitch, q, 0, sum + b * q);
      x[b] += STEPS, y[b] += STEPS;
    }
  }
  TSL_UNROLL for (int b = 0; b < blocks; b++) {
    const int part = b & (parts - 1);
    int64_t rest = (part < parts - 1 ? panel : last_part) - whole;
    REAL last[LANES], *out = dst + (part * width + (b >> (parts - 1)) * LANES) * q;
    for (; rest >= STEPS; rest -= STEPS, x[b] += STEPS, y[b] += STEPS)
      add_ordered_steps(x[b], odd, y[b], pitch, q, 0, sum + b * q);
    if (rest > 0) /* the first steps of the unit are added already */
      add_ordered_steps(x[b] + rest - STEPS, odd, y[b] + rest - STEPS, pitch, q, STEPS - (int)rest,
                        sum + b * q);
    TSL_UNROLL for (int i = 0; i < q; i++) {
      NAME(store)(last, sum[b * q + i]);
      for (int64_t j = 0; j < LANES; j++)
        out[j * q + i] = last[j];
    }
  }
}

/* Reduces all columns as reduce(), each sum in the order of k, of one or two panels of k. More than eight
 * columns a power of two apart share sets of the cache, so blocks are of fewer columns and two panels then.
 */
TSL_INLINE void reduce_in_order(const tsl_skinny_lines *lines, const REAL *x, const REAL *y, REAL *out,
                                int64_t panel, int64_t width, int q) {
  const int64_t across = lines->x_pitch, pitch = lines->y_across;
  int64_t depth = lines->depth;
  const int parts = ORDERED_BLOCKS(q) * LANES > 8 && depth > panel && depth - panel >= STEPS ? 2 : 1;
  const int64_t together = ORDERED_BLOCKS(q) / parts * LANES;
  for (; depth > 0; depth -= panel, x += panel, y += panel, out += width * q) {
    const int64_t steps = tsl_min(parts * panel, depth);
    int64_t j = 0;
    if (ORDERED_BLOCKS(q) > 1 && steps >= STEPS)
      for (; j + together <= width; j += together)
        reduce_blocks(x + j * across, across, steps, panel, parts, y, pitch, out + j * q, width, q,
                      ORDERED_BLOCKS(q));
    for (int64_t part = 0; part < parts; part++)
      for (int64_t t = j; t < width; t += LANES)
        reduce_block(x + t * across + part * panel, across, tsl_min(panel, steps - part * panel),
                     y + part * panel, pitch, out + (part * width + t) * q, q, tsl_min(LANES, width - t));
    if (parts == 2)
      return;
  }
}

/* Arguments of an outer product, with factors of C's type: compilers do not convert them once. */
typedef struct outer_product {
  int64_t x_pitch, y_across, out_pitch;
  REAL alpha, beta;
} outer_product;

TSL_INLINE void outer_element(outer_product product, const REAL *b, const REAL *y, REAL *c, int steps) {
  REAL sum = y[0] * b[0];
  for (int l = 1; l < steps; l++)
    sum = NAME(fma_number)(sum, y[l], b[l * product.x_pitch]);
  sum *= product.alpha;
  *c = product.beta == 0 ? sum : NAME(fma_number)(sum, product.beta, *c);
}

TSL_INLINE void outer_vector(outer_product product, const vector *held, const REAL *x, REAL *c, int steps,
                             int together, bool adds, bool nontemporal) {
  vector b[TSL_SKINNY_OUTER_MAX];
  TSL_UNROLL for (int l = 0; l < steps; l++) {
    b[l] = NAME(load)(x + l * product.x_pitch);
    if (together > 1)
      TSL_KEEP(b[l]);
  }
  TSL_UNROLL for (int i = 0; i < together; i++) {
    REAL *row = c + i * product.out_pitch;
    vector sum = held[i * steps] * b[0];
    TSL_UNROLL for (int l = 1; l < steps; l++) sum = NAME(fma_vectors)(sum, held[i * steps + l], b[l]);
    sum *= product.alpha;
    if (!nontemporal)
      __builtin_prefetch(row + PREFETCHED, 1);
    if (adds)
      sum = NAME(fma)(sum, product.beta, NAME(load)(row));
    if (nontemporal)
      NAME(store_nontemporal)(row, sum);
    else
      NAME(store)(row, sum);
  }
}

TSL_INLINE void outer_rows(outer_product product, const REAL *x, const REAL *y, REAL *c, int64_t width,
                           int steps, int together, bool adds, bool nontemporal) {
  vector held[TSL_SKINNY_OUTER_MAX * TSL_SKINNY_OUTER_MAX];
  int64_t j = 0;
  TSL_UNROLL for (int i = 0; i < together; i++) {
    TSL_UNROLL for (int l = 0; l < steps; l++) held[i * steps + l] =
        y[i * product.y_across + l] - (vector){0};
  }
  if (nontemporal) {
    for (; j < width && (uintptr_t)(c + j) % VECTOR_BYTES != 0; j++)
      outer_element(product, x + j, y, c + j, steps);
    for (; j + LINE <= width; j += LINE)
      TSL_UNROLL for (int part = 0; part < LINE; part += LANES)
          outer_vector(product, held, x + j + part, c + j + part, steps, together, adds, true);
  }
  for (; j + LANES <= width; j += LANES)
    outer_vector(product, held, x + j, c + j, steps, together, adds, false);
  if (!adds && !nontemporal && width >= LANES) { /* the last vector overlaps its predecessor */
    if (j < width)
      outer_vector(product, held, x + width - LANES, c + width - LANES, steps, together, false, false);
  } else
    TSL_UNROLL for (int i = 0; i < together; i++) for (int64_t t = j; t < width; t++)
        outer_element(product, x + t, y + i * product.y_across, c + i * product.out_pitch + t, steps);
}

TSL_INLINE void outer_way(outer_product product, const REAL *x, const REAL *y, REAL *c, int64_t rows,
                          int64_t width, int steps, int together, bool adds, bool nontemporal) {
  for (; rows >= together;
       rows -= together, y += together * product.y_across, c += together * product.out_pitch)
    outer_rows(product, x, y, c, width, steps, together, adds, nontemporal);
  for (; rows > 0; rows--, y += product.y_across, c += product.out_pitch)
    outer_rows(product, x, y, c, width, steps, 1, adds, nontemporal);
}

TSL_INLINE void outer(const tsl_skinny_lines *lines, const REAL *x, const REAL *y, REAL *c, int64_t rows,
                      int64_t width, int steps) {
  const outer_product product = {lines->x_pitch, lines->y_across, lines->out_pitch, (REAL)lines->alpha,
                                 (REAL)lines->beta};
  if (lines->nontemporal)
    outer_way(product, x, y, c, rows, width, steps, 1, false, true);
  else if (lines->beta != 0)
    outer_way(product, x, y, c, rows, width, steps, OUTER_ROWS(steps), true, false);
  else
    outer_way(product, x, y, c, rows, width, steps, OUTER_ROWS(steps), false, false);
}
