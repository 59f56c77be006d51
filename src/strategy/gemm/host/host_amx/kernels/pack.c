#include "strategy/gemm/host/host_amx/host_amx_kernels.h"

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

/* Mantissa and exponent at the positions of an f32 give the number times 2^-120, also if it is subnormal. */
TSL_INLINE uint32_t f32_of_e4m3(uint32_t byte) {
  const uint32_t magnitude = bits_of(from_bits((byte & 0x7f) << 20) * 0x1p120f);
  return (byte & 0x80) << 24 | magnitude | ((byte & 0x7f) == 0x7f ? 0x7fc00000 : 0);
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

/* Packs unit after unit. A cache line of each line (16 units) is used up before the next is prefetched. The
 * first `done` units are packed already; `cleared` units have their padding. */
TSL_INLINE void copy_units(const tsl_amx_copy *copy, unit_function *make, const int per, const int64_t size,
                           int64_t across, int64_t along, int64_t done, int64_t cleared) {
  enum { LINE = 16 };
  const int64_t whole = copy->depth / per, tail = copy->depth % per, width = copy->width, count = copy->count;
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
  for (int64_t i = 0; tail > 0 && i < copy->count; i++)
    copy->out[whole * width + i] =
        make(copy->in + i * across + whole * per * along, along, (int)tail) ^ copy->flip;
  const int64_t packed = whole + (tail > 0);
  clear_padding(copy, cleared, copy->count, packed);
  clear_padding(copy, packed, 0, copy->units);
}

/* Copies whole cache lines of units unchanged. Returns the number of units of each line that were copied. */
TSL_INLINE int64_t copy_lines(const tsl_amx_copy *copy, int64_t across, int64_t units) {
  enum { LINE = TSL_AMX_REGISTER_UNITS };
  const int64_t lines = units / LINE, width = copy->width;
  for (int64_t i = 0; i < copy->count; i++) {
    const unsigned char *restrict const in = copy->in + i * across;
    uint32_t *restrict const out = copy->out + i * LINE;
    for (int64_t line = 0; line < lines; line++) {
      __builtin_prefetch(in + 2 * across + line * LINE * 4); /* position of the row after the next one */
      memcpy(out + line * width * LINE, in + line * LINE * 4, LINE * 4);
    }
  }
  for (int64_t line = 0; line < lines && copy->count < width; line++)
    memset(copy->out + (line * width + copy->count) * LINE, 0, (size_t)((width - copy->count) * LINE * 4));
  return lines * LINE;
}

/* Packs for tile registers: 16 units of a line, then of the next. The first `done` are packed already. */
TSL_INLINE void copy_blocks(const tsl_amx_copy *copy, unit_function *make, const int per, int64_t across,
                            int64_t along, int64_t done) {
  enum { LINE = TSL_AMX_REGISTER_UNITS };
  const int64_t whole = copy->depth / per, tail = copy->depth % per;
  for (int64_t first = done; first < copy->units; first += LINE)
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

/* Transposes units: 16 of up to 16 lines at a time. Returns the units of each line that were packed. */
#if HAS_UNITS
TSL_INLINE int64_t transpose_lines(const tsl_amx_copy *copy, int64_t across, int64_t units) {
  enum { LINE = 16 };
  for (int64_t first = 0; first + LINE <= units; first += LINE)
    for (int64_t i = 0; i < copy->count; i += LINE) {
      const int64_t rows = copy->count - i < LINE ? copy->count - i : LINE;
      transpose_16x16(copy->in + i * across + first * 4, across, rows, copy->flip,
                      copy->out + first * copy->width + i, copy->width);
    }
  return units / LINE * LINE;
}
#define TRANSPOSED(copy, per, size, across)                                                                  \
  (per * size == 4 ? transpose_lines(copy, across, (copy)->depth / per) : 0)
#else
#define TRANSPOSED(copy, per, size, across) 0
#endif

/* Interleaves contiguous lines into B's micro-panels of up to 32. Returns the packed units of each line. */
#if HAS_UNITS
TSL_INLINE int64_t interleave_units(const tsl_amx_copy *copy, const int per, int64_t along) {
  const int64_t units = copy->depth / per, count = copy->count;
  const uint32_t flip = copy->flip;
  const unsigned char *in = copy->in;
  uint32_t *out = copy->out;
  if (copy->width != TSL_AMX_WIDTH_MAX)
    return 0;
  for (int64_t u = 0; u < units; u++, in += per * along, out += TSL_AMX_WIDTH_MAX) {
    if (per == 2)
      interleave_2(in, along, count, flip, out);
    else
      interleave_4(in, along, count, flip, out);
  }
  return units;
}
#define INTERLEAVED(copy, per, size, along) (per * size == 4 ? interleave_units(copy, per, along) : 0)
#else
#define INTERLEAVED(copy, per, size, along) 0
#endif

TSL_INLINE void pack_by_strides(const tsl_amx_copy *copy, unit_function *make, const int per,
                                const int64_t size) {
  const int64_t across = copy->across * size, along = copy->along * size;
  if (copy->for_amx && along == size)
    copy_blocks(copy, make, per, across, size,
                per * size == 4 ? copy_lines(copy, across, copy->depth / per) : 0);
  else if (copy->for_amx)
    copy_blocks(copy, make, per, across, along, 0);
  else if (copy->by_rows)
    pack_row_after_row(copy, make, per, size, across);
  else if (across == size) {
    const int64_t interleaved = INTERLEAVED(copy, per, size, along);
    copy_units(copy, make, per, size, size, along, interleaved, interleaved);
  } else if (along == size)
    copy_units(copy, make, per, size, across, size, TRANSPOSED(copy, per, size, across), 0);
  else
    copy_units(copy, make, per, size, across, along, 0, 0);
}

#define COPY(name, unit, per, size)                                                                          \
  static void name(const tsl_amx_copy *copy) {                                                               \
    pack_by_strides(copy, unit, per, size);                                                                  \
  }
COPY(floats_f16, unit_float_f16, 1, 2)
COPY(floats_bf16, unit_float_bf16, 1, 2)
COPY(floats_e4m3, unit_float_e4m3, 1, 1)
COPY(floats_e5m2, unit_float_e5m2, 1, 1)
COPY(pairs_bf16, unit_pair_bf16, 2, 2)
COPY(pairs_e4m3, unit_pair_e4m3, 2, 1)
COPY(pairs_e5m2, unit_pair_e5m2, 2, 1)
COPY(pairs_i8, unit_pair_i8, 2, 1)
COPY(pairs_u8, unit_pair_u8, 2, 1)
COPY(quads, unit_quad, 4, 1)
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
  for (int64_t j = 0; j < columns; j++) {
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
