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
enum { DISTANCE_MAX = HAS_STREAMS && PARTS == 1 ? (sizeof(REAL) == 4 ? 8 : 4) : 0 };

#if HAS_STREAMS

enum { QUARTER = 16 / sizeof(REAL), VECTORS_MAX = 8 };

/* Position of place p after even and odd places of two vectors were separated within 16 bytes. */
#define UNZIPPED(p)                                                                                          \
  ((p) % (LANES / 2) / (QUARTER / 2) * QUARTER + (p) / (LANES / 2) % 2 * (QUARTER / 2) + (p) % (QUARTER / 2))
static inline int unzipped_position(int lane) {
  return lane % QUARTER / (QUARTER / 2) * (LANES / 2) + lane / QUARTER * (QUARTER / 2) + lane % (QUARTER / 2);
}

/* Lanes in which unzip_vectors() leaves the columns; for odd distances and their doubles by element. */
#define OF_ODD(distance, i, c) (((distance) * (c) + (i)) % LANES)
#define OF_SIX(distance, i, c) UNZIPPED(OF_ODD(3, i, c))
#define OF_TWO(distance, i, c) UNZIPPED(c)
#define OF_FOUR(distance, i, c)                                                                              \
  (QUARTER == 4 ? (c) % (LANES / 4) * 4 + (c) / (LANES / 4) % 4                                              \
                : (c) / (LANES / 2) * (LANES / 2) + (c) % (LANES / 4) * 2 + (c) / (LANES / 4) % 2)
#define OF_EIGHT(distance, i, c)                                                                             \
  (LANES < 8                                                                                                 \
       ? 0                                                                                                   \
       : (c) / (LANES / 2) * (LANES / 2) + (c) % (LANES / PER_EIGHT) * 4 + (c) / (LANES / PER_EIGHT) % 4)
enum { PER_EIGHT = LANES < 8 ? 1 : 8 };
#define FOUR_LANES(of, distance, i, c)                                                                       \
  of(distance, i, c), of(distance, i, c + 1), of(distance, i, c + 2), of(distance, i, c + 3)
#define ALL_LANES(of, distance, i)                                                                           \
  {                                                                                                          \
    FOUR_LANES(of, distance, i, 0), FOUR_LANES(of, distance, i, 4), FOUR_LANES(of, distance, i, 8),          \
        FOUR_LANES(of, distance, i, 12)                                                                      \
  }
static const int32_t lanes_of[VECTORS_MAX + 1][VECTORS_MAX][16] = {
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
  TSL_UNROLL for (int v = 1; v < VECTORS_MAX; v++) if (v < odd && (LANES * v + 1) % odd == 0) turn = v;
  return turn;
}

/* Returns the lanes whose element 0 is in a vector whose number has this bit. */
TSL_INLINE uint32_t turn_bits(int odd, int bit, bool unzipped) {
  uint32_t bits = 0;
  TSL_UNROLL for (int l = 0; l < LANES; l++) bits |=
      ((unzipped ? unzipped_position(l) : l) * turn_of(odd) % odd & bit) != 0 ? 1u << l : 0;
  return bits;
}

/* Collects element i of all columns in v[i]: rotates each lane by its vector with element 0. */
TSL_INLINE void unzip_odd(vector *v, int odd, bool unzipped) {
  vector turned[VECTORS_MAX];
  TSL_UNROLL for (int bit = 1; bit < VECTORS_MAX; bit *= 2) if (bit < odd) {
    const NAME(mask) mask = NAME(mask_of_bits)(turn_bits(odd, bit, unzipped));
    TSL_UNROLL for (int j = 0; j < odd; j++) turned[j] = NAME(select)(mask, v[(j + bit) % odd], v[j]);
    TSL_UNROLL for (int j = 0; j < odd; j++) v[j] = turned[j];
  }
  TSL_UNROLL for (int i = 0; i < odd; i++) turned[i] = v[(odd - turn_of(odd)) * i % odd];
  TSL_UNROLL for (int i = 0; i < odd; i++) v[i] = turned[i];
}

TSL_INLINE void unzip_four(vector *v) {
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

TSL_INLINE void unzip_eight(vector *v) {
  unzip_four(v);
  unzip_four(v + 4);
  TSL_UNROLL for (int i = 0; i < 4; i++) {
    vector both[2];
    NAME(unzip_quarters)(v[i], v[4 + i], both);
    v[i] = both[0];
    v[4 + i] = both[1];
  }
}

TSL_INLINE void unzip_six(vector *v) {
  vector parts[2][VECTORS_MAX];
  TSL_UNROLL for (int i = 0; i < 3; i++) {
    vector both[2];
    NAME(unzip_numbers)(v[2 * i], v[2 * i + 1], both);
    parts[0][i] = both[0];
    parts[1][i] = both[1];
  }
  unzip_odd(parts[0], 3, true);
  unzip_odd(parts[1], 3, true);
  TSL_UNROLL for (int i = 0; i < 6; i++) v[i] = parts[i % 2][i / 2];
}

TSL_INLINE void unzip_vectors(vector *v, int distance) {
  if (distance == 2)
    NAME(unzip_numbers)(v[0], v[1], v);
  else if (distance == 4)
    unzip_four(v);
  else if (distance == 8)
    unzip_eight(v);
  else if (distance == 6)
    unzip_six(v);
  else if (distance > 1)
    unzip_odd(v, distance, false);
}

/* Returns the sums of a vector's worth of columns that begin with v, in the columns' order. */
TSL_INLINE vector stream_sums(vector *v, int distance, int64_t rows, const vector *x) {
  const bool has_lanes_by_element = distance % 2 != 0 || distance == 6;
  vector sum = {0};
  unzip_vectors(v, distance);
  TSL_UNROLL for (int i = 0; i < distance; i++) if (i < rows) {
    vector here = v[i];
    if (distance > 1 && has_lanes_by_element)
      here = NAME(permute_lanes)(here, lanes_of[distance][distance == 6 ? i / 2 : i]);
    sum += x[i] * here;
  }
  if (!has_lanes_by_element)
    sum = NAME(permute_lanes)(sum, lanes_of[distance][0]);
  return sum;
}

/* Adds the dots of x with `count` columns of `rows` elements, `distance` apart, to s. */
TSL_INLINE void dot_unzipped(int distance, int64_t rows, int64_t count, const REAL *a, const REAL *x,
                             REAL *s) {
  const int64_t numbers = (count - 1) * distance + rows;
  vector v[VECTORS_MAX], factor[VECTORS_MAX];
  TSL_UNROLL for (int i = 0; i < distance; i++) factor[i] = splat(i < rows ? x[i] : 0);
  int64_t j = 0;
  for (; (j + LANES) * distance <= numbers; j += LANES) {
    TSL_UNROLL for (int i = 0; i < distance; i++) v[i] = NAME(load)(a + j * distance + i * LANES);
    NAME(store)(s + j, NAME(load)(s + j) + stream_sums(v, distance, rows, factor));
  }
  if (j == count)
    return;
  const int64_t left = numbers - j * distance;
  TSL_UNROLL for (int i = 0; i < distance; i++) {
    const int64_t here = left - i * LANES;
    v[i] = (vector){0};
    if (here > 0)
      v[i] = NAME(load_edge)(a + j * distance + i * LANES, here < LANES ? here : LANES);
  }
  const vector sum = stream_sums(v, distance, rows, factor);
  NAME(store_edge)(s + j, NAME(load_edge)(s + j, count - j) + sum, count - j);
}

/* Returns false if the distance has no such kernel; then nothing was done. */
static bool dot_stream(int64_t rows, int64_t count, const REAL *a, int64_t ld, const REAL *x, REAL *s) {
  if (ld == 1)
    dot_unzipped(1, rows, count, a, x, s);
  else if (ld == 2)
    dot_unzipped(2, rows, count, a, x, s);
  else if (ld == 3)
    dot_unzipped(3, rows, count, a, x, s);
  else if (ld == 4)
    dot_unzipped(4, rows, count, a, x, s);
  else if (DISTANCE_MAX > 4 && ld == 5)
    dot_unzipped(5, rows, count, a, x, s);
  else if (DISTANCE_MAX > 4 && ld == 6)
    dot_unzipped(6, rows, count, a, x, s);
  else if (DISTANCE_MAX > 4 && ld == 7)
    dot_unzipped(7, rows, count, a, x, s);
  else if (DISTANCE_MAX > 4 && ld == 8)
    dot_unzipped(8, rows, count, a, x, s);
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
