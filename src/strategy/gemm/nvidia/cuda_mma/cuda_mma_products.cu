/* Sums of a warp, and its products of a step of 32 bytes along k (sm80.h). Before, the strategy defines
 * BLOCKS_M and BLOCKS_N, a warp's blocks of 16 rows and of 8 columns. */
typedef sum_t warp_sums[BLOCKS_M][BLOCKS_N][4];

SM80_FUNCTION void clear_sums(warp_sums sums) {
#pragma unroll
  for (int i = 0; i < BLOCKS_M; i++)
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++)
#pragma unroll
      for (int e = 0; e < 4; e++)
        sums[i][j][e] = 0;
}

/* A thread's fragments for one step: words of A's blocks of 16 rows, of B's pairs of 8 columns. */
struct factors {
  unsigned a[BLOCKS_M][4], b[BLOCKS_N / 2][4];
};

/* Rounds f32 to the nearest tf32, ties away from 0: tensor cores ignore the 13 lowest bits. Infinities, NaN
 * and numbers that would become infinite stay. */
SM80_FUNCTION void round_to_tf32(unsigned (&words)[4]) {
#pragma unroll
  for (int e = 0; e < 4; e++)
    if (fabsf(__uint_as_float(words[e])) < 0x1.ffep127f)
      words[e] += 0x1000;
}

/* Adds the product of 16 rows by 8 columns to `sums`. */
template <class T>
SM80_FUNCTION void multiply_block(T (&sums)[4], const unsigned *a, const unsigned *b) {
  if constexpr (IS_EIGHT)
    mma_16x8("m16n8k16", "f32", "f", "f16", "f16", sums, a, b);
  else if constexpr (C_FORM == 3)
    mma_16x8("m16n8k32", "s32", "r", MMA_TEXT(A_TYPE), MMA_TEXT(B_TYPE), sums, a, b);
  else if constexpr (ELEMENT == 2)
    mma_16x8("m16n8k16", "f32", "f", MMA_TEXT(A_TYPE), MMA_TEXT(B_TYPE), sums, a, b);
  else
    mma_16x8("m16n8k8", "f32", "f", MMA_TEXT(A_TYPE), MMA_TEXT(B_TYPE), sums, a, b);
}

#if IS_EIGHT
#define F16_PAIR_(type) f16_pair_of_##type
#define F16_PAIR(type) F16_PAIR_(type)
#endif

/* Adds the products of a step to `sums`. Calls `between(i)` after each row of blocks, to issue copies while
 * tensor cores run. Rows alternate direction, so that successive products share registers. */
template <typename function>
SM80_FUNCTION void multiply(warp_sums sums, const factors &from, function between) {
#if IS_EIGHT
  /* Four 8-bit numbers are two pairs: all first pairs come first. A and B have one new order of k. */
#pragma unroll
  for (int half = 0; half < 2; half++) {
    unsigned b[BLOCKS_N][2];
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++)
#pragma unroll
      for (int e = 0; e < 2; e++)
        b[j][e] = F16_PAIR(B_TYPE)(from.b[j / 2][j % 2 * 2 + e] >> 16 * half);
#pragma unroll
    for (int i = 0; i < BLOCKS_M; i++) {
      unsigned a[4];
#pragma unroll
      for (int e = 0; e < 4; e++)
        a[e] = F16_PAIR(A_TYPE)(from.a[i][e] >> 16 * half);
#pragma unroll
      for (int j = 0; j < BLOCKS_N; j++)
        multiply_block(sums[i][i % 2 == 0 ? j : BLOCKS_N - 1 - j], a, b[i % 2 == 0 ? j : BLOCKS_N - 1 - j]);
      if (half == 1)
        between(i);
    }
  }
#else
#pragma unroll
  for (int i = 0; i < BLOCKS_M; i++) {
#pragma unroll
    for (int j = 0; j < BLOCKS_N; j++) {
      const int column = i % 2 == 0 ? j : BLOCKS_N - 1 - j;
      multiply_block(sums[i][column], from.a[i], from.b[column / 2] + column % 2 * 2);
    }
    between(i);
  }
#endif
}
