/* Native elements, as an included text: k products are added one after the other, each fused, 8 rows by 32
 * columns at a time. Sums are in C's type or, for f32 with TSL_RESIDUE_PRECISE, in double. Rows and columns
 * are lists, because native lines can be anywhere. A complex line is two list entries, real and imaginary
 * parts; 2 x 2 sums are an element's. */

enum {
  NATIVE_ROWS = 8,
  NATIVE_COLUMNS = 32,
  NATIVE_LIST = 32,
  NATIVE_DEPTH = 32, /* terms of a tile on the stack */
  NATIVE_VECTORS = NATIVE_COLUMNS / LANES
};

typedef struct native_lines {
  int64_t at[NATIVE_LIST];
  int count;
} native_lines;

TSL_INLINE numbers fused_numbers(numbers a, numbers b, numbers c) {
#if JOIN(IS_DOUBLE_, TSL_TYPE)
  return fused_wide(a, b, c);
#else
  return fused_wide_f32(a, b, c);
#endif
}

TSL_INLINE int64_t numbers_per_element(const tsl_residue_job *job) {
  return job->is_complex ? 2 : 1;
}
TSL_INLINE const REAL *native_line(const tsl_residue_job *job, const tsl_residue_lines *lines, int64_t line) {
  return line_at(lines, line / numbers_per_element(job)) + line % numbers_per_element(job);
}

/* Packs `depth` numbers from `first` on of `width` lines, interleaved; absent lines are zeros. */
static void pack_native(const tsl_residue_job *job, const tsl_residue_lines *residue_lines,
                        const int64_t *lines, int count, int width, int64_t first, int64_t depth, REAL *dst) {
  for (int i = 0; i < width; i++) {
    const REAL *const from =
        i < count ? native_line(job, residue_lines, lines[i]) + first * residue_lines->along : NULL;
    for (int64_t h = 0; h < depth; h++)
      dst[h * width + i] = from ? from[h * residue_lines->along] : 0;
  }
}

static void add_native(const REAL *a, const REAL *b, int64_t depth, REAL *sums) {
  numbers sum[NATIVE_ROWS][NATIVE_VECTORS];
  memcpy(sum, sums, sizeof sum);
  for (int64_t h = 0; h < depth; h++, a += NATIVE_ROWS, b += NATIVE_COLUMNS) {
    numbers right[NATIVE_VECTORS];
    memcpy(right, b, sizeof right);
    TSL_UNROLL
    for (int i = 0; i < NATIVE_ROWS; i++) {
      const numbers left = NUMBERS(a[i]);
      TSL_UNROLL
      for (int v = 0; v < NATIVE_VECTORS; v++)
        sum[i][v] = fused_numbers(left, right[v], sum[i][v]);
    }
  }
  memcpy(sums, sum, sizeof sum);
}

#if !JOIN(IS_DOUBLE_, TSL_TYPE)
static void add_precise(const REAL *a, const REAL *b, int64_t depth, double *sums) {
  enum { VECTORS = NATIVE_COLUMNS / 8 };
  wide_f64 sum[NATIVE_ROWS][VECTORS];
  memcpy(sum, sums, sizeof sum);
  for (int64_t h = 0; h < depth; h++, a += NATIVE_ROWS, b += NATIVE_COLUMNS) {
    wide_f64 right[VECTORS];
    for (int v = 0; v < VECTORS; v++) {
      half_f32 own;
      memcpy(&own, b + 8 * v, sizeof own);
      right[v] = __builtin_convertvector(own, wide_f64);
    }
    TSL_UNROLL
    for (int i = 0; i < NATIVE_ROWS; i++) {
      const wide_f64 left = broadcast_f64(a[i]);
      TSL_UNROLL
      for (int v = 0; v < VECTORS; v++)
        sum[i][v] = exact_wide(left, right[v], sum[i][v]);
    }
  }
  memcpy(sums, sum, sizeof sum);
}

#else
#define add_precise add_native
#endif

typedef union native_sums {
  REAL plain[NATIVE_LIST * NATIVE_COLUMNS];
  double precise[NATIVE_LIST * NATIVE_COLUMNS]; /* with job->is_precise */
} native_sums;

static void compute_native_tile(const tsl_residue_job *job, const native_lines *rows, const int64_t *columns,
                                int count) {
  native_sums sums;
  REAL a[NATIVE_DEPTH * NATIVE_ROWS], b[NATIVE_DEPTH * NATIVE_COLUMNS];
  memset(&sums, 0, sizeof sums);
  for (int64_t h = 0; h < job->k; h += NATIVE_DEPTH) {
    const int64_t depth = tsl_min(NATIVE_DEPTH, job->k - h);
    pack_native(job, &job->operands[1], columns, count, NATIVE_COLUMNS, h, depth, b);
    for (int i = 0; i < rows->count; i += NATIVE_ROWS) {
      pack_native(job, &job->operands[0], rows->at + i, rows->count - i, NATIVE_ROWS, h, depth, a);
      if (job->is_precise)
        add_precise(a, b, depth, sums.precise + i * NATIVE_COLUMNS);
      else
        add_native(a, b, depth, sums.plain + i * NATIVE_COLUMNS);
    }
  }
  const int each = (int)numbers_per_element(job);
  for (int i = 0; i < rows->count; i += each)
    for (int j = 0; j < count; j += each) {
      const int at = i * NATIVE_COLUMNS + j;
      const REAL *const sum = sums.plain + at;
      REAL *c = (REAL *)(void *)job->c + rows->at[i] / each * job->c_row + columns[j] / each * job->c_col;
      if (!job->is_complex) {
        *c = residue_finish(job->is_precise ? sums.precise[at] : *sum, (REAL)job->alpha, (REAL)job->beta, c);
        continue;
      }
      const REAL parts[2][2] = {{sum[0], sum[1]}, {sum[NATIVE_COLUMNS], sum[NATIVE_COLUMNS + 1]}};
      for (int part = 0; part < 2; part++)
        c[part] = residue_finish(residue_native_part(part, parts, job->conjugates[0], job->conjugates[1]),
                                 (REAL)job->alpha, (REAL)job->beta, c + part);
    }
}

static bool is_native_line(const tsl_residue_job *job, int operand, int64_t line) {
  return job->choice.moduli == 0 || job->operands[operand].scales[line] == TSL_RESIDUE_NO_SCALE;
}

/* Computes these rows: native columns only, unless the rows are native. */
static void native_rows(const tsl_residue_job *job, const tsl_residue_block *block, const native_lines *rows,
                        bool is_native) {
  const int each = (int)numbers_per_element(job);
  int64_t columns[NATIVE_COLUMNS];
  int count = 0;
  for (int64_t j = block->column; j < block->column + block->columns; j++) {
    for (int part = 0; part < each && (is_native || is_native_line(job, 1, j)); part++)
      columns[count++] = j * each + part;
    if (count == NATIVE_COLUMNS || (count > 0 && j == block->column + block->columns - 1)) {
      compute_native_tile(job, rows, columns, count);
      count = 0;
    }
  }
}

static void native(const tsl_residue_job *job, const tsl_residue_block *block) {
  const int64_t end = block->row + block->rows, each = numbers_per_element(job);
  native_lines rows[2] = {{.count = 0}, {.count = 0}}; /* other rows, native rows */
  for (int64_t i = block->row; i < end; i++) {
    const bool is_native = is_native_line(job, 0, i);
    native_lines *const list = &rows[is_native];
    for (int64_t part = 0; part < each; part++)
      list->at[list->count++] = i * each + part;
    if (list->count == NATIVE_LIST) {
      native_rows(job, block, list, is_native);
      list->count = 0;
    }
  }
  for (int which = 0; which < 2; which++)
    if (rows[which].count > 0)
      native_rows(job, block, &rows[which], which == 1);
}
