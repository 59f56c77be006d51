/* Integer product without tile registers: pairs of 16-bit integers, which every instruction set multiplies
 * and adds in one instruction. A step's bytes are widened to pairs, even and odd bytes of each word, equally
 * for A and B. */
#include "host/simd.h"

#include "strategy/gemm/emulated/residue_int8/kernels/residue_int8_reduce.h"

enum {
  WORDS = TSL_RESIDUE_STEP / 4,
  LANES = VECTOR_BYTES / 4,
  ACROSS = TSL_RESIDUE_LINES / LANES,
  TOGETHER = 2
};

typedef int16_t wide_i16 __attribute__((vector_size(64), may_alias));
typedef uint16_t wide_u16 __attribute__((vector_size(64), may_alias));
typedef struct pairs {
  uint32_t even[TSL_RESIDUE_LINES * WORDS], odd[TSL_RESIDUE_LINES * WORDS];
} pairs;

/* Widens a step's two registers, rows of 16 words, to pairs: `row` words between rows of the result, `half`
 * between the registers. A: 16 words of a line are adjacent; B: 32 columns of four k are adjacent. */
static void make_pairs(const unsigned char *from, int row, int half, pairs *target) {
  for (int h = 0; h < 2; h++)
    for (int i = 0; i < TSL_RESIDUE_ROWS; i++, from += TSL_RESIDUE_STEP) {
      wide_i16 bytes;
      WIDE_LOAD(bytes, from);
      const wide_i16 even = (wide_i16)((wide_u16)bytes << 8) >> 8, odd = bytes >> 8;
      WIDE_STORE(target->even + h * half + i * row, even);
      WIDE_STORE(target->odd + h * half + i * row, odd);
    }
}

/* Adds the products of as many rows of sums as registers hold. */
static void add_rows(const pairs *a, const pairs *b, int row, int32_t *sums) {
  vector_i32 sum[TOGETHER][ACROSS];
  memcpy(sum, sums, sizeof sum);
  for (int four = 0; four < WORDS; four++) {
    vector_i32 even[TOGETHER], odd[TOGETHER];
    TSL_UNROLL
    for (int i = 0; i < TOGETHER; i++) {
      even[i] = set_word_i32(a->even[(row + i) * WORDS + four]);
      odd[i] = set_word_i32(a->odd[(row + i) * WORDS + four]);
    }
    TSL_UNROLL
    for (int v = 0; v < ACROSS; v++) {
      vector_i32 right[2];
      memcpy(&right[0], b->even + four * TSL_RESIDUE_LINES + v * LANES, sizeof right[0]);
      memcpy(&right[1], b->odd + four * TSL_RESIDUE_LINES + v * LANES, sizeof right[1]);
      TSL_UNROLL
      for (int i = 0; i < TOGETHER; i++)
        sum[i][v] = dot_i16(dot_i16(sum[i][v], even[i], right[0]), odd[i], right[1]);
    }
  }
  memcpy(sums, sum, sizeof sum);
}

static void tile(const tsl_residue_tile *tile) {
  memset(tile->sums, 0, TSL_RESIDUE_SUMS * sizeof *tile->sums);
  for (int64_t u = 0; u < tile->steps; u++) {
    pairs a, b;
    make_pairs(tile->a + u * TSL_RESIDUE_STEP_BYTES, WORDS, TSL_RESIDUE_ROWS * WORDS, &a);
    make_pairs(tile->b + u * TSL_RESIDUE_STEP_BYTES, TSL_RESIDUE_LINES, WORDS, &b);
    for (int row = 0; row < TSL_RESIDUE_LINES; row += TOGETHER)
      add_rows(&a, &b, row, tile->sums + row * TSL_RESIDUE_LINES);
  }
  if (tile->late.sums)
    reduce_all(&tile->late);
}

const tsl_residue_product TSL_ISA_NAME(tsl_residue_product) = {.tile = tile, .finish = reduce_all};
