/* Fused epilogue (FINISH): applied to accumulators in registers, or when an element of C is stored.
 *   C = f(alpha S a b + beta C + bias)     S is multiplied by the scales, then by alpha; C is rounded once
 * Needs wgmma_tile.h, cuda_wgmma_shared.h, and constants BLOCK_N, WAVES. Defines of the host, all 0 without
 * an epilogue: FINISH_FUNCTION (a tesela_activation); FINISH_BIAS, FINISH_A, FINISH_B (a direction), for the
 * kernel's rows and columns; FINISH_WIDE (the bias is f32, whatever C's type); FINISH_ALPHA (alpha is not 1);
 * FINISH_PLACES (binary places of C's type). For f16 and bf16, the rounding instruction applies ReLU. */
#ifndef TSL_CUDA_WGMMA_EPILOGUE_H
#define TSL_CUDA_WGMMA_EPILOGUE_H

#include "epilogue_function.h"

/* Directions of a vector: an entry per column, or per row (or a scalar). */
enum direction { NO_VECTOR, BY_COLUMN, BY_ROW };
static_assert(FINISH_A <= BY_ROW && FINISH_B <= BY_ROW && FINISH_BIAS <= BY_ROW, "directions");
static_assert(!FINISH || !C_IS_SUMS, "an epilogue computes in f32");

typedef choose_type<FINISH_WIDE || C_FORM == 0, float, unsigned short>::type epilogue_bias;

/* Pointers to the epilogue's vectors. A pointer to an absent vector is C's and is not read. */
struct epilogue_vectors {
  const epilogue_bias *bias;
  const float *scale_a, *scale_b;
  const cuda_wgmma_finish *steps; /* offsets and strides of the vectors, and alpha */
};

template <class ELEMENT_TYPE>
SM90_FUNCTION float epilogue_load(const ELEMENT_TYPE *from, const cuda_wgmma_vector &steps, int row, int col,
                                  int product) {
  return c_to_f32(from[steps.offset + row * steps.row + col * steps.col + product * steps.step]);
}

struct epilogue_terms {
  float scale_a, scale_b, bias;
};

/* Returns the epilogue of a sum before alpha. `before` is the old element of C, read where beta is not 0.
 * has_terms: false for k = 0, whose sum 0 is not scaled. */
SM90_FUNCTION float epilogue_apply(sum_t sum, const epilogue_terms &terms, float alpha, float beta,
                                   float before, bool has_terms = true) {
  float x = (float)sum;
  if (FINISH_A && has_terms)
    x = __fmul_rn(x, terms.scale_a);
  if (FINISH_B && has_terms)
    x = __fmul_rn(x, terms.scale_b);
  if (FINISH_ALPHA && has_terms)
    x = __fmul_rn(x, alpha);
  if (beta != 0)
    x = __fmaf_rn(beta, before, x);
  if (FINISH_BIAS)
    x = __fadd_rn(x, terms.bias);
  return C_PAIR_POSITIVE ? x : apply_activation_function(x);
}

SM90_FUNCTION float epilogue_element(sum_t sum, float before, int row, int col, int product,
                                     const epilogue_vectors &vectors, float beta, bool has_terms = true) {
  epilogue_terms terms;
  if (FINISH_A)
    terms.scale_a = epilogue_load(vectors.scale_a, vectors.steps->scale_a, row, col, product);
  if (FINISH_B)
    terms.scale_b = epilogue_load(vectors.scale_b, vectors.steps->scale_b, row, col, product);
  if (FINISH_BIAS)
    terms.bias = epilogue_load(vectors.bias, vectors.steps->bias, row, col, product);
  return epilogue_apply(sum, terms, vectors.steps->alpha, beta, before, has_terms);
}

/* Stores an element of C from its sum. Without a fused epilogue: alpha * sum + beta * C. */
template <class C_ELEMENT, class ALPHA>
SM90_FUNCTION void store_element(C_ELEMENT *c, sum_t sum, ALPHA alpha, int row, int col, int product,
                                 const epilogue_vectors &vectors, cuda_wgmma_scalar beta,
                                 bool has_terms = true) {
  if constexpr (!FINISH) {
    wgmma_tile_store(c, scaled(sum, alpha), beta);
  } else {
    const float x = epilogue_element(sum, beta.real != 0 ? c_to_f32(*c) : 0, row, col, product, vectors,
                                     beta.real, has_terms);
    if constexpr (C_FORM == 0)
      *c = x;
    else
      *c = (unsigned short)c_pair(x, x);
  }
}

/* Accumulators in registers: EPILOGUE_COLUMNS vectors by column go to shared memory, BLOCK_N numbers each.
 * Each thread keeps its rows' entries of EPILOGUE_ROWS others. COLUMN_ENTRIES: entries that a thread loads.
 */
constexpr int EPILOGUE_COLUMNS =
                  (FINISH_A == BY_COLUMN) + (FINISH_B == BY_COLUMN) + (FINISH_BIAS == BY_COLUMN),
              EPILOGUE_ROWS = (FINISH_A == BY_ROW) + (FINISH_B == BY_ROW) + (FINISH_BIAS == BY_ROW),
              EPILOGUE_BYTES = EPILOGUE_COLUMNS * BLOCK_N * 4, /* of one warpgroup */
    COLUMN_ENTRIES = (BLOCK_N + 127) / 128;
/* Places of the scale of B and of the bias among the vectors of their direction. */
constexpr int B_COLUMN = FINISH_A == BY_COLUMN, B_ROW = FINISH_A == BY_ROW,
              BIAS_COLUMN = B_COLUMN + (FINISH_B == BY_COLUMN), BIAS_ROW = B_ROW + (FINISH_B == BY_ROW);

/* Prefetched entries: of columns thread and thread + 128, and of the thread's rows in each block of 64. */
struct epilogue_operands {
  float columns[EPILOGUE_COLUMNS + 1][COLUMN_ENTRIES], rows[EPILOGUE_ROWS + 1][WAVES][2];
};

template <int DIRECTION, class ELEMENT_TYPE>
SM90_FUNCTION void epilogue_prefetch_vector(float by_column[COLUMN_ENTRIES], float by_row[WAVES][2],
                                            const ELEMENT_TYPE *from, const cuda_wgmma_vector &steps, int row,
                                            int col, int rows, int columns, int product) {
  const int thread = threadIdx.x % 128, first = row + thread / 32 * 16 + thread % 32 / 4;
  if constexpr (DIRECTION == BY_COLUMN)
#pragma unroll
    for (int i = 0; i < COLUMN_ENTRIES; i++) {
      const int own = (int)threadIdx.x % 128 + 128 * i;
      by_column[i] =
          own < BLOCK_N && col + own < columns ? epilogue_load(from, steps, 0, col + own, product) : 0;
    }
  if constexpr (DIRECTION == BY_ROW)
#pragma unroll
    for (int i = 0; i < WAVES; i++)
#pragma unroll
      for (int e = 0; e < 2; e++) {
        const int own = first + 64 * i + 8 * e;
        by_row[i][e] = own < rows ? epilogue_load(from, steps, own, 0, product) : 0;
      }
}

/* Starts loading the vectors' entries for a warpgroup's tile that begins at (row, col). */
SM90_FUNCTION void epilogue_prefetch(epilogue_operands &held, const epilogue_vectors &vectors, int row,
                                     int col, int product, const cuda_wgmma_arguments &args) {
  epilogue_prefetch_vector<FINISH_A>(held.columns[0], held.rows[0], vectors.scale_a, vectors.steps->scale_a,
                                     row, col, args.m, args.n, product);
  epilogue_prefetch_vector<FINISH_B>(held.columns[B_COLUMN], held.rows[B_ROW], vectors.scale_b,
                                     vectors.steps->scale_b, row, col, args.m, args.n, product);
  epilogue_prefetch_vector<FINISH_BIAS>(held.columns[BIAS_COLUMN], held.rows[BIAS_ROW], vectors.bias,
                                        vectors.steps->bias, row, col, args.m, args.n, product);
}

/* Applies the epilogue to all accumulators of warpgroup `group`; they become f32 bits of C. `vectors_smem`:
 * the warpgroup's EPILOGUE_BYTES of shared memory. */
SM90_FUNCTION void epilogue_apply_all(wgmma_sums sums[WAVES], const epilogue_operands &held,
                                      shared_t vectors_smem, int group, float alpha) {
  const int thread = (int)threadIdx.x % 128;
  if (EPILOGUE_COLUMNS > 0) {
    warpgroup_barrier(group);
#pragma unroll
    for (int v = 0; v < EPILOGUE_COLUMNS; v++)
#pragma unroll
      for (int i = 0; i < COLUMN_ENTRIES; i++)
        if (thread + 128 * i < BLOCK_N)
          store_shared(vectors_smem + (v * BLOCK_N + thread + 128 * i) * 4,
                       __float_as_uint(held.columns[v][i]));
    warpgroup_barrier(group);
  }
#pragma unroll
  for (int j = 0; j < BLOCK_N / 8; j++) {
    float columns[EPILOGUE_COLUMNS + 1][2];
#pragma unroll
    for (int v = 0; v < EPILOGUE_COLUMNS; v++)
      load_shared_pair(vectors_smem + (v * BLOCK_N + 8 * j + (int)threadIdx.x % 4 * 2) * 4, columns[v]);
#pragma unroll
    for (int i = 0; i < WAVES; i++)
#pragma unroll
      for (int e = 0; e < 4; e++) {
        const epilogue_terms terms = {
            FINISH_A == BY_COLUMN ? columns[0][e % 2] : held.rows[0][i][e / 2],
            FINISH_B == BY_COLUMN ? columns[B_COLUMN][e % 2] : held.rows[B_ROW][i][e / 2],
            FINISH_BIAS == BY_COLUMN ? columns[BIAS_COLUMN][e % 2] : held.rows[BIAS_ROW][i][e / 2]};
        const float x = epilogue_apply(sums[i][j][e], terms, alpha, 0, 0);
        if constexpr (IS_INTEGER)
          sums[i][j][e] = __float_as_int(x);
        else
          sums[i][j][e] = x;
      }
  }
}

#endif
