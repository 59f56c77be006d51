/* residue_int8: no input exceeds its guarantee, whatever its exponents are, searched for at random and by
 * climbing; residues are what computes ordinary data; its tables. */

#include "unit/unit.h"

#include "strategy/gemm/emulated/residue_int8/residue_int8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/tesela.h>

enum { SIDE_MOST = 24, DEPTH_MOST = 200, PER_KIND = 60, CLIMBS = 5, STEPS = 1500 };

static tesela_context *context;
static uint64_t seed = 1;

static uint64_t next(void) { /* splitmix64 */
  uint64_t z = seed += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
static int below(int most) {
  return (int)(next() % (unsigned)most);
}
static double uniform(void) {
  return (double)(int64_t)next() * 0x1p-63;
}

/* --- a product and its errors --- */

typedef struct product {
  tesela_type type;
  int m, n, k;
  const char *strategy, *accuracy;
  double a[SIDE_MOST * DEPTH_MOST], b[DEPTH_MOST * SIDE_MOST]; /* numbers of the type */
} product;

static double as_type(const product *product_in, double value) {
  return product_in->type == TESELA_F32 ? (double)(float)value : value;
}

/* C by a strategy, of numbers of `type`, as doubles. */
static void multiply(const product *product_in, const char *strategy, tesela_type type, bool magnitudes,
                     double *c, tesela_record *record) {
  static float a32[SIDE_MOST * DEPTH_MOST], b32[SIDE_MOST * DEPTH_MOST], c32[SIDE_MOST * SIDE_MOST];
  static double a64[SIDE_MOST * DEPTH_MOST], b64[SIDE_MOST * DEPTH_MOST], c64[SIDE_MOST * SIDE_MOST];
  const bool narrow = type == TESELA_F32;
  for (int i = 0; i < product_in->m * product_in->k; i++)
    a32[i] = narrow ? (float)product_in->a[i] : 0,
    a64[i] = magnitudes ? fabs(product_in->a[i]) : product_in->a[i];
  for (int i = 0; i < product_in->k * product_in->n; i++)
    b32[i] = narrow ? (float)product_in->b[i] : 0,
    b64[i] = magnitudes ? fabs(product_in->b[i]) : product_in->b[i];
  const tesela_gemm_desc desc = {.m = product_in->m,
                                 .n = product_in->n,
                                 .k = product_in->k,
                                 .a = {.data = narrow ? (void *)a32 : (void *)a64, .type = type},
                                 .b = {.data = narrow ? (void *)b32 : (void *)b64, .type = type},
                                 .c = {.data = narrow ? (void *)c32 : (void *)c64, .type = type},
                                 .options.device = "cpu",
                                 .options.strategy = strategy,
                                 .options.accuracy =
                                     magnitudes || type != product_in->type ? NULL : product_in->accuracy};
  if (tesela_gemm(context, &desc, record) != TESELA_OK)
    fail_msg("%s", tesela_last_error());
  for (int i = 0; i < product_in->m * product_in->n; i++)
    c[i] = narrow ? (double)c32[i] : c64[i];
}

/* Returns the largest error divided by its bound. Both factors of f32 are exact in f64, whose exact
 * sums are the reference. Below the smallest normal number, errors of k units in the last place are
 * allowed. */
static double worst(const product *product_in, const char **note) {
  static double c[SIDE_MOST * SIDE_MOST], exact[SIDE_MOST * SIDE_MOST], size[SIDE_MOST * SIDE_MOST];
  const double least = product_in->type == TESELA_F32 ? 0x1p-149 : 0x1p-1074;
  tesela_record record;
  double most = 0;
  multiply(product_in, product_in->strategy, product_in->type, false, c, &record);
  *note = record.note;
  const double bound = record.error_bound;
  multiply(product_in, "exact", TESELA_F64, false, exact, NULL);
  multiply(product_in, "exact", TESELA_F64, true, size, NULL);
  for (int i = 0; i < product_in->m * product_in->n; i++) {
    const double error = fabs(c[i] - exact[i]),
                 allowed = bound * size[i] * (1 + 0x1p-40) + product_in->k * least;
    most = fmax(most, error > 0 ? error / allowed : error == 0 ? 0 : INFINITY);
  }
  return most;
}

/* Returns true when the record says that no residues were used. */
static bool is_native(const char *note) {
  return note && strstr(note, "the product");
}

/* --- data --- */

typedef enum data_kind {
  NORMAL,
  GRADED,    /* rows and columns by powers of two */
  BALANCED,  /* A D and D^-1 B */
  HALVES,    /* half of the terms are tiny in A and large in B */
  SPREAD,    /* exponents anywhere */
  SUBNORMAL, /* near the least numbers */
  HUGE_ONE,  /* a row's largest is alone */
  CANCELLED, /* [X X] [Y; -Y (1 + tiny)] */
  SPARSE,
  KINDS
} data_kind;

static double range_of(const product *product_in) {
  return product_in->type == TESELA_F32 ? 30 : 250;
}

static void fill(product *product_in, data_kind kind) {
  const int m = product_in->m, n = product_in->n, k = product_in->k;
  const int spread = 1 + below((int)range_of(product_in));
  for (int i = 0; i < m; i++)
    for (int h = 0; h < k; h++) {
      double *a = &product_in->a[i * k + h];
      const double x = uniform();
      *a = kind == GRADED      ? ldexp(x, -spread * i / m)
           : kind == BALANCED  ? ldexp(x, spread * h / k)
           : kind == HALVES    ? ldexp(x, h % 2 ? -spread : 0)
           : kind == SPREAD    ? ldexp(x, below(2 * spread) - spread)
           : kind == SUBNORMAL ? ldexp(x, (product_in->type == TESELA_F32 ? -130 : -1030) - below(15))
           : kind == HUGE_ONE  ? ldexp(x, h == i % k ? spread : 0)
           : kind == CANCELLED ? (h < k / 2 ? x : product_in->a[i * k + h - k / 2])
           : kind == SPARSE    ? (below(4) ? 0 : ldexp(x, -below(spread)))
                               : x;
      *a = as_type(product_in, *a);
    }
  for (int h = 0; h < k; h++)
    for (int j = 0; j < n; j++) {
      double *b = &product_in->b[h * n + j];
      const double x = uniform();
      *b = kind == GRADED      ? ldexp(x, -spread * j / n)
           : kind == BALANCED  ? ldexp(x, -spread * h / k)
           : kind == HALVES    ? ldexp(x, h % 2 ? spread : 0)
           : kind == SPREAD    ? ldexp(x, below(2 * spread) - spread)
           : kind == HUGE_ONE  ? (below(3) ? x : 0)
           : kind == CANCELLED ? (h < k / 2 ? x : -product_in->b[(h - k / 2) * n + j] * (1 + 0x1p-20 * x))
           : kind == SPARSE    ? (below(4) ? 0 : ldexp(x, -below(spread)))
                               : x;
      *b = as_type(product_in, *b);
    }
}

static product *new_product(tesela_type type) {
  product *of = calloc(1, sizeof *of);
  assert_non_null(of);
  *of = (product){.type = type, .strategy = "residue_int8"};
  return of;
}

/* --- tests --- */

/* Where no reproducible bits are required, another strategy computes a product without a proof. The
 * whole product has that strategy's bits, in any layout. */
static void others_compute_what_does_not_pay(void **state) {
  (void)state;
  enum { M = 70, N = 90, K = 300 };
  static const tesela_type types[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};
  static double a[2 * M * K], b[2 * K * N], c[2][2 * M * N];
  for (int t = 0; t < 8; t++) {
    const tesela_type type = types[t / 2];
    const bool is_narrow = type == TESELA_F32 || type == TESELA_C64, is_turned = t % 2 == 1;
    for (int i = 0; i < 2 * M * K; i++) {
      const double x = ldexp(uniform(), below(60) - 30);
      is_narrow ? (void)(((float *)a)[i] = (float)x) : (void)(a[i] = x);
    }
    for (int i = 0; i < 2 * K * N; i++)
      is_narrow ? (void)(((float *)b)[i] = (float)uniform()) : (void)(b[i] = uniform());
    tesela_gemm_desc desc = {
        .m = M,
        .n = N,
        .k = K,
        .a = {.data = a, .type = type, .row_stride = is_turned ? 1 : K, .col_stride = is_turned ? M : 1},
        .b = {.data = b, .type = type},
        .c = {.type = type, .row_stride = is_turned ? 1 : N, .col_stride = is_turned ? M : 1},
        .alpha = (double[]){1.5, 0},
        .beta = (double[]){-0.5, 0},
        .options.device = "cpu",
        .options.strategy = "residue_int8"};
    char name[32] = "";
    for (int run = 0; run < 3; run++) {
      tesela_record record;
      for (int i = 0; i < 2 * M * N; i++)
        is_narrow ? (void)(((float *)c[run > 0])[i] = (float)i) : (void)(c[run > 0][i] = i);
      desc.c.data = c[run > 0];
      desc.options.strategy = run == 1 ? name : "residue_int8";
      desc.options.reproducibility = run == 2 ? "devices" : NULL;
      if (tesela_gemm(context, &desc, &record) != TESELA_OK)
        fail_msg("%s", tesela_last_error());
      if (run == 0) {
        assert_non_null(record.note);
        assert_int_equal(sscanf(record.note, "%*[^:]: %*[^:]: the product was computed by %31s", name), 1);
        assert_string_not_equal(name, "residue_int8");
      } else if (run == 1)
        assert_memory_equal(c[0], c[1], sizeof(double) * M * N * (is_narrow ? 1 : 2) / (t < 4 ? 2 : 1));
      else {
        assert_non_null(record.note);
        assert_non_null(strstr(record.note, "the product was computed in C's own type"));
      }
    }
    if (t == 0)
      print_message("  by %s\n", name);
  }
}

static const char *const strategies[] = {"residue_int8", "residue_int8 moduli=5", "residue_int8 moduli=8"};
static const char *const asks[] = {NULL, "1e-3", "1e-4", "2e-6", "7.6e-8"};

static void nothing_exceeds_its_bound(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++)
    for (int kind = 0; kind < KINDS; kind++) {
      product *of = new_product(t ? TESELA_F64 : TESELA_F32);
      double most = 0;
      int residues = 0;
      for (int i = 0; i < PER_KIND; i++) {
        const char *note;
        of->m = 1 + below(SIDE_MOST), of->n = 1 + below(SIDE_MOST), of->k = 2 + 2 * below(DEPTH_MOST / 2);
        of->strategy = strategies[i % 3];
        of->accuracy = asks[i / 3 % 5];
        fill(of, (data_kind)kind);
        const double now = worst(of, &note);
        most = fmax(most, now);
        residues += !is_native(note);
        if (now > 1)
          fail_msg("%s kind %d: %d x %d x %d by %s is %g of its bound", t ? "f64" : "f32", kind, of->m, of->n,
                   of->k, of->strategy, now);
      }
      print_message("  %s kind %d: largest %.3f of its bound, %d of %d by residues\n", t ? "f64" : "f32",
                    kind, most, residues, PER_KIND);
      assert_true(most > 0);
      assert_true(residues > 0 || (kind != NORMAL && kind != GRADED && kind != CANCELLED));
      free(of);
    }
}

/* Numbers are changed one at a time, and what makes the worst error larger is kept, as long as residues
 * compute it. */
static void climbing_finds_no_way_out(void **state) {
  (void)state;
  for (int climb = 0; climb < CLIMBS; climb++) {
    product *of = new_product(climb % 2 ? TESELA_F64 : TESELA_F32);
    const char *note;
    of->m = of->n = 4, of->k = climb < 2 ? 16 : 64;
    of->accuracy = climb < 2 ? "1e-2" : climb == 4 ? "3e-7" : NULL;
    fill(of, NORMAL);
    double best = worst(of, &note);
    const double first = best;
    assert_false(is_native(note));
    for (int step = 0; step < STEPS; step++) {
      const bool of_a = below(2);
      double *at = of_a ? &of->a[below(of->m * of->k)] : &of->b[below(of->k * of->n)];
      const double before = *at;
      *at = as_type(of, below(3) ? ldexp(before, below(9) - 4) : below(2) ? uniform() : 0);
      const double now = worst(of, &note);
      if (now >= best && !is_native(note))
        best = now;
      else
        *at = before;
    }
    print_message("  climb %d: from %.4f to %.4f of its bound\n", climb, first, best);
    assert_true(best <= 1);
    assert_true(best > first);
    free(of);
  }
}

/* Ordinary data is computed by residues, and more exactly than a sum in its type. */
static void ordinary_data_takes_residues(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    product *of = new_product(t ? TESELA_F64 : TESELA_F32);
    const char *note;
    of->m = of->n = 20, of->k = 200;
    fill(of, NORMAL);
    const double residues = worst(of, &note);
    assert_true(!note || strstr(note, "more moduli than usual"));
    of->strategy = "sequential";
    const double sums = worst(of, &note);
    assert_true(residues < sums);
    free(of);
  }
}

/* Limits are fine enough that long lines of normal numbers need no more moduli than usual. Lines of
 * uniform numbers times exp(normal), and lines whose numbers decrease by 2^12, are still computed
 * by residues. */
static void long_lines_take_few_moduli(void **state) {
  (void)state;
  enum { LINES = 48, LONG = 2048, WAYS = 3 };
  static float a32[LINES * LONG], b32[LINES * LONG], c32[LINES * LINES];
  static double a64[LINES * LONG], b64[LINES * LONG], c64[LINES * LINES];
  for (int way = 0; way < WAYS; way++) {
    for (int i = 0; i < LINES * LONG; i++)
      for (int o = 0; o < 2; o++) {
        const double normal = 0.866 * (uniform() + uniform() + uniform() + uniform());
        const double x = way == 0   ? normal
                         : way == 1 ? uniform() * exp(normal)
                                    : ldexp(normal, -12 * (i % LONG) / LONG);
        (o ? b64 : a64)[i] = x;
        (o ? b32 : a32)[i] = (float)x;
      }
    for (int t = 0; t < (way < 2 ? 2 : 1); t++) { /* f64 has no moduli left for the last way */
      const tesela_gemm_desc desc = {
          .m = LINES,
          .n = LINES,
          .k = LONG,
          .a = {.data = t ? (void *)a64 : (void *)a32, .type = t ? TESELA_F64 : TESELA_F32},
          .b = {.data = t ? (void *)b64 : (void *)b32,
                .type = t ? TESELA_F64 : TESELA_F32,
                .row_stride = 1,
                .col_stride = LONG},
          .c = {.data = t ? (void *)c64 : (void *)c32, .type = t ? TESELA_F64 : TESELA_F32},
          .options.device = "cpu",
          .options.strategy = "residue_int8"};
      tesela_record record;
      assert_int_equal(tesela_gemm(context, &desc, &record), TESELA_OK);
      if (way == 0)
        assert_null(record.note);
      else
        assert_true(!record.note || strstr(record.note, "more moduli than usual"));
    }
  }
}

/* An ask for less than sums of f32 guarantee takes as many moduli as normal numbers need for it, which is
 * few. */
static void precise_asks_take_few_moduli(void **state) {
  (void)state;
  enum { LINES = 64, LONG = 4096 };
  static const struct {
    const char *accuracy;
    int moduli;
  } rows[] = {{"1e-5", 7}, {"1e-6", 8}, {"7.6e-8", 10}};
  static float a[LINES * LONG], b[LINES * LONG], c[LINES * LINES];
  for (int i = 0; i < LINES * LONG; i++) {
    a[i] = (float)(0.866 * (uniform() + uniform() + uniform() + uniform()));
    b[i] = (float)(0.866 * (uniform() + uniform() + uniform() + uniform()));
  }
  for (int i = 0; i < 3; i++) {
    tsl_problem problem = tsl_problem_gemm(LINES, LINES, LONG, TESELA_F32);
    assert_int_equal(tsl_numeric_requirements_parse_accuracy(rows[i].accuracy, &problem.ask), TESELA_OK);
    assert_true(tsl_residue_is_precise(&problem));
    assert_int_equal(tsl_residue_least(&problem, &(tsl_config){{0}}), rows[i].moduli);
    const tesela_gemm_desc desc = {.m = LINES,
                                   .n = LINES,
                                   .k = LONG,
                                   .a = {.data = a},
                                   .b = {.data = b, .row_stride = 1, .col_stride = LONG},
                                   .c = {.data = c},
                                   .options.device = "cpu",
                                   .options.strategy = "residue_int8",
                                   .options.accuracy = rows[i].accuracy};
    tesela_record record;
    assert_int_equal(tesela_gemm(context, &desc, &record), TESELA_OK);
    print_message("  %s: %s\n", rows[i].accuracy, record.note ? record.note : "as expected");
    assert_null(record.note);
    assert_true(record.error_bound <= strtod(rows[i].accuracy, NULL) * (1 + 1e-9));
  }
}

/* A few lines that residues cannot represent are multiplied natively; all other lines use residues. */
static void few_lines_are_native(void **state) {
  (void)state;
  enum { M = 500, N = 520, K = 40 };
  static float a[M * K], b[K * N], c[M * N], right[M * N];
  for (int i = 0; i < M * K; i++)
    a[i] = (float)(below(201) - 100);
  for (int i = 0; i < K * N; i++)
    b[i] = (float)(below(201) - 100);
  a[5 * K + 7] = INFINITY;
  tesela_gemm_desc desc = {.m = M,
                           .n = N,
                           .k = K,
                           .a = {.data = a},
                           .b = {.data = b},
                           .c = {.data = c},
                           .options.device = "cpu",
                           .options.strategy = "residue_int8"};
  tesela_record record;
  assert_int_equal(tesela_gemm(context, &desc, &record), TESELA_OK);
  assert_non_null(record.note);
  assert_non_null(strstr(record.note, "rows or columns"));
  desc.c.data = right;
  desc.options.strategy = "sequential";
  assert_int_equal(tesela_gemm(context, &desc, NULL), TESELA_OK);
  for (int i = 0; i < M * N; i++) {
    assert_true(c[i] == right[i] || (isnan(c[i]) && isnan(right[i])));
    assert_int_equal(isfinite(c[i]) != 0, i / N != 5);
  }
}

/* Every number up to half of P comes back from its residues, in both ways. */
static void sieves_are_right(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(100, 100, 1000, TESELA_F64);
  for (int moduli = 4; moduli <= TSL_RESIDUE_MODULI; moduli++) {
    const tsl_config config = {{moduli}};
    const residue_rules rules = tsl_residue_rules(&problem, &config, 100, 100);
    const residue_sieve *sieve = &rules.sieves[0];
    assert_int_equal(sieve->moduli, moduli);
    double whole = 1;
    for (int l = 0; l < moduli; l++)
      whole *= rules.moduli[l].p;
    const double half = ldexp((double)sieve->half_top, sieve->half_exponent);
    assert_true(half <= whole * (0.5 - 1. / 256) * (1 + 1e-14) && half > whole * 0.49);
    for (int i = 0; i < 1000; i++) {
      const double bits = fmin(62.9, log2(half));
      const long long number = (long long)ldexp(uniform(), (int)bits);
      residue_sum sum = {{0}, 1u << 19};
      for (int l = 0; l < moduli; l++) {
        const long long p = rules.moduli[l].p, rest = (number % p + p) % p;
        residue_sum_add(&sum, sieve, l, (unsigned)rest, 4);
      }
      assert_true(residue_sum_long(&sum, sieve, 3) == ldexp((double)number, -3));
      if (moduli <= 8)
        assert_true(residue_sum_short(&sum, sieve) == number);
    }
    for (int l = 0; l < moduli; l++) {
      const residue_modulus *p = &rules.moduli[l];
      for (int i = 0; i < 1000; i++) {
        const unsigned x = i < 300 ? 0x80000000u + 255 - (unsigned)i : (unsigned)(next() >> 33);
        assert_int_equal(((residue_word)x * p->magic >> 32) >> 7, x / p->p);
      }
      assert_true(p->bias % p->p == 0 && p->bias >= 1u << 30 && p->bias < (1u << 30) + 256);
    }
  }
}

/* CUDA's reduction of integer sums: every float that sums become is reduced to a byte that is
 * congruent modulo p and at most p. */
static void sums_are_reduced(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(64, 64, 64, TESELA_F64);
  const tsl_config config = {{0}};
  const residue_rules rules = tsl_residue_rules(&problem, &config, 64, 64);
  for (int l = 1; l < TSL_RESIDUE_MODULI; l++) {
    const residue_modulus *modulus = &rules.moduli[l];
    const int p = (int)modulus->p;
    const residue_reduction by = tsl_residue_reduction(modulus->p);
    const int factor = (signed char)(by.factors >> 8), base = (1 << 23) + (int)(by.base - 0x4b000000u);
    assert_true((by.factors & 255) == 1 && base % p == 0 && ((1 << 16) - factor) % p == 0);
    const int first = base + (factor < 0 ? factor * 65535 : 0),
              last = base + (factor > 0 ? factor * 65535 : 0) + 65535;
    assert_true(first >= 1 << 23 && last < 1 << 24);
    int least = p, most = 0;
    for (int v = first; v <= last; v++) { /* two floats' product is exact as a double */
      const int rest = v - (int)floor((double)v * (double)modulus->inverse) * p;
      least = rest < least ? rest : least;
      most = rest > most ? rest : most;
    }
    assert_true(least >= 0 && most <= p);
  }
}

/* Complex products with conjugates of either factor or both, and C in either order. Three products
 * modulo p equal the specification. So does a small product that is computed natively, because the
 * numbers of a row are too far apart. */
static void conjugates_count(void **state) {
  (void)state;
  enum { M = 9, N = 7, K = 21 };
  static double a[M * K * 2], b[K * N * 2], c[M * N * 2], right[M * N * 2];
  for (int i = 0; i < K * N * 2; i++)
    b[i] = below(201) - 100;
  for (int way = 0; way < 16; way++) {
    for (int i = 0; i < M * K * 2; i++)
      a[i] = ldexp(below(201) - 100, way & 8 && i / (2 * K) == 4 ? -(i % 7) * 40 : 0);
    tesela_gemm_desc desc = {.m = M,
                             .n = N,
                             .k = K,
                             .a = {.data = a, .type = TESELA_C128, .conjugate = way & 1},
                             .b = {.data = b, .type = TESELA_C128, .conjugate = way & 2},
                             .c = {.data = right, .type = TESELA_C128},
                             .options.device = "cpu",
                             .options.strategy = "sequential"};
    desc.c.row_stride = way & 4 ? 1 : N;
    desc.c.col_stride = way & 4 ? M : 1;
    assert_int_equal(tesela_gemm(context, &desc, NULL), TESELA_OK);
    desc.c.data = c;
    desc.options.strategy = "residue_int8";
    tesela_record record;
    assert_int_equal(tesela_gemm(context, &desc, &record), TESELA_OK);
    assert_int_equal(is_native(record.note), (way & 8) != 0);
    for (int i = 0; i < M * N * 2; i++)
      if (!(fabs(c[i] - right[i]) <= 1e-9))
        fail_msg("way %d, number %d: %g, where %g is right", way, i, c[i], right[i]);
  }
}

static void refusals_say_why(void **state) {
  (void)state;
  float a[4] = {1, 2, 3, 4}, c[4];
  tesela_gemm_desc desc = {.m = 2,
                           .n = 2,
                           .k = 2,
                           .a = {.data = a},
                           .b = {.data = a},
                           .c = {.data = c},
                           .options.device = "cpu",
                           .options.strategy = "residue_int8 moduli=11"};
  assert_int_equal(tesela_gemm(context, &desc, NULL), TESELA_UNSUPPORTED);
  assert_non_null(strstr(tesela_last_error(), "f32 has 4 to 10"));
  desc.options.strategy = "residue_int8";
  desc.options.accuracy = "7e-8"; /* less than a rounding and a quarter */
  assert_int_equal(tesela_gemm(context, &desc, NULL), TESELA_UNSUPPORTED);
}

int main(void) {
  if (tesela_context_create(NULL, &context) != TESELA_OK)
    return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(others_compute_what_does_not_pay),
      cmocka_unit_test(sieves_are_right),
      cmocka_unit_test(nothing_exceeds_its_bound),
      cmocka_unit_test(climbing_finds_no_way_out),
      cmocka_unit_test(ordinary_data_takes_residues),
      cmocka_unit_test(conjugates_count),
      cmocka_unit_test(precise_asks_take_few_moduli),
      cmocka_unit_test(few_lines_are_native),
      cmocka_unit_test(refusals_say_why),
      cmocka_unit_test(long_lines_take_few_moduli),
      cmocka_unit_test(sums_are_reduced),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  tesela_context_destroy(context);
  return failed;
}
