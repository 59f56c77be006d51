/* The drop-in's routines set no flag of overflow, invalid or division by zero on harmless operands,
 * and do not trap where these exceptions trap. Operands: zeros, identities, subnormal and mixed
 * numbers, with one thread and several. */
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit/unit.h"

/* As each caller declares them. */
typedef const int32_t *num;
void dgemm_(const char *, const char *, num, num, num, const double *, const double *, num, const double *,
            num, const double *, double *, num);
void zgemm_(const char *, const char *, num, num, num, const double *, const double *, num, const double *,
            num, const double *, double *, num);
void dgemv_(const char *, num, num, const double *, const double *, num, const double *, num, const double *,
            double *, num);
void dsyrk_(const char *, const char *, num, num, const double *, const double *, num, const double *,
            double *, num);
void dtrmm_(const char *, const char *, const char *, const char *, num, num, const double *, const double *,
            num, double *, num);
void dtrsm_(const char *, const char *, const char *, const char *, num, num, const double *, const double *,
            num, double *, num);
void dtrsv_(const char *, const char *, const char *, num, const double *, num, double *, num);
double dnrm2_(num, const double *, num);
float snrm2_(num, const float *, num);

enum { MOST = 390, SERIOUS = FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO };
typedef enum data { ZEROS, IDENTITY, SUBNORMAL, MIXED, DATA } data;

static double a[2 * MOST * MOST], b[2 * MOST * MOST], c[2 * MOST * MOST];
static float single[MOST];
static const double alpha[] = {1.1, 0.2}, beta[] = {0.7, 0.1}, one = 1;
static const int32_t step = 1;

static double draw(void) {
  static uint64_t drawn = 1;
  drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(drawn >> 11) / 0x1p53 - 0.5;
}

static void fill(data kind, int n) {
  for (int i = 0; i < 2 * n * n; i++) {
    const double value = draw();
    a[i] = kind == ZEROS       ? 0
           : kind == IDENTITY  ? i % (n + 1) == 0
           : kind == SUBNORMAL ? value * 0x1p-1060
           : i % 5             ? value
                               : 0;
    b[i] = draw();
    c[i] = value;
  }
}

/* A triangle whose solutions are near 1, of numbers that have no reciprocal where they are subnormal. */
static void fill_triangle(data kind, int n) {
  const double diagonal = kind == SUBNORMAL ? 0x1p-1030 : 2;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      a[i * n + j] = i == j ? diagonal : kind == SUBNORMAL ? 0 : draw() / n;
      b[i * n + j] = diagonal;
    }
}

static int wrong;

static void begin(void) {
  feclearexcept(FE_ALL_EXCEPT);
#if defined(__GLIBC__) && defined(__x86_64__)
  feenableexcept(SERIOUS);
#endif
}
static void end(const char *name, int n, data kind) {
#if defined(__GLIBC__) && defined(__x86_64__)
  fedisableexcept(SERIOUS);
#endif
  const int flags = fetestexcept(SERIOUS);
  if (flags)
    print_error("%s, n %d, data %d:%s%s%s\n", name, n, (int)kind, flags & FE_INVALID ? " invalid" : "",
                flags & FE_OVERFLOW ? " overflow" : "", flags & FE_DIVBYZERO ? " division by zero" : "");
  wrong += flags != 0;
}
#define TRY(call)                                                                                            \
  do {                                                                                                       \
    begin();                                                                                                 \
    call;                                                                                                    \
    end(#call, n, kind);                                                                                     \
  } while (0)

static void try_all(int32_t n, data kind) {
  fill(kind, n);
  TRY(dgemm_("N", "T", &n, &n, &n, alpha, a, &n, b, &n, beta, c, &n));
  TRY(dgemm_("T", "N", &n, &n, &n, alpha, a, &n, b, &n, beta, c, &n));
  TRY(zgemm_("N", "N", &n, &n, &n, alpha, a, &n, b, &n, beta, c, &n));
  TRY(dgemv_("N", &n, &n, alpha, a, &n, b, &step, beta, c, &step));
  TRY(dgemv_("T", &n, &n, alpha, a, &n, b, &step, beta, c, &step));
  TRY(dsyrk_("U", "N", &n, &n, alpha, a, &n, beta, c, &n));
  TRY(dtrmm_("L", "U", "N", "N", &n, &n, alpha, a, &n, b, &n));
  fill_triangle(kind, n);
  TRY(dtrsm_("L", "U", "N", "N", &n, &n, &one, a, &n, b, &n));
  fill_triangle(kind, n);
  TRY(dtrsv_("U", "N", "N", &n, a, &n, b, &step));
  c[0] = 1e200; /* whose square is too large */
  c[n / 2] = -3e200;
  single[0] = 1e30f;
  TRY((void)dnrm2_(&n, c, &step));
  TRY((void)snrm2_(&n, single, &step));
}

static void no_flag_is_spurious(void **state) {
  static const int32_t sizes[] = {1, 3, 7, 17, 33, 70, 200, MOST};
  (void)state;
  for (data kind = ZEROS; kind < DATA; kind++)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
      try_all(sizes[s], kind);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_flag_is_spurious)};
  return cmocka_run_group_tests_name("flags", tests, NULL, NULL);
}
