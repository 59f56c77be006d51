/* Structures and triangles in the packed product on the host, compared with plain sums. Elements
 * that are not stored are NaN and must not be read; elements that are not computed are unchanged.
 * Every schedule, with one thread and several, gives the same bits. */
#include "unit/unit.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/isa.h"
#include "matrices.h"
#include "strategy/gemm/host/host_packed/blocking.h"
#include "strategy/host_jobs/host_job.h"

static const tesela_type types[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};
static const int64_t sizes[] = {1, 2, 5, 7, 12, 13, 16, 31, 33, 64, 70, 97, 131};
enum { TYPES = sizeof types / sizeof *types, SIZES = sizeof sizes / sizeof *sizes };

/* --- one product --- */

static uint64_t drawn;

static int64_t draw(int64_t count) {
  drawn = drawn * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)(drawn >> 33) % count;
}

typedef struct product {
  tsl_problem problem;
  tsl_operands operands;
  void *memory[TSL_OPERANDS];
  size_t bytes[TSL_OPERANDS];
} product;

static tsl_operand *operand_of(tsl_operands *operands, int operand) {
  return operand == TSL_OPERAND_A ? &operands->a : operand == TSL_OPERAND_B ? &operands->b : &operands->c;
}

static unsigned char *address_of(const tsl_shape *shape, void *origin, int64_t row, int64_t column) {
  return (unsigned char *)origin +
         (row * shape->row_stride + column * shape->col_stride) * (int64_t)tsl_type(shape->type)->size;
}

static double complex load(const tsl_shape *shape, void *origin, int64_t row, int64_t column) {
  double value[2] = {0, 0};
  tsl_type_load(shape->type, address_of(shape, origin, row, column), value);
  return CMPLX(value[0], tsl_type(shape->type)->is_complex ? value[1] : 0);
}

static bool is_stored(const tsl_shape *shape, int64_t row, int64_t column) {
  return shape->triangle == TESELA_WHOLE || (shape->triangle == TESELA_LOWER ? row >= column : row <= column);
}

/* Returns a factor's element by the definition of its structure. */
static double complex element(const tsl_shape *shape, bool conjugates, void *origin, int64_t row,
                              int64_t column) {
  const bool is_triangular = tsl_is_triangular(shape->structure), is_here = is_stored(shape, row, column);
  double complex value = 0;
  if (row == column && shape->structure == TESELA_UNIT_TRIANGULAR)
    value = 1;
  else if (is_here)
    value = load(shape, origin, row, column);
  else if (!is_triangular)
    value = load(shape, origin, column, row);
  if (shape->structure == TESELA_HERMITIAN)
    value = row == column ? creal(value) : is_here ? value : conj(value);
  return conjugates ? conj(value) : value;
}

static int64_t stride_of(void) {
  return 1 + draw(4) / 3;
}

/* Rows or columns side by side, or neither, with gaps; up or down. */
static void lay_out(tsl_shape *shape) {
  const bool by_rows = draw(2), up = draw(6) == 0, left = draw(6) == 0;
  const int64_t step = stride_of(), far = (by_rows ? shape->cols : shape->rows) * step + draw(3);
  shape->row_stride = (by_rows ? far : step) * (up ? -1 : 1);
  shape->col_stride = (by_rows ? step : far) * (left ? -1 : 1);
}

/* NaN wherever nothing is stored. */
static void fill(const tsl_shape *shape, void *origin) {
  for (int64_t i = 0; i < shape->rows; i++)
    for (int64_t j = 0; j < shape->cols; j++) {
      double value[2] = {(double)draw(2001) / 1000 - 1, (double)draw(2001) / 1000 - 1};
      if (!is_stored(shape, i, j) || (i == j && shape->structure == TESELA_UNIT_TRIANGULAR))
        value[0] = value[1] = NAN;
      if (i == j && tsl_is_hermitian(shape->structure))
        value[1] = NAN;
      tsl_type_store(shape->type, address_of(shape, origin, i, j), value);
    }
}

static void make(const tsl_problem *problem, product *out) {
  out->problem = *problem;
  assert_int_equal(tsl_problem_check(problem), TESELA_OK);
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tsl_shape *shape = tsl_problem_shape(problem, i);
    tsl_operand *operand = operand_of(&out->operands, i);
    *operand = (tsl_operand){.row_stride = shape->row_stride, .col_stride = shape->col_stride};
    out->memory[i] = test_matrix(shape, &operand->host);
    out->bytes[i] = ((size_t)tsl_shape_extent(shape) + 1) * tsl_type(shape->type)->size;
    memset(out->memory[i], 0xff, out->bytes[i]);
    fill(shape, operand->host);
  }
}

static void release(product *product_in) {
  for (int i = 0; i < TSL_OPERANDS; i++)
    free(product_in->memory[i]);
}

/* --- expected results --- */

/* |z| of numbers near 1: hypot() takes longer than the rest of a term. */
static double magnitude_of(double complex z) {
  return sqrt(creal(z) * creal(z) + cimag(z) * cimag(z));
}

static void expect_element(const product *product_in, void *before, int64_t i, int64_t j) {
  const tsl_problem *problem = &product_in->problem;
  const tsl_shape *c = &problem->c;
  const int general = tsl_problem_structured(problem) == TSL_OPERAND_A ? TSL_OPERAND_B : TSL_OPERAND_A;
  void *a = problem->in_place && general == TSL_OPERAND_A ? before : product_in->operands.a.host,
       *b = problem->in_place && general == TSL_OPERAND_B ? before : product_in->operands.b.host;
  const double complex alpha = CMPLX(problem->alpha[0], problem->alpha[1]),
                       beta = CMPLX(problem->beta[0], problem->beta[1]);
  double complex sum = 0;
  double magnitude = 0;
  for (int64_t l = 0; l < problem->k && alpha != 0; l++) {
    const double complex x = element(&problem->a, problem->conjugate_a, a, i, l),
                         y = element(&problem->b, problem->conjugate_b, b, l, j);
    if (x == 0 || y == 0)
      continue;
    sum += x * y;
    magnitude += magnitude_of(x) * magnitude_of(y);
  }
  for (int64_t l = 0; l < problem->k && alpha != 0 && tsl_is_sum(c->structure); l++) {
    const double complex z = element(&problem->a, problem->conjugate_a, a, j, l) *
                             element(&problem->b, problem->conjugate_b, b, l, i);
    sum += c->structure == TESELA_HERMITIAN_SUM ? conj(z) : z;
    magnitude += magnitude_of(z);
  }
  double complex expected = alpha == 0 ? 0 : alpha * sum;
  magnitude *= cabs(alpha);
  if (beta != 0) {
    double complex old = load(c, before, i, j);
    if (tsl_is_hermitian(c->structure) && i == j)
      old = creal(old);
    expected += beta * old;
    magnitude += cabs(beta) * cabs(old);
  }
  const double complex got = load(c, product_in->operands.c.host, i, j);
  if (tsl_is_hermitian(c->structure) && i == j) {
    expected = creal(expected);
    assert_true(cimag(got) == 0);
  }
  const double unit = tsl_type(c->type)->component == TESELA_F64 ? DBL_EPSILON : FLT_EPSILON;
  if (!(cabs(got - expected) <= (double)(tsl_problem_terms(problem) + 16) * unit * magnitude))
    fail_msg("element %d %d of %d x %d x %d: %g + %gi where %g + %gi is right", (int)i, (int)j,
             (int)problem->m, (int)problem->n, (int)problem->k, creal(got), cimag(got), creal(expected),
             cimag(expected));
}

static void expect_right(const product *product_in, void *before_memory) {
  const tsl_shape *c = &product_in->problem.c;
  const size_t size = tsl_type(c->type)->size;
  unsigned char *copy = malloc(product_in->bytes[TSL_OPERAND_C]),
                *before =
                    (unsigned char *)before_memory + ((unsigned char *)product_in->operands.c.host -
                                                      (unsigned char *)product_in->memory[TSL_OPERAND_C]);
  assert_non_null(copy);
  memcpy(copy, product_in->memory[TSL_OPERAND_C], product_in->bytes[TSL_OPERAND_C]);
  for (int64_t i = 0; i < c->rows; i++)
    for (int64_t j = 0; j < c->cols; j++)
      if (is_stored(c, i, j)) {
        expect_element(product_in, before, i, j);
        unsigned char *at = address_of(c, product_in->operands.c.host, i, j);
        memcpy(copy + (at - (unsigned char *)product_in->memory[TSL_OPERAND_C]),
               before + (at - (unsigned char *)product_in->operands.c.host), size);
      }
  assert_memory_equal(copy, before_memory, product_in->bytes[TSL_OPERAND_C]); /* all the rest */
  free(copy);
}

/* --- every schedule --- */

/* Threads on any machine: four and more run strips of C. */
static tsl_pool *pool_of_five(void) {
  static tsl_pool *pool;
  if (!pool)
    assert_int_equal(tsl_pool_create(5, &pool), TESELA_OK);
  return pool;
}

/* Runs with so many threads; 0: all. */
static void run_as(const product *product_in, const tsl_packed_job *job, const void *before, int threads) {
  memcpy(product_in->memory[TSL_OPERAND_C], before, product_in->bytes[TSL_OPERAND_C]);
  assert_int_equal(tsl_packed_run(job, tsl_pool_team(pool_of_five(), threads)), TESELA_OK);
}

static void try_schedules(const tsl_problem *problem, const tsl_device *device, int64_t depth) {
  product made = {.operands = {.a = {.host = NULL}}};
  make(problem, &made);
  const size_t bytes = made.bytes[TSL_OPERAND_C];
  void *before = malloc(bytes), *expected = malloc(bytes);
  assert_true(before && expected);
  memcpy(before, made.memory[TSL_OPERAND_C], bytes);
  tsl_packed_job job = tsl_packed_job_for(problem, &made.operands, depth, 8 << 10, device);
  tsl_packed_job_bind(&job, &made.operands);
  run_as(&made, &job, before, 1); /* the job's own choice */
  expect_right(&made, before);
  memcpy(expected, made.memory[TSL_OPERAND_C], bytes);
  run_as(&made, &job, before, 0);
  assert_memory_equal(made.memory[TSL_OPERAND_C], expected, bytes);
  /* Where beta scales C, the division into micro-panels changes bits: a triangle's first step may
   * lie in a later panel than its micro-panel's. Compilers also differ in how they round complex
   * numbers that are stored one by one. */
  const bool is_scaled = problem->beta[1] != 0 || (problem->beta[0] != 0 && problem->beta[0] != 1);
  for (int way = 0; way < 3; way++) {
    job.copies_a |= way == 0;
    job.copies_b |= way == 0;
    tsl_packed_set_schedule(&job, way == 0   ? TSL_PACKED_PANELS
                                  : way == 1 ? TSL_PACKED_ROWS
                                             : TSL_PACKED_COLUMNS);
    run_as(&made, &job, before, 1);
    if (way == 0 || is_scaled) {
      expect_right(&made, before);
      memcpy(expected, made.memory[TSL_OPERAND_C], bytes);
    }
    assert_memory_equal(made.memory[TSL_OPERAND_C], expected, bytes);
    run_as(&made, &job, before, 0);
    assert_memory_equal(made.memory[TSL_OPERAND_C], expected, bytes);
    run_as(&made, &job, before, 2);
    assert_memory_equal(made.memory[TSL_OPERAND_C], expected, bytes);
  }
  free(before);
  free(expected);
  release(&made);
}

/* --- updates of rank 2k --- */

static int ways_of_sums[TSL_PACKED_TWICE + 1];

/* Compares several threads with one thread, with the choice of algorithm for a second-level cache
 * of this size. */
static void try_sum(const tsl_problem *problem, const tsl_device *real, int64_t depth, uint64_t level_2) {
  product made = {.operands = {.a = {.host = NULL}}};
  tsl_device device = *real;
  device.level_bytes[1] = level_2;
  make(problem, &made);
  const size_t bytes = made.bytes[TSL_OPERAND_C];
  void *before = malloc(bytes), *expected = malloc(bytes);
  assert_true(before && expected);
  memcpy(before, made.memory[TSL_OPERAND_C], bytes);
  tsl_packed_product run = tsl_packed_product_for(problem, &made.operands, depth, 8 << 10, &device);
  ways_of_sums[run.sum]++;
  for (int threads = 0; threads < 3; threads += 2) {
    memcpy(made.memory[TSL_OPERAND_C], before, bytes);
    run.first.is_alone = false;
    made.operands.team = tsl_pool_team(pool_of_five(), threads);
    assert_int_equal(tsl_packed_run_product(&run, &made.operands), TESELA_OK);
    if (threads == 0) {
      expect_right(&made, before);
      memcpy(expected, made.memory[TSL_OPERAND_C], bytes);
    }
    assert_memory_equal(made.memory[TSL_OPERAND_C], expected, bytes);
  }
  free(before);
  free(expected);
  release(&made);
}

/* --- what there is in BLAS --- */

typedef enum call {
  RANK_K,
  HERMITIAN_RANK_K,
  TWO,
  SUM,
  HERMITIAN_SUM,
  SYMMETRIC,
  HERMITIAN,
  TRIANGULAR,
  IN_PLACE,
  KINDS
} call;

static tesela_triangle any_triangle(void) {
  return draw(2) ? TESELA_LOWER : TESELA_UPPER;
}

static double any_scalar(void) {
  static const double values[] = {1, 0, -0.5, 1.5};
  return values[draw(4)];
}

static tsl_problem product_of(call kind, tesela_type type, int64_t square, int64_t other) {
  const bool is_rank = kind <= HERMITIAN_SUM, is_left = draw(2), is_complex = tsl_type(type)->is_complex;
  tsl_problem problem = is_rank   ? tsl_problem_gemm(square, square, other, type)
                        : is_left ? tsl_problem_gemm(square, other, square, type)
                                  : tsl_problem_gemm(other, square, square, type);
  tsl_shape *factor = is_left ? &problem.a : &problem.b, *general = is_left ? &problem.b : &problem.a;
  problem.alpha[0] = draw(8) ? 1.5 : 0;
  problem.beta[0] = any_scalar();
  if (is_complex && kind != HERMITIAN_RANK_K && kind != HERMITIAN_SUM) {
    problem.alpha[1] = problem.alpha[0] == 0 ? 0 : any_scalar();
    problem.beta[1] = problem.beta[0] == 0 ? 0 : any_scalar();
  }
  lay_out(&problem.a);
  lay_out(&problem.b);
  lay_out(&problem.c);
  problem.conjugate_a = is_complex && draw(2);
  problem.conjugate_b = is_complex && draw(2);
  if (is_rank) {
    problem.c.triangle = any_triangle();
    problem.c.structure = kind == HERMITIAN_RANK_K ? TESELA_HERMITIAN
                          : kind == SUM            ? TESELA_SYMMETRIC_SUM
                          : kind == HERMITIAN_SUM  ? TESELA_HERMITIAN_SUM
                                                   : TESELA_GENERAL;
    return problem;
  }
  factor->triangle = any_triangle();
  factor->structure = kind == SYMMETRIC   ? TESELA_SYMMETRIC
                      : kind == HERMITIAN ? TESELA_HERMITIAN
                      : draw(2)           ? TESELA_TRIANGULAR
                                          : TESELA_UNIT_TRIANGULAR;
  if (kind == IN_PLACE) {
    problem.in_place = true;
    problem.beta[0] = problem.beta[1] = 0;
    general->row_stride = problem.c.row_stride;
    general->col_stride = problem.c.col_stride;
  }
  return problem;
}

static void try_isa(const char *isa) {
  tsl_devices *devices;
  tsl_device *real;
  setenv("TESELA_ISA", isa, 1);
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "cpu", &real), TESELA_OK);
  tsl_device device = *real;
  device.level_bytes[2] = 1 << 16; /* several panels of A and several rectangles of C */
  for (int i = 0; i < 5 * KINDS * TYPES; i++) {
    const call which = (call)(i % KINDS);
    const tesela_type type = types[i / KINDS % TYPES];
    if (!tsl_type(type)->is_complex && (which == HERMITIAN_RANK_K || which == HERMITIAN_SUM))
      continue;
    /* In place, of a triangle so large that C has several rectangles whatever the registers: threads copy it
     * first. */
    const bool is_large = which == IN_PLACE && i < KINDS * TYPES;
    const tsl_problem problem = product_of(which, type, is_large ? 470 : sizes[draw(SIZES)],
                                           is_large   ? 15 + draw(20)
                                           : draw(20) ? sizes[draw(SIZES)]
                                                      : 300);
    if (tsl_is_sum(problem.c.structure))
      try_sum(&problem, &device, draw(2) ? 32 : 128, draw(2) ? 1 << 20 : 1 << 10);
    else
      try_schedules(&problem, &device, draw(2) ? 32 : 128);
  }
  tsl_devices_destroy(devices);
  unsetenv("TESELA_ISA");
}

static void structures_are_right(void **state) {
  static const char *const sets[] = {TSL_ISA_LIST(TSL_ISA_WORD)};
  (void)state;
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
    try_isa(sets[i]);
  for (tsl_packed_sum way = TSL_PACKED_ONE; way <= TSL_PACKED_TWICE; way++)
    assert_true(ways_of_sums[way] > 3);
}

/* --- bits of any number of threads --- */

enum { MOST_THREADS = 8, MOST_SIDE = 230, WIDEST = 16 };

static _Alignas(64) unsigned char bits_a[WIDEST * MOST_SIDE * MOST_SIDE], bits_b[sizeof bits_a],
    bits_before[sizeof bits_a], bits_c[sizeof bits_a], bits_expected[sizeof bits_a];

/* A row of factors: alpha and beta. */
static const double factors[][2][2] = {{{1, 0}, {0, 0}},       {{1, 0}, {1, 0}},     {{1, 0}, {0.9, 0}},
                                       {{0.3, 0}, {0, 0}},     {{0.3, 0}, {0.9, 0}}, {{1, -0.7}, {0, 0}},
                                       {{1, -0.7}, {0.9, 0}},  {{1, 0}, {0.9, 0.2}}, {{0.3, 0}, {0.9, 0.2}},
                                       {{1, -0.7}, {0.9, 0.2}}};
enum { FACTORS = sizeof factors / sizeof *factors };

/* A random product: its description, and its text for failure messages. */
typedef struct drawn_call {
  tesela_gemm_desc desc;
  char what[160];
} drawn_call;

static drawn_call draw_call(const tsl_types *list, int by, int64_t m, int64_t n, int64_t k) {
  static const char *const strategies[] = {NULL, "host_packed", "host_skinny", "blocked", "host_small"};
  static const tesela_structure structures[] = {TESELA_GENERAL, TESELA_GENERAL, TESELA_SYMMETRIC,
                                                TESELA_HERMITIAN, TESELA_TRIANGULAR};
  const bool is_narrow = tsl_type(list->a)->size < 4;
  drawn_call made = {.desc = {.m = m,
                              .n = n,
                              .k = k,
                              .a = {.data = bits_a, .type = list->a, .transpose = (int)draw(2)},
                              .b = {.data = bits_b, .type = list->b, .transpose = (int)draw(2)},
                              .c = {.data = bits_c, .type = list->c, .transpose = (int)draw(2)},
                              .alpha = factors[by][0],
                              .beta = factors[by][1],
                              .options.reproducibility = "threads"}};
  if (!is_narrow && draw(2)) {
    made.desc.options.strategy = strategies[draw(sizeof strategies / sizeof *strategies)];
  } else if (!is_narrow && draw(2)) {
    made.desc.structure.a = structures[draw(5)];
    if (made.desc.structure.a != TESELA_GENERAL) {
      made.desc.k = m;
      made.desc.structure.a_triangle = any_triangle();
    } else {
      made.desc.n = m;
      made.desc.structure.c_triangle = any_triangle();
    }
  }
  snprintf(made.what, sizeof made.what, "%s to %s, %d x %d x %d, factors %d, %s, structure %d, triangle %d",
           tsl_type(list->a)->name, tsl_type(list->c)->name, (int)made.desc.m, (int)made.desc.n,
           (int)made.desc.k, by, made.desc.options.strategy ? made.desc.options.strategy : "auto",
           (int)made.desc.structure.a, (int)made.desc.structure.c_triangle);
  return made;
}

static int try_call(tesela_context *const *contexts, const drawn_call *request, const char *isa) {
  const size_t bytes = (size_t)(request->desc.m * request->desc.n) * tsl_type(request->desc.c.type)->size;
  int wrong = 0;
  for (int threads = 1; threads <= MOST_THREADS; threads++) {
    memcpy(bits_c, bits_before, bytes);
    const tesela_status status = tesela_gemm(contexts[threads], &request->desc, NULL);
    if (status == TESELA_UNSUPPORTED)
      return 0;
    if (status != TESELA_OK)
      fail_msg("%s: %s", request->what, tesela_last_error());
    if (threads == 1)
      memcpy(bits_expected, bits_c, bytes);
    else if (memcmp(bits_c, bits_expected, bytes) != 0) {
      print_error("%s, %s: %d threads have other bits than one\n", isa, request->what, threads);
      wrong = 1;
    }
  }
  return wrong;
}

static void fill_bits(tesela_type type, unsigned char *memory) {
  for (size_t i = 0; i < MOST_SIDE * MOST_SIDE; i++) {
    const double value[2] = {(double)draw(2001) / 1000 - 1, (double)draw(2001) / 1000 - 1};
    tsl_type_store(type, memory + i * tsl_type(type)->size, value);
  }
}

static int try_bits(const char *isa) {
  static const tsl_types of[] = {
      {TESELA_F32, TESELA_F32, TESELA_F32},   {TESELA_F64, TESELA_F64, TESELA_F64},
      {TESELA_C64, TESELA_C64, TESELA_C64},   {TESELA_C128, TESELA_C128, TESELA_C128},
      {TESELA_BF16, TESELA_BF16, TESELA_F32}, {TESELA_F16, TESELA_F16, TESELA_F16}};
  tesela_context *contexts[MOST_THREADS + 1];
  int wrong = 0;
  setenv("TESELA_ISA", isa, 1);
  for (int threads = 1; threads <= MOST_THREADS; threads++)
    assert_int_equal(tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = threads},
                                           &contexts[threads]),
                     TESELA_OK);
  for (size_t t = 0; t < sizeof of / sizeof *of; t++) {
    fill_bits(of[t].a, bits_a);
    fill_bits(of[t].b, bits_b);
    fill_bits(of[t].c, bits_before);
    for (int by = 0; by < FACTORS; by++) {
      for (int i = 0; i < 4; i++) {
        const drawn_call one =
            draw_call(&of[t], by, 1 + draw(MOST_SIDE - 1), 1 + draw(MOST_SIDE - 1), 1 + draw(90));
        wrong += try_call(contexts, &one, isa);
      }
      const drawn_call known = draw_call(&of[t], by, 143, 65, 72);
      wrong += try_call(contexts, &known, isa);
    }
  }
  for (int threads = 1; threads <= MOST_THREADS; threads++)
    tesela_context_destroy(contexts[threads]);
  unsetenv("TESELA_ISA");
  return wrong;
}

static void bits_do_not_depend_on_threads(void **state) {
  static const char *const sets[] = {TSL_ISA_LIST(TSL_ISA_WORD)};
  int wrong = 0;
  (void)state;
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
    wrong += try_bits(sets[i]);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(structures_are_right),
      cmocka_unit_test(bits_do_not_depend_on_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
