/* The exact product compared with MPFR, bit by bit, on the cpu, and its kernels' bits with the
 * cpu's. The bounds of nearly exact sums are compared with MPFR too. Element (i, i) is a difficult
 * dot (vectors.h). Other elements combine rows and columns of different dots. */
#include "unit/calls.h"
#include "unit/long.h"

#include "core/random.h"
#include "exact/reference.h"
#include "exact/vectors.h"
#include "plan/plan.h"
#include "planner/subplan_choice.h"
#include "strategy/gemm/emulated/exact/exact_near.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MOST = 16, TERMS_MOST = 700, PRODUCTS = 10000 };

static tsl_devices *devices;
static tsl_device *cpu, *on; /* on: what multiplies */
static const tesela_type types[] = {TESELA_F32, TESELA_F64};

static uint64_t roll(uint64_t seed, uint64_t index, uint64_t sides) {
  return tsl_random_u64(seed, index) % sides;
}

/* --- lines --- */

/* Whole numbers, whose sums are exact and often lie halfway between two numbers of f32. */
static void whole(vectors *vectors_in, double measure, uint64_t seed) {
  for (int64_t i = 0; i < vectors_in->count; i++) {
    vectors_in->x[i] = rint(measure * tsl_random_value(TSL_DRAW_UNIFORM, seed, (uint64_t)i));
    vectors_in->y[i] = rint(measure * tsl_random_value(TSL_DRAW_UNIFORM, seed + 1, (uint64_t)i));
  }
}

static void normal(vectors *vectors_in, double measure, uint64_t seed) {
  for (int64_t i = 0; i < vectors_in->count; i++) {
    vectors_in->x[i] =
        vectors_rounded(vectors_in->type, measure * tsl_random_value(TSL_DRAW_NORMAL, seed, (uint64_t)i));
    vectors_in->y[i] =
        vectors_rounded(vectors_in->type, tsl_random_value(TSL_DRAW_NORMAL, seed + 1, (uint64_t)i));
  }
}

/* Makes sums halfway between two numbers, plus or minus 2^-20 to 2^-119 of the sum: nearly exact sums can
 * decide some cases only. */
static void nearly_halfway(vectors *vectors_in, double measure, uint64_t seed) {
  const int far = (int)(20 + roll(seed, 0, 100));
  memset(vectors_in->x, 0, (size_t)vectors_in->count * sizeof *vectors_in->x);
  if (vectors_in->count < 4)
    return;
  for (int64_t i = 0; i < vectors_in->count; i++)
    vectors_in->y[i] = 1;
  vectors_in->x[0] = 1;
  vectors_in->x[1] = ldexp(1, (int)measure);
  vectors_in->x[2] = ldexp(1, -far / 2);
  vectors_in->y[2] = ldexp(roll(seed, 1, 2) ? 1 : -1, -(far + 1) / 2);
  vectors_shuffle(vectors_in, seed);
}

/* Makes lines of tiny numbers: products near 2^(2 measure), some lines larger by up to 2^200. Every other
 * seed has whole multiples of a power of two, whose sums lie halfway between two numbers. */
static void tiny(vectors *vectors_in, double measure, uint64_t seed) {
  const int x_up = (int)roll(seed, 2, 3) * 100, y_up = (int)roll(seed, 3, 3) * 100;
  const bool is_f64 = vectors_in->type == TESELA_F64, is_whole = roll(seed, 4, 2) == 0;
  normal(vectors_in, 1, seed);
  for (int64_t i = 0; i < vectors_in->count; i++) {
    if (is_whole)
      vectors_in->x[i] = rint(64 * vectors_in->x[i]), vectors_in->y[i] = rint(64 * vectors_in->y[i]);
    vectors_in->x[i] =
        vectors_rounded(vectors_in->type, ldexp(vectors_in->x[i], (int)measure + (is_f64 ? x_up : 0)));
    vectors_in->y[i] =
        vectors_rounded(vectors_in->type, ldexp(vectors_in->y[i], (int)measure + (is_f64 ? y_up : 0)));
  }
}

static const vectors_kind more[] = {
    {"whole numbers", whole, 3000, 3e8},          {"normal", normal, 1, 1},
    {"nearly halfway", nearly_halfway, -24, -53}, {"tiny", tiny, -40, -482},
    {"subnormal results", tiny, -72, -534},       {"next to nothing", tiny, -140, -1065},
    {"least normal results", tiny, -63, -511},
};
enum { MORE = sizeof more / sizeof *more };

static const vectors_kind *kind_at(int index) {
  return index < MORE ? &more[index] : vectors_kind_at(index - MORE);
}

/* Rows of A (m x k) and columns of B (n x k), as doubles, each line k numbers side by side. */
typedef struct factors {
  tesela_type type;
  int m, n, k;
  double a[LINES_MOST * TERMS_MOST], b[LINES_MOST * TERMS_MOST];
} factors;

static void make(const vectors_kind *kind, tesela_type type, int m, int n, int k, uint64_t seed,
                 factors *out) {
  out->type = type;
  out->m = m;
  out->n = n;
  out->k = k;
  for (int i = 0; i < m || i < n; i++) {
    vectors terms;
    vectors_create(type, k, &terms);
    if (k > 3)
      kind->make(&terms, type == TESELA_F64 ? kind->f64 : kind->f32, seed * 31 + (uint64_t)i);
    if (i < m)
      memcpy(out->a + (ptrdiff_t)i * k, terms.x, (size_t)k * sizeof(double));
    if (i < n)
      memcpy(out->b + (ptrdiff_t)i * k, terms.y, (size_t)k * sizeof(double));
    vectors_free(&terms);
  }
}

static void sum_up(const factors *factors_in, int i, int j, reference *sum) {
  reference_start(sum);
  for (int l = 0; l < factors_in->k; l++)
    reference_add(sum, factors_in->a[i * factors_in->k + l], factors_in->b[j * factors_in->k + l]);
}

/* --- products --- */

static double scalar(tesela_type type, uint64_t seed, uint64_t index) {
  const tsl_type_info *info = tsl_type(type);
  const double values[] = {1,
                           1,
                           1,
                           0,
                           -1,
                           0.7,
                           -0.0,
                           1e-9,
                           1e9,
                           1e-30,
                           info->smallest,
                           -info->smallest * 12345,
                           info->largest,
                           INFINITY};
  return vectors_rounded(type, values[roll(seed, index, sizeof values / sizeof *values)]);
}

static void *of_type(tesela_type type, const double *from, size_t count) {
  void *to = malloc(count * 8 + 1);
  assert_non_null(to);
  tsl_type_convert(TESELA_F64, from, 1, type, to, 1, count);
  return to;
}

static bool same(double a, double b) {
  return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

/* C, dense, with the factors' lines along rows or along columns. */
static void multiply(const factors *factors_in, double alpha, double beta, bool turned, double *c) {
  const size_t elements = (size_t)factors_in->m * (size_t)factors_in->n;
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "exact");
  const tsl_config config = tsl_strategy_defaults(strategy);
  tsl_problem problem = tsl_problem_gemm(factors_in->m, factors_in->n, factors_in->k, factors_in->type);
  double turned_a[LINES_MOST * TERMS_MOST], turned_b[LINES_MOST * TERMS_MOST];
  tsl_plan *plan;
  problem.alpha[0] = alpha;
  problem.beta[0] = beta;
  problem.a.row_stride = turned ? 1 : factors_in->k;
  problem.a.col_stride = turned ? factors_in->m : 1;
  problem.b.row_stride = turned ? factors_in->n : 1;
  problem.b.col_stride = turned ? 1 : factors_in->k;
  for (int i = 0; i < factors_in->m; i++)
    for (int l = 0; l < factors_in->k; l++)
      turned_a[l * factors_in->m + i] = factors_in->a[i * factors_in->k + l];
  for (int j = 0; j < factors_in->n; j++)
    for (int l = 0; l < factors_in->k; l++)
      turned_b[l * factors_in->n + j] = factors_in->b[j * factors_in->k + l];
  void *const a = of_type(factors_in->type, turned ? turned_a : factors_in->a,
                          (size_t)(factors_in->m * factors_in->k)),
              *const b = of_type(factors_in->type, turned ? turned_b : factors_in->b,
                                 (size_t)(factors_in->n * factors_in->k)),
              *const result = of_type(factors_in->type, c, elements);
  must(tsl_planner_create(&problem, strategy, &config, on, TSL_PLACE_HOST, &plan));
  must(tsl_plan_run(plan, &(tsl_operands){.a.host = a, .b.host = b, .c.host = result}, NULL));
  tsl_plan_destroy(plan);
  tsl_type_convert(factors_in->type, result, 1, TESELA_F64, c, 1, elements);
  free(a);
  free(b);
  free(result);
}

static void check(const factors *factors_in, uint64_t seed, const char *what) {
  double before[LINES_MOST * LINES_MOST], c[LINES_MOST * LINES_MOST];
  const double alpha = scalar(factors_in->type, seed, 1),
               beta = roll(seed, 2, 2) ? 0 : scalar(factors_in->type, seed, 3);
  for (int at = 0; at < factors_in->m * factors_in->n; at++)
    before[at] =
        roll(seed, 5, 3) == 0
            ? scalar(factors_in->type, seed + 7, (uint64_t)at)
            : vectors_rounded(factors_in->type, tsl_random_value(TSL_DRAW_NORMAL, seed, (uint64_t)at));
  memcpy(c, before, sizeof c);
  multiply(factors_in, alpha, beta, roll(seed, 4, 2), c);
  for (int at = 0; at < factors_in->m * factors_in->n; at++) {
    reference sum;
    sum_up(factors_in, at / factors_in->n, at % factors_in->n, &sum);
    const double right =
        reference_result(&sum, factors_in->k > 0 ? alpha : 0, beta, before[at], factors_in->type);
    reference_end(&sum);
    if (!same(c[at], right))
      fail_msg("%s, %s, %d x %d x %d, seed %llu, alpha %a, beta %a, c %a: element %d is %a in place of %a",
               what, tsl_type(factors_in->type)->name, factors_in->m, factors_in->n, factors_in->k,
               (unsigned long long)seed, alpha, beta, before[at], at, c[at], right);
  }
}

static void products(uint64_t count) {
  static factors of;
  int kinds = 0;
  while (kind_at(kinds))
    kinds++;
  for (uint64_t i = 0; i < count; i++) {
    const vectors_kind *kind = kind_at((int)(i / 2) % kinds);
    make(kind, types[i % 2], 1 + (int)roll(1, i, 4), 1 + (int)roll(2, i, 4), (int)roll(3, i, 45), i, &of);
    check(&of, i, kind->name);
  }
}

static void ten_thousand_products(void **state) {
  (void)state;
  products(PRODUCTS);
}

/* Several panels, and tiles with edges. */
static void longer_sums(void **state) {
  (void)state;
  static factors of;
  for (int k = 0; kind_at(k); k++)
    for (uint64_t i = 0; i < 4; i++) {
      make(kind_at(k), types[i % 2], 1 + (int)roll(4, i + 4 * (uint64_t)k, 9), 1 + (int)roll(5, i, 10),
           200 + (int)roll(6, i + 4 * (uint64_t)k, 500), 1000 + i, &of);
      check(&of, 100000 + i, kind_at(k)->name);
    }
}

/* --- kernels --- */

/* Numbers of all kinds: whole ones, exponents of the type's whole range, near the least ones, zeros,
 * infinities. */
static double awkward(tesela_type type, int kind, uint64_t seed, uint64_t i) {
  const int range = ilogb(tsl_type(type)->largest) * 7 / 8;
  const double x = tsl_random_value(TSL_DRAW_UNIFORM, seed, i);
  return kind == 1   ? ldexp(x, (int)roll(seed + 1, i, 2 * (uint64_t)range) - range)
         : kind == 2 ? rint(x * 16)
         : kind == 3 ? ldexp(x, ilogb(tsl_type(type)->smallest) * 2 / 3)
         : kind == 4 ? (roll(seed + 1, i, 9) ? x : copysign(INFINITY, x))
         : kind == 5 ? (roll(seed + 1, i, 3) ? 0 : x)
                     : x;
}

static void *awkward_numbers(tesela_type type, int kind, uint64_t seed, size_t count) {
  const size_t size = tsl_type(type)->size;
  unsigned char *made = malloc(count * size + 1);
  assert_non_null(made);
  for (size_t i = 0; i < count; i++) {
    const double value[2] = {awkward(type, kind, seed, i), 0};
    tsl_type_store(type, made + i * size, value);
  }
  return made;
}

/* One call by a device; the caller frees C. */
static void *by_device(tsl_device *device, const tsl_problem *problem, void *a, void *b, uint64_t seed) {
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "exact");
  const tsl_config config = tsl_strategy_defaults(strategy);
  void *const c = awkward_numbers(problem->c.type, 0, seed, (size_t)(problem->m * problem->n));
  tsl_plan *plan;
  must(tsl_planner_create(problem, strategy, &config, device, TSL_PLACE_HOST, &plan));
  must(tsl_plan_run(plan, &(tsl_operands){.a.host = a, .b.host = b, .c.host = c}, NULL));
  tsl_plan_destroy(plan);
  return c;
}

/* Kernels give the processor's bits, NaN included. */
static void kernels_have_the_same_bits(void **state) {
  static const tesela_type pairs[][2] = {{TESELA_F32, TESELA_F32}, {TESELA_F64, TESELA_F64},
                                         {TESELA_F16, TESELA_F16}, {TESELA_BF16, TESELA_BF16},
                                         {TESELA_F16, TESELA_F32}, {TESELA_BF16, TESELA_F32}};
  enum { KINDS = 6 };
  /* A compiler takes its time for each type with each pair of scalars. */
  const uint64_t calls = is_long_form() ? 240 : 72, calls_of_beta = is_long_form() ? 72 : 36;
  tsl_device *device;
  int seen = 0;
  (void)state;
  for (int d = 0; (device = tsl_devices_at(devices, d)) != NULL; d++) {
    const unsigned needs = TSL_CAN_KERNELS | TSL_CAN_F64;
    if ((device->capabilities & needs) != needs || tsl_device_open(device) != TESELA_OK)
      continue;
    seen++;
    on = device;
    products(PRODUCTS / 5);
    on = cpu;
    for (uint64_t i = 0; i < calls; i++) {
      const tesela_type *const types_of = pairs[i % 6];
      const int kind = (int)(i / 6 % KINDS);
      const uint64_t most = i % 25 == 24 && i % 6 < 2 ? 90 : 20; /* several elements of an item, too */
      tsl_problem problem =
          tsl_problem_gemm(1 + (int64_t)roll(11, i, most), 1 + (int64_t)roll(12, i, most),
                           (int64_t)roll(13, i, i % 4 || most > 20 ? 60 : 600), types_of[0]);
      problem.c.type = types_of[1];
      problem.alpha[0] = i / 36 % 2 ? (double)-0.7f : 1;
      problem.beta[0] = i / calls_of_beta % 2 ? (double)1.3f : 0;
      const size_t bytes = (size_t)(problem.m * problem.n) * tsl_type(problem.c.type)->size;
      void *const a = awkward_numbers(types_of[0], kind, 3 * i, (size_t)(problem.m * problem.k)),
                  *const b = awkward_numbers(types_of[0], kind, 3 * i + 1, (size_t)(problem.k * problem.n)),
                  *const right = by_device(cpu, &problem, a, b, 3 * i + 2),
                  *const other = by_device(device, &problem, a, b, 3 * i + 2);
      if (memcmp(right, other, bytes) != 0)
        fail_msg("%s: call %llu of kind %d, %s, %lld x %lld x %lld, has other bits", device->name,
                 (unsigned long long)i, kind, tsl_type(types_of[1])->name, (long long)problem.m,
                 (long long)problem.n, (long long)problem.k);
      free(a);
      free(b);
      free(right);
      free(other);
    }
  }
  if (seen == 0) {
    print_message("  no device here has kernels and double precision\n");
    skip();
  }
}

/* --- enclosures --- */

/* Packs a tile's panels from all lines. Missing lines are 0. */
static void pack(const double *lines, int count, int k, int width, double *dst) {
  for (int l = 0; l < k; l++)
    for (int i = 0; i < width; i++)
      dst[l * width + i] = i < count ? lines[i * k + l] : 0;
}

static void measure(const double *line, int k, double *largest, double *total, double *grain) {
  *largest = *total = 0;
  *grain = INFINITY;
  for (int l = 0; l < k; l++) {
    int exponent;
    const int64_t mantissa = (int64_t)ldexp(frexp(fabs(line[l]), &exponent), 53);
    *largest = fmax(*largest, fabs(line[l]));
    *total += fabs(line[l]);
    if (mantissa != 0)
      *grain = fmin(*grain, ldexp((double)(mantissa & -mantissa), exponent - 53));
  }
}

/* Returns true when the exact alpha sum + beta before lies between both bounds, where there are
 * bounds. Bounds of f64 are already rounded. */
static bool encloses(const factors *factors_in, const tsl_near_row *row, int i, int j, double lower,
                     double upper) {
  reference sum;
  sum_up(factors_in, i, j, &sum);
  const double beta = row->beta, before = beta == 0 ? 0 : row->before[j];
  bool inside = true;
  if (factors_in->type == TESELA_F64) {
    const double right = reference_result(&sum, row->alpha, beta, before, TESELA_F64);
    inside = lower <= right && right <= upper;
  } else {
    mpfr_mul_d(sum.sum, sum.sum, row->alpha, MPFR_RNDN);
    mpfr_set_d(sum.term, before, MPFR_RNDN);
    mpfr_mul_d(sum.term, sum.term, beta, MPFR_RNDN);
    mpfr_add(sum.sum, sum.sum, sum.term, MPFR_RNDN);
    inside = mpfr_cmp_d(sum.sum, lower) >= 0 && mpfr_cmp_d(sum.sum, upper) <= 0;
  }
  reference_end(&sum);
  return inside;
}

typedef struct tally {
  long all, known;
} tally;

static void enclose(const tsl_near_kernels *near, const factors *factors_in, uint64_t seed, const char *what,
                    tally *seen) {
  enum { TILE_MOST = 32 };
  static double a[TILE_MOST * TERMS_MOST], b[TILE_MOST * TERMS_MOST];
  double high[TILE_MOST * TILE_MOST] = {0}, low[TILE_MOST * TILE_MOST] = {0}, largest[TILE_MOST] = {0},
                          total[TILE_MOST] = {0}, grain[TILE_MOST] = {0}, before[TILE_MOST], lower[TILE_MOST],
                          upper[TILE_MOST];
  tsl_near_row row = {.count = factors_in->n,
                      .k = factors_in->k,
                      .b = {largest, total, grain},
                      .alpha = roll(seed, 0, 2) ? 1 : vectors_rounded(factors_in->type, -0.7),
                      .beta = roll(seed, 1, 2) ? 0 : vectors_rounded(factors_in->type, 1.3),
                      .before = before};
  assert_true(near->rows <= TILE_MOST && near->columns <= TILE_MOST && factors_in->m <= near->rows &&
              factors_in->n <= near->columns);
  for (int j = 0; j < factors_in->n; j++) {
    measure(factors_in->b + j * factors_in->k, factors_in->k, &largest[j], &total[j], &grain[j]);
    before[j] = vectors_rounded(factors_in->type, tsl_random_value(TSL_DRAW_NORMAL, seed, (uint64_t)j));
  }
  pack(factors_in->a, factors_in->m, factors_in->k, near->rows, a);
  pack(factors_in->b, factors_in->n, factors_in->k, near->columns, b);
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < factors_in->m; i++) {
      measure(factors_in->a + i * factors_in->k, factors_in->k, &row.largest, &row.total, &row.grain);
      row.high = high + i * TILE_MOST;
      row.low = low + i * TILE_MOST;
      if (pass == 0) {
        near->begin(&row, high + i * TILE_MOST, low + i * TILE_MOST);
        continue;
      }
      near->enclose(&row, lower, upper);
      for (int j = 0; j < factors_in->n; j++) {
        seen->all++;
        if (isnan(lower[j]) || isinf(upper[j]) || isinf(lower[j]))
          continue;
        seen->known++;
        if (!encloses(factors_in, &row, i, j, lower[j], upper[j]))
          fail_msg("%s, %s, %d terms, seed %llu: (%d, %d) is not between %a and %a", what,
                   tsl_type(factors_in->type)->name, factors_in->k, (unsigned long long)seed, i, j, lower[j],
                   upper[j]);
      }
    }
    for (int l = 0; pass == 0 && l < factors_in->k; l += TSL_NEAR_DEPTH)
      near->add(factors_in->k - l < TSL_NEAR_DEPTH ? factors_in->k - l : TSL_NEAR_DEPTH, a + l * near->rows,
                b + l * near->columns, high, low, TILE_MOST);
  }
}

static void enclosures_hold_the_sums(void **state) {
  (void)state;
#define SET(isa, header, needs, ...) &tsl_near_##isa,
  static const tsl_near *const sets[] = {TSL_ISA_LIST(SET)};
#undef SET
  const tsl_near *near = sets[tsl_isa_best(cpu->capabilities)];
  static factors of;
  for (int t = 0; t < 2; t++) {
    const tsl_near_kernels *const with = t ? &near->f64 : &near->f32;
    tally seen = {0, 0};
    for (int k = 0; kind_at(k) && with->add; k++) {
      if (strncmp(kind_at(k)->name, "special", 7) == 0)
        continue;
      for (uint64_t i = 0; i < 8; i++) {
        make(kind_at(k), types[t], with->rows, with->columns < LINES_MOST ? with->columns : LINES_MOST,
             i < 6 ? 4 + (int)roll(8, i, 40) : 255 + (int)roll(9, i, 400), 5000 + i, &of);
        enclose(with, &of, 17 * (uint64_t)k + i, kind_at(k)->name, &seen);
      }
    }
    print_message("  %s: %ld of %ld sums enclosed\n", tsl_type(types[t])->name, seen.known, seen.all);
    if (with->add)
      assert_true(seen.known > seen.all / 2);
  }
}

static int start(void **state) {
  (void)state;
  must(tsl_devices_create(&devices));
  must(tsl_devices_find(devices, "cpu", &cpu));
  on = cpu;
  must(tsl_device_open(cpu));
  return 0;
}

static int stop(void **state) {
  (void)state;
  tsl_devices_destroy(devices);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ten_thousand_products),
      cmocka_unit_test(longer_sums),
      cmocka_unit_test(kernels_have_the_same_bits),
      cmocka_unit_test(enclosures_hold_the_sums),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
