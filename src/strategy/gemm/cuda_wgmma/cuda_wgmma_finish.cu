/* The last step of products by kernels that have it (FINISH): while sums are in registers, or where an element of C is stored.
 *
 *   C = f(alpha S a b + beta C + bias), S first times the scales, then times alpha, as strategy/strategy_epilogue.cl rounds it; C is rounded once.
 *
 * Before it is included: wgmma_tile.h, wgmma_panels.h's constants where sums are finished in registers (BLOCKS), cuda_wgmma_shared.h. From
 * the host: FINISH_FUNCTION (a tesela_activation); FINISH_SCALED (sums have scales, and C's type need not be theirs); and how each vector goes,
 * FINISH_BIAS, FINISH_A, FINISH_B (0: there is none, 1: from column to column, 2: from row to row, or not at all), as the kernel
 * sees rows and columns; FINISH_WIDE (the bias is f32, whatever C is); FINISH_ALPHA (alpha is not 1); FINISH_PLACES (of C's type).
 *
 * Where C is f16 or bf16 a maximum with 0 is part of rounding (c_pair). */
#ifndef TSL_CUDA_WGMMA_FINISH_H
#define TSL_CUDA_WGMMA_FINISH_H

#include "epilogue_function.h"

#if FINISH_WIDE || C_FORM == 0
typedef float finish_bias;
#else
typedef unsigned short finish_bias;
#endif

/* Vectors of a launch. Pointers to what there is none of are C's, and not read. */
struct finish_vectors {
  const finish_bias *bias;
  const float *scale_a, *scale_b;
  const cuda_wgmma_finish *steps;
};

SM90_FUNCTION float finish_wide(float x) {
  return x;
}
SM90_FUNCTION float finish_wide(unsigned short bits) {
#if C_FORM == 1
  return tsl_float_of_half(bits);
#else
  return __uint_as_float((unsigned)bits << 16);
#endif
}

/* Of a vector what C's element (row, col) of a product gets. */
template <class ELEMENT_TYPE>
SM90_FUNCTION float finish_at(const ELEMENT_TYPE *from, const cuda_wgmma_vector &steps, int row, int col,
                              int product) {
  return finish_wide(from[steps.offset + row * steps.row + col * steps.col + product * steps.step]);
}

/* What C's element gets beside its sum. */
struct finish_beside {
  float scale_a, scale_b, bias;
};

/* A sum that is not multiplied by alpha yet, as f32's bits or an integer, and `before`, which is beta's share of C, added where `has_before`. Sums
 * of no terms are 0 and not scaled. */
SM90_FUNCTION float finish_sum(sum_t sum, const finish_beside &beside, float alpha, float beta, float before,
                               bool has_terms = true) {
  float x = (float)sum;
#if FINISH_A
  if (has_terms)
    x = __fmul_rn(x, beside.scale_a);
#endif
#if FINISH_B
  if (has_terms)
    x = __fmul_rn(x, beside.scale_b);
#endif
#if FINISH_ALPHA
  if (has_terms)
    x = __fmul_rn(x, alpha);
#endif
  if (beta != 0)
    x = __fmaf_rn(beta, before, x);
#if FINISH_BIAS
  x = __fadd_rn(x, beside.bias);
#endif
#if C_PAIR_POSITIVE
  return x;
#else
  return finish_function(x);
#endif
}

/* --- at an element's store --- */

/* C's element (row, col) of a product from its sum, and from what it was. */
SM90_FUNCTION float finish_element(sum_t sum, float before, int row, int col, int product,
                                   const finish_vectors &with, float beta, bool has_terms = true) {
  finish_beside beside;
#if FINISH_A
  beside.scale_a = finish_at(with.scale_a, with.steps->scale_a, row, col, product);
#endif
#if FINISH_B
  beside.scale_b = finish_at(with.scale_b, with.steps->scale_b, row, col, product);
#endif
#if FINISH_BIAS
  beside.bias = finish_at(with.bias, with.steps->bias, row, col, product);
#endif
  return finish_sum(sum, beside, with.steps->alpha, beta, before, has_terms);
}

/* The same where it lies, as wgmma_tile_store() without the last step. */
SM90_FUNCTION void finish_store(c_element *c, sum_t sum, int row, int col, int product,
                                const finish_vectors &with, cuda_wgmma_scalar beta, bool has_terms = true) {
  const float x = finish_element(sum, beta.real != 0 ? finish_wide(*c) : 0, row, col, product, with,
                                 beta.real, has_terms);
#if C_FORM == 0
  *c = x;
#else
  *c = (unsigned short)c_pair(x, x);
#endif
}

/* --- in registers --- */

#ifdef FINISH_IN_REGISTERS
/* Vectors that go from column to column are brought to shared memory, TILE_N numbers each; of the others each thread keeps those of its rows. */
constexpr int FINISH_COLUMNS = (FINISH_A == 1) + (FINISH_B == 1) + (FINISH_BIAS == 1),
              FINISH_ROWS = (FINISH_A == 2) + (FINISH_B == 2) + (FINISH_BIAS == 2),
              FINISH_EACH = TILE_N < 128 ? 1 : (TILE_N + 127) / 128;

/* Those of a tile, on their way: columns thread, thread + 128; rows of each block of 64 that the thread has sums of. */
struct finish_held {
  float columns[FINISH_COLUMNS + 1][FINISH_EACH], rows[FINISH_ROWS + 1][BLOCKS][2];
};

template <class ELEMENT_TYPE>
SM90_FUNCTION void finish_bring_columns(float end[FINISH_EACH], const ELEMENT_TYPE *from,
                                        const cuda_wgmma_vector &steps, int col, int columns, int product) {
#pragma unroll
  for (int i = 0; i < FINISH_EACH; i++) {
    const int own = (int)threadIdx.x % 128 + 128 * i;
    end[i] = own < TILE_N && col + own < columns ? finish_at(from, steps, 0, col + own, product) : 0;
  }
}
template <class ELEMENT_TYPE>
SM90_FUNCTION void finish_bring_rows(float end[BLOCKS][2], const ELEMENT_TYPE *from,
                                     const cuda_wgmma_vector &steps, int row, int rows, int product) {
  const int thread = threadIdx.x % 128, first = row + thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
  for (int i = 0; i < BLOCKS; i++)
#pragma unroll
    for (int e = 0; e < 2; e++) {
      const int own = first + 64 * i + 8 * e;
      end[i][e] = own < rows ? finish_at(from, steps, own, 0, product) : 0;
    }
}

/* Asks for what a warpgroup's tile from (row, col) on gets. */
SM90_FUNCTION void finish_bring(finish_held &held, const finish_vectors &with, int row, int col, int product,
                                const cuda_wgmma_arguments &args) {
#if FINISH_A == 1
  finish_bring_columns(held.columns[0], with.scale_a, with.steps->scale_a, col, args.n, product);
#elif FINISH_A == 2
  finish_bring_rows(held.rows[0], with.scale_a, with.steps->scale_a, row, args.m, product);
#endif
#if FINISH_B == 1
  finish_bring_columns(held.columns[FINISH_A == 1], with.scale_b, with.steps->scale_b, col, args.n, product);
#elif FINISH_B == 2
  finish_bring_rows(held.rows[FINISH_A == 2], with.scale_b, with.steps->scale_b, row, args.m, product);
#endif
#if FINISH_BIAS == 1
  finish_bring_columns(held.columns[FINISH_COLUMNS - 1], with.bias, with.steps->bias, col, args.n, product);
#elif FINISH_BIAS == 2
  finish_bring_rows(held.rows[FINISH_ROWS - 1], with.bias, with.steps->bias, row, args.m, product);
#endif
}

/* All sums of warpgroup `group` become elements of C, in f32's bits. `vectors`: FINISH_COLUMNS * TILE_N * 4 bytes of its own. */
SM90_FUNCTION void finish_sums(wgmma_sums sums[BLOCKS], const finish_held &held, shared_t vectors, int group,
                               float alpha) {
  if (FINISH_COLUMNS > 0) {
    warpgroup_barrier(group);
#pragma unroll
    for (int v = 0; v < FINISH_COLUMNS; v++)
#pragma unroll
      for (int i = 0; i < FINISH_EACH; i++)
        if ((int)threadIdx.x % 128 + 128 * i < TILE_N)
          store_shared(vectors + (v * TILE_N + (int)threadIdx.x % 128 + 128 * i) * 4,
                       __float_as_uint(held.columns[v][i]));
    warpgroup_barrier(group);
  }
#pragma unroll
  for (int j = 0; j < TILE_N / 8; j++) {
    float columns[FINISH_COLUMNS + 1][2];
#pragma unroll
    for (int v = 0; v < FINISH_COLUMNS; v++)
      load_shared_pair(vectors + (v * TILE_N + 8 * j + (int)threadIdx.x % 4 * 2) * 4, columns[v]);
#pragma unroll
    for (int i = 0; i < BLOCKS; i++)
#pragma unroll
      for (int e = 0; e < 4; e++) {
        const finish_beside beside = {
            FINISH_A == 1 ? columns[0][e % 2] : held.rows[0][i][e / 2],
            FINISH_B == 1 ? columns[FINISH_A == 1][e % 2] : held.rows[FINISH_A == 2][i][e / 2],
            FINISH_BIAS == 1 ? columns[FINISH_COLUMNS - (FINISH_BIAS == 1)][e % 2]
                             : held.rows[FINISH_ROWS - (FINISH_BIAS == 2)][i][e / 2]};
        const float x = finish_sum(sums[i][j][e], beside, alpha, 0, 0);
#if IS_INTEGER
        sums[i][j][e] = __float_as_int(x);
#else
        sums[i][j][e] = x;
#endif
      }
  }
}
#endif

#endif
