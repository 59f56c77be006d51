/* Copies of operands as units, and the last steps of tiles, as text: compiled once per instruction set, so that the
 * compiler makes vectors of the loops whose steps are 1. A file that includes it has ENDS, the table's name, and
 * f16_to_f32() and f32_to_f16(). */
#include "strategy/gemm/host_amx/kernels.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

INLINE uint32_t load_16(const unsigned char *at) {
  uint16_t bits;
  memcpy(&bits, at, sizeof bits);
  return bits;
}

INLINE uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

INLINE float from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* --- units, from `count` elements that lie `step` bytes apart; constants where it matters --- */

INLINE uint32_t unit_float_f16(const unsigned char *at, int64_t step, int count) {
  (void)step, (void)count;
  return bits_of(f16_to_f32((uint16_t)load_16(at)));
}

INLINE uint32_t unit_float_bf16(const unsigned char *at, int64_t step, int count) {
  (void)step, (void)count;
  return load_16(at) << 16;
}

INLINE uint32_t unit_pair_bf16(const unsigned char *at, int64_t step, int count) {
  return load_16(at) | (count > 1 ? load_16(at + step) << 16 : 0);
}

INLINE uint32_t unit_pair_i8(const unsigned char *at, int64_t step, int count) {
  const uint32_t first = (uint16_t)(int8_t)at[0];
  return first | (count > 1 ? (uint32_t)(int8_t)at[step] << 16 : 0);
}

INLINE uint32_t unit_pair_u8(const unsigned char *at, int64_t step, int count) {
  return at[0] | (count > 1 ? (uint32_t)at[step] << 16 : 0);
}

INLINE uint32_t unit_quad(const unsigned char *at, int64_t step, int count) {
  uint32_t unit = at[0];
  if (count > 1)
    unit |= (uint32_t)at[step] << 8;
  if (count > 2)
    unit |= (uint32_t)at[2 * step] << 16;
  if (count > 3)
    unit |= (uint32_t)at[3 * step] << 24;
  return unit;
}

/* --- copies --- */

typedef uint32_t unit_function(const unsigned char *at, int64_t step, int count);

/* Neighbours from `first` on to the copy's width, and units from `unit` on to its end, are zeros. */
INLINE void clear(const tsl_amx_copy *copy, int64_t unit, int64_t first, int64_t units) {
  for (int64_t u = unit; u < units; u++)
    for (int64_t i = first; i < copy->width; i++)
      copy->out[u * copy->width + i] = copy->flip;
}

/* Unit after unit; neighbours side by side, or elements along the panel, where these steps are constants. A cache line
 * of each neighbour (16 units of 4 bytes) is used up before the next line is asked for. The first `done` units were
 * copied already, and `cleared` of them where there are no neighbours. */
INLINE void copy_units(const tsl_amx_copy *copy, unit_function *make, const int per, const int64_t size,
                       int64_t across, int64_t along, int64_t done, int64_t cleared) {
  enum { LINE = 16 };
  const int64_t whole = copy->depth / per, rest = copy->depth % per, width = copy->width, count = copy->count;
  const uint32_t flip = copy->flip;
  for (int64_t first = done; first < whole; first += LINE) {
    const int64_t end = whole - first < LINE ? whole : first + LINE;
    if (across == size) {
      for (int64_t u = first; u < end; u++) {
        const unsigned char *restrict const in = copy->in + u * per * along;
        uint32_t *restrict const out = copy->out + u * width;
        for (int64_t i = 0; i < count; i++)
          out[i] = make(in + i * size, along, per) ^ flip;
      }
    } else {
      for (int64_t i = 0; i < count; i++) {
        const unsigned char *restrict const in = copy->in + i * across;
        uint32_t *restrict const out = copy->out + i;
        for (int64_t u = first; u < end; u++)
          out[u * width] = make(in + u * per * along, along, per) ^ flip;
      }
    }
  }
  for (int64_t i = 0; rest > 0 && i < copy->count; i++)
    copy->out[whole * width + i] =
        make(copy->in + i * across + whole * per * along, along, (int)rest) ^ copy->flip;
  const int64_t made = whole + (rest > 0);
  clear(copy, cleared, copy->count, made);
  clear(copy, made, 0, copy->units);
}

/* The same where elements lie along the panel as units do in memory: lines are moved as they are, up to `done` units. */
INLINE int64_t copy_lines(const tsl_amx_copy *copy, int64_t across, int64_t units) {
  enum { LINE = TSL_AMX_REGISTER_UNITS };
  const int64_t lines = units / LINE, width = copy->width;
  for (int64_t i = 0; i < copy->count; i++) {
    const unsigned char *restrict const in = copy->in + i * across;
    uint32_t *restrict const out = copy->out + i * LINE;
    for (int64_t line = 0; line < lines; line++) {
      __builtin_prefetch(in + 2 * across + line * LINE * 4); /* where the row after the next one will be */
      memcpy(out + line * width * LINE, in + line * LINE * 4, LINE * 4);
    }
  }
  for (int64_t line = 0; line < lines && copy->count < width; line++)
    memset(copy->out + (line * width + copy->count) * LINE, 0, (size_t)((width - copy->count) * LINE * 4));
  return lines * LINE;
}

/* For tile registers: 16 units of one neighbour after the other. The first `done` units were copied already. */
INLINE void copy_blocks(const tsl_amx_copy *copy, unit_function *make, const int per, int64_t across,
                        int64_t along, int64_t done) {
  enum { LINE = TSL_AMX_REGISTER_UNITS };
  const int64_t whole = copy->depth / per, rest = copy->depth % per;
  for (int64_t first = done; first < copy->units; first += LINE)
    for (int64_t i = 0; i < copy->width; i++) {
      uint32_t *const out = copy->out + first * copy->width + i * LINE;
      const unsigned char *const in = copy->in + i * across;
      const int64_t here = i >= copy->count ? 0 : whole - first < LINE ? whole - first : LINE;
      int64_t u = 0;
      for (; u < here; u++)
        out[u] = make(in + (first + u) * per * along, along, per);
      if (i < copy->count && rest > 0 && first + u == whole && u < LINE) {
        out[u] = make(in + whole * per * along, along, (int)rest);
        u++;
      }
      for (; u < LINE; u++)
        out[u] = 0;
    }
}

/* Row after row, with what the row after the next one has asked for. Units that are 32 bits of memory are moved as they are. */
INLINE void copy_rows(const tsl_amx_copy *copy, unit_function *make, const int per, const int64_t size,
                      int64_t across) {
  enum { LINE = 16 };
  const int64_t whole = copy->depth / per, rest = copy->depth % per;
  const uint32_t flip = copy->flip;
  for (int64_t i = 0; i < copy->width; i++) {
    const unsigned char *restrict const in = copy->in + i * across;
    uint32_t *restrict const out = copy->out + i * copy->units;
    int64_t made = 0;
    for (int64_t first = 0; i < copy->count && first < whole; first += LINE) {
      const int64_t end = whole - first < LINE ? whole : first + LINE;
      __builtin_prefetch(in + 2 * across + first * per * size);
      for (int64_t u = first; u < end; u++) {
        uint32_t unit;
        if (per * size == 4)
          memcpy(&unit, in + u * 4, sizeof unit);
        else
          unit = make(in + u * per * size, size, per);
        out[u] = unit ^ flip;
      }
      made = end;
    }
    if (i < copy->count && rest > 0)
      out[made++] = make(in + whole * per * size, size, (int)rest) ^ flip;
    for (; made < copy->units; made++)
      out[made] = flip;
  }
}

/* Units that are 32 bits of memory, in whole lines, are turned in registers where the file has a word for it: 16 units of
 * up to 16 neighbours. How many units of each were copied. */
#ifdef TURN_16
INLINE int64_t turn_lines(const tsl_amx_copy *copy, int64_t across, int64_t units) {
  enum { LINE = 16 };
  for (int64_t first = 0; first + LINE <= units; first += LINE)
    for (int64_t i = 0; i < copy->count; i += LINE) {
      const int64_t rows = copy->count - i < LINE ? copy->count - i : LINE;
      TURN_16(copy->in + i * across + first * 4, across, rows, copy->flip,
              copy->out + first * copy->width + i, copy->width);
    }
  return units / LINE * LINE;
}
#define TURNED(copy, per, size, across) (per * size == 4 ? turn_lines(copy, across, (copy)->depth / per) : 0)
#else
#define TURNED(copy, per, size, across) 0
#endif

/* Strips of up to 32 neighbours that lie side by side are zipped in registers where the file has words for it: ZIP_2 two
 * elements of 16 bits, ZIP_4 four of 8, a unit of each neighbour. How many units of each were copied. */
#ifdef ZIP_2
INLINE int64_t zip_units(const tsl_amx_copy *copy, const int per, int64_t along) {
  const int64_t units = copy->depth / per, count = copy->count;
  const uint32_t flip = copy->flip;
  const unsigned char *in = copy->in;
  uint32_t *out = copy->out;
  if (copy->width != TSL_AMX_WIDTH_MAX)
    return 0;
  for (int64_t u = 0; u < units; u++, in += per * along, out += TSL_AMX_WIDTH_MAX) {
    if (per == 2)
      ZIP_2(in, along, count, flip, out);
    else
      ZIP_4(in, along, count, flip, out);
  }
  return units;
}
#define ZIPPED(copy, per, size, along) (per * size == 4 ? zip_units(copy, per, along) : 0)
#else
#define ZIPPED(copy, per, size, along) 0
#endif

INLINE void copy_any(const tsl_amx_copy *copy, unit_function *make, const int per, const int64_t size) {
  const int64_t across = copy->across * size, along = copy->along * size;
  if (copy->for_registers && along == size)
    copy_blocks(copy, make, per, across, size,
                per * size == 4 ? copy_lines(copy, across, copy->depth / per) : 0);
  else if (copy->for_registers)
    copy_blocks(copy, make, per, across, along, 0);
  else if (copy->by_rows)
    copy_rows(copy, make, per, size, across);
  else if (across == size) {
    const int64_t zipped = ZIPPED(copy, per, size, along);
    copy_units(copy, make, per, size, size, along, zipped, zipped);
  } else if (along == size)
    copy_units(copy, make, per, size, across, size, TURNED(copy, per, size, across), 0);
  else
    copy_units(copy, make, per, size, across, along, 0, 0);
}

static void floats_f16(const tsl_amx_copy *copy) {
  copy_any(copy, unit_float_f16, 1, 2);
}

static void floats_bf16(const tsl_amx_copy *copy) {
  copy_any(copy, unit_float_bf16, 1, 2);
}

static void pairs_bf16(const tsl_amx_copy *copy) {
  copy_any(copy, unit_pair_bf16, 2, 2);
}

static void pairs_i8(const tsl_amx_copy *copy) {
  copy_any(copy, unit_pair_i8, 2, 1);
}

static void pairs_u8(const tsl_amx_copy *copy) {
  copy_any(copy, unit_pair_u8, 2, 1);
}

static void quads(const tsl_amx_copy *copy) {
  copy_any(copy, unit_quad, 4, 1);
}

/* --- last steps --- */

/* To nearest even; NaN stays NaN. */
INLINE uint16_t f32_to_bf16(float value) {
  const uint32_t bits = bits_of(value), rounded = bits + 0x7fff + (bits >> 16 & 1);
  return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded >> 16);
}

INLINE float finished(float alpha, float sum, float beta, float before) {
  return beta == 0 ? alpha * sum : alpha * sum + beta * before;
}

INLINE void row_f32(const tsl_amx_last *last, const uint32_t *restrict sums, unsigned char *restrict c,
                    int64_t columns, int64_t step, float beta) {
  for (int64_t j = 0; j < columns; j++) {
    float *const at = (float *)(void *)c + j * step;
    *at = finished(last->alpha, from_bits(sums[j]), beta, beta == 0 ? 0 : *at);
  }
}

INLINE void row_f16(const tsl_amx_last *last, const uint32_t *restrict sums, unsigned char *restrict c,
                    int64_t columns, int64_t step, float beta) {
  for (int64_t j = 0; j < columns; j++) {
    uint16_t *const at = (uint16_t *)(void *)c + j * step;
    *at = f32_to_f16(finished(last->alpha, from_bits(sums[j]), beta, beta == 0 ? 0 : f16_to_f32(*at)));
  }
}

INLINE void row_bf16(const tsl_amx_last *last, const uint32_t *restrict sums, unsigned char *restrict c,
                     int64_t columns, int64_t step, float beta) {
  for (int64_t j = 0; j < columns; j++) {
    uint16_t *const at = (uint16_t *)(void *)c + j * step;
    const float before = beta == 0 ? 0 : from_bits((uint32_t)*at << 16);
    *at = f32_to_bf16(finished(last->alpha, from_bits(sums[j]), beta, before));
  }
}

INLINE void row_i32(const tsl_amx_last *last, const uint32_t *restrict sums, unsigned char *restrict c,
                    int64_t columns, int64_t step, float beta) {
  for (int64_t j = 0; j < columns; j++) {
    uint32_t *const at = (uint32_t *)(void *)c + j * step;
    *at = beta == 0 ? last->whole_alpha * sums[j] : last->whole_alpha * sums[j] + last->whole_beta * *at;
  }
}

typedef void row_function(const tsl_amx_last *last, const uint32_t *restrict sums, unsigned char *restrict c,
                          int64_t columns, int64_t step, float beta);

/* A whole row of a tile past the caches, where the file has a word for it and the row is whole lines. */
#ifdef STREAM_LINE
#define STREAMS(last, c, size)                                                                               \
  ((last)->streams && (size) == 4 && (last)->columns == TSL_AMX_WIDTH_MAX && ((uintptr_t)(c)&63) == 0)
INLINE void stream_row(const tsl_amx_last *last, row_function *row, const uint32_t *sums, unsigned char *c) {
  uint32_t made[TSL_AMX_WIDTH_MAX];
  row(last, sums, (unsigned char *)made, TSL_AMX_WIDTH_MAX, 1, 0);
  STREAM_LINE(c, made);
  STREAM_LINE(c + 64, made + TSL_AMX_WIDTH_MAX / 2);
}
#else
#define STREAMS(last, c, size) false
INLINE void stream_row(const tsl_amx_last *last, row_function *row, const uint32_t *sums, unsigned char *c) {
  row(last, sums, c, TSL_AMX_WIDTH_MAX, 1, 0);
}
#endif

/* Loops for dense rows of C, with and without what was in C, and for whole ones. */
INLINE void all_rows(const tsl_amx_last *given, row_function *row, int64_t size) {
  const tsl_amx_last own = *given, *const last = &own; /* what C is cannot be in here */
  for (int64_t i = 0; i < last->rows; i++) {
    const uint32_t *restrict const sums = last->sums + i * last->width;
    unsigned char *restrict const c = last->c + i * last->c_row * size;
    if (last->c_column != 1)
      row(last, sums, c, last->columns, last->c_column, last->beta);
    else if (last->beta != 0)
      row(last, sums, c, last->columns, 1, last->beta);
    else if (STREAMS(last, c, size))
      stream_row(last, row, sums, c);
    else if (last->columns == TSL_AMX_WIDTH_MAX)
      row(last, sums, c, TSL_AMX_WIDTH_MAX, 1, 0);
    else
      row(last, sums, c, last->columns, 1, 0);
  }
}

static void last_f32(const tsl_amx_last *last) {
  all_rows(last, row_f32, 4);
}

static void last_f16(const tsl_amx_last *last) {
  all_rows(last, row_f16, 2);
}

static void last_bf16(const tsl_amx_last *last) {
  all_rows(last, row_bf16, 2);
}

static void last_i32(const tsl_amx_last *last) {
  all_rows(last, row_i32, 4);
}

/* --- what dot instructions would take as 0 --- */

static uint32_t least(const void *at, int64_t rows, int64_t row_bytes, int64_t units) {
  uint16_t all = UINT16_MAX; /* of magnitudes less one, so that 0 is the largest */
  for (int64_t i = 0; i < rows; i++) {
    const unsigned char *const row = (const unsigned char *)at + i * row_bytes;
    uint16_t own = UINT16_MAX;
    for (int64_t j = 0; j < 2 * units; j++) {
      const uint16_t lower = (uint16_t)((load_16(row + 2 * j) & 0x7fff) - 1);
      own = lower < own ? lower : own;
    }
    all = own < all ? own : all;
  }
  return (uint32_t)all + 1;
}

const tsl_amx_ends ENDS = {.floats_f16 = floats_f16,
                           .floats_bf16 = floats_bf16,
                           .pairs_bf16 = pairs_bf16,
                           .pairs_i8 = pairs_i8,
                           .pairs_u8 = pairs_u8,
                           .quads = quads,
                           .last_f32 = last_f32,
                           .last_f16 = last_f16,
                           .last_bf16 = last_bf16,
                           .last_i32 = last_i32,
                           .least = least};
