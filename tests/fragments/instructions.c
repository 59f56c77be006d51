/* The item that holds each number, from the vendors' documents and not from src/kernel/fragments_*.h:
 *
 *   dpas           Khronos registry, cl_intel_subgroup_matrix_multiply_accumulate 1.1.0: an item has a
 *                  column of B and of the sums, and its share of each row of A: a vector's component for
 *                  each row
 *   mfma, wmma..   AMD's matrix instruction calculator, matrix_calculator.py --register-layout, for
 *                  V_MFMA_F32_16X16X16F16 and _16X16X8BF16, V_MFMA_I32_16X16X16I8 and _16X16X32_I8,
 *                  V_WMMA_F32_16X16X16_F16 and V_WMMA_I32_16X16X16_IU8 of RDNA 3 and RDNA 4 in waves of 32
 *
 * Sums are made in double and rounded once for each instruction, which no device guarantees. Tests use
 * exact sums, or the judge's bounds. */
#include "instructions.h"

#include <stdint.h>
#include <string.h>

/* An item, and the index of a number among the item's numbers of an operand. */
typedef struct place {
  int item, number;
} place;

typedef struct form form;
struct form {
  int items, rows, cols, depth, bytes;
  place (*a)(const form *self, int row, int k);
  place (*b)(const form *self, int col, int k);
  place (*sum)(int row, int col);
  bool doubled; /* items 16 apart have equal numbers of A and B */
};

/* A row of A has 32 bytes, shared by all items. */
static place dpas_a(const form *self, int row, int k) {
  const int share = 32 / self->bytes / self->items;
  return (place){k / share, row * share + k % share};
}
static place dpas_b(const form *self, int col, int k) {
  (void)self;
  return (place){col, k};
}
static place dpas_sum(int row, int col) {
  return (place){col, row};
}

/* A[0][0..3] of 16x16x16 in 16 bits: v0{0}.[15:0], v0{0}.[31:16], v1{0}.[15:0], v1{0}.[31:16], then v0{16},
 * ... */
static place mfma_a(const form *self, int line, int k) {
  const int run = self->depth / 4;
  return (place){line + 16 * (k / run), k % run};
}
#define mfma_b mfma_a
/* D[0..3][0]: v0{0}, v1{0}, v2{0}, v3{0}, then D[4][0]: v0{16} */
static place mfma_sum(int row, int col) {
  return (place){col + 16 * (row / 4), row % 4};
}

/* A[0][0]: v0{0}.[15:0] and v0{16}.[15:0]; A[0][15]: v7{0}.[31:16] and v7{16}.[31:16] */
static place wmma11_a(const form *self, int line, int k) {
  (void)self;
  return (place){line, k};
}
#define wmma11_b wmma11_a
/* D[0][0]: v0{0}, D[1][0]: v0{16}, D[2][0]: v1{0} */
static place wmma11_sum(int row, int col) {
  return (place){col + row % 2 * 16, row / 2};
}

/* 16 bits, A[0][0..15]: two words of {0}, two of {16}, two more of {0}, two more of {16}. Bytes: two words of
 * {0}, two of {16}. */
static place wmma12_a(const form *self, int line, int k) {
  const int run = self->bytes == 2 ? 4 : 8;
  return (place){line + k / run % 2 * 16, k / (2 * run) * run + k % run};
}
#define wmma12_b wmma12_a
/* D[0..7][0]: v0{0} to v7{0}, D[8][0]: v0{16} */
static place wmma12_sum(int row, int col) {
  return (place){col + row / 8 * 16, row % 8};
}

enum { is_dpas = 0, is_mfma = 0, is_wmma12 = 0, is_wmma11 = 1 };
static const form forms[] = {
#define FORM(NAME, items, rows, cols, depth, bytes, who)                                                     \
  {items, rows, cols, depth, bytes, who##_a, who##_b, who##_sum, is_##who},
    INSTRUCTION_LIST(FORM)
#undef FORM
};

enum { WORDS = 8 /* of one operand, at most */ };

static double number(tesela_type type, const unsigned int *words, int index) {
  uint16_t bits;
  if (type == TESELA_I8 || type == TESELA_U8) {
    const uint8_t byte = ((const uint8_t *)words)[index];
    return type == TESELA_I8 ? (int8_t)byte : byte;
  }
  memcpy(&bits, (const char *)words + 2 * index, sizeof bits);
  return type == TESELA_F16 ? tsl_f16_to_f64(bits) : tsl_bf16_to_f64(bits);
}

static void check(const form *self, const instruction_operand *a, const instruction_operand *b,
                  const ptx_shown *all) {
  const size_t twice = self->doubled ? 2 : 1, line = (size_t)self->depth * (size_t)self->bytes;
  if (a->bytes != twice * (size_t)self->rows * line / (size_t)self->items ||
      b->bytes != twice * (size_t)self->cols * line / (size_t)self->items)
    ptx_complain("an operand of the wrong size");
  const int own = ptx_self.item % self->items;
  if (self->doubled && memcmp(&all[own], &all[own ^ 16], sizeof *all) != 0)
    ptx_complain("items 16 apart have different numbers");
}

void instruction_run(instruction which, instruction_operand a, instruction_operand b, void *sums) {
  const form *self = &forms[which];
  const int own = ptx_self.item % self->items;
  unsigned int words[2 * WORDS] = {0};
  memcpy(words, a.at, a.bytes);
  memcpy(words + WORDS, b.at, b.bytes);
  const ptx_shown *all = ptx_show(words, 2 * WORDS);
  check(self, &a, &b, all);
  for (int row = 0; row < self->rows; row++)
    for (int col = 0; col < self->cols; col++) {
      const place to = self->sum(row, col);
      if (to.item != own)
        continue;
      double sum = 0;
      for (int k = 0; k < self->depth; k++) {
        const place left = self->a(self, row, k), right = self->b(self, col, k);
        sum += number(a.type, all[left.item].words, left.number) *
               number(b.type, all[right.item].words + WORDS, right.number);
      }
      if (self->bytes == 1)
        ((int *)sums)[to.number] += (int)sum;
      else
        ((float *)sums)[to.number] += (float)sum;
    }
}
