/* tesela_gemm_grouped(): the same bits as single calls for any products, with one plan or many, by
 * descriptions and by batches, and queued on a device. Nothing is written where a product is
 * invalid, and the error has its number. Also results that overlap. */
#include "api/api.h"
#include "dispatch/crossovers.h"
#include "opencl.h"
#include "unit/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/tesela.h>

enum { MOST = 64, BYTES = 6 << 20 };

static tesela_context *context;
static unsigned char *operands, *results, *expected; /* of a whole group each */
static uint64_t state_of_numbers;

/* So that products are shared out on any machine. */
static int set_up(void **state) {
  (void)state;
  operands = malloc(BYTES);
  results = malloc(BYTES);
  expected = malloc(BYTES);
  return setenv("TESELA_THREADS", "4", 1) != 0 || !operands || !results || !expected ||
         tesela_context_create(&(tesela_context_desc){.device = "cpu"}, &context) != TESELA_OK;
}
static int tear_down(void **state) {
  (void)state;
  tesela_context_destroy(context);
  free(operands);
  free(results);
  free(expected);
  return 0;
}

static void must(tesela_status status) {
  if (status != TESELA_OK)
    fail_msg("%s: %s", tesela_status_name(status), tesela_last_error());
}

static int64_t draw(int64_t most) {
  state_of_numbers = state_of_numbers * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state_of_numbers >> 33) % (uint64_t)(most + 1));
}

/* Types of a group's members. */
typedef struct kind {
  tesela_type a, c;
  size_t a_size, c_size;
} kind;
static const kind kinds[] = {{TESELA_F32, TESELA_F32, 4, 4},  {TESELA_F32, TESELA_F32, 4, 4},
                             {TESELA_F64, TESELA_F64, 8, 8},  {TESELA_C64, TESELA_C64, 8, 8},
                             {TESELA_BF16, TESELA_F32, 2, 4}, {TESELA_I8, TESELA_I32, 1, 4}};
enum { KINDS = sizeof kinds / sizeof *kinds };
static const double scalars[][2] = {{1, 0}, {-2, 0}, {3, 0}}, betas[][2] = {{0, 0}, {1, 0}, {2, 0}};

typedef struct group {
  tesela_gemm_desc descs[MOST];
  tesela_epilogue epilogues[MOST];
  size_t used, used_results; /* bytes */
  int64_t count;
} group;

/* Numbers of any type, finite and not large: all bytes that a component of it has are the same small ones. */
static void fill(unsigned char *bytes, size_t count, const kind *kind_in) {
  for (size_t i = 0; i < count; i++) {
    const double value = (double)(draw(200) - 100) / 64;
    const float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    if (kind_in->a == TESELA_F64)
      memcpy(bytes + i * 8, &value, 8);
    else if (kind_in->a == TESELA_C64)
      memcpy(bytes + i * 8, (float[2]){single, -single}, 8);
    else if (kind_in->a == TESELA_F32)
      memcpy(bytes + i * 4, &single, 4);
    else if (kind_in->a == TESELA_BF16)
      memcpy(bytes + i * 2, &(uint16_t){(uint16_t)(bits >> 16)}, 2);
    else
      bytes[i] = (unsigned char)draw(255);
  }
}

static const void *place(group *in, int64_t rows, int64_t row_stride, const kind *kind_in) {
  const size_t count = (size_t)(rows * row_stride) + 1, start = (in->used + 63) / 64 * 64;
  in->used = start + count * kind_in->a_size;
  assert_true(in->used <= BYTES);
  fill(operands + start, count, kind_in);
  return operands + start;
}

static void *place_result(group *in, int64_t rows, int64_t row_stride, const kind *kind_in) {
  const size_t count = (size_t)(rows * row_stride) + 1, start = (in->used_results + 63) / 64 * 64;
  in->used_results = start + count * kind_in->c_size;
  assert_true(in->used_results <= BYTES);
  return results + start;
}

static void add(group *in, int64_t m, int64_t n, int64_t k) {
  const kind *of = &kinds[draw(KINDS - 1)];
  tesela_gemm_desc *desc = &in->descs[in->count++];
  const bool turn_a = draw(1), turn_b = draw(1);
  const int64_t a_row = (turn_a ? m : k) + draw(3), b_row = (turn_b ? k : n) + draw(3), c_row = n + draw(3);
  *desc = (tesela_gemm_desc){.m = m, .n = n, .k = k};
  desc->a = (tesela_matrix){.data = place(in, turn_a ? k : m, a_row, of),
                            .row_stride = a_row,
                            .col_stride = 1,
                            .transpose = turn_a,
                            .type = of->a};
  desc->b = (tesela_matrix){.data = place(in, turn_b ? n : k, b_row, of),
                            .row_stride = b_row,
                            .col_stride = 1,
                            .transpose = turn_b,
                            .type = of->a};
  desc->c = (tesela_result){
      .data = place_result(in, m, c_row, of), .row_stride = c_row, .col_stride = 1, .type = of->c};
  desc->alpha = scalars[draw(2)];
  desc->beta = betas[draw(2)];
  if (of->c == TESELA_F32 && draw(2) == 0) {
    tesela_epilogue *epilogue = &in->epilogues[desc - in->descs];
    *epilogue = (tesela_epilogue){.bias = {.data = place(in, 1, n, &kinds[0]), .type = TESELA_F32},
                                  .bias_axis = TESELA_BIAS_ROW,
                                  .activation = TESELA_GELU};
    desc->epilogue = epilogue;
  }
}

/* Whatever C holds before: numbers of any type. */
static void reset(void) {
  for (size_t i = 0; i < BYTES; i++)
    results[i] = (unsigned char)(i % 4 == 3 ? 0x3f : i % 61);
}

static void one_by_one(const group *group_in) {
  reset();
  for (int64_t i = 0; i < group_in->count; i++)
    must(tesela_gemm(context, &group_in->descs[i], NULL));
  memcpy(expected, results, BYTES);
  reset();
}

static void check(const group *group_in, const char *what) {
  for (int64_t i = 0; i < group_in->count; i++) {
    const tesela_gemm_desc *desc = &group_in->descs[i];
    const size_t at = (size_t)((unsigned char *)desc->c.data - results),
                 size = desc->c.type == TESELA_F64 ? 8 : 4;
    if (desc->m > 0 && memcmp(results + at, expected + at, (size_t)desc->n * size) != 0)
      fail_msg("%s: the first row of product %d: %d x %d x %d", what, (int)i, (int)desc->m, (int)desc->n,
               (int)desc->k);
  }
  assert_memory_equal(results, expected, BYTES);
}

static void draw_group(group *group_in, uint64_t seed) {
  state_of_numbers = seed;
  *group_in = (group){.count = 0};
  while (group_in->count < MOST - 4) {
    const int64_t most = draw(9) == 0 ? 200 : draw(1) ? 12 : 40;
    add(group_in, draw(most), draw(most), draw(most));
  }
}

static void random_groups(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    static group of;
    tesela_record record;
    draw_group(&of, seed);
    one_by_one(&of);
    must(tesela_gemm_grouped(context, of.descs, NULL, of.count, NULL));
    check(&of, "alone");
    for (int64_t i = 0; i < of.count; i++)
      of.descs[i].options.measure_error = (uint64_t)i % 2;
    reset();
    must(tesela_gemm_grouped(context, of.descs, NULL, of.count, &record));
    check(&of, "measured");
    assert_true(record.seconds > 0 && record.error_bound > 0 && strstr(record.plan, "gemm "));
    assert_true(record.measured_rows > 0 && record.error_measured <= record.error_bound);
  }
}

/* Large products together with small ones: from one, which keeps the others waiting, to more than
 * there are threads. */
static void large_and_small(void **state) {
  (void)state;
  for (int large = 1; large <= 5; large++) {
    static group of;
    state_of_numbers = (uint64_t)large;
    of = (group){.count = 0};
    for (int i = 0; i < 40; i++)
      add(&of, 1 + draw(20), 1 + draw(20), 1 + draw(20));
    for (int i = 0; i < large; i++)
      add(&of, 150 + draw(20), 150 + draw(20), 140);
    one_by_one(&of);
    for (int run = 0; run < (large == 3 ? 10 : 1); run++) {
      reset();
      must(tesela_gemm_grouped(context, of.descs, NULL, of.count, NULL));
      check(&of, "large");
    }
  }
}

/* Groups of products that are alike, by strides and by addresses, as BLAS has them. */
static void groups_of_batches(void **state) {
  enum { GROUPS = 3, EACH = 50, M = 7, N = 5, K = 9 };
  static float a[GROUPS][EACH * M * K], b[GROUPS][EACH * K * N], c[GROUPS][EACH * M * N],
      right[GROUPS][EACH * M * N];
  static const void *each_a[EACH];
  static void *each_c[EACH];
  tesela_gemm_desc descs[GROUPS + 1];
  tesela_batch batches[GROUPS + 1] = {{.count = 0}};
  (void)state;
  for (int g = 0; g < GROUPS; g++) {
    fill((unsigned char *)a[g], EACH * M * K, &kinds[0]);
    fill((unsigned char *)b[g], EACH * K * N, &kinds[0]);
    descs[g] = (tesela_gemm_desc){.m = M - g,
                                  .n = N - g,
                                  .k = K - g,
                                  .a = {.data = a[g]},
                                  .b = {.data = b[g]},
                                  .c = {.data = right[g]},
                                  .alpha = scalars[g]};
    batches[g] = (tesela_batch){
        .count = EACH - g, .a_stride = M * K, .b_stride = g == 1 ? 0 : K * N, .c_stride = M * N};
    must(tesela_gemm_batched(context, &descs[g], &batches[g], NULL));
    descs[g].c.data = c[g];
  }
  for (int i = 0; i < EACH; i++) {
    each_a[i] = a[2] + i * M * K;
    each_c[i] = c[2] + i * M * N;
  }
  descs[2].a.data = descs[2].c.data = NULL;
  batches[2].a = each_a;
  batches[2].c = each_c;
  descs[GROUPS] = (tesela_gemm_desc){.m = 3, .n = 3, .k = 3};
  must(tesela_gemm_grouped(context, descs, batches, GROUPS + 1, NULL));
  assert_memory_equal(c, right, sizeof c);
  each_c[30] = each_c[12];
  memset(c, 0, sizeof c);
  memset(right, 0, sizeof right);
  assert_int_equal(tesela_gemm_grouped(context, descs, batches, GROUPS + 1, NULL), TESELA_BAD_CALL);
  assert_non_null(
      strstr(tesela_last_error(), "C of group 2's product 30 overlaps C of group 2's product 12"));
  each_c[30] = c[2] + 30 * M * N;
  each_a[7] = NULL;
  assert_int_equal(tesela_gemm_grouped(context, descs, batches, GROUPS + 1, NULL), TESELA_BAD_CALL);
  assert_non_null(strstr(tesela_last_error(), "group 2: product 7: a.data is NULL"));
  each_a[7] = a[2];
  batches[1].c_stride = 1;
  assert_int_equal(tesela_gemm_grouped(context, descs, batches, GROUPS + 1, NULL), TESELA_BAD_CALL);
  assert_non_null(strstr(tesela_last_error(), "group 1: batch.c_stride is 1"));
  assert_memory_equal(c, right, sizeof c);
}

static void nothing_to_do(void **state) {
  tesela_record record = {.seconds = 5};
  tesela_gemm_desc descs[3] = {{.m = 0, .n = 4, .k = 4}, {.m = 4, .n = 0, .k = 4}, {.m = 0, .n = 0, .k = 0}};
  (void)state;
  must(tesela_gemm_grouped(context, NULL, NULL, 0, &record));
  assert_true(record.seconds == 0 && strcmp(record.plan, "") == 0);
  must(tesela_gemm_grouped(context, descs, NULL, 3, &record));
  float c[4] = {1, 2, 3, 4};
  descs[2] = (tesela_gemm_desc){.m = 2, .n = 2, .k = 0, .c = {.data = c}, .beta = betas[2]};
  must(tesela_gemm_grouped(context, descs, NULL, 3, &record));
  assert_true(c[0] == 2 && c[3] == 8);
}

/* Each is wrong in its own way, and the group has good products before and behind it. */
static void wrong_members(void **state) {
  static const struct {
    int what;
    const char *says;
  } ways[] = {{0, "product 7: desc.m is -1"}, {1, "product 7: a.data is NULL"},
              {2, "product 7: b.data is "},   {3, "product 7: desc.a.type is 99"},
              {4, "product 7: c overlaps a"}, {5, "C of product 9 overlaps C of product 7"},
              {6, "product 7: desc"},         {7, "product 7: strategy no_such"}};
  static group of;
  (void)state;
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
    state_of_numbers = 5;
    of = (group){.count = 0};
    while (of.count < 12)
      add(&of, 8, 9, 10);
    tesela_gemm_desc *bad = &of.descs[7];
    *bad = (tesela_gemm_desc){.m = 8,
                              .n = 9,
                              .k = 10,
                              .a = {.data = operands},
                              .b = {.data = operands},
                              .c = {.data = results + (2 << 20)}};
    if (ways[w].what == 0)
      bad->m = -1;
    if (ways[w].what == 1)
      bad->a.data = NULL;
    if (ways[w].what == 2)
      bad->b.data = operands + 1;
    if (ways[w].what == 3)
      bad->a.type = (tesela_type)99;
    if (ways[w].what == 4)
      bad->a.data = bad->c.data;
    if (ways[w].what == 5) {
      of.descs[9] = *bad;
      of.descs[9].c.data = (float *)bad->c.data + 8 * 9 - 1;
    }
    if (ways[w].what == 6)
      bad->options.accuracy = "nonsense";
    if (ways[w].what == 7)
      bad->options.strategy = "no_such";
    reset();
    memcpy(expected, results, BYTES);
    const tesela_status status = tesela_gemm_grouped(context, of.descs, NULL, of.count, NULL);
    if (status == TESELA_OK || (ways[w].what < 7 && !strstr(tesela_last_error(), ways[w].says)) ||
        !strstr(tesela_last_error(), "product 7"))
      fail_msg("way %d: %s: %s", ways[w].what, tesela_status_name(status), tesela_last_error());
    assert_memory_equal(results, expected, BYTES);
  }
  assert_int_equal(tesela_gemm_grouped(context, NULL, NULL, 1, NULL), TESELA_BAD_CALL);
  assert_int_equal(tesela_gemm_grouped(NULL, of.descs, NULL, 1, NULL), TESELA_BAD_CALL);
  assert_int_equal(tesela_gemm_grouped(context, of.descs, NULL, -1, NULL), TESELA_BAD_CALL);
}

/* C's elements between each other's rows are no overlap. */
static void interleaved(void **state) {
  enum { SIZE = 6, PRODUCTS = 2 };
  float a[SIZE * SIZE], c[SIZE * SIZE * PRODUCTS], right[SIZE * SIZE * PRODUCTS];
  tesela_gemm_desc descs[PRODUCTS];
  (void)state;
  fill((unsigned char *)a, SIZE * SIZE, &kinds[0]);
  for (int i = 0; i < PRODUCTS; i++) {
    descs[i] =
        (tesela_gemm_desc){.m = SIZE,
                           .n = SIZE,
                           .k = SIZE,
                           .a = {.data = a},
                           .b = {.data = a, .transpose = i},
                           .c = {.data = right + i * SIZE, .row_stride = SIZE * PRODUCTS, .col_stride = 1}};
    must(tesela_gemm(context, &descs[i], NULL));
    descs[i].c.data = c + i * SIZE;
  }
  must(tesela_gemm_grouped(context, descs, NULL, PRODUCTS, NULL));
  assert_memory_equal(c, right, sizeof c);
}

/* Callers with other versions' structs: descriptions and batches lie as far apart as they are large. */
static void other_sizes(void **state) {
  struct newer {
    tesela_gemm_desc desc;
    void *more;
  } descs[3];
  struct newer_batch {
    tesela_batch batch;
    void *more;
  } batches[3];
  float a[3][16], c[3][16], right[3][16];
  (void)state;
  memset(descs, 0, sizeof descs);
  memset(batches, 0, sizeof batches);
  fill((unsigned char *)a, 48, &kinds[0]);
  for (int i = 0; i < 3; i++) {
    descs[i].desc = (tesela_gemm_desc){
        .m = 4, .n = 4, .k = 4, .a = {.data = a[i]}, .b = {.data = a[2 - i]}, .c = {.data = right[i]}};
    batches[i].batch.count = 1;
    must(tesela_gemm(context, &descs[i].desc, NULL));
    descs[i].desc.c.data = c[i];
  }
  must(tesela_gemm_grouped_sized(context, &descs[0].desc, &batches[0].batch, 3, NULL, sizeof descs[0],
                                 sizeof batches[0], 0));
  assert_memory_equal(c, right, sizeof c);
  descs[1].more = c;
  assert_int_equal(tesela_gemm_grouped_sized(context, &descs[0].desc, NULL, 3, NULL, sizeof descs[0], 0, 0),
                   TESELA_UNSUPPORTED);
}

/* --- in buffers --- */

/* Sums of small whole numbers, exact in any order. Eight products have one shape at even distances,
 * and three have other shapes, one of which is a batch. */
enum { ALIKE = 8, OTHERS = 3, ALL = ALIKE + OTHERS };
static const int64_t shapes[ALL][4] = {{17, 13, 40, 1}, {17, 13, 40, 1}, {5, 33, 20, 1},  {17, 13, 40, 1},
                                       {17, 13, 40, 1}, {64, 70, 31, 1}, {17, 13, 40, 1}, {17, 13, 40, 1},
                                       {17, 13, 40, 1}, {9, 8, 0, 1},    {17, 13, 40, 5}};

/* Small products that host_small refuses at these crossovers are computed by one cached plan. */
static void refused_products_have_plans(void **state) {
  enum { COUNT = 8, SIDE = 24 };
  const tsl_crossover_table table = tsl_crossovers;
  tesela_gemm_desc descs[COUNT];
  tesela_context *own;
  (void)state;
  state_of_numbers = 1;
  fill(operands, 2 * SIDE * SIDE, &kinds[0]);
  for (int i = 0; i < COUNT; i++)
    descs[i] = (tesela_gemm_desc){.m = SIDE,
                                  .n = SIDE,
                                  .k = SIDE,
                                  .a = {.data = operands},
                                  .b = {.data = operands + SIDE * SIDE * 4},
                                  .c = {.data = results + i * SIDE * SIDE * 4}};
  must(tesela_context_create(&(tesela_context_desc){.device = "cpu"}, &own));
  reset();
  must(tesela_gemm_grouped(own, descs, NULL, COUNT, NULL));
  assert_int_equal(own->cache.begun, 0);
  memcpy(expected, results, BYTES);
  reset();
  tsl_crossovers.small_volume = tsl_crossovers.tile_side = 0;
  must(tesela_gemm_grouped(own, descs, NULL, COUNT, NULL));
  tsl_crossovers = table;
  assert_int_equal(own->cache.begun, 1);
  assert_memory_equal(results, expected, BYTES);
  tesela_context_destroy(own);
}

static void in_buffers(const char *device) {
  enum { ELEMENTS = 40000 };
  static float a[ELEMENTS], b[ELEMENTS], c[ELEMENTS], right[ELEMENTS];
  tesela_buffer *buffers[3];
  tesela_gemm_desc descs[ALL];
  tesela_batch batches[ALL];
  int64_t at[3] = {3, 0, 1};
  for (int i = 0; i < ELEMENTS; i++) {
    a[i] = (float)(i * 37 % 11 - 5);
    b[i] = (float)(i * 53 % 13 - 6);
    c[i] = right[i] = (float)(i % 31);
  }
  const void *const from[3] = {a, b, c};
  for (int i = 0; i < 3; i++) {
    must(tesela_buffer_create(context, device, sizeof a, &buffers[i]));
    must(tesela_buffer_write(buffers[i], 0, from[i], sizeof a));
  }
  for (int p = 0; p < ALL; p++) {
    const int64_t m = shapes[p][0], n = shapes[p][1], k = shapes[p][2], count = shapes[p][3];
    descs[p] = (tesela_gemm_desc){.m = m,
                                  .n = n,
                                  .k = k,
                                  .a = {.buffer = buffers[0], .offset = at[0]},
                                  .b = {.buffer = buffers[1], .offset = at[1]},
                                  .c = {.buffer = buffers[2], .offset = at[2]},
                                  .beta = betas[2]};
    batches[p] = (tesela_batch){.count = count, .a_stride = m * k, .b_stride = k * n, .c_stride = m * n};
    for (int64_t i = 0; i < count * m * n; i++) {
      const int64_t of = i / (m * n), row = i % (m * n) / n, col = i % n;
      float sum = 0;
      for (int64_t l = 0; l < k; l++)
        sum += a[at[0] + of * m * k + row * k + l] * b[at[1] + of * k * n + l * n + col];
      right[at[2] + i] = sum + 2 * right[at[2] + i];
    }
    at[0] += count * m * k;
    at[1] += count * k * n;
    at[2] += count * m * n + (p == 5 ? 7 : 0);
    assert_true(at[0] < ELEMENTS && at[1] < ELEMENTS && at[2] < ELEMENTS);
  }
  must(tesela_gemm_grouped(context, descs, batches, ALL, NULL));
  must(tesela_buffer_read(buffers[2], 0, c, sizeof c));
  assert_memory_equal(c, right, sizeof c);
  descs[6].c.offset = descs[5].c.offset + 1;
  assert_int_equal(tesela_gemm_grouped(context, descs, batches, ALL, NULL), TESELA_BAD_CALL);
  assert_non_null(strstr(tesela_last_error(), "C of group 6's product 0 overlaps C of group 5's product 0"));
  descs[6].c.offset = ELEMENTS;
  assert_int_equal(tesela_gemm_grouped(context, descs, batches, ALL, NULL), TESELA_BAD_CALL);
  assert_non_null(strstr(tesela_last_error(), "group 6: product 0: c.offset is 40000"));
  must(tesela_buffer_read(buffers[2], 0, c, sizeof c));
  assert_memory_equal(c, right, sizeof c);
  for (int i = 0; i < 3; i++)
    tesela_buffer_destroy(buffers[i]);
}

/* Products of many sizes in bf16. A device may compute in one run the products whose C fits such a
 * run. The others are queued separately: rows at odd addresses, a C that is read, a bias, or no
 * terms. Sums of small whole numbers are exact. Elements between results are unchanged. */
static void many_sizes(const char *device) {
  enum { PRODUCTS = 40, ELEMENTS = 1200000 };
  static uint16_t a[ELEMENTS], b[ELEMENTS];
  static float c[ELEMENTS], right[ELEMENTS], bias[400];
  static tesela_gemm_desc descs[PRODUCTS];
  tesela_buffer *buffers[4];
  int64_t at[3] = {0, 0, 0};
  for (int i = 0; i < ELEMENTS; i++) {
    const float x = (float)(i * 37 % 5 - 2), y = (float)(i * 53 % 7 - 3);
    uint32_t bits[2];
    memcpy(&bits[0], &x, sizeof x);
    memcpy(&bits[1], &y, sizeof y);
    a[i] = (uint16_t)(bits[0] >> 16);
    b[i] = (uint16_t)(bits[1] >> 16);
    c[i] = right[i] = (float)(i % 31);
  }
  for (int i = 0; i < 400; i++)
    bias[i] = (float)(i % 9 - 4);
  const void *const from[4] = {a, b, c, bias};
  const size_t bytes[4] = {sizeof a, sizeof b, sizeof c, sizeof bias};
  for (int i = 0; i < 4; i++) {
    must(tesela_buffer_create(context, device, bytes[i], &buffers[i]));
    must(tesela_buffer_write(buffers[i], 0, from[i], bytes[i]));
  }
  const tesela_epilogue biased = {.bias = {.buffer = buffers[3], .type = TESELA_F32},
                                  .bias_axis = TESELA_BIAS_ROW};
  for (int p = 0; p < PRODUCTS; p++) {
    const int64_t m = p * 11 % 97 + (p % 9 == 0 ? 130 : 1), n = p % 7 == 3 ? 33 : 8 * (p % 13 + 1),
                  k = p % 11 == 5 ? 0 : 8 * (p % 17 + 1);
    const bool has_bias = p % 6 == 5, is_read = p % 8 == 7;
    const double *factor = p % 3 == 0 ? scalars[1] : NULL;
    descs[p] = (tesela_gemm_desc){
        .m = m,
        .n = n,
        .k = k,
        .alpha = factor,
        .beta = is_read ? betas[2] : NULL,
        .a = {.buffer = buffers[0], .offset = at[0], .type = TESELA_BF16},
        .b = {.buffer = buffers[1], .offset = at[1], .transpose = true, .type = TESELA_BF16},
        .c = {.buffer = buffers[2], .offset = at[2], .type = TESELA_F32},
        .epilogue = has_bias ? &biased : NULL};
    for (int64_t i = 0; i < m * n; i++) {
      int sum = 0;
      for (int64_t l = 0; l < k; l++)
        sum += (int)((at[0] + i / n * k + l) * 37 % 5 - 2) * (int)((at[1] + i % n * k + l) * 53 % 7 - 3);
      float *to = &right[at[2] + i];
      *to =
          (factor ? (float)*factor : 1) * (float)sum + (is_read ? 2 * *to : 0) + (has_bias ? bias[i % n] : 0);
    }
    at[0] += m * k + 8;
    at[1] += n * k + 8;
    at[2] += m * n + 15;
    at[0] -= at[0] % 8, at[1] -= at[1] % 8, at[2] -= at[2] % 8;
    assert_true(at[0] < ELEMENTS && at[1] < ELEMENTS && at[2] < ELEMENTS);
  }
  for (int again = 0; again < 2; again++) {
    must(tesela_buffer_write(buffers[2], 0, c, sizeof c));
    must(tesela_gemm_grouped(context, descs, NULL, PRODUCTS, NULL));
    static float found[ELEMENTS];
    must(tesela_buffer_read(buffers[2], 0, found, sizeof found));
    for (int64_t i = 0; i < ELEMENTS; i++)
      if (found[i] != right[i])
        fail_msg("%s: element %d is %g, not %g", device, (int)i, (double)found[i], (double)right[i]);
  }
  for (int i = 0; i < 4; i++)
    tesela_buffer_destroy(buffers[i]);
}

static void in_buffers_of_the_cpu(void **state) {
  (void)state;
  in_buffers("cpu");
  many_sizes("cpu");
}

static void on_a_device(void **state) {
  (void)state;
  if (opencl_is_missing())
    skip();
  in_buffers("opencl:0");
  many_sizes("opencl:0");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_groups),     cmocka_unit_test(large_and_small),
      cmocka_unit_test(groups_of_batches), cmocka_unit_test(nothing_to_do),
      cmocka_unit_test(wrong_members),     cmocka_unit_test(interleaved),
      cmocka_unit_test(other_sizes),       cmocka_unit_test(in_buffers_of_the_cpu),
      cmocka_unit_test(on_a_device),       cmocka_unit_test(refused_products_have_plans)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
