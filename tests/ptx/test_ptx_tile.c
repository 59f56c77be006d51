/* Kernel of register_tile with asynchronous copies, without a GPU: its text is compiled as C and run by
 * warps of threads (warp.h). Panels of 8 and 16 depths, slices of one warp and of two, K-major and MN-major
 * operands, in vectors and number by number. Sums of whole numbers are exact. The test finds copies that
 * are late, to a wrong place, or from outside the operands, and writes outside C. */
#include "unit/unit.h"

#include "core/random.h"
#include "strategy/gemm/portable/register_tile/register_tile.h"
#include "strategy/kernel_launch/launch.h"
#include "warp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const ptx_kernel ptx_tile_whole, ptx_tile_deep, ptx_tile_across, ptx_tile_warps, ptx_tile_slices,
    ptx_tile_parts, ptx_tile_rows, ptx_tile_columns, ptx_tile_thirds, ptx_tile_thirds_of_columns,
    ptx_tile_odd_thirds, ptx_tile_flat, ptx_tile_odd_flat, ptx_tile_odd_four, ptx_tile_odd_three,
    ptx_tile_short, ptx_tile_short_slices, ptx_tile_short_columns;

typedef struct product {
  const ptx_kernel *kernel;
  bool a_across, b_along; /* as the kernel was built */
  int64_t m, n, k;
  int64_t gap_a, gap_b, gap_c; /* numbers behind each line of an operand, and each row of C */
  int64_t c_step, c_offset;    /* between neighbours in a row; in front of C */
  float alpha, beta;
  int64_t part; /* k of a slice's part; 0: slices share panels */
} product;

/* Numbers from -3 to 3 in memory that ends where they do. */
static float *numbers(int64_t count, uint64_t seed) {
  void *made;
  assert_int_equal(posix_memalign(&made, 64, (size_t)count * sizeof(float)), 0);
  for (int64_t i = 0; i < count; i++)
    ((float *)made)[i] = (float)(tsl_random_u64(seed, (uint64_t)i) % 7) - 3;
  return made;
}

/* Runs the kernel. `wanted`: NULL, or a number that the kernel reads first. Where it is 0 or less,
 * C must be unchanged. */
static void multiply(const product *p, const int *wanted) {
  const int64_t line_a = (p->a_across ? p->m : p->k) + p->gap_a,
                line_b = (p->b_along ? p->k : p->n) + p->gap_b, a_row = p->a_across ? 1 : line_a,
                a_col = p->a_across ? line_a : 1, b_row = p->b_along ? 1 : line_b,
                b_col = p->b_along ? line_b : 1, c_row = (p->n + p->gap_c) * p->c_step;
  const int64_t count_a = (p->m - 1) * a_row + (p->k - 1) * a_col + 1,
                count_b = (p->k - 1) * b_row + (p->n - 1) * b_col + 1,
                count_c = p->c_offset + (p->m - 1) * c_row + (p->n - 1) * p->c_step + 1;
  float *a = numbers(count_a, 1), *b = numbers(count_b, 2), *c = numbers(count_c, 3),
        *before = numbers(count_c, 3);
  const tsl_register_tile_arguments given = {.split_depth = p->part > 0 ? p->part : p->k,
                                             .split_step = 3, /* of no splits */
                                             .band = 2,
                                             .wanted = (int64_t)(intptr_t)wanted,
                                             .gemm = {.sizes = {.m = p->m,
                                                                .n = p->n,
                                                                .k = p->k,
                                                                .a_row_stride = a_row,
                                                                .a_col_stride = a_col,
                                                                .b_row_stride = b_row,
                                                                .b_col_stride = b_col,
                                                                .c_offset = p->c_offset,
                                                                .c_row_stride = c_row,
                                                                .c_col_stride = p->c_step},
                                                      .scalars.f32 = {p->alpha, p->beta}}};
  const ptx_memory memory[2] = {{(const char *)a, (size_t)count_a * sizeof *a},
                                {(const char *)b, (size_t)count_b * sizeof *b}};
  const int64_t groups = (p->m + p->kernel->tile_m - 1) / p->kernel->tile_m *
                         ((p->n + p->kernel->tile_n - 1) / p->kernel->tile_n);
  if (p->beta == 0) /* nothing is read of it */
    for (int64_t i = 0; i < p->m; i++)
      for (int64_t j = 0; j < p->n; j++)
        c[p->c_offset + i * c_row + j * p->c_step] = NAN;
  assert_int_equal(ptx_run(p->kernel, (int)groups, memory, c, &given), 0);
  for (int64_t i = 0; wanted && *wanted <= 0 && i < p->m; i++)
    for (int64_t j = 0; j < p->n; j++) {
      float *one = &c[p->c_offset + i * c_row + j * p->c_step];
      assert_true(p->beta == 0 ? *one != *one : *one == before[one - c]);
      *one = before[one - c];
    }
  for (int64_t i = 0; (!wanted || *wanted > 0) && i < p->m; i++)
    for (int64_t j = 0; j < p->n; j++) {
      const int64_t at = p->c_offset + i * c_row + j * p->c_step;
      float sum = 0;
      for (int64_t l = 0; l < p->k; l++)
        sum += a[i * a_row + l * a_col] * b[l * b_row + j * b_col];
      sum = p->alpha * sum + (p->beta == 0 ? 0 : p->beta * before[at]);
      if (c[at] != sum)
        fail_msg("C(%d, %d) is %g where %g is right", (int)i, (int)j, (double)c[at], (double)sum);
      c[at] = before[at];
    }
  assert_memory_equal(c, before, (size_t)count_c * sizeof *c); /* gaps */
  free(a);
  free(b);
  free(c);
  free(before);
}

/* Rests of panels of every kind: none, one depth, all but one, less than a slice's share; one panel that is
 * not whole. */
static void every_order(void **state) {
  (void)state;
  const product products[] = {{&ptx_tile_whole, false, false, 70, 133, 45, 0, 0, 0, 1, 0, 1, 0, 0},
                              {&ptx_tile_whole, false, false, 65, 67, 16, 1, 2, 3, 1, 5, 2, -1, 0},
                              {&ptx_tile_whole, false, false, 5, 3, 23, 0, 0, 0, 2, 7, 1, 1, 0},
                              {&ptx_tile_deep, false, false, 66, 130, 49, 0, 0, 0, 1, 31, 1, 0, 0},
                              {&ptx_tile_deep, false, false, 63, 127, 15, 2, 0, 1, 1, 3, -1, 2, 0},
                              {&ptx_tile_across, true, true, 70, 66, 25, 0, 0, 0, 1, 0, 1, 0, 0},
                              {&ptx_tile_across, true, true, 68, 68, 24, 0, 0, 0, 1, 0, 1, 1, 0},
                              {&ptx_tile_warps, false, false, 65, 70, 41, 0, 0, 0, 1, 1, 1, 0, 0},
                              {&ptx_tile_warps, false, false, 64, 129, 9, 0, 3, 1, 1, 0, 3, 1, 0},
                              {&ptx_tile_slices, false, true, 33, 65, 67, 0, 0, 0, 1, 2, 1, 0, 0},
                              {&ptx_tile_slices, false, true, 32, 64, 1, 0, 0, 0, 3, 0, 1, 1, 0},
                              {&ptx_tile_parts, false, false, 33, 70, 197, 0, 0, 0, 1, 0, 1, 0, 64},
                              {&ptx_tile_parts, false, false, 32, 64, 510, 1, 2, 3, 1, 0, 2, 1, 128},
                              {&ptx_tile_rows, false, false, 70, 66, 45, 3, 0, 0, 1, 0, 1, 0, 0},
                              {&ptx_tile_rows, false, false, 64, 64, 24, 0, 0, 0, 1, 0, 1, 1, 0},
                              {&ptx_tile_rows, false, false, 63, 65, 26, 1, 2, 3, 1, 0, 1, 1, 0},
                              {&ptx_tile_columns, false, true, 17, 130, 67, 0, 1, 0, 1, 0, 1, 0, 0},
                              {&ptx_tile_columns, false, true, 16, 128, 96, 0, 0, 0, 1, 0, 2, 1, 0},
                              {&ptx_tile_columns, false, true, 15, 127, 41, 0, 1, 0, 1, 3, 1, 0, 0},
                              {&ptx_tile_columns, false, false, 15, 127, 41, 0, 0, 0, 1, 0, 1, 0, 0},
                              {&ptx_tile_thirds, true, true, 49, 130, 36, 3, 0, 0, 1, 0, 1, 0, 0},
                              {&ptx_tile_thirds, true, true, 44, 127, 45, 0, 0, 0, 1, 3, 1, 1, 0},
                              {&ptx_tile_thirds_of_columns, false, true, 257, 25, 27, 0, 1, 0, 1, 0, 1, 0, 0},
                              {&ptx_tile_thirds_of_columns, false, true, 256, 24, 8, 0, 0, 0, 1, 0, 1, 1, 0},
                              {&ptx_tile_odd_thirds, false, false, 47, 259, 45, 0, 0, 0, 1, 0, 1, 0, 0},
                              {&ptx_tile_odd_thirds, false, false, 48, 256, 32, 0, 0, 0, 1, 0, 2, 1, 0},
                              {&ptx_tile_flat, false, true, 1, 131, 452, 0, 0, 0, 1, 0, 1, 0, 128},
                              {&ptx_tile_flat, false, true, 4, 128, 512, 0, 0, 0, 1, 0, 1, 1, 128},
                              {&ptx_tile_odd_flat, true, false, 7, 127, 45, 0, 0, 0, 1, 0, 1, 0, 0},
                              {&ptx_tile_odd_flat, true, false, 9, 128, 24, 0, 0, 0, 1, 0, 2, 1, 0},
                              {&ptx_tile_odd_four, true, false, 2, 259, 77, 0, 0, 0, 1, 0, 1, 0, 0},
                              {&ptx_tile_odd_four, true, false, 5, 256, 64, 0, 0, 1, 1, 0, 2, 1, 0},
                              {&ptx_tile_odd_three, true, true, 35, 52, 55, 0, 0, 0, 1, 0, 1, 0, 0},
                              {&ptx_tile_odd_three, true, true, 65, 47, 7, 0, 2, 3, 1, 1, 2, 1, 0},
                              {&ptx_tile_short, false, false, 65, 70, 1, 0, 0, 0, 1, 0, 1, 0, 0},
                              {&ptx_tile_short, false, false, 64, 129, 5, 0, 3, 1, 1, 3, 3, 1, 0},
                              {&ptx_tile_short, false, false, 5, 3, 8, 1, 0, 0, 2, 7, 1, 1, 0},
                              {&ptx_tile_short_slices, false, true, 33, 65, 1, 0, 0, 0, 1, 2, 1, 0, 0},
                              {&ptx_tile_short_slices, false, true, 32, 64, 30, 0, 0, 0, 3, 0, 1, 1, 0},
                              {&ptx_tile_short_columns, false, true, 17, 130, 32, 0, 0, 0, 1, 0, 1, 0, 0},
                              {&ptx_tile_short_columns, false, true, 15, 127, 11, 0, 1, 0, 1, 3, 1, 0, 0}};
  for (size_t i = 0; i < sizeof products / sizeof *products; i++)
    multiply(&products[i], NULL);
}

/* A run that is not wanted writes nothing. A wanted run behaves as without the number. */
static void runs_that_are_not_wanted(void **state) {
  (void)state;
  const product products[] = {{&ptx_tile_whole, false, false, 70, 133, 45, 0, 0, 0, 1, 0, 1, 0, 0},
                              {&ptx_tile_slices, false, true, 33, 65, 67, 0, 0, 0, 1, 2, 1, 1, 0}};
  for (int i = 0; i < 2; i++)
    for (int wanted = 0; wanted < 2; wanted++)
      multiply(&products[i], &wanted);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_order),
                                     cmocka_unit_test(runs_that_are_not_wanted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
