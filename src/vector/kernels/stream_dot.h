/* s += A' x for columns so short and close that A is one stream of numbers: a part of columns.c. As many
 * vectors as the distance of columns are loaded in sequence. They are permuted in registers into element 0 of
 * all columns, element 1, and so on: fewer loads than in short_dot.h, with equal bits.
 *
 *   distance 3  | a0 b0 c0 a1 |      blended: 3 and a power of      | a0 a3 a2 a1 |      permuted, e.g.
 *               | b1 c1 a2 b2 |  ->  two are coprime, so each   ->  | b1 b0 b3 b2 |  ->  b0 b1 b2 b3
 *               | c2 a3 b3 c3 |      lane has one a, b and c        | c2 c1 c0 c3 |
 *
 * For powers of two, even and odd places are separated; 6 uses both. Gaps are read. Real numbers only. */

/* Maximum distance of columns; for larger distances in f64 short_dot.h is as fast. */
enum { APART_MOST = HAS_STREAMS && PARTS == 1 ? (sizeof(REAL) == 4 ? 8 : 4) : 0 };

#if HAS_STREAMS

enum { QUARTER = 16 / sizeof(REAL), MOST_APART = 8 };

/* Position of place p after even and odd places of two vectors were separated within 16 bytes. */
#define UNZIPPED(p)                                                                                          \
  ((p) % (LANES / 2) / (QUARTER / 2) * QUARTER + (p) / (LANES / 2) % 2 * (QUARTER / 2) + (p) % (QUARTER / 2))
static inline int place_of(int lane) {
  return lane % QUARTER / (QUARTER / 2) * (LANES / 2) + lane / QUARTER * (QUARTER / 2) + lane % (QUARTER / 2);
}

/* Lanes in which separate_columns() leaves the columns; for odd distances and their doubles by element. */
#define OF_ODD(apart, i, c) (((apart) * (c) + (i)) % LANES)
#define OF_SIX(apart, i, c) UNZIPPED(OF_ODD(3, i, c))
#define OF_TWO(apart, i, c) UNZIPPED(c)
#define OF_FOUR(apart, i, c)                                                                                 \
  (QUARTER == 4 ? (c) % (LANES / 4) * 4 + (c) / (LANES / 4) % 4                                              \
                : (c) / (LANES / 2) * (LANES / 2) + (c) % (LANES / 4) * 2 + (c) / (LANES / 4) % 2)
#define OF_EIGHT(apart, i, c)                                                                                \
  (LANES < 8                                                                                                 \
       ? 0                                                                                                   \
       : (c) / (LANES / 2) * (LANES / 2) + (c) % (LANES / PER_EIGHT) * 4 + (c) / (LANES / PER_EIGHT) % 4)
enum { PER_EIGHT = LANES < 8 ? 1 : 8 };
#define FOUR_LANES(of, apart, i, c)                                                                          \
  of(apart, i, c), of(apart, i, c + 1), of(apart, i, c + 2), of(apart, i, c + 3)
#define ALL_LANES(of, apart, i)                                                                              \
  {                                                                                                          \
    FOUR_LANES(of, apart, i, 0), FOUR_LANES(of, apart, i, 4), FOUR_LANES(of, apart, i, 8),                   \
        FOUR_LANES(of, apart, i, 12)                                                                         \
  }
static const int32_t lanes_of[MOST_APART + 1][MOST_APART][16] = {
    [2] = {ALL_LANES(OF_TWO, 2, 0)},
    [3] = {ALL_LANES(OF_ODD, 3, 0), ALL_LANES(OF_ODD, 3, 1), ALL_LANES(OF_ODD, 3, 2)},
    [4] = {ALL_LANES(OF_FOUR, 4, 0)},
    [5] = {ALL_LANES(OF_ODD, 5, 0), ALL_LANES(OF_ODD, 5, 1), ALL_LANES(OF_ODD, 5, 2), ALL_LANES(OF_ODD, 5, 3),
           ALL_LANES(OF_ODD, 5, 4)},
    [6] = {ALL_LANES(OF_SIX, 6, 0), ALL_LANES(OF_SIX, 6, 1), ALL_LANES(OF_SIX, 6, 2)},
    [7] = {ALL_LANES(OF_ODD, 7, 0), ALL_LANES(OF_ODD, 7, 1), ALL_LANES(OF_ODD, 7, 2), ALL_LANES(OF_ODD, 7, 3),
           ALL_LANES(OF_ODD, 7, 4), ALL_LANES(OF_ODD, 7, 5), ALL_LANES(OF_ODD, 7, 6)},
    [8] = {ALL_LANES(OF_EIGHT, 8, 0)},
};

/* Returns the number t below `odd` for which LANES t + 1 is a multiple of `odd`. */
TSL_INLINE int turn_of(int odd) {
  int turn = 1;
  TSL_UNROLL for (int v = 1; v < MOST_APART; v++) if (v < odd && (LANES * v + 1) % odd == 0) turn = v;
  return turn;
}

/* Returns the lanes whose element 0 is in a vector whose number has this bit. */
TSL_INLINE uint32_t turn_bits(int odd, int bit, bool unzipped) {
  uint32_t bits = 0;
  TSL_UNROLL for (int l = 0; l < LANES; l++) bits |=
      ((unzipped ? place_of(l) : l) * turn_of(odd) % odd & bit) != 0 ? 1u << l : 0;
  return bits;
}

/* Collects element i of all columns in v[i]: rotates each lane by its vector with element 0. */
TSL_INLINE void separate_odd(vector *v, int odd, bool unzipped) {
  vector turned[MOST_APART];
  TSL_UNROLL for (int bit = 1; bit < MOST_APART; bit *= 2) if (bit < odd) {
    const NAME(mask) mask = NAME(mask_of_bits)(turn_bits(odd, bit, unzipped));
    TSL_UNROLL for (int j = 0; j < odd; j++) turned[j] = NAME(select)(mask, v[(j + bit) % odd], v[j]);
    TSL_UNROLL for (int j = 0; j < odd; j++) v[j] = turned[j];
  }
  TSL_UNROLL for (int i = 0; i < odd; i++) turned[i] = v[(odd - turn_of(odd)) * i % odd];
  TSL_UNROLL for (int i = 0; i < odd; i++) v[i] = turned[i];
}

TSL_INLINE void separate_four(vector *v) {
  vector first[2], second[2], even[2], odd[2];
  NAME(unzip_numbers)(v[0], v[1], first);
  NAME(unzip_numbers)(v[2], v[3], second);
  if (QUARTER == 4) {
    NAME(unzip_numbers)(first[0], second[0], even);
    NAME(unzip_numbers)(first[1], second[1], odd);
  } else {
    NAME(unzip_quarters)(first[0], second[0], even);
    NAME(unzip_quarters)(first[1], second[1], odd);
  }
  TSL_UNROLL for (int i = 0; i < 2; i++) {
    v[2 * i] = even[i];
    v[2 * i + 1] = odd[i];
  }
}

TSL_INLINE void separate_eight(vector *v) {
  separate_four(v);
  separate_four(v + 4);
  TSL_UNROLL for (int i = 0; i < 4; i++) {
    vector both[2];
    NAME(unzip_quarters)(v[i], v[4 + i], both);
    v[i] = both[0];
    v[4 + i] = both[1];
  }
}

TSL_INLINE void separate_six(vector *v) {
  vector parts[2][MOST_APART];
  TSL_UNROLL for (int i = 0; i < 3; i++) {
    vector both[2];
    NAME(unzip_numbers)(v[2 * i], v[2 * i + 1], both);
    parts[0][i] = both[0];
    parts[1][i] = both[1];
  }
  separate_odd(parts[0], 3, true);
  separate_odd(parts[1], 3, true);
  TSL_UNROLL for (int i = 0; i < 6; i++) v[i] = parts[i % 2][i / 2];
}

TSL_INLINE void separate_columns(vector *v, int apart) {
  if (apart == 2)
    NAME(unzip_numbers)(v[0], v[1], v);
  else if (apart == 4)
    separate_four(v);
  else if (apart == 8)
    separate_eight(v);
  else if (apart == 6)
    separate_six(v);
  else if (apart > 1)
    separate_odd(v, apart, false);
}

/* Returns the sums of a vector's worth of columns that begin with v, in the columns' order. */
TSL_INLINE vector stream_sums(vector *v, int apart, int64_t rows, const vector *x) {
  const bool each_its_own = apart % 2 != 0 || apart == 6;
  vector sum = {0};
  separate_columns(v, apart);
  TSL_UNROLL for (int i = 0; i < apart; i++) if (i < rows) {
    vector here = v[i];
    if (apart > 1 && each_its_own)
      here = NAME(permute_lanes)(here, lanes_of[apart][apart == 6 ? i / 2 : i]);
    sum += x[i] * here;
  }
  if (!each_its_own)
    sum = NAME(permute_lanes)(sum, lanes_of[apart][0]);
  return sum;
}

TSL_INLINE void dot_separated(int apart, int64_t rows, int64_t count, const REAL *a, const REAL *x, REAL *s) {
  const int64_t numbers = (count - 1) * apart + rows;
  vector v[MOST_APART], factor[MOST_APART];
  TSL_UNROLL for (int i = 0; i < apart; i++) factor[i] = splat(i < rows ? x[i] : 0);
  int64_t j = 0;
  for (; (j + LANES) * apart <= numbers; j += LANES) {
    TSL_UNROLL for (int i = 0; i < apart; i++) v[i] = NAME(load)(a + j * apart + i * LANES);
    NAME(store)(s + j, NAME(load)(s + j) + stream_sums(v, apart, rows, factor));
  }
  if (j == count)
    return;
  const int64_t left = numbers - j * apart;
  TSL_UNROLL for (int i = 0; i < apart; i++) {
    const int64_t here = left - i * LANES;
    v[i] = (vector){0};
    if (here > 0)
      v[i] = NAME(load_edge)(a + j * apart + i * LANES, here < LANES ? here : LANES);
  }
  const vector sum = stream_sums(v, apart, rows, factor);
  NAME(store_edge)(s + j, NAME(load_edge)(s + j, count - j) + sum, count - j);
}

/* Returns false if the distance has no such kernel; then nothing was done. */
static bool dot_stream(int64_t rows, int64_t count, const REAL *a, int64_t ld, const REAL *x, REAL *s) {
  if (ld == 1)
    dot_separated(1, rows, count, a, x, s);
  else if (ld == 2)
    dot_separated(2, rows, count, a, x, s);
  else if (ld == 3)
    dot_separated(3, rows, count, a, x, s);
  else if (ld == 4)
    dot_separated(4, rows, count, a, x, s);
  else if (APART_MOST > 4 && ld == 5)
    dot_separated(5, rows, count, a, x, s);
  else if (APART_MOST > 4 && ld == 6)
    dot_separated(6, rows, count, a, x, s);
  else if (APART_MOST > 4 && ld == 7)
    dot_separated(7, rows, count, a, x, s);
  else if (APART_MOST > 4 && ld == 8)
    dot_separated(8, rows, count, a, x, s);
  else
    return false;
  return true;
}

#else

static bool dot_stream(int64_t rows, int64_t count, const REAL *a, int64_t ld, const REAL *x, REAL *s) {
  (void)rows, (void)count, (void)a, (void)ld, (void)x, (void)s;
  return false;
}

#endif
