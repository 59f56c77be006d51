/* bits=rows: an element depends on its row of A, its column of B, k, types and scalars only. Random products
 * are computed again with other rows and columns around theirs, also with infinities and NaN. Places,
 * layouts, threads and calls differ, too. Every element must keep its bits. Long sums have equal bits in 1 to
 * 300 rows and by each strategy. Arguments: device, number of products. */
#include "core/types.h"
#include "unit/calls.h"

#include <tesela/tesela.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROWS = 40, COLS = 70, DEPTH = 1400, VARIANTS = 5, EXTRA = 5 };

static const char *device = "cpu";
static int products = 120;
static tesela_context *contexts[THREADS];
static uint64_t dice = 1;

static int64_t draw(int64_t low, int64_t high) {
  dice = dice * 6364136223846793005u + 1442695040888963407u;
  return low + (int64_t)((dice >> 33) % (uint64_t)(high - low + 1));
}
static double draw_number(void) {
  return (double)draw(-1000, 1000) / 64 * (draw(0, 7) == 0 ? 0x1p-6 : 1);
}

/* Numbers of a product, two for each element. */
typedef struct numbers {
  double a[ROWS * DEPTH][2], b[DEPTH * COLS][2], c[ROWS * COLS][2], bias[COLS];
} numbers;
static numbers *drawn;

typedef struct product {
  tesela_type from, to;
  int64_t m, n, k;
  double alpha[2], beta[2];
  int conjugate_a, conjugate_b;
  bool has_bias;
  tesela_activation activation;
} product;

/* A matrix in memory of its own; which[] of rows and columns: numbers of the drawn matrix, -1: others. */
typedef struct placed {
  unsigned char *memory, *first;
  int64_t row, col; /* strides in elements */
} placed;

static const double others[] = {NAN, INFINITY, -INFINITY, 3e4, 0, -0.0, 0x1p-130};
static double draw_other(tesela_type type) {
  return tsl_type(type)->is_integer ? (double)draw(-100, 100) : others[draw(0, 6)];
}

static placed place(tesela_type type, int64_t rows, int64_t cols) {
  const size_t size = tsl_type(type)->size;
  const bool by_rows = draw(0, 1);
  const int64_t line = by_rows ? cols : rows, gap = draw(0, 7), offset = draw(0, 3);
  /* gap 0: lines that share sets of a cache */
  const int64_t pitch = gap == 0 ? (line + 511) / 512 * 512 : line + (gap == 1 ? draw(1, 9) : 0);
  placed matrix = {.row = by_rows ? pitch : 1, .col = by_rows ? 1 : pitch};
  matrix.memory = calloc((size_t)(pitch * (by_rows ? rows : cols) + offset + 1), size);
  assert_non_null(matrix.memory);
  matrix.first = matrix.memory + (size_t)offset * size;
  return matrix;
}

static unsigned char *element(const placed *matrix, tesela_type type, int64_t i, int64_t j) {
  return matrix->first + (i * matrix->row + j * matrix->col) * (int64_t)tsl_type(type)->size;
}

static void put(const placed *matrix, tesela_type type, int64_t i, int64_t j, const double *value) {
  tsl_type_store(type, element(matrix, type, i, j), value);
}

/* The operands of one computation; rows[i], cols[j]: row and column of the drawn numbers, or -1. */
typedef struct variant {
  const product *of;
  int64_t m, n, rows[ROWS + EXTRA], cols[COLS + EXTRA];
  placed a, b, c;
  unsigned char bias[(COLS + EXTRA) * 16];
} variant;

static void fill_variant(variant *part) {
  const product *p = part->of;
  part->a = place(p->from, part->m, p->k);
  part->b = place(p->from, p->k, part->n);
  part->c = place(p->to, part->m, part->n);
  for (int64_t l = 0; l < p->k; l++) {
    for (int64_t i = 0; i < part->m; i++)
      put(&part->a, p->from, i, l,
          part->rows[i] < 0 ? (double[2]){draw_other(p->from), 0} : drawn->a[part->rows[i] * DEPTH + l]);
    for (int64_t j = 0; j < part->n; j++)
      put(&part->b, p->from, l, j,
          part->cols[j] < 0 ? (double[2]){draw_other(p->from), 0} : drawn->b[l * COLS + part->cols[j]]);
  }
  for (int64_t j = 0; j < part->n; j++) {
    for (int64_t i = 0; i < part->m; i++)
      put(&part->c, p->to, i, j,
          part->rows[i] < 0 || part->cols[j] < 0 ? (double[2]){1, 0}
                                                 : drawn->c[part->rows[i] * COLS + part->cols[j]]);
    const double bias[2] = {part->cols[j] < 0 ? 1 : drawn->bias[part->cols[j]], 0};
    tsl_type_store(p->to, part->bias + (size_t)j * tsl_type(p->to)->size, bias);
  }
}

static void free_variant(variant *part) {
  free(part->a.memory);
  free(part->b.memory);
  free(part->c.memory);
}

static tesela_gemm_desc describe(const variant *part, const tesela_epilogue *epilogue) {
  const product *p = part->of;
  return (tesela_gemm_desc){
      .m = part->m,
      .n = part->n,
      .k = p->k,
      .a = {.data = part->a.first,
            .type = p->from,
            .row_stride = part->a.row,
            .col_stride = part->a.col,
            .conjugate = p->conjugate_a},
      .b = {.data = part->b.first,
            .type = p->from,
            .row_stride = part->b.row,
            .col_stride = part->b.col,
            .conjugate = p->conjugate_b},
      .c = {.data = part->c.first, .type = p->to, .row_stride = part->c.row, .col_stride = part->c.col},
      .alpha = p->alpha,
      .beta = p->beta,
      .epilogue = p->has_bias || p->activation ? epilogue : NULL,
      .options = {.device = device, .reproducibility = "rows"}};
}

static tesela_epilogue get_epilogue(const variant *part) {
  return (tesela_epilogue){.bias = {.data = part->of->has_bias ? part->bias : NULL},
                           .bias_axis = part->of->has_bias ? TESELA_BIAS_ROW : TESELA_NO_BIAS,
                           .activation = part->of->activation};
}

/* --- calls; each writes its plan to `text` --- */

enum { TEXT = 256 };
static void keep_text(const tesela_record *record, char *text) {
  snprintf(text, TEXT, "%s", record->plan);
}

static void call_once(tesela_context *context, const tesela_gemm_desc *desc, char *text) {
  tesela_record record;
  must(tesela_gemm(context, desc, &record));
  keep_text(&record, text);
}

static void call_plan(tesela_context *context, const tesela_gemm_desc *desc, char *text) {
  tesela_plan *plan = NULL;
  tesela_record record;
  tesela_epilogue epilogue =
      desc->epilogue ? *desc->epilogue : (tesela_epilogue){.bias_axis = TESELA_NO_BIAS};
  must(tesela_plan_create(context, desc, &plan));
  must(tesela_plan_run(
      plan,
      &(tesela_operands){
          .a = &desc->a, .b = &desc->b, .c = &desc->c, .epilogue = desc->epilogue ? &epilogue : NULL},
      &record));
  keep_text(&record, text);
  tesela_plan_destroy(plan);
}

/* Queues the product between two others of a batch. */
static void call_batch(tesela_context *context, const tesela_gemm_desc *desc, char *text) {
  enum { COUNT = 3 };
  const size_t a_bytes = (size_t)(desc->m * desc->a.row_stride + desc->k * desc->a.col_stride) * 16,
               c_bytes = (size_t)(desc->m * desc->c.row_stride + desc->n * desc->c.col_stride) * 16;
  void *other_a = calloc(1, a_bytes), *other_c[2] = {calloc(1, c_bytes), calloc(1, c_bytes)};
  const int64_t own = draw(0, COUNT - 1);
  tesela_record record;
  const void *a[COUNT], *b[COUNT];
  void *c[COUNT];
  for (int i = 0, other = 0; i < COUNT; i++) {
    a[i] = i == own ? desc->a.data : other_a;
    b[i] = desc->b.data;
    c[i] = i == own ? desc->c.data : other_c[other++];
  }
  tesela_gemm_desc each = *desc;
  each.a.data = each.b.data = NULL;
  each.c.data = NULL;
  must(tesela_gemm_batched(context, &each, &(tesela_batch){.count = COUNT, .a = a, .b = b, .c = c}, &record));
  keep_text(&record, text);
  free(other_a);
  free(other_c[0]);
  free(other_c[1]);
}

static void call_group(tesela_context *context, const tesela_gemm_desc *desc, char *text) {
  static float x[16 * 300], y[300 * 16], z[16 * 16];
  const tesela_gemm_desc small = {.m = 16,
                                  .n = 16,
                                  .k = draw(1, 300),
                                  .a = {.data = x},
                                  .b = {.data = y},
                                  .c = {.data = z},
                                  .options = desc->options};
  tesela_gemm_desc both[2] = {*desc, small};
  if (draw(0, 1))
    both[0] = small, both[1] = *desc;
  tesela_record record;
  must(tesela_gemm_grouped(context, both, NULL, 2, &record));
  keep_text(&record, text);
}

/* Queues a run on a stream, with operands in buffers where the device has kernels. */
static void call_queue(tesela_context *context, const tesela_gemm_desc *desc, char *text) {
  tesela_plan *plan = NULL;
  tesela_stream *stream = NULL;
  if (strcmp(device, "cpu") != 0 || desc->epilogue) {
    call_plan(context, desc, text);
    return;
  }
  must(tesela_plan_create(context, desc, &plan));
  must(tesela_stream_create(context, device, &stream));
  must(tesela_plan_enqueue(plan, stream, &(tesela_operands){.a = &desc->a, .b = &desc->b, .c = &desc->c},
                           NULL));
  must(tesela_stream_wait(stream));
  snprintf(text, TEXT, "%s", tesela_plan_describe(plan));
  tesela_stream_destroy(stream);
  tesela_plan_destroy(plan);
}

static void (*const calls[])(tesela_context *, const tesela_gemm_desc *,
                             char *) = {call_once, call_plan, call_batch, call_group, call_queue};
static const char *const call_names[] = {"tesela_gemm", "a plan", "a batch", "a group", "a queue"};
enum { CALLS = sizeof calls / sizeof *calls };

/* --- comparison --- */

static bool is_nan(tesela_type type, const unsigned char *element_bytes) {
  double value[2] = {0, 0};
  tsl_type_load(type, element_bytes, value);
  return isnan(value[0]) || isnan(value[1]);
}

static void compare(const variant *whole, const variant *part, const char *call, const char *first,
                    const char *plan) {
  const product *p = whole->of;
  for (int64_t i = 0; i < part->m; i++)
    for (int64_t j = 0; j < part->n; j++) {
      if (part->rows[i] < 0 || part->cols[j] < 0)
        continue;
      const unsigned char *at = element(&part->c, p->to, i, j),
                          *expected = element(&whole->c, p->to, part->rows[i], part->cols[j]);
      if (memcmp(at, expected, tsl_type(p->to)->size) != 0 &&
          !(is_nan(p->to, at) && is_nan(p->to, expected))) {
        double got[2], wanted[2];
        tsl_type_load(p->to, at, got);
        tsl_type_load(p->to, expected, wanted);
        fail_msg("%s x %lld x %lld x %lld: row %lld, column %lld is %.17g by %s (row %lld, column %lld), and "
                 "%.17g by %s; %s",
                 tsl_type(p->from)->name, (long long)part->m, (long long)part->n, (long long)p->k,
                 (long long)part->rows[i], (long long)part->cols[j], got[0], plan, (long long)i, (long long)j,
                 wanted[0], first, call);
      }
    }
}

static product draw_product(void) {
  static const tesela_type types[][2] = {
      {TESELA_F32, TESELA_F32},   {TESELA_F64, TESELA_F64},  {TESELA_C64, TESELA_C64},
      {TESELA_C128, TESELA_C128}, {TESELA_F32, TESELA_F32},  {TESELA_BF16, TESELA_BF16},
      {TESELA_BF16, TESELA_F32},  {TESELA_F16, TESELA_F16},  {TESELA_F16, TESELA_F32},
      {TESELA_E4M3, TESELA_BF16}, {TESELA_E5M2, TESELA_F32}, {TESELA_I8, TESELA_I32},
      {TESELA_U8, TESELA_I32}};
  static const int64_t depths[][2] = {{1, 8}, {9, 60}, {200, 600}, {513, 1400}, {256, 257}};
  static const double scalars[] = {1, 1, 1, -1, 2, 0.5, -0.75}, betas[] = {0, 0, 1, -1, 0.5};
  const int64_t *depth = depths[draw(0, 4)];
  int t;
  do /* 8-bit floating point on other devices needs tensor cores */
    t = (int)draw(0, (int64_t)(sizeof types / sizeof *types) - 1);
  while (strcmp(device, "cpu") != 0 && tsl_type(types[t][0])->size == 1 &&
         !tsl_type(types[t][0])->is_integer);
  product p = {.from = types[t][0],
               .to = types[t][1],
               .m = draw(1, ROWS),
               .n = draw(1, COLS),
               .k = draw(depth[0], depth[1])};
  const bool is_integer = tsl_type(p.to)->is_integer, is_complex = tsl_type(p.to)->is_complex;
  p.alpha[0] = is_integer ? 1 : scalars[draw(0, 6)];
  p.beta[0] = is_integer ? 0 : betas[draw(0, 4)];
  p.alpha[1] = is_complex && draw(0, 3) == 0 ? 0.25 : 0;
  p.conjugate_a = is_complex && draw(0, 2) == 0;
  p.conjugate_b = is_complex && draw(0, 2) == 0;
  p.has_bias = !is_integer && draw(0, 3) == 0;
  p.activation = !is_integer && !is_complex && draw(0, 3) == 0 ? TESELA_GELU : TESELA_NO_ACTIVATION;
  return p;
}

static void draw_numbers(const product *p) {
  const bool is_integer = tsl_type(p->from)->is_integer;
  for (int64_t i = 0; i < ROWS; i++)
    for (int64_t l = 0; l < p->k; l++)
      for (int part = 0; part < 2; part++)
        drawn->a[i * DEPTH + l][part] = is_integer ? (double)draw(0, 100) : draw_number();
  for (int64_t l = 0; l < p->k; l++)
    for (int64_t j = 0; j < COLS; j++)
      for (int part = 0; part < 2; part++)
        drawn->b[l * COLS + j][part] = is_integer ? (double)draw(0, 100) : draw_number();
  for (int64_t i = 0; i < ROWS * COLS; i++)
    for (int part = 0; part < 2; part++)
      drawn->c[i][part] = is_integer ? 1 : draw_number();
  for (int64_t j = 0; j < COLS; j++)
    drawn->bias[j] = draw_number();
  if (!is_integer && draw(0, 3) == 0) /* rows of zeros, whose sums have a sign */
    for (int64_t l = 0; l < p->k; l++)
      drawn->a[l][0] = drawn->a[l][1] = -0.0;
}

static void check_product(void) {
  const product p = draw_product();
  variant whole = {.of = &p, .m = p.m, .n = p.n};
  char first[TEXT], text[TEXT];
  draw_numbers(&p);
  for (int64_t i = 0; i < p.m; i++)
    whole.rows[i] = i;
  for (int64_t j = 0; j < p.n; j++)
    whole.cols[j] = j;
  fill_variant(&whole);
  const tesela_epilogue whole_epilogue = get_epilogue(&whole);
  const tesela_gemm_desc desc = describe(&whole, &whole_epilogue);
  call_once(contexts[0], &desc, first);
  for (int v = 0; v < VARIANTS; v++) {
    variant made = {.of = &p, .m = draw(0, 2) ? draw(1, p.m) : 1, .n = draw(0, 2) ? draw(1, p.n) : 1};
    for (int64_t i = 0; i < made.m; i++)
      made.rows[i] = draw(0, p.m - 1);
    for (int64_t j = 0; j < made.n; j++)
      made.cols[j] = draw(0, p.n - 1);
    for (int64_t extra = draw(0, EXTRA); extra > 0 && !tsl_type(p.from)->is_integer; extra--)
      made.rows[made.m++] = -1;
    for (int64_t extra = draw(0, EXTRA); extra > 0 && !tsl_type(p.from)->is_integer; extra--)
      made.cols[made.n++] = -1;
    if (draw(0, 1) && made.m > 1) { /* a row of others first */
      const int64_t last = made.rows[made.m - 1];
      made.rows[made.m - 1] = made.rows[0];
      made.rows[0] = last;
    }
    fill_variant(&made);
    const tesela_epilogue epilogue = get_epilogue(&made);
    const tesela_gemm_desc part = describe(&made, &epilogue);
    const int call = (int)draw(0, CALLS - 1);
    calls[call](contexts[draw(0, THREADS - 1)], &part, text);
    compare(&whole, &made, call_names[call], first, text);
    free_variant(&made);
  }
  free_variant(&whole);
}

static void rows_keep_their_bits(void **state) {
  (void)state;
  for (int i = 0; i < products; i++)
    check_product();
}

/* Sums of 0 have a sign, which the layout of C must not change where one factor is conjugated. */
static void zeros_of_conjugates(void **state) {
  enum { SIZE = 3 };
  static const double ones[2 * SIZE * SIZE] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, zeros[2 * SIZE * SIZE];
  (void)state;
  for (int conjugates = 0; conjugates < 4; conjugates++) {
    double c[2][2 * SIZE * SIZE];
    for (int by_columns = 0; by_columns < 2; by_columns++) {
      const tesela_gemm_desc desc = {
          .m = SIZE,
          .n = SIZE,
          .k = SIZE,
          .a = {.data = zeros, .type = TESELA_C128, .conjugate = conjugates & 1},
          .b = {.data = ones, .type = TESELA_C128, .conjugate = conjugates >> 1},
          .c = {.data = c[by_columns], .type = TESELA_C128, .transpose = by_columns},
          .options = {.device = "cpu", .reproducibility = "rows"}};
      must(tesela_gemm(contexts[0], &desc, NULL));
    }
    assert_memory_equal(c[0], c[1], sizeof c[0]);
  }
}

/* Columns of products with a symmetric or triangular factor, and of solves. */
static void structured(void **state) {
  enum { SIZE = 600, MANY = 50 };
  static double a[SIZE * SIZE], b[SIZE * MANY], all[SIZE * MANY], part[SIZE * MANY];
  static const tesela_structure structures[] = {TESELA_SYMMETRIC, TESELA_TRIANGULAR, TESELA_TRIANGULAR};
  (void)state;
  for (int i = 0; i < SIZE * SIZE; i++)
    a[i] = draw_number() + (i % (SIZE + 1) == 0 ? 1000 : 0);
  for (int i = 0; i < SIZE * MANY; i++)
    b[i] = draw_number();
  for (int s = 0; s < 3; s++)
    for (int64_t n = MANY; n > 0; n = n > 17 ? n - 16 : n / 2) {
      double *const out = n == MANY ? all : part;
      const tesela_matrix lower = {.data = a, .type = TESELA_F64};
      memcpy(out, b, sizeof part);
      if (s < 2) {
        tesela_gemm_desc desc = {
            .m = SIZE,
            .n = n,
            .k = SIZE,
            .a = lower,
            .c = {.data = out, .type = TESELA_F64, .row_stride = MANY},
            .structure = {.a = structures[s], .a_triangle = TESELA_LOWER, .in_place = s == 1},
            .options = {.device = "cpu", .reproducibility = "rows"}};
        if (s == 0)
          desc.b = (tesela_matrix){.data = b, .type = TESELA_F64, .row_stride = MANY};
        must(tesela_gemm(contexts[draw(0, THREADS - 1)], &desc, NULL));
      } else {
        const tesela_solve_desc desc = {.rows = SIZE,
                                        .cols = n,
                                        .a = lower,
                                        .triangle = TESELA_LOWER,
                                        .in_place = 1,
                                        .x = {.data = out, .type = TESELA_F64, .row_stride = MANY},
                                        .options = {.device = "cpu", .reproducibility = "rows"}};
        must(tesela_solve(contexts[draw(0, THREADS - 1)], &desc, NULL));
      }
      for (int64_t i = 0; i < SIZE && n < MANY; i++)
        if (memcmp(part + i * MANY, all + i * MANY, (size_t)n * sizeof *part) != 0)
          fail_msg("case %d: row %lld of %lld columns has other bits", s, (long long)i, (long long)n);
    }
}

enum { DEEP_ROWS = 300, DEEP_COLS = 33, DEEP = 2304 };

/* Computes the first `rows` rows of a product with long sums by a strategy, or by the planner's choice
 * (NULL). */
static void multiply_deep(tesela_type type, int64_t rows, const char *strategy, const void *a, const void *b,
                          void *c) {
  const tesela_gemm_desc desc = {
      .m = rows,
      .n = DEEP_COLS,
      .k = DEEP,
      .a = {.data = (void *)(uintptr_t)a, .type = type},
      .b = {.data = (void *)(uintptr_t)b, .type = type},
      .c = {.data = c, .type = type},
      .options = {.device = device, .strategy = strategy, .reproducibility = "rows"}};
  must(tesela_gemm(contexts[rows % THREADS], &desc, NULL));
}

/* k is cut into parts on devices with kernels, and into panels on the cpu. */
static void long_sums(void **state) {
  static const tesela_type types[] = {TESELA_F32, TESELA_F64};
  static const int64_t rows[] = {1, 2, 17, 64, 131};
  static const char *const of_cpu[] = {"host_packed", NULL};
  static const char *const of_opencl[] = {
      "register_tile form=local tile_m=32 tile_n=32 micro_m=4 micro_n=4 split=1",
      "register_tile form=local tile_m=32 tile_n=32 micro_m=4 micro_n=4 split=8",
      "thin_tile slices=1 items_n=32 split=8", NULL};
  const bool on_cpu = strcmp(device, "cpu") == 0;
  const char *const *strategies = on_cpu ? of_cpu : of_opencl;
  static double a[DEEP_ROWS * DEEP], b[DEEP * DEEP_COLS], all[DEEP_ROWS * DEEP_COLS],
      part[DEEP_ROWS * DEEP_COLS];
  (void)state;
  for (int t = 0; t < 2; t++) {
    const size_t size = tsl_type(types[t])->size;
    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
      tsl_type_store(types[t], (unsigned char *)a + i * size, (double[2]){draw_number(), 0});
    for (size_t i = 0; i < sizeof b / sizeof *b; i++)
      tsl_type_store(types[t], (unsigned char *)b + i * size, (double[2]){draw_number() / 3, 0});
    multiply_deep(types[t], DEEP_ROWS, NULL, a, b, all);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
      multiply_deep(types[t], rows[r], NULL, a, b, part);
      if (memcmp(part, all, (size_t)rows[r] * DEEP_COLS * size) != 0)
        fail_msg("%s: %d rows have other bits than %d", tsl_type(types[t])->name, (int)rows[r], DEEP_ROWS);
    }
    for (int i = 0; strategies[i] && (on_cpu || types[t] == TESELA_F32); i++) {
      multiply_deep(types[t], DEEP_ROWS, strategies[i], a, b, part);
      if (memcmp(part, all, (size_t)DEEP_ROWS * DEEP_COLS * size) != 0)
        fail_msg("%s: %s has other bits", tsl_type(types[t])->name, strategies[i]);
    }
  }
}

int main(int argc, char **argv) {
  device = argc > 1 ? argv[1] : device;
  products = argc > 2 ? atoi(argv[2]) : products;
  drawn = calloc(1, sizeof *drawn);
  for (int i = 0; i < THREADS; i++)
    if (tesela_context_create(&(tesela_context_desc){.threads = i + 1}, &contexts[i]) != TESELA_OK)
      return 1;
  const struct CMUnitTest tests[] = {cmocka_unit_test(rows_keep_their_bits),
                                     cmocka_unit_test(zeros_of_conjugates), cmocka_unit_test(structured),
                                     cmocka_unit_test(long_sums)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  for (int i = 0; i < THREADS; i++)
    tesela_context_destroy(contexts[i]);
  free(drawn);
  return failed;
}
