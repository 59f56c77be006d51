/* Fused epilogue (FINISH): applied to accumulators in registers, or when an element of C is stored.
 *   C = f(alpha S a b + beta C + bias)     S is multiplied by the scales, then by alpha; C is rounded once
 * Include after wgmma_tile.h and cuda_wgmma_shared.h, and after wgmma_panels.h's constants where accumulators
 * are finished in registers. Defines of the host: FINISH_FUNCTION (a tesela_activation); FINISH_BIAS,
 * FINISH_A, FINISH_B (0: no such vector, 1: one entry per column, 2: one entry per row, or a scalar), for the
 * kernel's rows and columns; FINISH_WIDE (the bias is f32, whatever C's type); FINISH_ALPHA (alpha is not 1);
 * FINISH_PLACES (binary places of C's type). For f16 and bf16, the rounding instruction applies ReLU
 * (c_pair). */
#ifndef TSL_CUDA_WGMMA_FINISH_H
#define TSL_CUDA_WGMMA_FINISH_H

#include "epilogue_function.h"

#if FINISH_WIDE || C_FORM == 0
typedef float epilogue_bias;
#else
typedef unsigned short epilogue_bias;
#endif

/* Pointers to the epilogue's vectors. A pointer to an absent vector is C's and is not read. */
struct epilogue_vectors {
  const epilogue_bias *bias;
  const float *scale_a, *scale_b;
  const cuda_wgmma_finish *steps; /* offsets and strides of the vectors, and alpha */
};

SM90_FUNCTION float epilogue_to_f32(float x) {
  return x;
}
SM90_FUNCTION float epilogue_to_f32(unsigned short bits) {
#if C_FORM == 1
  return tsl_float_of_half(bits);
#else
  return __uint_as_float((unsigned)bits << 16);
#endif
}

template <class ELEMENT_TYPE>
SM90_FUNCTION float epilogue_load(const ELEMENT_TYPE *from, const cuda_wgmma_vector &steps, int row, int col,
                                  int product) {
  return epilogue_to_f32(from[steps.offset + row * steps.row + col * steps.col + product * steps.step]);
}

struct epilogue_terms {
  float scale_a, scale_b, bias;
};

/* Returns the epilogue of a sum before alpha. `before` is the old element of C, read where beta is not 0.
 * has_terms: false for k = 0, whose sum 0 is not scaled. */
SM90_FUNCTION float epilogue_apply(sum_t sum, const epilogue_terms &terms, float alpha, float beta,
                                   float before, bool has_terms = true) {
  float x = (float)sum;
#if FINISH_A
  if (has_terms)
    x = __fmul_rn(x, terms.scale_a);
#endif
#if FINISH_B
  if (has_terms)
    x = __fmul_rn(x, terms.scale_b);
#endif
#if FINISH_ALPHA
  if (has_terms)
    x = __fmul_rn(x, alpha);
#endif
  if (beta != 0)
    x = __fmaf_rn(beta, before, x);
#if FINISH_BIAS
  x = __fadd_rn(x, terms.bias);
#endif
#if C_PAIR_POSITIVE
  return x;
#else
  return apply_activation_function(x);
#endif
}

SM90_FUNCTION float epilogue_element(sum_t sum, float before, int row, int col, int product,
                                     const epilogue_vectors &vectors, float beta, bool has_terms = true) {
  epilogue_terms terms;
#if FINISH_A
  terms.scale_a = epilogue_load(vectors.scale_a, vectors.steps->scale_a, row, col, product);
#endif
#if FINISH_B
  terms.scale_b = epilogue_load(vectors.scale_b, vectors.steps->scale_b, row, col, product);
#endif
#if FINISH_BIAS
  terms.bias = epilogue_load(vectors.bias, vectors.steps->bias, row, col, product);
#endif
  return epilogue_apply(sum, terms, vectors.steps->alpha, beta, before, has_terms);
}

SM90_FUNCTION void epilogue_store(c_element *c, sum_t sum, int row, int col, int product,
                                  const epilogue_vectors &vectors, cuda_wgmma_scalar beta,
                                  bool has_terms = true) {
  const float x = epilogue_element(sum, beta.real != 0 ? epilogue_to_f32(*c) : 0, row, col, product, vectors,
                                   beta.real, has_terms);
#if C_FORM == 0
  *c = x;
#else
  *c = (unsigned short)c_pair(x, x);
#endif
}

#ifdef FINISH_IN_REGISTERS
/* FINISH_COLUMNS vectors with an entry per column go to shared memory, TILE_N numbers each. Each thread keeps
 * its rows' entries of FINISH_ROWS others. FINISH_EACH: column entries that a thread loads. */
constexpr int FINISH_COLUMNS = (FINISH_A == 1) + (FINISH_B == 1) + (FINISH_BIAS == 1),
              FINISH_ROWS = (FINISH_A == 2) + (FINISH_B == 2) + (FINISH_BIAS == 2),
              FINISH_EACH = TILE_N < 128 ? 1 : (TILE_N + 127) / 128;

/* Prefetched entries: of columns thread and thread + 128, and of the thread's rows in each block of 64. */
struct epilogue_operands {
  float columns[FINISH_COLUMNS + 1][FINISH_EACH], rows[FINISH_ROWS + 1][BLOCKS][2];
};

template <class ELEMENT_TYPE>
SM90_FUNCTION void epilogue_prefetch_columns(float end[FINISH_EACH], const ELEMENT_TYPE *from,
                                             const cuda_wgmma_vector &steps, int col, int columns,
                                             int product) {
#pragma unroll
  for (int i = 0; i < FINISH_EACH; i++) {
    const int own = (int)threadIdx.x % 128 + 128 * i;
    end[i] = own < TILE_N && col + own < columns ? epilogue_load(from, steps, 0, col + own, product) : 0;
  }
}
template <class ELEMENT_TYPE>
SM90_FUNCTION void epilogue_prefetch_rows(float end[BLOCKS][2], const ELEMENT_TYPE *from,
                                          const cuda_wgmma_vector &steps, int row, int rows, int product) {
  const int thread = threadIdx.x % 128, first = row + thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
  for (int i = 0; i < BLOCKS; i++)
#pragma unroll
    for (int e = 0; e < 2; e++) {
      const int own = first + 64 * i + 8 * e;
      end[i][e] = own < rows ? epilogue_load(from, steps, own, 0, product) : 0;
    }
}

/* Starts loading the vectors' entries for a warpgroup's tile that begins at (row, col). */
SM90_FUNCTION void epilogue_prefetch(epilogue_operands &held, const epilogue_vectors &vectors, int row,
                                     int col, int product, const cuda_wgmma_arguments &args) {
#if FINISH_A == 1
  epilogue_prefetch_columns(held.columns[0], vectors.scale_a, vectors.steps->scale_a, col, args.n, product);
#elif FINISH_A == 2
  epilogue_prefetch_rows(held.rows[0], vectors.scale_a, vectors.steps->scale_a, row, args.m, product);
#endif
#if FINISH_B == 1
  epilogue_prefetch_columns(held.columns[FINISH_A == 1], vectors.scale_b, vectors.steps->scale_b, col, args.n,
                            product);
#elif FINISH_B == 2
  epilogue_prefetch_rows(held.rows[FINISH_A == 2], vectors.scale_b, vectors.steps->scale_b, row, args.m,
                         product);
#endif
#if FINISH_BIAS == 1
  epilogue_prefetch_columns(held.columns[FINISH_COLUMNS - 1], vectors.bias, vectors.steps->bias, col, args.n,
                            product);
#elif FINISH_BIAS == 2
  epilogue_prefetch_rows(held.rows[FINISH_ROWS - 1], vectors.bias, vectors.steps->bias, row, args.m, product);
#endif
}

/* Applies the epilogue to all accumulators of warpgroup `group`; they become f32 bits of C. `vectors_smem`:
 * the warpgroup's FINISH_COLUMNS * TILE_N * 4 bytes of shared memory. */
SM90_FUNCTION void epilogue_apply_all(wgmma_sums sums[BLOCKS], const epilogue_operands &held,
                                      shared_t vectors_smem, int group, float alpha) {
  if (FINISH_COLUMNS > 0) {
    warpgroup_barrier(group);
#pragma unroll
    for (int v = 0; v < FINISH_COLUMNS; v++)
#pragma unroll
      for (int i = 0; i < FINISH_EACH; i++)
        if ((int)threadIdx.x % 128 + 128 * i < TILE_N)
          store_shared(vectors_smem + (v * TILE_N + (int)threadIdx.x % 128 + 128 * i) * 4,
                       __float_as_uint(held.columns[v][i]));
    warpgroup_barrier(group);
  }
#pragma unroll
  for (int j = 0; j < TILE_N / 8; j++) {
    float columns[FINISH_COLUMNS + 1][2];
#pragma unroll
    for (int v = 0; v < FINISH_COLUMNS; v++)
      load_shared_pair(vectors_smem + (v * TILE_N + 8 * j + (int)threadIdx.x % 4 * 2) * 4, columns[v]);
#pragma unroll
    for (int i = 0; i < BLOCKS; i++)
#pragma unroll
      for (int e = 0; e < 4; e++) {
        const epilogue_terms terms = {
            FINISH_A == 1 ? columns[0][e % 2] : held.rows[0][i][e / 2],
            FINISH_B == 1 ? columns[FINISH_A == 1][e % 2] : held.rows[FINISH_A == 2][i][e / 2],
            FINISH_BIAS == 1 ? columns[FINISH_COLUMNS - (FINISH_BIAS == 1)][e % 2]
                             : held.rows[FINISH_ROWS - (FINISH_BIAS == 2)][i][e / 2]};
        const float x = epilogue_apply(sums[i][j][e], terms, alpha, 0, 0);
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
