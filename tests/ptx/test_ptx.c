/* Kernel of opencl_mma without a GPU. Its text is compiled as C, in several types and orders of memory, and
 * run by warps of threads (warp.h). Sums of whole numbers are exact in every type: every element must be
 * right to the bit. The test finds wrong lines, chunks, bytes or columns, and copies that are read too
 * early, overwritten too early, or come from outside the operands. */
#include "unit/unit.h"

#include "core/random.h"
#include "strategy/kernel_launch/launch.h"
#include "strategy/kernel_launch/pack_rows_shared.h"
#include "warp.h"

#include <stdlib.h>
#include <string.h>

extern const ptx_kernel ptx_bf16_rows, ptx_bf16_mixed, ptx_f16_mixed, ptx_bytes_rows, ptx_bytes_mixed,
    ptx_bytes_transposed, ptx_place_rows, ptx_place_mixed, ptx_place_transposed, ptx_place_bytes, ptx_split,
    ptx_place_split, ptx_joins, ptx_place_joins, ptx_group_rows, ptx_group_wide, ptx_group_narrow,
    ptx_group_bytes, ptx_group_rests, ptx_pack_bytes;

/* The struct of the same name in opencl_mma.cl. */
typedef struct opencl_mma_arguments {
  tsl_gemm_sizes sizes;
  union {
    float f32[2];
    int i32[2];
  } scalars;
  int64_t band, tiles_m, tiles_n, split_k, sums, a_width, b_width, flags, ticket;
} opencl_mma_arguments;

/* And in opencl_mma_group.cl. */
typedef struct opencl_mma_group_arguments {
  opencl_mma_arguments whole;
  int64_t maps, wanted, wanted_above, rests, rests_row;
  uint32_t p, magic, bias, none;
} opencl_mma_group_arguments;

typedef struct product {
  const ptx_kernel *kernel;
  tsl_types types;
  bool a_across, b_across;
  int64_t m, n, k;
  int alpha, beta;
  int64_t c_gap; /* elements between columns of C, and more between rows */
  int groups;
  /* alignment of pitches in bytes, 0: 16; elements between the elements of a row, 0: 1 */
  int a_width, b_width, a_step, b_step;
} product;

/* Memory of exactly an operand's size, so that sanitizers find accesses outside it. */
typedef struct operand {
  tesela_type type;
  char *data;
  int64_t row_stride, col_stride, extent;
} operand;

static size_t size_of(const operand *o) {
  return tsl_type(o->type)->size;
}

static double get(const operand *o, int64_t row, int64_t col) {
  double value[2];
  tsl_type_load(o->type, o->data + (size_t)(row * o->row_stride + col * o->col_stride) * size_of(o), value);
  return value[0];
}

static operand make(tesela_type type, int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride,
                    uint64_t seed) {
  operand o = {type, NULL, row_stride, col_stride, (rows - 1) * row_stride + (cols - 1) * col_stride + 1};
  void *data;
  assert_int_equal(posix_memalign(&data, 64, (size_t)o.extent * size_of(&o)), 0);
  o.data = data;
  for (int64_t i = 0; i < o.extent; i++) {
    const bool has_sign = type != TESELA_U8;
    const double value[2] = {(double)(tsl_random_u64(seed, (uint64_t)i) % 7) - (has_sign ? 3 : 0), 0};
    tsl_type_store(type, o.data + (size_t)i * size_of(&o), value);
  }
  return o;
}

/* Returns the pitch: a row's (column's) elements, rounded up to `width` bytes, plus `width` bytes. */
static int64_t padded(int64_t elements, tesela_type type, int64_t width) {
  const int64_t size = (int64_t)tsl_type(type)->size, chunk = width > size ? width / size : 1;
  return (elements + chunk - 1) / chunk * chunk + chunk;
}
static int64_t pitch(int64_t elements, tesela_type type) {
  return padded(elements, type, 16);
}

/* Makes an operand whose elements of a line are adjacent along k, or `across` it. */
static operand make_of(const product *p, bool is_b) {
  const tesela_type type = is_b ? p->types.b : p->types.a;
  const int64_t rows = is_b ? p->k : p->m, cols = is_b ? p->n : p->k;
  const int width = is_b ? p->b_width : p->a_width, given = is_b ? p->b_step : p->a_step;
  const int64_t step = given > 0 ? given : 1;
  const bool by_rows = is_b ? p->b_across : !p->a_across;
  const int64_t far = padded((by_rows ? cols : rows) * step, type, width > 0 ? width : 16);
  return make(type, rows, cols, by_rows ? far : step, by_rows ? step : far, is_b ? 2 : 1);
}

/* Returns the bytes of a copy. */
static int64_t width_of(const operand *o, bool by_rows) {
  const int64_t step = by_rows ? o->col_stride : o->row_stride, far = by_rows ? o->row_stride : o->col_stride;
  const int64_t bytes = far * (int64_t)size_of(o);
  return step != 1 ? 0 : bytes % 16 == 0 ? 16 : bytes % 4 == 0 ? 4 : 0;
}

static void set_scalars(const product *p, opencl_mma_arguments *args) {
  if (tsl_type(p->types.c)->is_integer) {
    args->scalars.i32[0] = p->alpha;
    args->scalars.i32[1] = p->beta;
  } else {
    args->scalars.f32[0] = (float)p->alpha;
    args->scalars.f32[1] = (float)p->beta;
  }
}

static void multiply(const product *p) {
  const operand a = make_of(p, false), b = make_of(p, true);
  operand c = make(p->types.c, p->m, p->n, (p->n + 4) / 4 * 4 * p->c_gap, p->c_gap, 3);
  operand before = make(p->types.c, p->m, p->n, c.row_stride, c.col_stride, 3);
  const ptx_memory memory[2] = {{a.data, (size_t)a.extent * size_of(&a)},
                                {b.data, (size_t)b.extent * size_of(&b)}};
  opencl_mma_arguments given = {.sizes = {.m = p->m,
                                          .n = p->n,
                                          .k = p->k,
                                          .a_row_stride = a.row_stride,
                                          .a_col_stride = a.col_stride,
                                          .b_row_stride = b.row_stride,
                                          .b_col_stride = b.col_stride,
                                          .c_row_stride = c.row_stride,
                                          .c_col_stride = c.col_stride},
                                .band = 2,
                                .tiles_m = (p->m + p->kernel->tile_m - 1) / p->kernel->tile_m,
                                .tiles_n = (p->n + p->kernel->tile_n - 1) / p->kernel->tile_n,
                                .split_k = 1,
                                .a_width = width_of(&a, !p->a_across),
                                .b_width = width_of(&b, p->b_across)};
  set_scalars(p, &given);
  assert_int_equal(ptx_run(p->kernel, p->groups, memory, c.data, &given), 0);
  for (int64_t i = 0; i < p->m; i++)
    for (int64_t j = 0; j < p->n; j++) {
      double sum[2] = {0, 0};
      for (int64_t l = 0; l < p->k; l++)
        sum[0] += get(&a, i, l) * get(&b, l, j);
      sum[0] = p->alpha * sum[0] + p->beta * get(&before, i, j);
      char stored[8];
      tsl_type_store(p->types.c, stored, sum);
      tsl_type_load(p->types.c, stored, sum);
      if (get(&c, i, j) != sum[0])
        fail_msg("C(%d, %d) is %g where %g is right", (int)i, (int)j, get(&c, i, j), sum[0]);
      memcpy(c.data + (size_t)(i * c.row_stride + j * c.col_stride) * size_of(&c),
             before.data + (size_t)(i * c.row_stride + j * c.col_stride) * size_of(&c), size_of(&c));
    }
  assert_memory_equal(c.data, before.data, (size_t)c.extent * size_of(&c)); /* gaps */
  free(a.data);
  free(b.data);
  free(c.data);
  free(before.data);
}

/* More tiles than groups, edges in all three directions, C by vectors and one by one. */
static void every_order_and_type(void **state) {
  (void)state;
  static const tsl_types floats = {TESELA_BF16, TESELA_BF16, TESELA_F32},
                         narrow = {TESELA_BF16, TESELA_BF16, TESELA_BF16},
                         halves = {TESELA_F16, TESELA_F16, TESELA_F16},
                         bytes = {TESELA_I8, TESELA_I8, TESELA_I32},
                         mixed = {TESELA_I8, TESELA_U8, TESELA_I32},
                         transposed = {TESELA_U8, TESELA_I8, TESELA_I32};
  const product products[] = {
      {&ptx_bf16_rows, floats, false, false, 70, 150, 75, 1, 0, 1, 2, 0, 0, 0, 0},
      {&ptx_bf16_mixed, narrow, false, true, 70, 150, 131, 2, -1, 1, 1, 0, 0, 0, 0},
      {&ptx_f16_mixed, halves, true, false, 133, 129, 33, 1, 3, 2, 2, 0, 0, 0, 0},
      {&ptx_bytes_rows, bytes, false, false, 65, 131, 147, -2, 1, 1, 3, 0, 0, 0, 0},
      {&ptx_bytes_mixed, mixed, false, true, 70, 150, 65, 1, 0, 1, 2, 0, 0, 0, 0},
      {&ptx_bytes_transposed, transposed, true, true, 131, 134, 70, 3, 2, 1, 1, 0, 0, 0, 0},
      {&ptx_group_rows, floats, false, true, 140, 150, 200, 1, 0, 1, 2, 0, 0, 0, 0},
      {&ptx_group_wide, halves, true, false, 65, 270, 70, 2, -1, 2, 3, 0, 0, 0, 0},
      {&ptx_group_narrow, halves, false, true, 130, 200, 70, 1, 0, 1, 1, 0, 0, 0, 0},
      {&ptx_group_bytes, mixed, false, false, 130, 131, 400, 1, 1, 1, 1, 0, 0, 0, 0},
      {&ptx_place_rows, floats, false, false, 70, 20, 40, 1, 0, 1, 2, 4, 2, 0, 0},
      {&ptx_place_rows, floats, false, false, 9, 129, 38, 2, 1, 1, 1, 16, 2, 1, 3},
      {&ptx_place_rows, floats, false, false, 64, 128, 64, 1, 0, 1, 1, 4, 4, 0, 0},
      {&ptx_place_rows, floats, false, false, 1, 1, 1, 1, 0, 1, 1, 2, 2, 0, 0},
      {&ptx_place_mixed, halves, false, true, 66, 130, 67, 1, -1, 1, 1, 2, 4, 0, 0},
      {&ptx_place_mixed, halves, false, true, 64, 128, 64, 1, 0, 1, 1, 2, 2, 2, 2},
      {&ptx_place_transposed, narrow, true, false, 133, 9, 33, 1, 3, 2, 2, 2, 16, 0, 0},
      {&ptx_place_transposed, narrow, true, false, 128, 128, 64, 1, 0, 1, 1, 4, 2, 0, 0},
      {&ptx_place_bytes, mixed, false, true, 66, 30, 65, 1, 0, 1, 2, 1, 4, 0, 0},
      {&ptx_place_bytes, mixed, false, true, 9, 130, 65, 1, 0, 1, 1, 4, 1, 1, 3},
      {&ptx_bf16_rows, floats, false, false, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0, 0},
      {&ptx_bytes_transposed, transposed, true, true, 1, 3, 2, 1, 1, 1, 1, 0, 0, 0, 0},
      {&ptx_bytes_mixed, mixed, false, true, 2, 17, 17, 1, 0, 1, 1, 0, 0, 0, 0}};
  for (size_t i = 0; i < sizeof products / sizeof *products; i++)
    multiply(&products[i]);
}

/* The sums of all parts of k, added here, are the product; or the group of the last part adds them. */
static void split_product(const product *p, bool joins) {
  enum { SPLIT_K = 3, GAP = 3 };
  const operand a = make_of(p, false), b = make_of(p, true);
  const operand before = make(p->types.c, p->m, p->n, p->n + GAP, 1, 3);
  const ptx_memory memory[2] = {{a.data, (size_t)a.extent * size_of(&a)},
                                {b.data, (size_t)b.extent * size_of(&b)}};
  const int64_t tiles_m = (p->m + p->kernel->tile_m - 1) / p->kernel->tile_m,
                tiles_n = (p->n + p->kernel->tile_n - 1) / p->kernel->tile_n,
                columns = tiles_n * p->kernel->tile_n, part = tiles_m * p->kernel->tile_m * columns,
                c_bytes = before.extent * (int64_t)size_of(&before), sums = (c_bytes + 255) / 256 * 256,
                flags = sums + SPLIT_K * part * 4;
  const tesela_type type = p->types.c == TESELA_I32 ? TESELA_I32 : TESELA_F32;
  operand c = before;
  c.data = calloc((size_t)(flags + 8 * SPLIT_K * tiles_m * tiles_n), 1);
  assert_non_null(c.data);
  memcpy(c.data, before.data, (size_t)c_bytes);
  opencl_mma_arguments given = {.sizes = {.m = p->m,
                                          .n = p->n,
                                          .k = p->k,
                                          .a_row_stride = a.row_stride,
                                          .a_col_stride = a.col_stride,
                                          .b_row_stride = b.row_stride,
                                          .b_col_stride = b.col_stride,
                                          .c_row_stride = c.row_stride,
                                          .c_col_stride = 1},
                                .band = 2,
                                .tiles_m = tiles_m,
                                .tiles_n = tiles_n,
                                .split_k = SPLIT_K,
                                .sums = sums,
                                .a_width = width_of(&a, !p->a_across),
                                .b_width = width_of(&b, p->b_across),
                                .flags = flags,
                                .ticket = 0x123456789abcdef};
  set_scalars(p, &given);
  assert_int_equal(ptx_run(p->kernel, (int)(tiles_m * tiles_n * SPLIT_K), memory, c.data, &given), 0);
  for (int64_t i = 0; i < p->m; i++)
    for (int64_t j = 0; j < p->n; j++) {
      double right[2] = {0, 0}, found = 0;
      for (int64_t l = 0; l < p->k; l++)
        right[0] += get(&a, i, l) * get(&b, l, j);
      for (int s = 0; s < SPLIT_K; s++) {
        double value[2];
        tsl_type_load(type, c.data + sums + 4 * (s * part + i * columns + j), value);
        found += value[0];
      }
      if (found != right[0])
        fail_msg("C(%d, %d) is %g where %g is right", (int)i, (int)j, found, right[0]);
      char stored[8];
      right[0] = joins ? p->alpha * right[0] + p->beta * get(&before, i, j) : get(&before, i, j);
      tsl_type_store(p->types.c, stored, right);
      tsl_type_load(p->types.c, stored, right);
      if (get(&c, i, j) != right[0])
        fail_msg("joined C(%d, %d) is %g where %g is right", (int)i, (int)j, get(&c, i, j), right[0]);
    }
  free(c.data);
  free(before.data);
  free(a.data);
  free(b.data);
}

static void sums_of_parts(void **state) {
  (void)state;
  static const tsl_types floats = {TESELA_BF16, TESELA_BF16, TESELA_F32},
                         narrow = {TESELA_BF16, TESELA_BF16, TESELA_BF16},
                         bytes = {TESELA_I8, TESELA_I8, TESELA_I32};
  split_product(&(product){&ptx_split, floats, false, true, 66, 20, 100, 1, 0, 1, 0, 0, 0, 0, 0}, false);
  split_product(&(product){&ptx_split, floats, false, true, 3, 5, 40, 1, 0, 1, 0, 0, 0, 0, 0}, false);
  split_product(&(product){&ptx_place_split, bytes, true, false, 10, 20, 190, 1, .a_width = 1}, false);
  split_product(&(product){&ptx_joins, narrow, false, true, 66, 131, 100, 2, -1, 1, 0, 0, 0, 0, 0}, true);
  split_product(&(product){&ptx_joins, narrow, false, true, 9, 13, 97, 1, 0, 1, 0, 0, 0, 0, 0}, true);
  split_product(&(product){&ptx_place_joins, bytes, true, false, 130, 20, 190, 1, 2, .a_width = 1}, true);
}

/* Residues of C are stored in their place, and nothing is written outside it. */
static void residues(void **state) {
  (void)state;
  enum { M = 70, N = 131, K = 150, ROW = 136, MAPS = 2 * 256, REST = MAPS + 256, ALL = REST + M * ROW };
  static const uint32_t moduli[] = {256, 193};
  const int64_t a_pitch = pitch(K, TESELA_I8), b_pitch = pitch(K, TESELA_U8);
  const operand a = make(TESELA_I8, M, K, a_pitch, 1, 1), b = make(TESELA_U8, K, N, 1, b_pitch, 2);
  const ptx_memory memory[2] = {{a.data, (size_t)a.extent}, {b.data, (size_t)b.extent}};
  static _Alignas(128) unsigned char scratch[ALL];
  for (int t = 0; t < 2; t++) {
    const uint32_t p = moduli[t];
    const opencl_mma_group_arguments given = {
        .whole = {.sizes = {.m = M,
                            .n = N,
                            .k = K,
                            .a_row_stride = a_pitch,
                            .a_col_stride = 1,
                            .b_row_stride = 1,
                            .b_col_stride = b_pitch},
                  .scalars.i32 = {1, 0},
                  .band = 2,
                  .tiles_m = (M + ptx_group_rests.tile_m - 1) / ptx_group_rests.tile_m,
                  .tiles_n = (N + ptx_group_rests.tile_n - 1) / ptx_group_rests.tile_n,
                  .split_k = 1},
        .maps = 0,
        .wanted = -1,
        .rests = REST,
        .rests_row = ROW,
        .p = p,
        .magic = (uint32_t)((((uint64_t)1 << 39) + p - 1) / p),
        .bias = ((1u << 30) + p - 1) / p * p};
    memset(scratch, 0, sizeof scratch);
    memset(scratch + REST, 0xee, sizeof scratch - REST);
    assert_int_equal(ptx_run(&ptx_group_rests, 2, memory, scratch, &given), 0);
    for (int64_t i = 0; i < M; i++)
      for (int64_t j = 0; j < ROW; j++) {
        const int found = scratch[REST + i * ROW + j];
        double sum = 0;
        for (int64_t l = 0; j < N && l < K; l++)
          sum += get(&a, i, l) * get(&b, l, j);
        const int right = ((int)sum % (int)p + (int)p) % (int)p;
        if (j < N ? found != right : j >= (N + 3) / 4 * 4 && found != 0xee)
          fail_msg("C(%d, %d) modulo %d is %d where %d is right", (int)i, (int)j, (int)p, found, right);
      }
  }
  free(a.data);
  free(b.data);
}

/* Packs rows of bytes that are adjacent (transposed by fours, and not), one after the other, and
 * backwards. Also rows of a batch. */
static void packed_bytes(void **state) {
  (void)state;
  static const tsl_pack_rows_arguments all[] = {
      {132, 140, 4, 1, 136, 16, 144, 1, 0, 0},   {131, 20, 4, 1, 136, 0, 32, 1, 0, 0},
      {132, 20, 3, 1, 136, 0, 32, 1, 0, 0},      {132, 20, 4, 1, 133, 0, 32, 1, 0, 0},
      {5, 33, 1, 40, 1, 0, 48, 1, 0, 0},         {5, 33, 200, -40, 1, 0, 48, 1, 0, 0},
      {5, 33, 900, 40, 1, 16, 48, 3, -201, 256}, {12, 20, 4, 1, 16, 0, 32, 4, 332, 384},
  };
  enum { BYTES = 1 << 15 };
  static unsigned char from[BYTES], to[BYTES];
  for (size_t i = 0; i < BYTES; i++)
    from[i] = (unsigned char)tsl_random_u64(1, i);
  for (size_t t = 0; t < sizeof all / sizeof *all; t++) {
    const tsl_pack_rows_arguments *p = &all[t];
    const ptx_memory none[2] = {{(const char *)from, BYTES}, {NULL, 0}};
    memset(to, 0x55, BYTES);
    assert_int_equal(ptx_run(&ptx_pack_bytes, 2, none, to, p), 0);
    for (int64_t i = 0; i < BYTES; i++) {
      const int64_t own = p->products > 1 ? (i - p->to) / p->packed : 0, within = i - p->to - own * p->packed;
      const int64_t row = within / p->pitch, element = within % p->pitch;
      const bool is_there = i >= p->to && own < p->products && row < p->rows;
      const int64_t at = p->offset + own * p->apart + row * p->row_stride + element * p->step;
      if (to[i] != (!is_there ? 0x55 : element < p->elements ? from[at] : 0))
        fail_msg("case %d: byte %d is %d", (int)t, (int)i, to[i]);
    }
  }
}

/* Nothing of A and B is read where there is nothing to add up. */
static void no_sum(const ptx_kernel *kernel) {
  const ptx_memory memory[2] = {{NULL, 0}, {NULL, 0}};
  float c[5 * 12];
  for (int i = 0; i < 60; i++)
    c[i] = (float)i;
  const opencl_mma_arguments given = {.sizes = {.m = 5, .n = 9, .c_row_stride = 12, .c_col_stride = 1},
                                      .scalars.f32 = {0, 2},
                                      .band = 4,
                                      .tiles_m = 1,
                                      .tiles_n = 1,
                                      .split_k = 1};
  assert_int_equal(ptx_run(kernel, 1, memory, c, &given), 0);
  for (int i = 0; i < 60; i++)
    assert_true(c[i] == (float)(i % 12 < 9 ? 2 * i : i));
}

static void empty_sums(void **state) {
  (void)state;
  no_sum(&ptx_bf16_rows);
  no_sum(&ptx_group_rows);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_order_and_type), cmocka_unit_test(sums_of_parts),
                                     cmocka_unit_test(residues), cmocka_unit_test(packed_bytes),
                                     cmocka_unit_test(empty_sums)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
