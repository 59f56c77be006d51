#include "strategy/gemm/host/host_amx/host_amx_kernels.h"

#include "host/int_math.h"
#include "host/simd.h"

#include <string.h>

TSL_INLINE uint32_t load_16(const unsigned char *src) {
  uint16_t bits;
  memcpy(&bits, src, sizeof bits);
  return bits;
}

TSL_INLINE uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

TSL_INLINE float from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* --- units, from `count` elements that lie `step` bytes apart; both are constants in hot loops --- */

TSL_INLINE uint32_t unit_float_f16(const unsigned char *src, int64_t step, int count) {
  (void)step, (void)count;
  return bits_of(f32_of_f16((uint16_t)load_16(src)));
}

TSL_INLINE uint32_t unit_float_bf16(const unsigned char *src, int64_t step, int count) {
  (void)step, (void)count;
  return load_16(src) << 16;
}

TSL_INLINE uint32_t unit_pair_bf16(const unsigned char *src, int64_t step, int count) {
  return load_16(src) | (count > 1 ? load_16(src + step) << 16 : 0);
}

/* Moves mantissa and exponent to the positions of an f32. A subnormal number gets 2^-6 more there, which is
 * then subtracted: a subnormal f32 would be 0 where the caller's mode flushes these. */
TSL_INLINE uint32_t f32_of_e4m3(uint32_t byte) {
  const uint32_t size = byte & 0x7f, is_subnormal = (uint32_t)((int32_t)(size - 8) >> 31),
                 moved = (size << 20) + (120u << 23) + (is_subnormal & 1u << 23);
  const float magnitude = from_bits(moved) - from_bits(is_subnormal & 121u << 23);
  return (byte & 0x80) << 24 | (bits_of(magnitude) & 0x7fffffff) | (size == 0x7f ? 0x7fc00000 : 0);
}

/* e5m2 is the upper half of an f16. */
TSL_INLINE uint32_t f32_of_e5m2(uint32_t byte) {
  return bits_of(f32_of_f16((uint16_t)(byte << 8)));
}

TSL_INLINE uint32_t unit_float_e4m3(const unsigned char *src, int64_t step, int count) {
  (void)step, (void)count;
  return f32_of_e4m3(*src);
}

TSL_INLINE uint32_t unit_float_e5m2(const unsigned char *src, int64_t step, int count) {
  (void)step, (void)count;
  return f32_of_e5m2(*src);
}

/* bf16 represents every number of both types, none as a subnormal. */
TSL_INLINE uint32_t unit_pair_e4m3(const unsigned char *src, int64_t step, int count) {
  return f32_of_e4m3(*src) >> 16 | (count > 1 ? f32_of_e4m3(src[step]) & 0xffff0000 : 0);
}

TSL_INLINE uint32_t unit_pair_e5m2(const unsigned char *src, int64_t step, int count) {
  return f32_of_e5m2(*src) >> 16 | (count > 1 ? f32_of_e5m2(src[step]) & 0xffff0000 : 0);
}

TSL_INLINE uint32_t unit_pair_i8(const unsigned char *src, int64_t step, int count) {
  const uint32_t first = (uint16_t)(int8_t)src[0];
  return first | (count > 1 ? (uint32_t)(int8_t)src[step] << 16 : 0);
}

TSL_INLINE uint32_t unit_pair_u8(const unsigned char *src, int64_t step, int count) {
  return src[0] | (count > 1 ? (uint32_t)src[step] << 16 : 0);
}

TSL_INLINE uint32_t unit_quad(const unsigned char *src, int64_t step, int count) {
  uint32_t unit = src[0];
  if (count > 1)
    unit |= (uint32_t)src[step] << 8;
  if (count > 2)
    unit |= (uint32_t)src[2 * step] << 16;
  if (count > 3)
    unit |= (uint32_t)src[3 * step] << 24;
  return unit;
}

typedef uint32_t unit_function(const unsigned char *src, int64_t step, int count);

/* Clears lines `first` to the copy's width in units `unit` to before `units`. */
TSL_INLINE void clear_padding(const tsl_amx_copy *copy, int64_t unit, int64_t first, int64_t units) {
  for (int64_t u = unit; u < units; u++)
    for (int64_t i = first; i < copy->width; i++)
      copy->out[u * copy->width + i] = copy->flip;
}

/* Packs unit after unit. A cache line of each line (16 units) is used up before the next is prefetched. */
TSL_INLINE void copy_units(const tsl_amx_copy *copy, unit_function *make, const int per, const int64_t size,
                           int64_t across, int64_t along) {
  enum { LINE = 16 };
  const int64_t whole = copy->depth / per, tail = copy->depth % per, width = copy->width, count = copy->count;
  const uint32_t flip = copy->flip;
  for (int64_t first = 0; first < whole; first += LINE) {
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
  for (int64_t i = 0; tail > 0 && i < copy->count; i++)
    copy->out[whole * width + i] =
        make(copy->in + i * across + whole * per * along, along, (int)tail) ^ copy->flip;
  const int64_t packed = whole + (tail > 0);
  clear_padding(copy, 0, copy->count, packed);
  clear_padding(copy, packed, 0, copy->units);
}

/* Packs for tile registers: 16 units of a line, then of the next. */
TSL_INLINE void copy_blocks(const tsl_amx_copy *copy, unit_function *make, const int per, int64_t across,
                            int64_t along) {
  enum { LINE = TSL_AMX_REGISTER_UNITS };
  const int64_t whole = copy->depth / per, tail = copy->depth % per;
  for (int64_t first = 0; first < copy->units; first += LINE)
    for (int64_t i = 0; i < copy->width; i++) {
      uint32_t *const out = copy->out + first * copy->width + i * LINE;
      const unsigned char *const in = copy->in + i * across;
      const int64_t present = i >= copy->count ? 0 : whole - first < LINE ? whole - first : LINE;
      int64_t u = 0;
      for (; u < present; u++)
        out[u] = make(in + (first + u) * per * along, along, per);
      if (i < copy->count && tail > 0 && first + u == whole && u < LINE) {
        out[u] = make(in + whole * per * along, along, (int)tail);
        u++;
      }
      for (; u < LINE; u++)
        out[u] = 0;
    }
}

TSL_INLINE void pack_row_after_row(const tsl_amx_copy *copy, unit_function *make, const int per,
                                   const int64_t size, int64_t across) {
  enum { LINE = 16 };
  const int64_t whole = copy->depth / per, tail = copy->depth % per;
  const uint32_t flip = copy->flip;
  for (int64_t i = 0; i < copy->width; i++) {
    const unsigned char *restrict const in = copy->in + i * across;
    uint32_t *restrict const out = copy->out + i * copy->units;
    int64_t packed = 0;
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
      packed = end;
    }
    if (i < copy->count && tail > 0)
      out[packed++] = make(in + whole * per * size, size, (int)tail) ^ flip;
    for (; packed < copy->units; packed++)
      out[packed] = flip;
  }
}

#if HAS_UNITS
typedef vector_bytes line_function(const unsigned char *in, int64_t count);
typedef vector_bytes across_function(const unsigned char *in, int64_t along, int64_t steps, int64_t lines);

/* Packs contiguous lines: 16 units of a line at a time. */
TSL_INLINE void pack_contiguous_lines(const tsl_amx_copy *copy, line_function *line, const int per,
                                      const int64_t size) {
  enum { LINE = TSL_AMX_REGISTER_UNITS };
  const int64_t across = copy->across * size, step = copy->for_amx ? copy->width : 1;
  for (int64_t i = 0; i < copy->width; i++) {
    const unsigned char *const in = copy->in + i * across;
    uint32_t *const out = copy->out + i * (copy->for_amx ? LINE : copy->units);
    for (int64_t u = 0; u < copy->units; u += LINE) {
      const int64_t count = i < copy->count ? copy->depth - u * per : 0;
      __builtin_prefetch(in + 2 * across + u * per * size); /* position of the row after the next one */
      store_units(out + u * step,
                  count > 0 ? line(in + u * per * size, tsl_min(count, LINE * per)) : (vector_bytes){0},
                  copy->units - u, copy->flip);
    }
  }
}

/* Packs contiguous lines unit after unit: transposes 16 units of 16 lines at a time. */
TSL_INLINE void transpose_contiguous_lines(const tsl_amx_copy *copy, line_function *line, const int per,
                                           const int64_t size) {
  enum { LINE = TSL_AMX_REGISTER_UNITS };
  for (int64_t u = 0; u < copy->units; u += LINE) {
    const int64_t count = tsl_min(copy->depth - u * per, LINE * per);
    for (int64_t i = 0; i < copy->width; i += LINE) {
      const unsigned char *const in = copy->in + (i * copy->across + u * per) * size;
      uint32_t *const out = copy->out + u * copy->width + i;
      vector_bytes units[LINE];
#pragma GCC unroll 16
      for (int64_t j = 0; j < LINE; j++)
        units[j] =
            i + j < copy->count && count > 0 ? line(in + j * copy->across * size, count) : (vector_bytes){0};
      transpose_units(units);
#pragma GCC unroll 16
      for (int64_t j = 0; j < LINE; j++)
        if (u + j < copy->units)
          store_units(out + j * copy->width, units[j], copy->width - i, copy->flip);
    }
  }
}

/* Returns unit `u` of lines `i` to `i` + 15, which are neighbours. */
TSL_INLINE vector_bytes units_of_neighbours(const tsl_amx_copy *copy, across_function *across, const int per,
                                            const int64_t size, int64_t i, int64_t u) {
  enum { LINE = TSL_AMX_REGISTER_UNITS };
  const int64_t steps = copy->depth - u * per, lines = copy->count - i;
  return steps <= 0 || lines <= 0 ? (vector_bytes){0}
                                  : across(copy->in + (i + u * per * copy->along) * size, copy->along * size,
                                           tsl_min(steps, per), tsl_min(lines, LINE));
}

TSL_INLINE void pack_neighbours(const tsl_amx_copy *copy, across_function *across, const int per,
                                const int64_t size) {
  enum { LINE = TSL_AMX_REGISTER_UNITS };
  const int64_t along = copy->along * size;
  int64_t done = 0;
  if (copy->count == 2 * LINE && copy->width == 2 * LINE) /* whole units of a whole micro-panel */
    for (const int64_t whole = tsl_min(copy->depth / per, copy->units); done < whole; done++) {
      const unsigned char *const in = copy->in + done * per * along;
      uint32_t *const out = copy->out + done * 2 * LINE;
      store_units(out, across(in, along, per, LINE), LINE, copy->flip);
      store_units(out + LINE, across(in + LINE * size, along, per, LINE), LINE, copy->flip);
    }
  for (int64_t u = done; u < copy->units; u++)
    for (int64_t i = 0; i < copy->width; i += LINE)
      store_units(copy->out + u * copy->width + i, units_of_neighbours(copy, across, per, size, i, u),
                  copy->width - i, copy->flip);
}

/* Packs neighbours for tile registers: transposes 16 units of 16 lines at a time. */
TSL_INLINE void transpose_neighbours(const tsl_amx_copy *copy, across_function *across, const int per,
                                     const int64_t size) {
  enum { LINE = TSL_AMX_REGISTER_UNITS };
  for (int64_t u = 0; u < copy->units; u += LINE)
    for (int64_t i = 0; i < copy->width; i += LINE) {
      vector_bytes units[LINE];
#pragma GCC unroll 16
      for (int64_t j = 0; j < LINE; j++)
        units[j] = units_of_neighbours(copy, across, per, size, i, u + j);
      transpose_units(units);
#pragma GCC unroll 16
      for (int64_t j = 0; j < LINE; j++)
        if (i + j < copy->width)
          store_units(copy->out + u * copy->width + (i + j) * LINE, units[j], LINE, copy->flip);
    }
}

/* Packs with vectors. Returns false if neither lines nor neighbours are contiguous. */
TSL_INLINE bool pack_vectors(const tsl_amx_copy *copy, line_function *line, across_function *across,
                             const int per, const int64_t size) {
  if (!line)
    return false;
  if (copy->along == 1 && (copy->for_amx || copy->by_rows))
    pack_contiguous_lines(copy, line, per, size);
  else if (copy->by_rows)
    return false;
  else if (copy->across == 1 && copy->for_amx)
    transpose_neighbours(copy, across, per, size);
  else if (copy->across == 1)
    pack_neighbours(copy, across, per, size);
  else if (copy->along == 1)
    transpose_contiguous_lines(copy, line, per, size);
  else
    return false;
  return true;
}
#else
#define pack_vectors(copy, line, across, per, size) false
#endif

TSL_INLINE void pack_by_strides(const tsl_amx_copy *copy, unit_function *make, const int per,
                                const int64_t size) {
  const int64_t across = copy->across * size, along = copy->along * size;
  if (copy->for_amx)
    copy_blocks(copy, make, per, across, along);
  else if (copy->by_rows)
    pack_row_after_row(copy, make, per, size, across);
  else if (across == size)
    copy_units(copy, make, per, size, size, along);
  else if (along == size)
    copy_units(copy, make, per, size, across, size);
  else
    copy_units(copy, make, per, size, across, along);
}

#define COPY(name, unit, per, size, line, across)                                                            \
  static void name(const tsl_amx_copy *copy) {                                                               \
    if (!pack_vectors(copy, line, across, per, size))                                                        \
      pack_by_strides(copy, unit, per, size);                                                                \
  }
COPY(floats_f16, unit_float_f16, 1, 2, line_units_f16, across_units_f16)
COPY(floats_bf16, unit_float_bf16, 1, 2, NULL, NULL)
COPY(floats_e4m3, unit_float_e4m3, 1, 1, NULL, NULL)
COPY(floats_e5m2, unit_float_e5m2, 1, 1, NULL, NULL)
COPY(pairs_bf16, unit_pair_bf16, 2, 2, line_units_16, across_units_16)
COPY(pairs_e4m3, unit_pair_e4m3, 2, 1, NULL, NULL)
COPY(pairs_e5m2, unit_pair_e5m2, 2, 1, NULL, NULL)
COPY(pairs_i8, unit_pair_i8, 2, 1, NULL, NULL)
COPY(pairs_u8, unit_pair_u8, 2, 1, NULL, NULL)
COPY(quads, unit_quad, 4, 1, line_units_8, across_units_8)
#undef COPY

/* Rounds to nearest even; NaN stays NaN. */
TSL_INLINE uint16_t f32_to_bf16(float value) {
  const uint32_t bits = bits_of(value), rounded = bits + 0x7fff + (bits >> 16 & 1);
  return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded >> 16);
}

TSL_INLINE float scaled_sum(float alpha, float sum, float beta, float before) {
  return beta == 0 ? alpha * sum : fma_number_f32(beta * before, alpha, sum);
}

TSL_INLINE void row_f32(const tsl_amx_epilogue *last, const uint32_t *restrict sums,
                        unsigned char *restrict c, int64_t columns, int64_t step, float beta) {
  for (int64_t j = 0; j < columns; j++) {
    float *const element = (float *)(void *)c + j * step;
    *element = scaled_sum(last->alpha, from_bits(sums[j]), beta, beta == 0 ? 0 : *element);
  }
}

TSL_INLINE void row_f16(const tsl_amx_epilogue *last, const uint32_t *restrict sums,
                        unsigned char *restrict c, int64_t columns, int64_t step, float beta) {
  int64_t j = 0;
  for (; step == 1 && beta == 0 && j + LANES_f32 <= columns; j += LANES_f32)
    store_f16((uint16_t *)(void *)c + j, load_word_f32(sums + j) * last->alpha);
  for (; j < columns; j++) {
    uint16_t *const element = (uint16_t *)(void *)c + j * step;
    *element =
        f16_of_f32(scaled_sum(last->alpha, from_bits(sums[j]), beta, beta == 0 ? 0 : f32_of_f16(*element)));
  }
}

TSL_INLINE void row_bf16(const tsl_amx_epilogue *last, const uint32_t *restrict sums,
                         unsigned char *restrict c, int64_t columns, int64_t step, float beta) {
  for (int64_t j = 0; j < columns; j++) {
    uint16_t *const element = (uint16_t *)(void *)c + j * step;
    const float before = beta == 0 ? 0 : from_bits((uint32_t)*element << 16);
    *element = f32_to_bf16(scaled_sum(last->alpha, from_bits(sums[j]), beta, before));
  }
}

TSL_INLINE void row_i32(const tsl_amx_epilogue *last, const uint32_t *restrict sums,
                        unsigned char *restrict c, int64_t columns, int64_t step, float beta) {
  for (int64_t j = 0; j < columns; j++) {
    uint32_t *const element = (uint32_t *)(void *)c + j * step;
    *element = beta == 0 ? last->integer_alpha * sums[j]
                         : last->integer_alpha * sums[j] + last->integer_beta * *element;
  }
}

typedef void row_function(const tsl_amx_epilogue *last, const uint32_t *restrict sums,
                          unsigned char *restrict c, int64_t columns, int64_t step, float beta);

/* Stores a whole row of a tile past the caches, if the row consists of whole cache lines. */
#if HAS_UNITS
#define IS_NONTEMPORAL(last, c, size)                                                                        \
  ((last)->nontemporal && (size) == 4 && (last)->columns == TSL_AMX_WIDTH_MAX && ((uintptr_t)(c)&63) == 0)
TSL_INLINE void row_nontemporal(const tsl_amx_epilogue *last, row_function *row, const uint32_t *sums,
                                unsigned char *c) {
  uint32_t finished_row[TSL_AMX_WIDTH_MAX];
  row(last, sums, (unsigned char *)finished_row, TSL_AMX_WIDTH_MAX, 1, 0);
  store_line_nontemporal(c, finished_row);
  store_line_nontemporal(c + 64, finished_row + TSL_AMX_WIDTH_MAX / 2);
}
#else
#define IS_NONTEMPORAL(last, c, size) false
TSL_INLINE void row_nontemporal(const tsl_amx_epilogue *last, row_function *row, const uint32_t *sums,
                                unsigned char *c) {
  row(last, sums, c, TSL_AMX_WIDTH_MAX, 1, 0);
}
#endif

TSL_INLINE void apply_to_all_rows(const tsl_amx_epilogue *epilogue, row_function *row, int64_t size) {
  /* a local copy, so that stores to C cannot alias it */
  const tsl_amx_epilogue local = *epilogue, *const last = &local;
  for (int64_t i = 0; i < last->rows; i++) {
    const uint32_t *restrict const sums = last->sums + i * last->width;
    unsigned char *restrict const c = last->c + i * last->c_row * size;
    if (last->c_column != 1)
      row(last, sums, c, last->columns, last->c_column, last->beta);
    else if (last->beta != 0)
      row(last, sums, c, last->columns, 1, last->beta);
    else if (IS_NONTEMPORAL(last, c, size))
      row_nontemporal(last, row, sums, c);
    else if (last->columns == TSL_AMX_WIDTH_MAX)
      row(last, sums, c, TSL_AMX_WIDTH_MAX, 1, 0);
    else
      row(last, sums, c, last->columns, 1, 0);
  }
}

static void epilogue_f32(const tsl_amx_epilogue *last) {
  apply_to_all_rows(last, row_f32, 4);
}

static void epilogue_f16(const tsl_amx_epilogue *last) {
  apply_to_all_rows(last, row_f16, 2);
}

static void epilogue_bf16(const tsl_amx_epilogue *last) {
  apply_to_all_rows(last, row_bf16, 2);
}

static void epilogue_i32(const tsl_amx_epilogue *last) {
  apply_to_all_rows(last, row_i32, 4);
}

static uint32_t min_magnitude(const void *src, int64_t rows, int64_t row_bytes, int64_t units) {
  uint16_t all = UINT16_MAX; /* minimum of magnitudes minus one; 0 becomes the maximum */
  for (int64_t i = 0; i < rows; i++) {
    const unsigned char *const row = (const unsigned char *)src + i * row_bytes;
    uint16_t row_min = UINT16_MAX;
    for (int64_t j = 0; j < 2 * units; j++) {
      const uint16_t lower = (uint16_t)((load_16(row + 2 * j) & 0x7fff) - 1);
      row_min = lower < row_min ? lower : row_min;
    }
    all = row_min < all ? row_min : all;
  }
  return (uint32_t)all + 1;
}

const tsl_amx_packing TSL_ISA_NAME(tsl_amx_packing) = {
    .copy = {[TSL_AMX_FLOATS] = {[TESELA_F16] = floats_f16,
                                 [TESELA_BF16] = floats_bf16,
                                 [TESELA_E4M3] = floats_e4m3,
                                 [TESELA_E5M2] = floats_e5m2},
             [TSL_AMX_PAIRS_BF16] =
                 {[TESELA_BF16] = pairs_bf16, [TESELA_E4M3] = pairs_e4m3, [TESELA_E5M2] = pairs_e5m2},
             [TSL_AMX_PAIRS_I16] = {[TESELA_I8] = pairs_i8, [TESELA_U8] = pairs_u8},
             [TSL_AMX_QUADS] = {[TESELA_I8] = quads, [TESELA_U8] = quads}},
    .finish = {[TESELA_F32] = epilogue_f32,
               [TESELA_F16] = epilogue_f16,
               [TESELA_BF16] = epilogue_bf16,
               [TESELA_I32] = epilogue_i32},
    .min_magnitude = min_magnitude};
