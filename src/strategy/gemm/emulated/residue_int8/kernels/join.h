/* C from residues, as an included text: 32 elements of a row at a time, in doubles with exact sums.
 *   S_i  = sum of weight_l,i c_l           weights in parts of 40 bits, c below 2^8, 16 moduli: below 2^52
 *   q    = round((S_top + S_next / 2^40) inverse)
 *   S_i -= q product_i                     C' = S_0 + 2^40 S_1 + ...
 * C' is rounded to a double once, as by residue_sum_long(). Two parts need one addition. With more, carries
 * make the lower parts at most 2^39. The top parts are added with their exact rounding error; the lower parts
 * are collapsed with round-to-odd. Scales are powers of two; scales for which a product could be subnormal
 * are applied to one number after the other. */

#define PART 0x1p40
enum { EIGHTH = 8, GROUP = TSL_RESIDUE_LINES / EIGHTH };

TSL_INLINE wide_f64 rounded_wide(wide_f64 x) { /* for |x| < 2^51 */
  return x + 0x1.8p52 - 0x1.8p52;
}

/* Returns the value of parts below 2^53, whose upper parts together are below 2^53 too, rounded once. */
TSL_INLINE wide_f64 value_of(wide_f64 *part, const int parts) {
  if (parts == 2)
    return part[1] * PART + part[0];
  for (int i = 0; i < parts - 1; i++) {
    const wide_f64 carry = rounded_wide(part[i] * (1 / PART));
    part[i] -= carry * PART;
    part[i + 1] += carry;
  }
  wide_f64 top = part[2];
  if (parts == 4)
    top += part[3] * PART;
  const wide_f64 high = top * PART + part[1];
  const wide_f64 lost = part[1] - (high - top * PART);
  const wide_f64 low = lost * PART + part[0], error = part[0] - (low - lost * PART);
  const wide_i64 bits = (wide_i64)low, is_even = (bits & 1) == 0, is_off = error != 0,
                 is_down = ((wide_i64)error ^ bits) >> 63;
  const wide_f64 odd = (wide_f64)(bits + ((is_down | 1) & is_even & is_off));
  return high * PART + odd;
}

/* Computes C' of 32 elements of a row; the residues of modulus l are at rest + l plane. */
TSL_INLINE void numbers_of(const tsl_residue_job *job, const unsigned char *rest, int64_t plane,
                           const int parts, wide_f64 *value) {
  const residue_weights *const weights = &job->weights;
  wide_f64 part[GROUP][TSL_RESIDUE_PARTS] = {{{0}}};
  for (int l = 0; l < job->choice.moduli; l++)
    for (int g = 0; g < GROUP; g++) {
      const wide_f64 c = doubles_of_bytes(rest + l * plane + g * EIGHTH);
      for (int i = 0; i < parts; i++)
        part[g][i] = exact_wide(c, broadcast_f64(weights->weight[l][i]), part[g][i]);
    }
  TSL_UNROLL
  for (int g = 0; g < GROUP; g++) {
    const wide_f64 q =
        rounded_wide((part[g][parts - 1] + part[g][parts - 2] * (1 / PART)) * weights->inverse);
    for (int i = 0; i < parts; i++)
      part[g][i] = exact_wide(-q, broadcast_f64(weights->product[i]), part[g][i]);
    value[g] = value_of(part[g], parts);
  }
}

#define QUIET ((integer)(TSL_RESIDUE_INFINITY | TSL_RESIDUE_INFINITY >> 1))
#if JOIN(IS_DOUBLE_, TSL_TYPE)
typedef int64_t integer;
#else
typedef int32_t integer;
#endif

/* Computes alpha x + beta c as residue_finish(). */
TSL_INLINE void finish_numbers(const tsl_residue_job *job, const wide_f64 *value, REAL *c) {
  const REAL alpha = (REAL)job->alpha, beta = (REAL)job->beta;
  for (int g = 0; g < GROUP; g++) {
    wide_f64 sum = value[g] * (double)alpha;
#if JOIN(IS_DOUBLE_, TSL_TYPE)
    wide_f64 before;
    WIDE_LOAD(before, c + g * EIGHTH);
    if (beta != 0)
      sum = fused_wide(broadcast_f64(beta), before, sum);
    const wide_i64 is_nan = sum != sum;
    wide_i64 bits = (wide_i64)sum;
#else
    half_f32 before;
    WIDE_LOAD(before, c + g * EIGHTH);
    if (beta != 0)
      sum = sum + __builtin_convertvector(before, wide_f64) * (double)beta;
    const half_f32 out = __builtin_convertvector(sum, half_f32);
    const half_i32 is_nan = out != out;
    half_i32 bits = (half_i32)out;
#endif
    bits = (bits & ~is_nan) | (is_nan & QUIET);
    WIDE_STORE(c + g * EIGHTH, bits);
  }
}

/* Scales of a tile's columns as factors; all are in range; the tile has whole rows without native columns. */
typedef struct factors {
  double value[TSL_RESIDUE_LINES];
  bool is_plain, is_whole;
} factors;
enum { PLAIN_SCALE = 450, ACROSS = TSL_RESIDUE_COLUMNS / TSL_RESIDUE_LINES };

static bool is_plain_scale(int scale) {
  return scale < PLAIN_SCALE && scale > -PLAIN_SCALE;
}

static factors factors_of(const tsl_residue_job *job, int64_t column, int64_t columns) {
  factors made = {.is_plain = true, .is_whole = columns == TSL_RESIDUE_LINES && job->c_col == 1};
  for (int64_t j = 0; j < columns; j++) {
    const int scale = job->operands[1].scales[column + j];
    const bool is_native = scale == TSL_RESIDUE_NO_SCALE;
    made.is_whole = made.is_whole && !is_native;
    made.is_plain = made.is_plain && (is_native || is_plain_scale(scale));
    made.value[j] = is_native || !is_plain_scale(scale) ? 0 : residue_two(-scale);
  }
  return made;
}

/* Scales numbers of a row, of which a product with two factors could be subnormal or overflow. */
static __attribute__((noinline)) void scale_one_by_one(const tsl_residue_job *job, int64_t row,
                                                       int64_t column, int64_t columns, double *value) {
  for (int64_t j = 0; j < columns; j++) {
    const int across = job->operands[1].scales[column + j];
    if (across != TSL_RESIDUE_NO_SCALE)
      value[j] = residue_power(-(job->operands[0].scales[row] + across), value[j]);
  }
}

TSL_INLINE void join_row(const tsl_residue_job *job, const unsigned char *rest, int64_t plane, int64_t row,
                         int64_t column, int64_t columns, const factors *by, const int parts) {
  const int scale = job->operands[0].scales[row];
  REAL *c = (REAL *)(void *)job->c + row * job->c_row + column * job->c_col,
       together[TSL_RESIDUE_LINES] = {0};
  wide_f64 value[GROUP];
  numbers_of(job, rest, plane, parts, value);
  if (by->is_plain && is_plain_scale(scale)) {
    const double down = residue_two(-scale);
    for (int g = 0; g < GROUP; g++) {
      wide_f64 across;
      WIDE_LOAD(across, by->value + g * EIGHTH);
      value[g] = value[g] * down * across;
    }
  } else {
    scale_one_by_one(job, row, column, columns, (double *)(void *)value);
  }
  if (by->is_whole) {
    if (job->beta != 0)
      memcpy(together, c, sizeof together);
    finish_numbers(job, value, together);
    memcpy(c, together, sizeof together);
    return;
  }
  for (int64_t j = 0; j < columns && job->beta != 0; j++)
    together[j] = c[j * job->c_col];
  finish_numbers(job, value, together);
  for (int64_t j = 0; j < columns; j++)
    if (job->operands[1].scales[column + j] != TSL_RESIDUE_NO_SCALE)
      c[j * job->c_col] = together[j];
}

/* Computes rows of 32 through all tiles, row after row, so that C is written along its rows. */
TSL_INLINE void join_rows(const tsl_residue_job *job, const tsl_residue_block *block, const factors *by,
                          const int parts) {
  enum { SIDE = TSL_RESIDUE_LINES };
  const int64_t across = tsl_ceil_div(block->columns, SIDE);
  for (int64_t i = 0; i < block->rows; i++) {
    if (job->operands[0].scales[block->row + i] == TSL_RESIDUE_NO_SCALE)
      continue;
    for (int64_t tile = 0; tile < across; tile++)
      join_row(job, block->rests + (i / SIDE * across + tile) * TSL_RESIDUE_SUMS + i % SIDE * SIDE,
               block->plane, block->row + i, block->column + tile * SIDE,
               tsl_min(SIDE, block->columns - tile * SIDE), &by[tile], parts);
  }
}

static void join(const tsl_residue_job *job, const tsl_residue_block *block) {
  factors by[ACROSS];
  for (int64_t j = 0; j < block->columns; j += TSL_RESIDUE_LINES)
    by[j / TSL_RESIDUE_LINES] =
        factors_of(job, block->column + j, tsl_min(TSL_RESIDUE_LINES, block->columns - j));
  if (job->weights.parts == 2)
    join_rows(job, block, by, 2);
  else if (job->weights.parts == 3)
    join_rows(job, block, by, 3);
  else
    join_rows(job, block, by, 4);
}
