/* Every routine of level 1 compared with plain sums, as Fortran routine and by CBLAS. Random
 * lengths, increments and scalars, lengths that threads share, the ends of the range, infinities
 * and NaN. */
#include "blas/operands.h"

#include <stdlib.h>

typedef const int32_t *num;
static const int steps[] = {1, 1, -1, 2, -2, 3, -3, 1};

static void setup(const type *element, int n, line *x, line *y) {
  *x = line_of(element, n, steps[draw(8)]);
  *y = line_of(element, n, steps[draw(8)]);
  keep(&x->in);
  keep(&y->in);
}
static void done(line *x, line *y, const char *what) {
  release(&x->in, what);
  release(&y->in, what);
}
static wide at(const line *x, int64_t i) {
  return old(&x->in, place(x, i));
}

/* Returns the CBLAS function with a type's letter before the name: "axpy" gives cblas_daxpy. */
static void (*cblas_of(const type *element, const char *name))(void) {
  char whole[40];
  snprintf(whole, sizeof whole, "cblas_%c%s", element->letter, name);
  return function_of(whole);
}

/* Calls axpy by one of its two conventions. CBLAS takes a real scalar by value. */
static void call_axpy(const type *element, int n, const void *alpha, line *x, line *y) {
  const void *from = start(&x->in);
  void *to = start(&y->in);
  const int32_t incx = (int32_t)x->inc, incy = (int32_t)y->inc;
  if (draw(2))
    ((void (*)(num, const void *, const void *, num, void *, num))routine(element, "axpy"))(&n, alpha, from,
                                                                                            &incx, to, &incy);
  else if (element->is_complex)
    ((void (*)(int, const void *, const void *, int, void *, int))cblas_of(element, "axpy"))(n, alpha, from,
                                                                                             incx, to, incy);
  else if (element->is_single)
    ((void (*)(int, float, const void *, int, void *, int))cblas_of(element, "axpy"))(
        n, *(const float *)alpha, from, incx, to, incy);
  else
    ((void (*)(int, double, const void *, int, void *, int))cblas_of(element, "axpy"))(
        n, *(const double *)alpha, from, incx, to, incy);
}

/* Calls scal, or the form with a real scalar, by one of its two conventions. */
static void call_scal(const type *element, const char *name, bool by_real, int n, const void *alpha,
                      line *x) {
  void *at = start(&x->in);
  const int32_t inc = (int32_t)x->inc;
  if (draw(2))
    ((void (*)(num, const void *, void *, num))routine(element, name))(&n, alpha, at, &inc);
  else if (element->is_complex && !by_real)
    ((void (*)(int, const void *, void *, int))cblas_of(element, name))(n, alpha, at, inc);
  else if (element->is_single)
    ((void (*)(int, float, void *, int))cblas_of(element, name))(n, *(const float *)alpha, at, inc);
  else
    ((void (*)(int, double, void *, int))cblas_of(element, name))(n, *(const double *)alpha, at, inc);
}

static void check_axpy(const type *element, int n) {
  line x, y;
  double alpha[2];
  const wide a = draw(4) ? value_of(element) : 0;
  setup(element, n, &x, &y);
  store(element, alpha, 0, a);
  call_axpy(element, n, alpha, &x, &y);
  for (int i = 0; i < n && a != 0; i++) {
    sum wanted = {0, 0};
    add(&wanted, a, at(&x, i));
    add(&wanted, 1, at(&y, i));
    expect(element, result(&y.in, place(&y, i)), wanted, 2, "axpy");
  }
  done(&x, &y, "axpy");
}

/* By a scalar of the type, or of complex types by a real one; increments below 1 do nothing. */
static void check_scal(const type *element, int n, bool by_real) {
  line x, y;
  double alpha[2] = {0, 0};
  const wide a = by_real ? number() : value_of(element);
  char name[16];
  setup(element, n, &x, &y);
  store(element, alpha, 0, a);
  snprintf(name, sizeof name, "%sscal", !by_real ? "" : element->is_single ? "s" : "d");
  call_scal(element, name, by_real, n, alpha, &x);
  for (int i = 0; i < n && x.inc > 0; i++) {
    sum wanted = {0, 0};
    add(&wanted, a, at(&x, i));
    expect(element, result(&x.in, place(&x, i)), wanted, 1, name);
  }
  done(&x, &y, name);
}

static void check_moves(const type *element, int n) {
  static const char *const names[] = {"copy", "swap"};
  for (int which = 0; which < 2; which++) {
    line x, y;
    setup(element, n, &x, &y);
    if (draw(2))
      ((void (*)(num, void *, num, void *, num))routine(element, names[which]))(
          &n, start(&x.in), &(int32_t){(int)x.inc}, start(&y.in), &(int32_t){(int)y.inc});
    else
      ((void (*)(int, void *, int, void *, int))cblas_of(element, names[which]))(n, start(&x.in), (int)x.inc,
                                                                                 start(&y.in), (int)y.inc);
    for (int i = 0; i < n; i++) {
      assert_true(result(&y.in, place(&y, i)) == at(&x, i));
      if (which == 1)
        assert_true(result(&x.in, place(&x, i)) == at(&y, i));
    }
    done(&x, &y, names[which]);
  }
}

/* Returns a dot by CBLAS, which stores complex ones. */
static wide cblas_dot_of(const type *element, const char *name, int n, const void *a, int incx, const void *b,
                         int incy) {
  char whole[16];
  double stored[2];
  if (!element->is_complex) {
    void (*f)(void) = cblas_of(element, name);
    return element->is_single
               ? (wide)((float (*)(int, const void *, int, const void *, int))f)(n, a, incx, b, incy)
               : (wide)((double (*)(int, const void *, int, const void *, int))f)(n, a, incx, b, incy);
  }
  snprintf(whole, sizeof whole, "%s_sub", name);
  ((void (*)(int, const void *, int, const void *, int, void *))cblas_of(element, whole))(n, a, incx, b, incy,
                                                                                          stored);
  return load(element, stored, 0);
}

static wide dot_of(const type *element, const char *name, int n, line *x, line *y, bool by_cblas) {
  void (*f)(void) = routine(element, name);
  const int32_t incx = (int)x->inc, incy = (int)y->inc;
  const void *a = start(&x->in), *b = start(&y->in);
  if (by_cblas)
    return cblas_dot_of(element, name, n, a, incx, b, incy);
  if (!element->is_complex)
    return element->is_single
               ? (wide)((float (*)(num, const void *, num, const void *, num))f)(&n, a, &incx, b, &incy)
               : (wide)((double (*)(num, const void *, num, const void *, num))f)(&n, a, &incx, b, &incy);
  return element->is_single
             ? (wide)((float complex (*)(num, const void *, num, const void *, num))f)(&n, a, &incx, b, &incy)
             : (wide)((double complex (*)(num, const void *, num, const void *, num))f)(&n, a, &incx, b,
                                                                                        &incy);
}

static void check_dots(const type *element, int n) {
  static const char *const names[] = {"dot", "dotu", "dotc"};
  for (int which = element->is_complex ? 1 : 0; which < (element->is_complex ? 3 : 1); which++) {
    line x, y;
    sum wanted = {0, 0};
    setup(element, n, &x, &y);
    for (int i = 0; i < n; i++)
      add(&wanted, which == 2 ? conjl(at(&x, i)) : at(&x, i), at(&y, i));
    const wide seen = dot_of(element, names[which], n, &x, &y, false);
    expect(element, seen, wanted, n < 100 ? n : 100, names[which]);
    assert_true(dot_of(element, names[which], n, &x, &y, true) == seen);
    done(&x, &y, names[which]);
  }
}

static double size_of(const type *element, const char *name, int n, const void *x, int32_t inc) {
  char whole[32];
  const char *before = element->letter == 'c' ? "s" : element->letter == 'z' ? "d" : "";
  if (draw(2)) {
    snprintf(whole, sizeof whole, "cblas_%s%c%s", before, element->letter, name);
    void (*f)(void) = function_of(whole);
    return element->is_single ? (double)((float (*)(int, const void *, int))f)(n, x, inc)
                              : ((double (*)(int, const void *, int))f)(n, x, inc);
  }
  snprintf(whole, sizeof whole, "%s%c%s_", before, element->letter, name);
  void (*f)(void) = function_of(whole);
  return element->is_single ? (double)((float (*)(num, const void *, num))f)(&n, x, &inc)
                            : ((double (*)(num, const void *, num))f)(&n, x, &inc);
}
/* Returns the place from 1 on. CBLAS counts from 0 and has no other number for "none". */
static int largest_of(const type *element, int n, const void *x, int32_t inc) {
  char whole[32];
  if (n > 0 && inc > 0 && draw(2)) {
    snprintf(whole, sizeof whole, "cblas_i%camax", element->letter);
    return 1 + (int)((size_t(*)(int, const void *, int))function_of(whole))(n, x, inc);
  }
  snprintf(whole, sizeof whole, "i%camax_", element->letter);
  return ((int (*)(num, const void *, num))function_of(whole))(&n, x, &inc);
}
static double absolute(wide value) {
  return (double)(fabsl(creall(value)) + fabsl(cimagl(value)));
}

/* A negative increment has a norm alone. */
static void check_sums(const type *element, int n) {
  line x, y;
  double squares = 0, sizes = 0, most = -1;
  int found = 0;
  setup(element, n, &x, &y);
  for (int i = 0; i < n; i++) {
    const double size = absolute(at(&x, i));
    squares += (double)(creall(at(&x, i) * conjl(at(&x, i))));
    sizes += size;
    if (element->is_single ? (float)size > (float)most : size > most) {
      most = size;
      found = i + 1;
    }
  }
  const double bound = element->unit * (n < 100 ? n + 4 : 100),
               norm = size_of(element, "nrm2", n, start(&x.in), (int)x.inc);
  assert_true(fabs(norm - sqrt(squares)) <= bound * sqrt(squares));
  const double asum = size_of(element, "asum", n, start(&x.in), (int)x.inc);
  assert_true(x.inc > 0 ? fabs(asum - sizes) <= bound * sizes : asum == 0);
  assert_int_equal(largest_of(element, n, start(&x.in), (int)x.inc), x.inc > 0 ? found : 0);
  done(&x, &y, "sums");
}

static void check_rot(const type *element, int n) {
  line x, y;
  const double c = 0.6, s = -0.8;
  const float c_single = 0.6f, s_single = -0.8f;
  setup(element, n, &x, &y);
  const char *name = !element->is_complex ? "rot" : element->is_single ? "srot" : "drot";
  if (draw(2))
    ((void (*)(num, void *, num, void *, num, const void *, const void *))routine(element, name))(
        &n, start(&x.in), &(int32_t){(int)x.inc}, start(&y.in), &(int32_t){(int)y.inc},
        element->is_single ? (const void *)&c_single : &c, element->is_single ? (const void *)&s_single : &s);
  else if (element->is_single)
    ((void (*)(int, void *, int, void *, int, float, float))cblas_of(element, name))(
        n, start(&x.in), (int)x.inc, start(&y.in), (int)y.inc, c_single, s_single);
  else
    ((void (*)(int, void *, int, void *, int, double, double))cblas_of(element, name))(
        n, start(&x.in), (int)x.inc, start(&y.in), (int)y.inc, c, s);
  for (int i = 0; i < n; i++) {
    sum to_x = {0, 0}, to_y = {0, 0};
    add(&to_x, c, at(&x, i));
    add(&to_x, s, at(&y, i));
    add(&to_y, c, at(&y, i));
    add(&to_y, -s, at(&x, i));
    expect(element, result(&x.in, place(&x, i)), to_x, 2, "rot");
    expect(element, result(&y.in, place(&y, i)), to_y, 2, "rot");
  }
  done(&x, &y, "rot");
}

static void test_lengths(void **unused) {
  (void)unused;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (int n = 0; n <= 75; n++) {
      /* The last ones go to threads; 16384 is the least piece. */
      const int length = n <= 70 ? n : (int[]){5000, 16384, 16385, 70001, 200003}[n - 71];
      for (int again = 0; again < (n <= 70 ? 3 : 1); again++) {
        check_axpy(&types[t], length);
        check_scal(&types[t], length, false);
        if (types[t].is_complex)
          check_scal(&types[t], length, true);
        check_moves(&types[t], length);
        check_dots(&types[t], length);
        check_sums(&types[t], length);
        check_rot(&types[t], length);
      }
    }
}

/* Steps of 0 take one element again and again. */
static void test_steps_of_zero(void **unused) {
  (void)unused;
  const int32_t n = 4, zero = 0, one = 1;
  double x[] = {2, 3, 5, 7}, y[] = {1, 1, 1, 1};
  const double alpha = 1;
  typedef void axpy(num, const double *, const double *, num, double *, num);
  typedef double ddot(num, const double *, num, const double *, num);
  ((axpy *)function_of("daxpy_"))(&n, &alpha, x, &one, y, &zero);
  assert_true(y[0] == 18 && y[1] == 1);
  assert_true(((ddot *)function_of("ddot_"))(&n, x, &zero, x, &one) == 34);
}

/* Elements that many pieces write belong to one thread: sums of whole numbers are exact. */
static void test_steps_of_zero_in_pieces(void **unused) {
  (void)unused;
  enum { COUNT = 70001 };
  const int32_t n = COUNT, zero = 0, one = 1;
  const double alpha = 1;
  typedef void axpy(num, const double *, const double *, num, double *, num);
  double *x = malloc(sizeof *x * COUNT), y[2];
  assert_non_null(x);
  for (int i = 0; i < COUNT; i++)
    x[i] = i % 7 - 2;
  double wanted = 5;
  for (int i = 0; i < COUNT; i++)
    wanted += x[i];
  for (int again = 0; again < 20; again++) {
    y[0] = 5, y[1] = -1;
    ((axpy *)function_of("daxpy_"))(&n, &alpha, x, &one, y, &zero);
    assert_true(y[0] == wanted && y[1] == -1);
  }
  free(x);
}

/* Norms of vectors with every exponent of the type: squares are subnormal in part, vanish, or are
 * infinite. */
static void check_exponents(const type *element, int n, int step) {
  const int least = element->is_single ? -149 : -1074, most = element->is_single ? 127 : 1023;
  const double tolerance = n > 100 ? 100 * element->unit : 10 * element->unit;
  char *x = malloc((size_t)n * element->size);
  assert_non_null(x);
  for (int e = least; e <= most; e += step) {
    const double value = ldexp(4.0 / 3, e), part = element->is_single ? (float)value : value;
    for (int i = 0; i < n; i++)
      store(element, x, i, element->is_complex ? CMPLXL(part, -part) : (wide)part);
    const long double wanted = (long double)part * sqrtl((long double)n * (element->is_complex ? 2 : 1)),
                      largest = element->is_single ? FLT_MAX : DBL_MAX, smallest = ldexpl(1, least);
    const double norm = size_of(element, "nrm2", n, x, 1);
    if (wanted > largest ? !isinf(norm) : !(fabsl(norm - wanted) <= tolerance * wanted + smallest))
      fail_msg("%cnrm2 of %d elements of 4/3 * 2^%d: %g in place of %Lg", element->letter, n, e, norm,
               wanted);
  }
  free(x);
}
static void test_norms_of_every_exponent(void **unused) {
  (void)unused;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    check_exponents(&types[t], 3, 1);
    check_exponents(&types[t], 20000, types[t].is_single ? 5 : 23);
  }
}

static void test_range(void **unused) {
  (void)unused;
  enum { COUNT = 20 };
  double large[COUNT], small[COUNT], x[COUNT];
  float single[COUNT];
  for (int i = 0; i < COUNT; i++) {
    large[i] = 1e300;
    small[i] = 1e-310;
    single[i] = 1e-30f;
    x[i] = 1;
  }
  assert_true(fabs(size_of(&types[1], "nrm2", COUNT, large, 1) / (1e300 * sqrt(COUNT)) - 1) < 1e-14);
  assert_true(fabs(size_of(&types[1], "nrm2", COUNT, small, 1) / (1e-310 * sqrt(COUNT)) - 1) < 1e-12);
  assert_true(fabs(size_of(&types[0], "nrm2", COUNT, single, 1) / (1e-30 * sqrt(COUNT)) - 1) < 1e-6);
  assert_true(fabs(size_of(&types[3], "nrm2", COUNT / 2, large, 1) / (1e300 * sqrt(COUNT)) - 1) < 1e-14);
  x[3] = INFINITY;
  assert_true(isinf(size_of(&types[1], "nrm2", COUNT, x, 1)));
  assert_int_equal(largest_of(&types[1], COUNT, x, 1), 4);
  x[2] = NAN;
  assert_true(isnan(size_of(&types[1], "nrm2", COUNT, x, 1)));
  assert_int_equal(largest_of(&types[1], COUNT, x, 1), 4);
  x[0] = NAN;
  assert_int_equal(largest_of(&types[1], COUNT, x, 1), 1);
}

/* The rotations of rotg and rotmg turn the second number to zero and keep lengths, also at the ends
 * of the range. */
static void test_rotations(void **unused) {
  (void)unused;
  static const double scales[] = {1, 1e300, 1e-300, 3e-320};
  typedef void drotg(double *, double *, double *, double *);
  typedef void drotmg(double *, double *, double *, const double *, double *);
  for (int i = 0; i < 400; i++) {
    const double scale = scales[i % 4], a = i % 7 ? number() * scale : 0, b = i % 5 ? number() * scale : 0;
    double r = a, z = b, c, s;
    ((drotg *)function_of("drotg_"))(&r, &z, &c, &s);
    const double tolerance = 1e-14 * hypot(a, b) + (scale < 1e-300 ? 1e-322 : 0);
    assert_true(fabs(c * c + s * s - 1) < (scale < 1e-300 ? 1e-2 : 1e-14));
    assert_true(scale < 1e-300 || (fabs(c * a + s * b - r) <= tolerance && fabs(c * b - s * a) <= tolerance));
    double d[2] = {1 + fabs(number()), 0.5 + fabs(number())}, x = number(), param[5] = {0};
    const double y = number(), start_d[2] = {d[0], d[1]}, start_x = x;
    ((drotmg *)function_of("drotmg_"))(&d[0], &d[1], &x, &y, param);
    if (param[0] == -2)
      continue;
    const double h21 = param[0] == 1 ? -1 : param[2], h22 = param[0] == 0 ? 1 : param[4];
    assert_true(fabs(h21 * start_x + h22 * y) <= 1e-13 * (fabs(start_x) + fabs(y)) * (fabs(h21) + fabs(h22)));
    const double before = start_d[0] * start_x * start_x + start_d[1] * y * y;
    assert_true(fabs(d[0] * x * x - before) <= 1e-13 * before);
  }
  typedef void zrotg(double complex *, const double complex *, double *, double complex *);
  for (int i = 0; i < 400; i++) {
    const double scale = scales[i % 3];
    const double complex a = i % 7 ? CMPLX(number(), number()) * scale : 0,
                         b = i % 5 ? CMPLX(number(), number()) * scale : 0;
    double complex r = a, s;
    double c;
    ((zrotg *)function_of("zrotg_"))(&r, &b, &c, &s);
    assert_true(cabs(c * a + s * b - r) <= 1e-14 * hypot(cabs(a), cabs(b)));
    assert_true(cabs(c * b - conj(s) * a) <= 1e-14 * hypot(cabs(a), cabs(b)));
    assert_true(fabs(c * c + creal(s * conj(s)) - 1) < 1e-14);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lengths),
                                     cmocka_unit_test(test_steps_of_zero),
                                     cmocka_unit_test(test_steps_of_zero_in_pieces),
                                     cmocka_unit_test(test_norms_of_every_exponent),
                                     cmocka_unit_test(test_range),
                                     cmocka_unit_test(test_rotations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
