/* Micro-kernels of one to four vectors have as many rows as leave a few registers free. */
#include "strategy/gemm/host/host_packed/host_packed_kernels.h"

#include "core/memory.h"
#include "host/int_math.h"
#include "host/simd.h"

#define REAL JOIN(REAL_, TSL_TYPE)
#define COMPONENTS JOIN(COMPONENTS_, TSL_TYPE)

#define SUFFIX JOIN(_, TSL_TYPE)
typedef NAME(element) element;

enum { COPY_PREFETCH = 12 }; /* steps of k that packing prefetches ahead */

/* Stores `count` elements, and the rest of the vector if it ends before `end`. Later stores overwrite it; a
 * partial store may take ten times as long. */
static inline void store_over(element *dst, NAME(vector) value, int64_t count, const element *end) {
  if (end - dst >= NAME(LANES))
    NAME(store)(dst, value);
  else
    NAME(store_edge)(dst, value, count);
}

/* Packs lines of which each step is contiguous. */
static void copy_side_by_side(const element *in, int64_t along, int64_t count, int64_t depth, int64_t width,
                              element *out) {
  enum { LANES = NAME(LANES) };
  const int64_t whole = count / LANES * LANES, tail = count - whole, last = width - whole;
  const element *const end = out + depth * width;
  for (int64_t l = 0; l < depth; l++, in += along, out += width) {
    __builtin_prefetch(in + COPY_PREFETCH * along);
    __builtin_prefetch(in + COPY_PREFETCH * along + LANES);
    for (int64_t t = 0; t < whole; t += LANES)
      NAME(store)(out + t, NAME(load)(in + t));
    if (tail > 0)
      store_over(out + whole, NAME(load_part)(in + whole, tail), last, end);
  }
}

/* Packs at most LANES lines with contiguous steps, transposed in registers. Stores `stored` lines; missing
 * lines are read as the first one. Memory from `end` on is not written. */
static void copy_transposed(const element *in, int64_t across, int64_t count, int64_t depth, int64_t width,
                            int64_t stored, element *out, const element *end) {
  enum { LANES = NAME(LANES), STEPS = NAME(STEPS) };
  const element *row[LANES];
  int64_t l = 0;
  for (int64_t t = 0; t < LANES; t++)
    row[t] = in + (t < count ? t * across : 0);
  for (; l + STEPS <= depth; l += STEPS) {
    NAME(vector) transposed[STEPS];
    NAME(transpose)(row, l, transposed);
    TSL_UNROLL for (int s = 0; s < STEPS; s++, out += width) store_over(out, transposed[s], stored, end);
  }
  for (; l < depth; l++, out += width)
    for (int64_t t = 0; t < stored; t++)
      out[t] = row[t][l];
}

static void copy_any(const element *in, int64_t across, int64_t along, int64_t count, int64_t depth,
                     int64_t width, element *out) {
  for (int64_t l = 0; l < depth; l++, in += along, out += width)
    for (int64_t t = 0; t < width; t++)
      out[t] = t < count ? in[t * across] : (element){0};
}

static void pack_micro(const void *in, int64_t across, int64_t along, int64_t count, int64_t depth,
                       int64_t width, void *out) {
  const element *src = in;
  element *dst = out;
  if (across == 1)
    copy_side_by_side(src, along, count, depth, width, dst);
  else if (along == 1)
    for (int64_t t = (count - 1) / NAME(LANES) * NAME(LANES); t >= 0; t -= NAME(LANES)) {
      const int64_t read = tsl_min(count - t, NAME(LANES)), stored = tsl_min(width - t, NAME(LANES));
      copy_transposed(src + t * across, across, read, depth, width, stored, dst + t, dst + depth * width);
    }
  else
    copy_any(src, across, along, count, depth, width, dst);
}

/* Packs whole micro-panels of B row by row, as the next row may be on another page. */
static void copy_rows(const element *in, int64_t along, int64_t micros_b, int64_t depth, int64_t width,
                      int64_t whole, element *out) {
  for (int64_t l = 0; l < depth; l++, in += along, out += width) {
    const element *const wanted = in + (l + COPY_PREFETCH < depth ? COPY_PREFETCH * along : 0);
    for (int64_t j = 0; j < micros_b; j++)
      for (int64_t t = 0; t < width; t += NAME(LANES)) {
        __builtin_prefetch(wanted + j * width + t);
        NAME(store)(out + j * width * whole + t, NAME(load)(in + j * width + t));
      }
  }
}

static void pack_micros(const void *in, int64_t across, int64_t along, int64_t count, int64_t first,
                        int64_t end, int64_t width, int64_t whole, void *out) {
  const element *const from = (const element *)in + first * along;
  const int64_t depth = end - first, in_rows = across == 1 ? count / width : 0;
  copy_rows(from, along, in_rows, depth, width, whole, (element *)out + first * width);
  for (int64_t t = in_rows * width; t < count; t += width) {
    const int64_t tail = tsl_min(count - t, width),
                  vectors = (tail + NAME(LANES) - 1) / NAME(LANES) * NAME(LANES);
    pack_micro(from + t * across, across, along, tail, depth, vectors,
               (element *)out + t * whole + first * vectors);
  }
}

/* Packs a triangular corner with contiguous lines. Elements stored after a step's end are overwritten. */
static void pack_triangle(const tsl_packed_corner *corner) {
  enum { LANES = NAME(LANES) };
  const int64_t width = corner->width, count = corner->count;
  const element *in = (const element *)corner->at + corner->first * corner->along;
  element *dst = corner->out;
  const element *const end = dst + (corner->end - corner->first) * width;
  for (int64_t l = corner->first; l < corner->end; l++, in += corner->along, dst += width) {
    const int64_t from = corner->stores_before ? l : 0, behind = corner->stores_before ? count : l + 1;
    for (int64_t t = corner->stores_before ? 0 : behind; t < width; t += LANES)
      store_over(dst + t, (NAME(vector)){0}, width - t, end);
    for (int64_t t = from; t < behind; t += LANES)
      if (behind - t >= LANES)
        store_over(dst + t, NAME(load)(in + t), LANES, end);
      else
        store_over(dst + t, NAME(load_part)(in + t, behind - t), behind - t, end);
  }
}

enum { ELEMENT_LANES_LOG2 = NAME(LANES_LOG2) };
#undef SUFFIX

/* --- micro-kernels: components; a complex element has two --- */

#define SUFFIX JOIN(COMPONENT_SUFFIX_, TSL_TYPE)
#include "strategy/gemm/host/host_packed/kernels/corner.h"
#include "strategy/gemm/host/host_packed/kernels/host_packed_epilogue.h"
#include "strategy/gemm/host/host_packed/kernels/host_packed_fold.h"

static inline void prefetch_some(tsl_packed_prefetch *prefetch) {
  for (int64_t i = prefetch->count; i > 0; i--) {
    __builtin_prefetch(prefetch->at, 0, 2);
    prefetch->at += 64;
    if (--prefetch->left == 0) {
      prefetch->at += prefetch->jump;
      prefetch->left = prefetch->lines;
    }
  }
}

#if REGISTERS >= 32
#define TILE_ROWS_OF_1 14 / COMPONENTS
#define TILE_ROWS_OF_2 14 / COMPONENTS
#define TILE_ROWS_OF_3 8 / COMPONENTS
#define TILE_ROWS_OF_4 6 / COMPONENTS
#else
#define TILE_ROWS_OF_1 6 / COMPONENTS
#define TILE_ROWS_OF_2 6 / COMPONENTS
#define TILE_ROWS_OF_3 4 / COMPONENTS
#define TILE_ROWS_OF_4 2 / COMPONENTS
#endif
#define TILE_NAME_LATE(rows, vectors) tile_##rows##x##vectors
#define TILE_NAME(rows, vectors) TILE_NAME_LATE(rows, vectors)

#define TILE_TEXT "strategy/gemm/host/host_packed/kernels/host_packed_tile.h"
#include "host/tiles.h"
#undef TILE_TEXT

#define TILE_TEXT "host/tile_entry.h"
const tsl_packed_kernels TSL_ISA_NAME(tsl_packed) = {
    .type = JOIN(ENUM_, TSL_TYPE),
    .lanes_log2 = ELEMENT_LANES_LOG2,
    .rows = {TILE_ROWS_OF_1, TILE_ROWS_OF_2, TILE_ROWS_OF_3, TILE_ROWS_OF_4},
    .pack_micro = pack_micro,
    .pack_micros = pack_micros,
    .pack_corner = pack_corner,
    .conjugate = conjugate,
    .add_split_k = add_split_k,
    .fold = fold,
    .multiply = {
#include "host/tiles.h"
    }};
