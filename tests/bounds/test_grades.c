/* Demmel's grades of matrix products (Demmel, Li, Langou, Pereira, Gates, Rubio-Gonzalez 2024, "How to
 * grade the accuracy of an implementation of the BLAS"), of every strategy of a device:
 *
 *   A   |error| <= f(k) u |A||B|, element by element: conventional sums of floating-point numbers
 *   B   only <= f(k) u times the norms of A's row and of B's column: products of fixed-point numbers,
 *       scaled by rows and columns
 *   C   only <= f(k) u times the norms of A and B: Strassen's algorithm
 *
 *   test_grades [DEVICE [LARGEST]]
 *
 * f(k) is k + 8, which exceeds every bound here. Data: random; rows of A and columns of B of different
 * magnitudes; A D and D^-1 B, D graded by powers of 2; every exponent at random. Two impostors, one of
 * grade B and one of C, show that the tests distinguish the grades. Exits with 1 where a strategy with
 * the bounds of its type is not of grade A. */
#include "core/random.h"
#include "judge/reference.h"
#include "strategy/strategy.h"
#include "strategy/strategy_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 16, MOST = 1024, DATA = 4 };

typedef struct product {
  int64_t n;
  tesela_type type;
  double *a, *b, *c;              /* as doubles, n x n */
  double *high, *low, *magnitude; /* the exact product, and |A||B| */
} product;

typedef bool (*multiplier)(const product *product_in, const char *strategy);

static tesela_context *context;
static const char *device = "cpu";

static double *doubles(int64_t count) {
  double *made = calloc((size_t)count, sizeof *made);
  if (!made)
    exit(2);
  return made;
}

/* --- data --- */

static double uniform(uint64_t seed, int64_t index) {
  return tsl_random_value(TSL_DRAW_UNIFORM, seed, (uint64_t)index);
}

static int power(uint64_t seed, int64_t index, int most) {
  return (int)(tsl_random_u64(seed, (uint64_t)index) % (uint64_t)(2 * most + 1)) - most;
}

static void fill(product *product_in, int data) {
  const int64_t n = product_in->n;
  const int most = product_in->type == TESELA_F32 ? 24 : 200;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      int a = 0, b = 0;
      if (data == 1)
        a = -power(3, i, most), b = -power(4, j, most);
      else if (data == 2)
        a = power(5, j, most), b = -power(5, i, most);
      else if (data == 3)
        a = power(6, i * n + j, most / 2), b = power(7, i * n + j, most / 2);
      product_in->a[i * n + j] = ldexp((double)(float)uniform(1, i * n + j), a);
      product_in->b[i * n + j] = ldexp((double)(float)uniform(2, i * n + j), b);
    }
  memset(product_in->high, 0, (size_t)(n * n) * sizeof *product_in->high);
  memset(product_in->low, 0, (size_t)(n * n) * sizeof *product_in->low);
  memset(product_in->magnitude, 0, (size_t)(n * n) * sizeof *product_in->magnitude);
  const tsl_sums sums = {product_in->high, product_in->low, product_in->magnitude};
  tsl_reference_add_products((int)n, (int)n, (int)n, product_in->a, product_in->b, &sums);
}

/* --- multiplication --- */

static bool by_strategy(const product *product_in, const char *strategy) {
  const size_t count = (size_t)(product_in->n * product_in->n),
               size = product_in->type == TESELA_F32 ? sizeof(float) : sizeof(double);
  unsigned char *const memory = malloc(3 * count * size);
  if (!memory)
    exit(2);
  unsigned char *const a = memory, *const b = a + count * size, *const c = b + count * size;
  tsl_type_convert(TESELA_F64, product_in->a, 1, product_in->type, a, 1, count);
  tsl_type_convert(TESELA_F64, product_in->b, 1, product_in->type, b, 1, count);
  const tesela_gemm_desc desc = {.m = product_in->n,
                                 .n = product_in->n,
                                 .k = product_in->n,
                                 .a = {.data = a, .type = product_in->type},
                                 .b = {.data = b, .type = product_in->type},
                                 .c = {.data = c, .type = product_in->type},
                                 .options.device = device,
                                 .options.strategy = strategy};
  const tesela_status status = tesela_gemm(context, &desc, NULL);
  tsl_type_convert(product_in->type, c, 1, TESELA_F64, product_in->c, 1, count);
  free(memory);
  if (status != TESELA_OK && status != TESELA_UNSUPPORTED)
    printf("%s: %s\n", strategy, tesela_last_error());
  return status == TESELA_OK;
}

static double unit_of(const product *product_in) {
  return tsl_type(product_in->type)->unit_roundoff;
}

/* The nearest multiple of the unit roundoff of a line's largest number: fixed point, one scale a line. */
static void to_fixed_point(const product *product_in, const double *from, double *dst, bool by_rows) {
  const int64_t n = product_in->n, line = by_rows ? n : 1, step = by_rows ? 1 : n;
  for (int64_t i = 0; i < n; i++) {
    double most = 0;
    for (int64_t j = 0; j < n; j++)
      most = fmax(most, fabs(from[i * line + j * step]));
    const double grain = ldexp(unit_of(product_in), ilogb(most) + 1);
    for (int64_t j = 0; j < n; j++)
      dst[i * line + j * step] = rint(from[i * line + j * step] / grain) * grain;
  }
}

static bool by_fixed_point(const product *product_in, const char *strategy) {
  const int64_t count = product_in->n * product_in->n;
  double *a = doubles(count), *b = doubles(count), *rest = doubles(2 * count);
  const tsl_sums sums = {product_in->c, rest, rest + count};
  (void)strategy;
  to_fixed_point(product_in, product_in->a, a, true);
  to_fixed_point(product_in, product_in->b, b, false);
  memset(product_in->c, 0, (size_t)count * sizeof *product_in->c);
  tsl_reference_add_products((int)product_in->n, (int)product_in->n, (int)product_in->n, a, b, &sums);
  free(a);
  free(b);
  free(rest);
  return true;
}

/* x + sign y in the type, quarter by quarter. */
static void add(const product *product_in, const double *x, const double *y, double sign, double *dst,
                int64_t stride) {
  const int64_t half = product_in->n / 2;
  for (int64_t i = 0; i < half; i++)
    for (int64_t j = 0; j < half; j++) {
      const double sum = x[i * stride + j] + sign * y[i * stride + j];
      dst[i * half + j] = product_in->type == TESELA_F32 ? (double)(float)sum : sum;
    }
}

/* One step of Strassen's method, whose seven products are exact. */
static bool by_strassen(const product *product_in, const char *strategy) {
  const int64_t n = product_in->n, h = n / 2, q = h * h;
  const double *a11 = product_in->a, *a12 = a11 + h, *a21 = a11 + h * n, *a22 = a21 + h;
  const double *b11 = product_in->b, *b12 = b11 + h, *b21 = b11 + h * n, *b22 = b21 + h;
  const double *left[7][2] = {{a11, a22}, {a21, a22}, {a11, 0}, {a22, 0}, {a11, a12}, {a21, a11}, {a12, a22}};
  const double *right[7][2] = {{b11, b22}, {b11, 0},   {b12, b22}, {b21, b11},
                               {b22, 0},   {b11, b12}, {b21, b22}};
  static const double left_sign[7] = {1, 1, 0, 0, 1, -1, -1}, right_sign[7] = {1, 0, -1, -1, 0, 1, 1};
  double *x = doubles(q), *y = doubles(q), *m = doubles(7 * q), *rest = doubles(2 * q);
  (void)strategy;
  for (int p = 0; p < 7; p++) {
    const tsl_sums sums = {m + p * q, rest, rest + q};
    memset(rest, 0, 2 * (size_t)q * sizeof *rest);
    add(product_in, left[p][0], left[p][1] ? left[p][1] : left[p][0], left_sign[p], x, n);
    add(product_in, right[p][0], right[p][1] ? right[p][1] : right[p][0], right_sign[p], y, n);
    tsl_reference_add_products((int)h, (int)h, (int)h, x, y, &sums);
  }
  for (int64_t i = 0; i < h; i++)
    for (int64_t j = 0; j < h; j++) {
      const double *at = m + i * h + j;
      product_in->c[i * n + j] = at[0] + at[3 * q] - at[4 * q] + at[6 * q];
      product_in->c[i * n + j + h] = at[2 * q] + at[4 * q];
      product_in->c[(i + h) * n + j] = at[q] + at[3 * q];
      product_in->c[(i + h) * n + j + h] = at[0] - at[q] + at[2 * q] + at[5 * q];
    }
  free(x);
  free(y);
  free(m);
  free(rest);
  return true;
}

/* --- grades --- */

static double norm(const double *from, int64_t count, int64_t step) {
  double most = 0, sum = 0;
  for (int64_t i = 0; i < count; i++)
    most = fmax(most, fabs(from[i * step]));
  for (int64_t i = 0; i < count && most > 0; i++)
    sum += from[i * step] / most * (from[i * step] / most);
  return most * sqrt(sum);
}

/* The largest error in units of u times what each grade measures by. */
static void measure(const product *product_in, double largest[3]) {
  const int64_t n = product_in->n;
  const double u = unit_of(product_in), all = norm(product_in->a, n * n, 1) * norm(product_in->b, n * n, 1);
  double *cols = doubles(n);
  for (int64_t j = 0; j < n; j++)
    cols[j] = norm(product_in->b + j, n, n);
  for (int64_t i = 0; i < n; i++) {
    const double row = norm(product_in->a + i * n, n, 1);
    for (int64_t j = 0; j < n; j++) {
      const int64_t at = i * n + j;
      const double error = fabs((product_in->c[at] - product_in->high[at]) - product_in->low[at]);
      largest[0] = fmax(largest[0], error / (u * product_in->magnitude[at]));
      largest[1] = fmax(largest[1], error / (u * row * cols[j]));
      largest[2] = fmax(largest[2], error / (u * all));
    }
  }
  free(cols);
}

static char grade_of(multiplier multiply, const char *strategy, tesela_type type, int64_t most,
                     double index[DATA], double *slope) {
  bool holds[3] = {true, true, true};
  double first = 0, last = 0;
  int64_t n = LEAST;
  for (; n <= most; n *= 2) {
    double *memory = doubles(6 * n * n);
    product of = {n,
                  type,
                  memory,
                  memory + n * n,
                  memory + 2 * n * n,
                  memory + 3 * n * n,
                  memory + 4 * n * n,
                  memory + 5 * n * n};
    for (int data = 0; data < DATA; data++) {
      double largest[3] = {0, 0, 0};
      fill(&of, data);
      if (!multiply(&of, strategy)) {
        free(memory);
        return 0;
      }
      measure(&of, largest);
      for (int i = 0; i < 3; i++)
        holds[i] = holds[i] && largest[i] <= (double)n + 8;
      index[data] = largest[0];
      if (data == 0)
        *(n == LEAST ? &first : &last) = largest[0];
    }
    free(memory);
  }
  *slope = last > 0 && first > 0 ? log2(last / first) / log2((double)n / 2 / LEAST) : 0;
  return holds[0] ? 'A' : holds[1] ? 'B' : holds[2] ? 'C' : '-';
}

static char print(multiplier multiply, const char *name, tesela_type type, int64_t most) {
  double at[DATA] = {0}, slope = 0;
  const char grade = grade_of(multiply, name, type, most, at, &slope);
  if (grade)
    printf("%-26s %-4s   %c   %8.3g %8.3g %8.3g %8.3g   %5.2f\n", name, tsl_type(type)->name, grade, at[0],
           at[1], at[2], at[3], slope);
  return grade;
}

int main(int argc, char **argv) {
  static const tesela_type types[] = {TESELA_F32, TESELA_F64};
  const int64_t most = argc > 2 ? atol(argv[2]) : 64;
  bool good = true;
  device = argc > 1 ? argv[1] : device;
  if (most < 2 * LEAST || most > MOST || tesela_context_create(NULL, &context) != TESELA_OK)
    return 2;
  printf("largest error in u |A||B| at n = %d on %s, of data: random, rows and columns apart, A D and D^-1 "
         "B, all exponents\n"
         "%-26s %-4s grade %8s %8s %8s %8s   slope\n",
         (int)most, device, "strategy", "type", "random", "rows", "graded", "any");
  for (int t = 0; t < 2; t++) {
    for (int i = 0; tsl_strategy_at(i); i++)
      if (tsl_strategy_at(i)->op == TSL_OP_GEMM && !tsl_strategy_at(i)->vendor.load) {
        const char grade = print(by_strategy, tsl_strategy_at(i)->name, types[t], most);
        good = good && (!grade || grade == 'A');
      }
    good = print(by_fixed_point, "(fixed point by rows)", types[t], most) == 'B' && good;
    good = print(by_strassen, "(Strassen, one step)", types[t], most) == 'C' && good;
  }
  tesela_context_destroy(context);
  return !good;
}
