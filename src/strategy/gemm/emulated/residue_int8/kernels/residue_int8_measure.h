/* Measuring of lines, as an included text. Vectors lie along a line, or across lines where their numbers are
 * adjacent; other strides are copied first. Everything is integer sums, so order and vector width change no
 * result.
 *   along:   line  [ . . 16 numbers . . ][ . . . ] ...      lanes are added in the end
 *   across:  k 0   [ a number of each of 16 lines ]         each lane has a line's own sums
 *            k 1   [ . . . ] */

#if JOIN(IS_DOUBLE_, TSL_TYPE)
enum { LANES = 8 };
typedef wide_f64 numbers;
typedef wide_i64 integers;
typedef wide_f64 tallies; /* integers below 2^53 */
#define MOST_BITS max_i64
#define COUNT_BELOW count_i64
#define INTEGERS(number) broadcast_i64(number)
#define NUMBERS(number) broadcast_f64(number)
#else
enum { LANES = 16 };
typedef wide_f32 numbers;
typedef wide_i32 integers;
typedef wide_u32 tallies;
#define MOST_BITS max_i32
#define COUNT_BELOW count_i32
#define INTEGERS(number) broadcast_i32(number)
#define NUMBERS(number) broadcast_f32(number)
#endif

enum {
  CHUNK = 64,
  GROUPS = TSL_RESIDUE_TOGETHER / LANES / 2, /* groups whose sums are on the stack together */
  ROWS = 8,
  AHEAD = 3072 / sizeof(REAL) /* prefetch distance in numbers of a line */
};

/* Constants of the lanes: guess; 2^(TOP - exponent) as two factors; limit of tops less 1; thresholds. */
typedef struct measures {
  residue_guess guess[LANES];
  REAL factor[2][LANES];
  tallies below;
  residue_bits least[TSL_RESIDUE_CANDIDATES][LANES];
} measures;

typedef struct lane_sums {
  residue_word sum[LANES], squares[LANES], excess[LANES];
  residue_bits largest[LANES];
  int64_t count[LANES], few[TSL_RESIDUE_CANDIDATES][LANES];
} lane_sums;

static void set_exponent(measures *by, int lane, int exponent) {
  const int up = TSL_RESIDUE_TOP - exponent;
  by->guess[lane].exponent = exponent;
  by->factor[0][lane] = (REAL)residue_two(up / 2);
  by->factor[1][lane] = (REAL)residue_two(up - up / 2);
  by->below[lane] = 0;
  for (int i = 0; i < TSL_RESIDUE_CANDIDATES; i++)
    by->least[i][lane] = 0;
}

static void set_guess(const residue_rules *rules, measures *by, int lane, const residue_guess *guess) {
  set_exponent(by, lane, guess->exponent);
  by->guess[lane] = *guess;
  by->below[lane] = guess->limit - 1;
  for (int i = 0; i < TSL_RESIDUE_CANDIDATES; i++)
    by->least[i][lane] = residue_small(rules, guess->exponent, guess->aims[i]);
}

TSL_INLINE tallies tops_of(numbers scaled) {
#if JOIN(IS_DOUBLE_, TSL_TYPE)
  return __builtin_convertvector(__builtin_convertvector(scaled, wide_i64), wide_f64);
#else
  return (wide_u32) __builtin_convertvector(scaled, wide_i32);
#endif
}
TSL_INLINE tallies max_tallies(tallies a, tallies b) {
#if JOIN(IS_DOUBLE_, TSL_TYPE)
  return max_f64(a, b);
#else
  return (wide_u32)max_i32((wide_i32)a, (wide_i32)b);
#endif
}

/* Adds tallies to 64-bit sums. Tops of numbers that exceed their exponent are undefined and not used. */
static void add_lanes(residue_word *dst, tallies values) {
  for (int i = 0; i < LANES; i++)
    dst[i] += values[i] < 0x1p62 ? (residue_word)values[i] : 0;
}
static void count_lanes(int64_t *dst, integers counts) {
  for (int i = 0; i < LANES; i++)
    dst[i] += (int64_t)counts[i];
}

typedef struct vector_sums { /* of at most CHUNK vectors */
  tallies sum, squares, excess;
  integers largest, any, few[TSL_RESIDUE_CANDIDATES];
} vector_sums;

/* Adds vectors `step` numbers apart, prefetching `ahead`. Excess: max(top, limit - 1) - (limit - 1). */
TSL_INLINE void add_vectors(const measures *by, const REAL *from, int64_t step, int64_t ahead, int64_t count,
                            vector_sums *sums) {
  const integers magnitude = INTEGERS(~TSL_RESIDUE_SIGN);
  const tallies below = by->below;
  numbers factor[2];
  integers least[TSL_RESIDUE_CANDIDATES];
  vector_sums own = *sums;
  memcpy(factor, by->factor, sizeof factor);
  memcpy(least, by->least, sizeof least);
  for (int64_t v = 0; v < count; v++) {
    integers bits;
    WIDE_LOAD(bits, from + v * step);
    __builtin_prefetch(from + v * step + ahead, 0, 2);
    bits &= magnitude;
    const tallies top = tops_of((numbers)bits * factor[0] * factor[1]);
    own.largest = MOST_BITS(own.largest, bits);
    own.any = COUNT_BELOW(own.any, (integers){0}, bits);
    for (int i = 0; i < TSL_RESIDUE_CANDIDATES; i++)
      own.few[i] = COUNT_BELOW(own.few[i], bits, least[i]);
    own.sum += top;
    own.squares += top * top;
    own.excess += max_tallies(top, below) - below;
  }
  *sums = own;
}

static void add_to_lane_sums(const measures *by, int64_t count, vector_sums *from, lane_sums *sums) {
  add_lanes(sums->sum, from->sum);
  add_lanes(sums->squares, from->squares);
  add_lanes(sums->excess, from->excess);
  count_lanes(sums->count, from->any);
  for (int i = 0; i < TSL_RESIDUE_CANDIDATES; i++) {
    count_lanes(sums->few[i], from->few[i]);
    /* zeros were counted as small, too: count is all numbers less the zeros */
    for (int lane = 0; lane < LANES; lane++)
      sums->few[i][lane] -= by->least[i][lane] > 0 ? count : 0;
  }
  const integers largest = from->largest;
  WIDE_STORE(sums->largest, largest);
  memset(from, 0, sizeof *from);
  from->largest = largest;
}

/* Returns the largest magnitude of a line, lanes `first` to `end` - 1, and sets *total to the lanes' sums. */
static residue_bits total_of(const measures *by, const lane_sums *sums, int first, int end,
                             residue_sums *total) {
  residue_bits largest = 0;
  memset(total, 0, sizeof *total);
  for (int lane = first; lane < end; lane++) {
    largest = sums->largest[lane] > largest ? sums->largest[lane] : largest;
    total->sum += sums->sum[lane];
    total->squares += sums->squares[lane];
    total->count += (unsigned)sums->count[lane];
    total->excess += sums->excess[lane];
    for (int i = 0; i < TSL_RESIDUE_CANDIDATES; i++)
      total->few[i] += (unsigned)(sums->few[i][lane] + (by->least[i][lane] > 0 ? sums->count[lane] : 0));
  }
  return largest;
}

static residue_bits magnitude_of(const REAL *number) {
  residue_bits bits;
  memcpy(&bits, number, sizeof bits);
  return bits & ~TSL_RESIDUE_SIGN;
}

/* Returns true if the line must be read again, because its numbers are not below 2^exponent. */
static bool is_above(residue_bits largest, int exponent) {
  return largest > 0 && largest < TSL_RESIDUE_INFINITY && residue_exponent(largest) > exponent;
}

TSL_INLINE int64_t number_at(const tsl_residue_lines *lines, int64_t h) {
  return lines->is_paired ? h / 2 * lines->along + h % 2 : h * lines->along;
}

/* Copies numbers that are not adjacent, or a partial last vector, and pads with zeros. */
static void gather(const tsl_residue_lines *lines, const REAL *from, int64_t count, int64_t whole,
                   REAL *dst) {
  for (int64_t i = 0; i < count; i++)
    dst[i] = from[number_at(lines, i)];
  for (int64_t i = count; i < whole; i++)
    dst[i] = 0;
}

static residue_bits add_line(const tsl_residue_job *job, const tsl_residue_lines *lines, int64_t line,
                             const residue_guess *guess, residue_sums *total) {
  REAL together[CHUNK * LANES];
  const REAL *const from = line_at(lines, line);
  vector_sums vectors_of;
  lane_sums sums;
  measures by;
  memset(&sums, 0, sizeof sums);
  memset(&vectors_of, 0, sizeof vectors_of);
  for (int lane = 0; lane < LANES; lane++)
    set_guess(job->rules, &by, lane, guess);
  for (int64_t h = 0; h < job->k; h += CHUNK * LANES) {
    const int64_t here = tsl_min(job->k - h, CHUNK * LANES), vectors = tsl_ceil_div(here, LANES);
    const REAL *at = from + number_at(lines, h);
    if (lines->is_paired || lines->along != 1 || here % LANES != 0) {
      gather(lines, at, here, vectors * LANES, together);
      at = together;
    }
    add_vectors(&by, at, LANES, AHEAD, vectors, &vectors_of);
    add_to_lane_sums(&by, vectors, &vectors_of, &sums);
  }
  return total_of(&by, &sums, 0, LANES, total);
}

static residue_guess guess_line(const tsl_residue_job *job, const tsl_residue_lines *lines, int64_t line) {
  REAL sample[TSL_RESIDUE_SAMPLE] = {0};
  const REAL *const from = line_at(lines, line);
  const int64_t count = residue_sample_count(job->k);
  residue_bits largest = 0;
  residue_guess guess;
  residue_sums total;
  vector_sums vectors_of;
  lane_sums sums;
  measures by;
  for (int i = 0; i < count; i++) {
    sample[i] = from[number_at(lines, residue_sample_at(job->k, i))];
    const residue_bits magnitude = magnitude_of(&sample[i]);
    largest = magnitude > largest ? magnitude : largest;
  }
  const int exponent = residue_guess_exponent(largest);
  const bool tells = largest > 0 && largest < TSL_RESIDUE_INFINITY;
  memset(&sums, 0, sizeof sums);
  memset(&vectors_of, 0, sizeof vectors_of);
  memset(&total, 0, sizeof total);
  for (int lane = 0; lane < LANES; lane++)
    set_exponent(&by, lane, exponent);
  if (tells) {
    add_vectors(&by, sample, LANES, 0, TSL_RESIDUE_SAMPLE / LANES, &vectors_of);
    add_to_lane_sums(&by, TSL_RESIDUE_SAMPLE / LANES, &vectors_of, &sums);
    total_of(&by, &sums, 0, LANES, &total);
  }
  residue_guess_of(job->rules, exponent, (unsigned)total.sum, total.squares, &guess);
  return guess;
}

static void measure_line(const tsl_residue_job *job, const tsl_residue_lines *residue_lines, int64_t line) {
  residue_sums sums;
  residue_guess guess = guess_line(job, residue_lines, line);
  residue_bits largest = add_line(job, residue_lines, line, &guess, &sums);
  if (is_above(largest, guess.exponent)) {
    residue_guess_again(job->rules, largest, &guess);
    largest = add_line(job, residue_lines, line, &guess, &sums);
  }
  residue_know(job->rules, largest, &guess, &sums, &residue_lines->lines[line]);
}

/* Adds LANES lines for each of `groups`, some memory rows of all groups at a time, for long rows. */
static void add_groups(const tsl_residue_job *job, const REAL *from, int64_t step, int64_t groups,
                       const measures *by, lane_sums *sums) {
  vector_sums vectors[GROUPS];
  memset(sums, 0, (size_t)groups * sizeof *sums);
  memset(vectors, 0, sizeof vectors);
  for (int64_t h = 0; h < job->k; h += CHUNK) {
    const int64_t end = tsl_min(h + CHUNK, job->k);
    for (int64_t row = h; row < end; row += ROWS)
      for (int64_t group = 0; group < groups; group++)
        add_vectors(&by[group], from + row * step + group * LANES, step, ROWS * step,
                    tsl_min(ROWS, end - row), &vectors[group]);
    for (int64_t group = 0; group < groups; group++)
      add_to_lane_sums(&by[group], end - h, &vectors[group], &sums[group]);
  }
}

/* Guesses about the lines of all lanes. Not inlined: its sums leave the stack before lines are added. */
static __attribute__((noinline)) void guess_groups(const tsl_residue_job *job, const tsl_residue_lines *lines,
                                                   int64_t first, int64_t groups, measures *by,
                                                   lane_sums *sums) {
  const REAL *const from = line_at(lines, first);
  const int64_t count = residue_sample_count(job->k);
  residue_bits largest[GROUPS * LANES] = {0};
  vector_sums vectors[GROUPS];
  for (int s = 0; s < count; s++) {
    const REAL *const row = from + residue_sample_at(job->k, s) * lines->along;
    for (int64_t i = 0; i < groups * LANES; i++) {
      const residue_bits magnitude = magnitude_of(row + i);
      largest[i] = magnitude > largest[i] ? magnitude : largest[i];
    }
  }
  for (int64_t i = 0; i < groups * LANES; i++)
    set_exponent(&by[i / LANES], (int)(i % LANES), residue_guess_exponent(largest[i]));
  memset(sums, 0, (size_t)groups * sizeof *sums);
  memset(vectors, 0, sizeof vectors);
  for (int s = 0; s < count; s += TSL_RESIDUE_CHUNK) {
    const int64_t rows = tsl_min(TSL_RESIDUE_CHUNK, count - s);
    for (int64_t group = 0; group < groups; group++) {
      add_vectors(&by[group], from + residue_sample_at(job->k, s) * lines->along + group * LANES,
                  lines->along, 0, rows, &vectors[group]);
      add_to_lane_sums(&by[group], rows, &vectors[group], &sums[group]);
    }
  }
  for (int64_t i = 0; i < groups * LANES; i++) {
    const int lane = (int)(i % LANES);
    const bool tells = largest[i] > 0 && largest[i] < TSL_RESIDUE_INFINITY;
    residue_guess guess;
    residue_guess_of(job->rules, by[i / LANES].guess[lane].exponent,
                     tells ? (unsigned)sums[i / LANES].sum[lane] : 0,
                     tells ? sums[i / LANES].squares[lane] : 0, &guess);
    set_guess(job->rules, &by[i / LANES], lane, &guess);
  }
}

static void measure_groups(const tsl_residue_job *job, const tsl_residue_lines *residue_lines, int64_t first,
                           int64_t groups) {
  const REAL *const from = line_at(residue_lines, first);
  measures by[GROUPS];
  lane_sums sums[GROUPS];
  memset(by, 0, sizeof by); /* compilers do not see that all values that are read are set */
  guess_groups(job, residue_lines, first, groups, by, sums);
  add_groups(job, from, residue_lines->along, groups, by, sums);
  bool again = false;
  for (int64_t i = 0; i < groups * LANES; i++) {
    const residue_bits largest = sums[i / LANES].largest[i % LANES];
    residue_guess guess = by[i / LANES].guess[i % LANES];
    if (!is_above(largest, guess.exponent))
      continue;
    residue_guess_again(job->rules, largest, &guess);
    set_guess(job->rules, &by[i / LANES], (int)(i % LANES), &guess);
    again = true;
  }
  if (again)
    add_groups(job, from, residue_lines->along, groups, by, sums);
  for (int64_t i = 0; i < groups * LANES; i++) {
    const int lane = (int)(i % LANES);
    residue_sums total;
    const residue_bits largest = total_of(&by[i / LANES], &sums[i / LANES], lane, lane + 1, &total);
    residue_know(job->rules, largest, &by[i / LANES].guess[lane], &total, &residue_lines->lines[first + i]);
  }
}

static void measure(const tsl_residue_job *job, int operand, int64_t first, int64_t count) {
  const tsl_residue_lines *operand_lines = &job->operands[operand];
  const int64_t groups = operand_lines->across == 1 && operand_lines->along != 1 ? count / LANES : 0;
  for (int64_t group = 0; group < groups; group += GROUPS)
    measure_groups(job, operand_lines, first + group * LANES, tsl_min(GROUPS, groups - group));
  for (int64_t line = first + groups * LANES; line < first + count; line++)
    measure_line(job, operand_lines, line);
}
