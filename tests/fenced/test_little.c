/* Small products by direct calls, of every type, structure and layout, by each instruction set of
 * this machine, compared with sums in double. Every operand ends, then begins, at a protected page.
 * Elements that must not be read are NaN: the other triangle of a factor, C where beta is 0,
 * imaginary parts of a hermitian diagonal. Elements that must not be written are unchanged. */
#include "core/isa.h"
#include "device/devices.h"
#include "fenced/fence.h"
#include "strategy/solve/host/host_blocked/kernel.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double complex number;
enum { CASES = 400, GAP = 3, MOST = TSL_SOLVE_SMALL_PRODUCT_MAX, ELEMENTS = MOST * (MOST + GAP) };

static uint64_t state = 1;
static int draw(int below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)(state >> 33) % below;
}

/* A matrix with its copy of before. */
typedef struct matrix {
  tsl_shape shape;
  void *at;
  unsigned char before[ELEMENTS * 16];
} matrix;

static int parts_of(tesela_type type) {
  return type == TESELA_C64 || type == TESELA_C128 ? 2 : 1;
}
static bool is_single(tesela_type type) {
  return type == TESELA_F32 || type == TESELA_C64;
}
static double part(tesela_type type, const void *src, int64_t i) {
  return is_single(type) ? (double)((const float *)src)[i] : ((const double *)src)[i];
}
static void set_part(tesela_type type, void *data, int64_t i, double value) {
  if (is_single(type))
    ((float *)data)[i] = (float)value;
  else
    ((double *)data)[i] = value;
}

static int64_t place(const matrix *matrix_in, int64_t i, int64_t j) {
  return i * matrix_in->shape.row_stride + j * matrix_in->shape.col_stride;
}
static number at(const matrix *matrix_in, const void *data, int64_t i, int64_t j) {
  const int parts = parts_of(matrix_in->shape.type);
  const int64_t first = parts * place(matrix_in, i, j);
  const double imaginary = parts == 2 ? part(matrix_in->shape.type, data, first + 1) : 0;
  return CMPLX(part(matrix_in->shape.type, data, first), imaginary);
}

static int64_t extent(const matrix *matrix_in) {
  return place(matrix_in, matrix_in->shape.rows - 1, matrix_in->shape.cols - 1) + 1;
}
static size_t bytes_of(const matrix *matrix_in) {
  return (size_t)(extent(matrix_in) * parts_of(matrix_in->shape.type)) *
         (is_single(matrix_in->shape.type) ? 4 : 8);
}

/* Numbers, gaps too. */
static void make(matrix *out, int which, tesela_type type, int64_t rows, int64_t cols, fence_side side) {
  const bool by_row = draw(2);
  const int gap = draw(GAP + 1);
  out->shape = (tsl_shape){.type = type,
                           .rows = rows,
                           .cols = cols,
                           .row_stride = by_row ? cols + gap : 1,
                           .col_stride = by_row ? 1 : rows + gap};
  out->at = fence_whole(which, &out->shape, side);
  for (int64_t i = 0; i < extent(out) * parts_of(type); i++)
    set_part(type, out->at, i, draw(2001) / 1000.0 - 1);
}

static void keep(matrix *matrix_in) {
  memcpy(matrix_in->before, matrix_in->at, bytes_of(matrix_in));
}

static bool is_there(tesela_triangle triangle, int64_t i, int64_t j) {
  return triangle == TESELA_WHOLE || (triangle == TESELA_LOWER ? i >= j : i <= j);
}

/* NaN where a factor is not to be read. */
static void hide(const matrix *matrix_in, tesela_structure is, tesela_triangle stored) {
  const int parts = parts_of(matrix_in->shape.type);
  for (int64_t i = 0; i < matrix_in->shape.rows; i++)
    for (int64_t j = 0; j < matrix_in->shape.cols; j++)
      for (int p = 0; p < parts; p++)
        if (!is_there(stored, i, j) || (is == TESELA_HERMITIAN && i == j && p == 1))
          set_part(matrix_in->shape.type, matrix_in->at, parts * place(matrix_in, i, j) + p, NAN);
}

typedef struct product {
  tsl_call words;
  matrix a, b, c;
} product;

static number of_a(const product *product_in, int64_t i, int64_t l) {
  const tsl_call *words = &product_in->words;
  const bool there = is_there(words->a_triangle, i, l);
  number value =
      there ? at(&product_in->a, product_in->a.at, i, l) : at(&product_in->a, product_in->a.at, l, i);
  if (words->a_is == TESELA_HERMITIAN)
    value = i == l ? creal(value) : there ? value : conj(value);
  return words->a.conjugate ? conj(value) : value;
}

/* Returns true when element (i, j) of C is right, or unchanged where it must not be computed. */
static bool is_right(const product *product_in, int64_t i, int64_t j) {
  const tsl_call *words = &product_in->words;
  const number seen = at(&product_in->c, product_in->c.at, i, j),
               old = at(&product_in->c, product_in->c.before, i, j);
  const number alpha = CMPLX(words->alpha[0], words->alpha[1]), beta = CMPLX(words->beta[0], words->beta[1]);
  const bool real = words->c_is == TESELA_HERMITIAN && i == j;
  number sum = 0;
  double size = 0;
  if (!is_there(words->c_triangle, i, j))
    return memcmp(&seen, &old, sizeof old) == 0;
  for (int64_t l = 0; l < words->k; l++) {
    const number y = at(&product_in->b, product_in->b.at, l, j), x = of_a(product_in, i, l);
    sum += x * (words->b.conjugate ? conj(y) : y);
    size += cabs(x) * cabs(y);
  }
  sum *= alpha;
  size *= cabs(alpha);
  if (beta != 0) {
    sum += beta * (real ? creal(old) : old);
    size += cabs(beta) * cabs(real ? creal(old) : old);
  }
  const double unit = is_single(words->type) ? 1.2e-7 : 2.3e-16;
  return cabs(seen - (real ? creal(sum) : sum)) <= (double)(words->k + 8) * unit * (size + 1e-30) &&
         !(real && cimag(seen) != 0);
}

/* Returns true when the gaps between C's lines are unchanged. */
static bool gaps_are_left_alone(const product *product_in) {
  static bool inside[ELEMENTS];
  const size_t size = bytes_of(&product_in->c) / (size_t)extent(&product_in->c);
  memset(inside, 0, sizeof inside);
  for (int64_t i = 0; i < product_in->words.m; i++)
    for (int64_t j = 0; j < product_in->words.n; j++)
      inside[place(&product_in->c, i, j)] = true;
  for (int64_t i = 0; i < extent(&product_in->c); i++)
    if (!inside[i] && memcmp((const unsigned char *)product_in->c.at + (size_t)i * size,
                             product_in->c.before + (size_t)i * size, size) != 0)
      return false;
  return true;
}

static void draw_words(tesela_type type, tsl_call *out) {
  static const tesela_structure structures[] = {TESELA_GENERAL, TESELA_SYMMETRIC, TESELA_HERMITIAN};
  static const double scalars[][2] = {{1, 0}, {-0.5, 0}, {1, 0}, {2, -0.25}, {0, 0}};
  const bool is_complex = parts_of(type) == 2;
  const double *alpha = scalars[draw(4)], *beta = scalars[draw(5)];
  *out = (tsl_call){.type = type, .m = 1 + draw(MOST), .n = 1 + draw(MOST), .k = 1 + draw(MOST)};
  if (draw(3) == 0) { /* an update */
    out->n = out->m;
    out->c_triangle = draw(2) ? TESELA_LOWER : TESELA_UPPER;
    out->c_is = is_complex && draw(2) ? TESELA_HERMITIAN : TESELA_GENERAL;
  } else if (draw(2)) {
    out->a_is = structures[1 + (is_complex ? draw(2) : 0)];
    out->a_triangle = draw(2) ? TESELA_LOWER : TESELA_UPPER;
    out->k = out->m;
  }
  out->a.conjugate = is_complex && draw(2);
  out->b.conjugate = is_complex && draw(2);
  out->alpha[0] = alpha[0];
  out->alpha[1] = is_complex ? alpha[1] : 0;
  out->beta[0] = beta[0];
  out->beta[1] = is_complex && out->c_is != TESELA_HERMITIAN ? beta[1] : 0;
}

static void set_place(tsl_call_matrix *out, const matrix *from) {
  out->data = from->at;
  out->row = from->shape.row_stride;
  out->col = from->shape.col_stride;
}

static bool try(const char *set, tsl_solve_small_product *multiply, tesela_type type, fence_side side) {
  static product of;
  tsl_call *words = &of.words;
  draw_words(type, words);
  make(&of.a, 0, type, words->m, words->k, side);
  make(&of.b, 1, type, words->k, words->n, side);
  make(&of.c, 2, type, words->m, words->n, side);
  hide(&of.a, words->a_is, words->a_triangle);
  if (words->c_is == TESELA_HERMITIAN)
    hide(&of.c, TESELA_HERMITIAN, TESELA_WHOLE);
  for (int64_t i = 0; i < words->m; i++)
    for (int64_t j = 0; words->beta[0] == 0 && words->beta[1] == 0 && j < words->n; j++)
      if (is_there(words->c_triangle, i, j))
        set_part(type, of.c.at, parts_of(type) * place(&of.c, i, j), NAN);
  keep(&of.c);
  set_place(&words->a, &of.a);
  set_place(&words->b, &of.b);
  set_place(&words->c, &of.c);
  bool right = multiply(words) && gaps_are_left_alone(&of);
  for (int64_t i = 0; i < words->m; i++)
    for (int64_t j = 0; right && j < words->n; j++)
      right = is_right(&of, i, j);
  if (!right)
    fprintf(stderr,
            "test_little: %s, type %d: %lld x %lld x %lld, a is %d of %d, c is %d of %d, conjugates %d %d, "
            "beta %g %+g i: wrong\n",
            set, (int)type, (long long)words->m, (long long)words->n, (long long)words->k, (int)words->a_is,
            (int)words->a_triangle, (int)words->c_is, (int)words->c_triangle, words->a.conjugate,
            words->b.conjugate, words->beta[0], words->beta[1]);
  return right;
}

int main(void) {
  static const tesela_type types[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};
#define SET(isa, header, needs, ...)                                                                         \
  {#isa,                                                                                                     \
   needs,                                                                                                    \
   {tsl_solve_small_product_##isa##_f32, tsl_solve_small_product_##isa##_f64,                                \
    tsl_solve_small_product_##isa##_c64, tsl_solve_small_product_##isa##_c128}},
  static const struct {
    const char *name;
    unsigned needs;
    tsl_solve_small_product *multiply[4];
  } sets[] = {TSL_ISA_LIST(SET)};
#undef SET
  tsl_devices *devices;
  tsl_device *cpu;
  bool right = true;
  if (tsl_devices_create(&devices) != TESELA_OK || tsl_devices_find(devices, "cpu", &cpu) != TESELA_OK)
    return 1;
  fence_set_up();
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    if (tsl_capability_missing(sets[i].needs, cpu->capabilities))
      continue;
    fence_tell(sets[i].name);
    for (int type = 0; type < 4; type++)
      for (int n = 0; right && n < CASES; n++)
        right = try(sets[i].name, sets[i].multiply[type], types[type], n % 2 ? FENCE_BEHIND : FENCE_BEFORE);
    printf("%s: %s\n", sets[i].name, right ? "right" : "wrong");
  }
  tsl_devices_destroy(devices);
  return !right;
}
