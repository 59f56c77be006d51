/* Tile transposed in registers. Included for each size of an element after lanes_*.h, with
 *   SIZE           bytes of an element
 *   NAME(word)     this size's version of a name
 *   REAL, REAL_VECTOR   where elements are scaled: their type and its vector
 *
 *   from: TILE rows, a vector_bytes wide            to: a row for each column of the tile, TILE elements wide
 *
 *   lane 0      lane 1    ...
 *   a0 a1 .. | a4 a5 .. |             interleaving rows 0 and H/2, 1 and H/2 + 1, ... log2(H) times leaves in
 *   b0 b1 .. | b4 b5 .. |     H rows  register k, lane l, column l H + k of these H rows: a row of `to`
 *   ...
 *
 * If the registers hold a group for each lane, lanes are transposed, too, and whole vectors are stored. */

/* rows whose elements fill a lane */
#if SIZE == 16
#define HEIGHT 1
#define ZIP_LOW(x, y) (x)
#define ZIP_HIGH(x, y) (y)
#else
#define HEIGHT (16 / SIZE)
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define ZIP_LOW PASTE(ZIP_LOW_, SIZE)
#define ZIP_HIGH PASTE(ZIP_HIGH_, SIZE)
#endif

/* Keeps one address register that steps from row to row; an address for each row would need all registers. */
#define KEEP(pointer) __asm__("" : "+r"(pointer))
#define NO_UNROLL _Pragma("GCC unroll 1")

enum { NAME(lanes) = VECTOR_BYTES / 16, NAME(tile_rows) = VECTOR_BYTES / SIZE };

static inline __attribute__((always_inline)) vector_bytes NAME(scaled)(vector_bytes x, double factor) {
#ifdef REAL
  return (vector_bytes)((REAL_VECTOR)x * (REAL)factor);
#else
  (void)factor;
  return x;
#endif
}

/* Transposes H rows: lane l of rows[k] gets column l H + k. */
static inline __attribute__((always_inline)) void NAME(transpose_rows)(vector_bytes rows[HEIGHT]) {
  vector_bytes zipped[HEIGHT];
  for (int step = 1; step < HEIGHT; step *= 2) {
    for (int k = 0; k < HEIGHT / 2; k++) {
      zipped[2 * k] = ZIP_LOW(rows[k], rows[k + HEIGHT / 2]);
      zipped[2 * k + 1] = ZIP_HIGH(rows[k], rows[k + HEIGHT / 2]);
    }
    for (int k = 0; k < HEIGHT; k++)
      rows[k] = zipped[k];
  }
}

typedef struct NAME(extent) {
  int64_t rows, bytes; /* existing rows, and bytes of a row */
} NAME(extent);

/* Loads H rows. Prefetches `distance` bytes ahead between the loads: a burst would block later loads. */
static inline __attribute__((always_inline)) void NAME(load_rows)(const unsigned char **from, int64_t stride,
                                                                  bool prefetches, int64_t distance,
                                                                  vector_bytes rows[HEIGHT]) {
  const unsigned char *at = *from;
  for (int k = 0; k < HEIGHT; k++, at += stride) {
    KEEP(at);
    rows[k] = load_bytes(at);
    if (prefetches)
      __builtin_prefetch(at + distance, 0, 2);
  }
  *from = at;
}

/* Loads H rows of a partial tile; rows from extent.rows on are zeros. */
static inline __attribute__((always_inline)) void NAME(load_part_of_rows)(const unsigned char **from,
                                                                          int64_t stride, int first,
                                                                          NAME(extent) extent,
                                                                          vector_bytes rows[HEIGHT]) {
  static const unsigned char zeros[VECTOR_BYTES];
  for (int k = 0; k < HEIGHT; k++, *from += stride)
    rows[k] = first + k < extent.rows ? load_part_bytes(*from, extent.bytes) : load_bytes(zeros);
}

/* Transposes a square tile. `extent`: existing part of `from` (NULL: all); all of `dst` is written. */
static inline __attribute__((always_inline)) void NAME(tile)(const unsigned char *from, int64_t from_stride,
                                                             unsigned char *dst, int64_t to_stride,
                                                             double factor, bool is_line, bool prefetches,
                                                             int64_t distance, const NAME(extent) * extent) {
  enum { LANES = NAME(lanes) };
  vector_bytes rows[LANES][HEIGHT];
#if VECTOR_BYTES / 16 * HEIGHT > REGISTERS
  NO_UNROLL
#endif
  for (int g = 0; g < LANES; g++) {
    vector_bytes group[HEIGHT];
    if (extent)
      NAME(load_part_of_rows)(&from, from_stride, g * HEIGHT, *extent, group);
    else
      NAME(load_rows)(&from, from_stride, prefetches, distance, group);
    NAME(transpose_rows)(group);
    for (int k = 0; k < HEIGHT; k++)
      rows[g][k] = NAME(scaled)(group[k], factor);
  }
  for (int k = 0; k < HEIGHT; k++, dst += to_stride) {
    vector_bytes in[LANES], out[LANES];
    unsigned char *at = dst;
    for (int g = 0; g < LANES; g++)
      in[g] = rows[g][k];
    transpose_quarters(in, out);
    for (int lane = 0; lane < LANES; lane++, at += HEIGHT * to_stride) {
      KEEP(at);
      (is_line ? store_nontemporal_bytes : store_bytes)(at, out[lane]);
    }
  }
}

#undef HEIGHT
#undef ZIP_LOW
#undef ZIP_HIGH
#undef PASTE
#undef PASTE_
