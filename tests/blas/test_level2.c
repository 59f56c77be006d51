/* Every routine of level 2 compared with plain sums, as Fortran routine and by both orders of
 * CBLAS. Sizes, increments, letters, scalars and leading dimensions are random, and some sizes use
 * threads. Elements that a routine must not use are NaN and must be unchanged. */
#include "blas/operands.h"
#include "blas/xerbla.h"

enum { FULL, BAND, PACKED };
enum { FORTRAN, ROW = 101, COLUMN = 102 };
enum { GENERAL, SYMMETRIC, MULTIPLIES, SOLVES, OUTER, ONE, TWO };

typedef struct shape {
  const char *name, *complex_name;
  int kind, storage;
} shape;
static const shape shapes[] = {
    {"gemv", "gemv", GENERAL, FULL},     {"gbmv", "gbmv", GENERAL, BAND},
    {"symv", "hemv", SYMMETRIC, FULL},   {"sbmv", "hbmv", SYMMETRIC, BAND},
    {"spmv", "hpmv", SYMMETRIC, PACKED}, {"trmv", "trmv", MULTIPLIES, FULL},
    {"tbmv", "tbmv", MULTIPLIES, BAND},  {"tpmv", "tpmv", MULTIPLIES, PACKED},
    {"trsv", "trsv", SOLVES, FULL},      {"tbsv", "tbsv", SOLVES, BAND},
    {"tpsv", "tpsv", SOLVES, PACKED},    {"ger", "geru", OUTER, FULL},
    {"ger", "gerc", OUTER, FULL},        {"syr", "her", ONE, FULL},
    {"spr", "hpr", ONE, PACKED},         {"syr2", "her2", TWO, FULL},
    {"spr2", "hpr2", TWO, PACKED},
};

/* A stored matrix, and the properties that a routine assumes of it. */
typedef struct matrix {
  const type *element;
  const shape *shape;
  int storage, order; /* FORTRAN, or an order of CBLAS */
  bool is_triangle, upper, unit, hermitian;
  int32_t m, n, kl, ku, ld;
  block in;
} matrix;

/* Returns true when element (i, j) is stored. place_in() returns its index. */
static bool is_stored(const matrix *a, int64_t i, int64_t j) {
  if (a->storage == BAND && (i - j > a->kl || j - i > a->ku))
    return false;
  return !a->is_triangle || (a->upper ? i <= j : i >= j);
}
static int64_t place_by_columns(const matrix *a, bool upper, int32_t above, int64_t i, int64_t j) {
  if (a->storage == PACKED)
    return upper ? j * (j + 1) / 2 + i : j * a->n - j * (j + 1) / 2 + i;
  return a->storage == BAND ? above + i - j + j * a->ld : i + j * a->ld;
}
static int64_t place_in(const matrix *a, int64_t i, int64_t j) {
  return a->order == ROW ? place_by_columns(a, !a->upper, a->kl, j, i)
                         : place_by_columns(a, a->upper, a->ku, i, j);
}

/* The element of the whole matrix, before the call. */
static wide element(const matrix *a, int64_t i, int64_t j) {
  const bool symmetric = a->shape->kind == SYMMETRIC;
  if (i == j && a->unit)
    return 1;
  if (is_stored(a, i, j)) {
    const wide value = old(&a->in, place_in(a, i, j));
    return i == j && a->hermitian ? creall(value) : value;
  }
  if (!symmetric || !is_stored(a, j, i))
    return 0;
  const wide value = old(&a->in, place_in(a, j, i));
  return a->hermitian ? conjl(value) : value;
}

/* Fills a matrix. Where a triangle is solved, its diagonal is large. NaN: diagonals of unit
 * triangles, and imaginary parts that the routine takes as zero. */
static void fill(matrix *a) {
  const bool solves = a->shape->kind == SOLVES;
  const int64_t lines = a->order == ROW ? a->m : a->n, along = a->order == ROW ? a->n : a->m;
  const int64_t count = a->storage == PACKED              ? lines * (lines + 1) / 2
                        : a->storage == FULL && lines > 0 ? (lines - 1) * a->ld + along
                                                          : lines * a->ld;
  a->in = block_of(a->element, count);
  for (int64_t j = 0; j < a->n; j++)
    for (int64_t i = 0; i < a->m; i++) {
      if (!is_stored(a, i, j) || (i == j && a->unit))
        continue;
      wide value = value_of(a->element);
      if (solves)
        value = i == j ? 3 + value / 4 : value / (4 + a->n);
      if (i == j && a->hermitian)
        value = CMPLXL(creall(value), NAN);
      set(&a->in, place_in(a, i, j), value);
    }
  keep(&a->in);
}

static matrix matrix_of(const type *type_in, const shape *wanted, int size) {
  matrix a = {.element = type_in, .shape = wanted, .storage = wanted->storage, .n = size, .m = size};
  const bool general = wanted->kind == GENERAL || wanted->kind == OUTER;
  a.order = (int[]){FORTRAN, COLUMN, ROW, ROW}[draw(4)];
  a.is_triangle = !general;
  a.upper = draw(2);
  a.unit = (wanted->kind == MULTIPLIES || wanted->kind == SOLVES) && draw(2);
  a.hermitian =
      type_in->is_complex && (wanted->kind == SYMMETRIC || wanted->kind == ONE || wanted->kind == TWO);
  if (general)
    a.m = (int)draw(3) ? (int)draw((unsigned)size + 9) : size;
  a.kl = a.storage == BAND ? (int)draw(6) : 0;
  a.ku = a.storage == BAND ? (int)draw(6) : 0;
  if (a.storage == BAND && a.is_triangle)
    a.kl = a.upper ? 0 : a.ku, a.ku = a.upper ? a.ku : 0;
  const int along = a.order == ROW ? a.n : a.m;
  const int least = a.storage == BAND ? a.kl + a.ku + 1 : along > 1 ? along : 1;
  a.ld = least + (int)draw(4);
  fill(&a);
  return a;
}

/* --- calls --- */

typedef const int32_t *num;
typedef const char *letters;
typedef void *vector;
typedef const void *scalar;

/* One case: letters, scalars and vectors. */
typedef struct scene {
  matrix a;
  char trans, uplo, diag;
  wide alpha, beta;
  line x, y;
  char what[160];
} scene;

static void call_general(scene *s, void (*f)(void), scalar alpha, scalar beta, num incx, num incy) {
  matrix *a = &s->a;
  vector x = start(&s->x.in), y = start(&s->y.in), data = start(&a->in);
  if (a->storage == FULL)
    ((void (*)(letters, num, num, scalar, scalar, num, scalar, num, scalar, vector, num))f)(
        &s->trans, &a->m, &a->n, alpha, data, &a->ld, x, incx, beta, y, incy);
  else
    ((void (*)(letters, num, num, num, num, scalar, scalar, num, scalar, num, scalar, vector, num))f)(
        &s->trans, &a->m, &a->n, &a->kl, &a->ku, alpha, data, &a->ld, x, incx, beta, y, incy);
}

static void call_symmetric(scene *s, void (*f)(void), scalar alpha, scalar beta, num incx, num incy) {
  matrix *a = &s->a;
  vector x = start(&s->x.in), y = start(&s->y.in), data = start(&a->in);
  const int32_t k = a->kl + a->ku;
  if (a->storage == FULL)
    ((void (*)(letters, num, scalar, scalar, num, scalar, num, scalar, vector, num))f)(
        &s->uplo, &a->n, alpha, data, &a->ld, x, incx, beta, y, incy);
  else if (a->storage == BAND)
    ((void (*)(letters, num, num, scalar, scalar, num, scalar, num, scalar, vector, num))f)(
        &s->uplo, &a->n, &k, alpha, data, &a->ld, x, incx, beta, y, incy);
  else
    ((void (*)(letters, num, scalar, scalar, scalar, num, scalar, vector, num))f)(
        &s->uplo, &a->n, alpha, data, x, incx, beta, y, incy);
}

static void call_triangular(scene *s, void (*f)(void), num incx) {
  matrix *a = &s->a;
  vector x = start(&s->x.in), data = start(&a->in);
  const int32_t k = a->kl + a->ku;
  if (a->storage == FULL)
    ((void (*)(letters, letters, letters, num, scalar, num, vector, num))f)(&s->uplo, &s->trans, &s->diag,
                                                                            &a->n, data, &a->ld, x, incx);
  else if (a->storage == BAND)
    ((void (*)(letters, letters, letters, num, num, scalar, num, vector, num))f)(
        &s->uplo, &s->trans, &s->diag, &a->n, &k, data, &a->ld, x, incx);
  else
    ((void (*)(letters, letters, letters, num, scalar, vector, num))f)(&s->uplo, &s->trans, &s->diag, &a->n,
                                                                       data, x, incx);
}

static void call_update(scene *s, void (*f)(void), scalar alpha, num incx, num incy) {
  matrix *a = &s->a;
  vector x = start(&s->x.in), y = start(&s->y.in), data = start(&a->in);
  if (a->shape->kind == OUTER)
    ((void (*)(num, num, scalar, scalar, num, scalar, num, vector, num))f)(&a->m, &a->n, alpha, x, incx, y,
                                                                           incy, data, &a->ld);
  else if (a->shape->kind == ONE) /* a packed one reads no leading dimension */
    ((void (*)(letters, num, scalar, scalar, num, vector, num))f)(&s->uplo, &a->n, alpha, x, incx, data,
                                                                  &a->ld);
  else
    ((void (*)(letters, num, scalar, scalar, num, scalar, num, vector, num))f)(&s->uplo, &a->n, alpha, x,
                                                                               incx, y, incy, data, &a->ld);
}

/* Returns CBLAS's number for a letter; 99, which is none, for letters that are wrong. */
static int word_of(const char *letters_of_numbers, char letter, int first) {
  const char *found = strchr(letters_of_numbers, letter);
  return found ? first + (int)(found - letters_of_numbers) : 99;
}

/* Calls the routine by CBLAS, with typed scalars: by value where they are real. F is the function's
 * type with these arguments. */
#define F(...) ((void (*)(__VA_ARGS__))f)
#define CALL_CBLAS(name, SCALAR, REAL)                                                                       \
  static void name(scene *s, void (*f)(void), SCALAR alpha, SCALAR beta, REAL real_alpha) {                  \
    const matrix *a = &s->a;                                                                                 \
    const int32_t o = a->order, m = a->m, n = a->n, ld = a->ld, kl = a->kl, ku = a->ku, k = a->kl + a->ku;   \
    const int trans = word_of("NTC", s->trans, 111), uplo = word_of("UL", s->uplo, 121),                     \
              diag = word_of("NU", s->diag, 131);                                                            \
    const int32_t incx = (int32_t)s->x.inc, incy = (int32_t)s->y.inc;                                        \
    vector x = start(&s->x.in), y = start(&s->y.in), data = start(&a->in);                                   \
    switch (a->shape->kind * 3 + a->storage) {                                                               \
    case GENERAL * 3 + FULL:                                                                                 \
      F(int, int, int, int, SCALAR, vector, int, vector, int, SCALAR, vector, int)                           \
      (o, trans, m, n, alpha, data, ld, x, incx, beta, y, incy);                                             \
      break;                                                                                                 \
    case GENERAL * 3 + BAND:                                                                                 \
      F(int, int, int, int, int, int, SCALAR, vector, int, vector, int, SCALAR, vector, int)                 \
      (o, trans, m, n, kl, ku, alpha, data, ld, x, incx, beta, y, incy);                                     \
      break;                                                                                                 \
    case SYMMETRIC * 3 + FULL:                                                                               \
      F(int, int, int, SCALAR, vector, int, vector, int, SCALAR, vector, int)                                \
      (o, uplo, n, alpha, data, ld, x, incx, beta, y, incy);                                                 \
      break;                                                                                                 \
    case SYMMETRIC * 3 + BAND:                                                                               \
      F(int, int, int, int, SCALAR, vector, int, vector, int, SCALAR, vector, int)                           \
      (o, uplo, n, k, alpha, data, ld, x, incx, beta, y, incy);                                              \
      break;                                                                                                 \
    case SYMMETRIC * 3 + PACKED:                                                                             \
      F(int, int, int, SCALAR, vector, vector, int, SCALAR, vector, int)                                     \
      (o, uplo, n, alpha, data, x, incx, beta, y, incy);                                                     \
      break;                                                                                                 \
    case MULTIPLIES * 3 + FULL:                                                                              \
    case SOLVES * 3 + FULL:                                                                                  \
      F(int, int, int, int, int, vector, int, vector, int)(o, uplo, trans, diag, n, data, ld, x, incx);      \
      break;                                                                                                 \
    case MULTIPLIES * 3 + BAND:                                                                              \
    case SOLVES * 3 + BAND:                                                                                  \
      F(int, int, int, int, int, int, vector, int, vector, int)                                              \
      (o, uplo, trans, diag, n, k, data, ld, x, incx);                                                       \
      break;                                                                                                 \
    case MULTIPLIES * 3 + PACKED:                                                                            \
    case SOLVES * 3 + PACKED:                                                                                \
      F(int, int, int, int, int, vector, vector, int)(o, uplo, trans, diag, n, data, x, incx);               \
      break;                                                                                                 \
    case OUTER * 3 + FULL:                                                                                   \
      F(int, int, int, SCALAR, vector, int, vector, int, vector, int)                                        \
      (o, m, n, alpha, x, incx, y, incy, data, ld);                                                          \
      break;                                                                                                 \
    case ONE * 3 + FULL:                                                                                     \
      F(int, int, int, REAL, vector, int, vector, int)(o, uplo, n, real_alpha, x, incx, data, ld);           \
      break;                                                                                                 \
    case ONE * 3 + PACKED:                                                                                   \
      F(int, int, int, REAL, vector, int, vector)(o, uplo, n, real_alpha, x, incx, data);                    \
      break;                                                                                                 \
    case TWO * 3 + FULL:                                                                                     \
      F(int, int, int, SCALAR, vector, int, vector, int, vector, int)                                        \
      (o, uplo, n, alpha, x, incx, y, incy, data, ld);                                                       \
      break;                                                                                                 \
    default:                                                                                                 \
      F(int, int, int, SCALAR, vector, int, vector, int, vector)(o, uplo, n, alpha, x, incx, y, incy, data); \
    }                                                                                                        \
  }
CALL_CBLAS(call_cblas_s, float, float)
CALL_CBLAS(call_cblas_d, double, double)
CALL_CBLAS(call_cblas_c, scalar, float)
CALL_CBLAS(call_cblas_z, scalar, double)

static void call_cblas(scene *s, const double alpha[2], const double beta[2]) {
  const type *element = s->a.element;
  const float *single = (const float *)alpha;
  char name[32];
  snprintf(name, sizeof name, "cblas_%c%s", element->letter,
           element->is_complex ? s->a.shape->complex_name : s->a.shape->name);
  void (*f)(void) = function_of(name);
  if (element->letter == 's')
    call_cblas_s(s, f, *single, *(const float *)beta, *single);
  else if (element->letter == 'd')
    call_cblas_d(s, f, *alpha, *beta, *alpha);
  else if (element->letter == 'c')
    call_cblas_c(s, f, alpha, beta, *single);
  else
    call_cblas_z(s, f, alpha, beta, *alpha);
}

static void call(scene *s) {
  const type *element = s->a.element;
  double alpha[2], beta[2];
  const int32_t incx = (int32_t)s->x.inc, incy = (int32_t)s->y.inc;
  void (*f)(void) = routine(element, element->is_complex ? s->a.shape->complex_name : s->a.shape->name);
  store(element, alpha, 0, s->alpha);
  store(element, beta, 0, s->beta);
  keep(&s->x.in);
  keep(&s->y.in);
  if (s->a.order != FORTRAN) {
    call_cblas(s, alpha, beta);
    return;
  }
  switch (s->a.shape->kind) {
  case GENERAL:
    call_general(s, f, alpha, beta, &incx, &incy);
    break;
  case SYMMETRIC:
    call_symmetric(s, f, alpha, beta, &incx, &incy);
    break;
  case MULTIPLIES:
  case SOLVES:
    call_triangular(s, f, &incx);
    break;
  default:
    call_update(s, f, alpha, &incx, &incy);
  }
}

/* --- what must come --- */

static wide operated(const scene *s, int64_t i, int64_t j) {
  const bool swaps = s->trans == 'T' || s->trans == 'C';
  const wide value = swaps ? element(&s->a, j, i) : element(&s->a, i, j);
  return s->trans == 'C' ? conjl(value) : value;
}

/* y, or of a triangle x: row by row. */
static void check_product(scene *s) {
  const bool triangular = s->a.shape->kind == MULTIPLIES;
  line *to = triangular ? &s->x : &s->y;
  for (int64_t i = 0; i < to->n; i++) {
    sum wanted = {0, 0};
    if (s->alpha != 0)
      for (int64_t j = 0; j < s->x.n; j++) {
        const wide a = operated(s, i, j);
        if (a != 0)
          add(&wanted, s->alpha * a, old(&s->x.in, place(&s->x, j)));
      }
    if (!triangular && s->beta != 0)
      add(&wanted, s->beta, old(&s->y.in, place(&s->y, i)));
    expect(s->a.element, result(&to->in, place(to, i)), wanted, s->x.n, s->what);
  }
}

/* op(A) times the result is what was given. */
static void check_solution(scene *s) {
  for (int64_t i = 0; i < s->x.n; i++) {
    sum wanted = {0, 0};
    for (int64_t j = 0; j < s->x.n; j++) {
      const wide a = operated(s, i, j);
      if (a != 0)
        add(&wanted, a, result(&s->x.in, place(&s->x, j)));
    }
    expect(s->a.element, old(&s->x.in, place(&s->x, i)), wanted, s->x.n, s->what);
  }
}

static wide of_line(const line *x, int64_t i, bool conjugate) {
  const wide value = old(&x->in, place(x, i));
  return conjugate ? conjl(value) : value;
}

static void check_update(scene *s) {
  const bool conjugate = s->a.hermitian || strcmp(s->a.shape->complex_name, "gerc") == 0;
  const line *second = s->a.shape->kind == ONE ? &s->x : &s->y;
  if (s->alpha == 0)
    return; /* nothing is written */
  for (int64_t j = 0; j < s->a.n; j++)
    for (int64_t i = 0; i < s->a.m; i++) {
      if (!is_stored(&s->a, i, j))
        continue;
      sum wanted = {0, 0};
      add(&wanted, 1, element(&s->a, i, j));
      add(&wanted, s->alpha * of_line(&s->x, i, false),
          of_line(second, j, conjugate && s->a.element->is_complex));
      if (s->a.shape->kind == TWO)
        add(&wanted, (s->a.hermitian ? conjl(s->alpha) : s->alpha) * of_line(&s->y, i, false),
            of_line(&s->x, j, s->a.hermitian));
      const wide seen = result(&s->a.in, place_in(&s->a, i, j));
      expect(s->a.element, seen, wanted, 4, s->what);
      if (i == j && s->a.hermitian)
        assert_true(cimagl(seen) == 0);
    }
}

static wide factor(const type *type_in) {
  const unsigned which = draw(5);
  return which == 0 ? 0 : which == 1 ? 1 : value_of(type_in);
}

/* With lines for a matrix, letters and scalars that are there already. */
static void act(scene *of_matrix, const type *type_in, const shape *wanted) {
  static const int steps[] = {1, 1, 1, -1, 2, -2, 3, -3};
  scene s = *of_matrix;
  const int kind = wanted->kind;
  s.uplo = s.a.upper ? 'U' : 'L';
  s.diag = s.a.unit ? 'U' : 'N';
  if (s.a.order == FORTRAN && draw(2))
    s.uplo = s.a.upper ? 'u' : 'l';
  const bool swaps = kind == GENERAL && s.trans != 'N';
  const int64_t x_count = kind == OUTER || swaps ? s.a.m : s.a.n,
                y_count = kind == GENERAL && !swaps ? s.a.m : s.a.n;
  s.x = line_of(type_in, x_count, steps[draw(8)]);
  s.y = line_of(type_in, y_count, steps[draw(8)]);
  if (s.beta == 0 && (kind == GENERAL || kind == SYMMETRIC))
    for (int64_t i = 0; i < y_count; i++)
      set(&s.y.in, place(&s.y, i), NAN); /* is not read */
  snprintf(s.what, sizeof s.what, "%s%c%s %d x %d (ld %d, k %d %d) %c%c%c, steps %d %d",
           s.a.order == ROW      ? "row-major cblas_"
           : s.a.order == COLUMN ? "cblas_"
                                 : "",
           type_in->letter, type_in->is_complex ? wanted->complex_name : wanted->name, s.a.m, s.a.n, s.a.ld,
           s.a.kl, s.a.ku, s.trans, s.a.upper ? 'U' : 'L', s.a.unit ? 'U' : 'N', (int)s.x.inc, (int)s.y.inc);
  call(&s);
  const bool idle = s.a.m == 0 || s.a.n == 0;
  if (!idle && kind == SOLVES)
    check_solution(&s);
  else if (!idle && kind <= MULTIPLIES)
    check_product(&s);
  else if (!idle)
    check_update(&s);
  release(&s.a.in, s.what);
  release(&s.x.in, s.what);
  release(&s.y.in, s.what);
}

static void one(const type *type_in, const shape *wanted, int size) {
  scene s = {.a = matrix_of(type_in, wanted, size),
             .trans = "NTC"[draw(3)],
             .alpha = factor(type_in),
             .beta = factor(type_in)};
  const int kind = wanted->kind;
  if (kind == MULTIPLIES || kind == SOLVES)
    s.alpha = 1;
  else if (kind != GENERAL)
    s.trans = 'N';
  if (kind == ONE && type_in->is_complex)
    s.alpha = creall(s.alpha);
  act(&s, type_in, wanted);
}

/* Short columns, transposed: any number of columns, adjacent or with gaps of NaN between them. No
 * memory follows the last column. */
static void test_short(void **unused) {
  static const int counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 77, 100, 300, 1029};
  (void)unused;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (int rows = 1; rows <= 10; rows++)
      for (int gap = 0; gap < 4; gap++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
          scene s = {
              .a = {.element = &types[t], .shape = &shapes[0], .m = rows, .n = counts[c], .ld = rows + gap},
              .trans = "TC"[draw(2)],
              .alpha = factor(&types[t]),
              .beta = factor(&types[t])};
          fill(&s.a);
          act(&s, &types[t], &shapes[0]);
        }
}

static void test_sizes(void **unused) {
  (void)unused;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (size_t r = 0; r < sizeof shapes / sizeof *shapes; r++)
      for (int size = 0; size <= 70; size++)
        for (int again = 0; again < 2; again++)
          one(&types[t], &shapes[r], size);
}

/* From a quarter of a MiB on threads share the work, and from 256 rows on a symmetric matrix is cut. */
static void test_large(void **unused) {
  static const int sizes[] = {421, 1060};
  (void)unused;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (size_t r = 0; r < sizeof shapes / sizeof *shapes; r++)
      for (int i = 0; i < (shapes[r].kind == SYMMETRIC ? 2 : 1); i++)
        if (shapes[r].storage == FULL)
          one(&types[t], &shapes[r], sizes[i]);
}

/* --- wrong arguments --- */

/* Returns a letter for each argument of the Fortran routine: t, u and d for letters; m, n, k and K for
 * sizes; l for a leading dimension; x and y for increments; - for an argument that cannot be wrong. */
static const char *arguments_of(const shape *shape_in) {
  static const char *const table[][3] = {
      [GENERAL] = {"tmn--l-x--y", "tmnkK--l-x--y", ""},
      [SYMMETRIC] = {"un--l-x--y", "unk--l-x--y", "un---x--y"},
      [MULTIPLIES] = {"utdn-l-x", "utdnk-l-x", "utdn--x"},
      [SOLVES] = {"utdn-l-x", "utdnk-l-x", "utdn--x"},
      [OUTER] = {"mn--x-y-l", "", ""},
      [ONE] = {"un--x-l", "", "un--x"},
      [TWO] = {"un--x-y-l", "", "un--x-y"},
  };
  return table[shape_in->kind][shape_in->storage];
}

/* Makes the argument wrong that a letter stands for. */
static void spoil(scene *s, char argument) {
  matrix *a = &s->a;
  switch (argument) {
  case 't':
    s->trans = 'x';
    break;
  case 'u':
    s->uplo = 'x';
    break;
  case 'd':
    s->diag = 'x';
    break;
  case 'm':
    a->m = -1;
    break;
  case 'n':
    a->n = -1;
    break;
  case 'k': /* the width of a triangle's band is the sum of both */
    a->kl = -1;
    a->ku = a->is_triangle ? 0 : a->ku;
    break;
  case 'K':
    a->ku = -1;
    break;
  case 'l':
    a->ld = a->storage == BAND ? a->kl + a->ku : (a->order == ROW ? a->n : a->m) - 1;
    break;
  case 'x':
    s->x.inc = 0;
    break;
  default:
    s->y.inc = 0;
  }
}

/* Makes argument `index` wrong, and also argument `and`, which is a later one or equal. xerbla gets
 * the first one's number in the caller's list. No memory is written. */
static void refuse(const type *type_in, const shape *wanted, int order, size_t index, size_t and) {
  scene s = {.trans = 'N', .uplo = 'U', .diag = 'N', .alpha = 1, .beta = 2};
  const bool general = wanted->kind == GENERAL || wanted->kind == OUTER, cblas = order != FORTRAN;
  s.a = (matrix){.element = type_in,
                 .shape = wanted,
                 .storage = wanted->storage,
                 .order = order,
                 .upper = true,
                 .n = 5,
                 .m = 5};
  s.a.is_triangle = !general;
  s.a.m = general ? 4 : 5;
  s.a.ku = wanted->storage == BAND ? 2 : 0;
  s.a.kl = wanted->storage == BAND && general ? 1 : 0;
  s.a.ld = 7;
  fill(&s.a);
  s.x = line_of(type_in, 5, 1);
  s.y = line_of(type_in, 5, 1);
  spoil(&s, arguments_of(wanted)[index]);
  spoil(&s, arguments_of(wanted)[and]);
  snprintf(s.what, sizeof s.what, "%c%s, order %d, wrong argument %zu", type_in->letter,
           type_in->is_complex ? wanted->complex_name : wanted->name, order, index + 1);
  told_number = 0;
  call(&s);
  if (told_number != (int)index + 1 + cblas)
    fail_msg("%s: xerbla was told %d", s.what, (int)told_number);
  release(&s.a.in, s.what);
  release(&s.x.in, s.what);
  release(&s.y.in, s.what);
}

static void test_arguments(void **unused) {
  static const int orders[] = {FORTRAN, COLUMN, ROW};
  (void)unused;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (size_t r = 0; r < sizeof shapes / sizeof *shapes; r++)
      for (size_t at = 0; at < strlen(arguments_of(&shapes[r])); at++)
        for (int o = 0; arguments_of(&shapes[r])[at] != '-' && o < 3; o++)
          refuse(&types[t], &shapes[r], orders[o], at, at);
}

/* With several wrong arguments, the first in the order of Fortran's list is reported, as in the
 * reference. */
static void test_first_arguments(void **unused) {
  (void)unused;
  for (size_t r = 0; r < sizeof shapes / sizeof *shapes; r++) {
    const char *all = arguments_of(&shapes[r]);
    for (size_t at = 0; at < strlen(all); at++)
      for (size_t and = at + 1; and < strlen(all); and++)
        if (all[at] != '-' && all[and] != '-' && all[at] != 'm' && all[at] != 'n' && all[at] != 'k' &&
            all[at] != 'K')
          refuse(&types[1], &shapes[r], FORTRAN, at, and);
  }
}

/* An order that is neither of the two is argument 1. */
static void test_orders(void **unused) {
  (void)unused;
  typedef void ger(int, int, int, double, const double *, int, const double *, int, double *, int);
  double a[] = {1, 2, 3, 4};
  const double x[] = {5, 6};
  told_number = 0;
  ((ger *)function_of("cblas_dger"))(100, 2, 2, 1, x, 1, x, 1, a, 2);
  assert_int_equal(told_number, 1);
  assert_true(a[0] == 1 && a[1] == 2 && a[2] == 3 && a[3] == 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes),           cmocka_unit_test(test_short),
                                     cmocka_unit_test(test_large),           cmocka_unit_test(test_arguments),
                                     cmocka_unit_test(test_first_arguments), cmocka_unit_test(test_orders)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
