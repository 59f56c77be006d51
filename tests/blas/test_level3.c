/* Level 3 except gemm, in the drop-in without another BLAS. Compares every routine, type, letter,
 * order and calling convention with sums in long double. Sizes are 0 to 40, and two sizes that are split
 * into blocks. Elements that must not be read are NaN; elements that must not be written are compared bit
 * by bit. A solution is judged by its product with the matrix. */
#include "unit/unit.h"

#include "blas/int_width.h"
#include "blas/level3_foreign_call.h"
#include "blas/xerbla.h"

#include <complex.h>
#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef long double complex wide;
enum { ROW = 101, COLUMN = 102, LARGEST = 131, PLANNED = 370, GAP = 3, LD = PLANNED + GAP, KINDS = 4 };
enum { SYRK, HERK, SYR2K, HER2K, SYMM, HEMM, TRMM, TRSM, ROUTINES };

static const struct kind {
  char letter;
  bool is_complex, is_double;
} kinds[KINDS] = {{'s', false, false}, {'d', false, true}, {'c', true, false}, {'z', true, true}};
static const char *const routine_names[ROUTINES] = {"syrk", "herk", "syr2k", "her2k",
                                                    "symm", "hemm", "trmm",  "trsm"};

typedef struct problem {
  int kind, routine, order;
  char side, uplo, trans, diag;
  int m, n, k, lda, ldb, ldc;
  wide alpha, beta;
} problem;

typedef unsigned char memory[LD * LD * 16];
static _Alignas(64) memory a, b, c, before;
static const problem *now; /* the current case */
static int extent;         /* elements of the memory that count in it */

/* --- elements --- */

static wide load(const void *data, int index) {
  const struct kind *of = &kinds[now->kind];
  const int i = of->is_complex ? 2 * index : index;
  const long double re = of->is_double ? ((const double *)data)[i] : ((const float *)data)[i];
  const long double im = !of->is_complex ? 0
                         : of->is_double ? ((const double *)data)[i + 1]
                                         : ((const float *)data)[i + 1];
  return CMPLXL(re, im);
}

static void put(void *data, int i, long double value) {
  if (kinds[now->kind].is_double)
    ((double *)data)[i] = (double)value;
  else
    ((float *)data)[i] = (float)value;
}

static void store(void *data, int index, wide value) {
  const bool is_complex = kinds[now->kind].is_complex;
  put(data, is_complex ? 2 * index : index, creall(value));
  if (is_complex)
    put(data, 2 * index + 1, cimagl(value));
}

static int place(int ld, int i, int j) {
  return now->order == ROW ? i * ld + j : i + j * ld;
}

static uint64_t random_state = 1;
static uint64_t draw(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return random_state >> 33;
}
static wide noise(void) {
  const long double re = (long double)(draw() % 2001) / 1000 - 1,
                    im = (long double)(draw() % 2001) / 1000 - 1;
  return kinds[now->kind].is_complex ? CMPLXL(re, im) : CMPLXL(re, 0);
}

/* --- expected results --- */

static bool is_update(void) {
  return now->routine < SYMM;
}
static bool is_two(void) {
  return now->routine == SYR2K || now->routine == HER2K;
}
static bool is_in_place(void) {
  return now->routine >= TRMM;
}
static bool is_hermitian(void) {
  return now->routine == HERK || now->routine == HER2K || now->routine == HEMM;
}
static int factor_size(void) {
  return now->side == 'L' ? now->m : now->n;
}
static bool in_triangle(int i, int j) {
  return now->uplo == 'L' ? i >= j : i <= j;
}

/* Row i, column l of what takes part: of an update's factor, and of the factor with a structure. */
static wide of_update(const void *data, int ld, int i, int l) {
  const wide value = now->trans == 'N' ? load(data, place(ld, i, l)) : load(data, place(ld, l, i));
  return now->trans == 'C' ? conjl(value) : value;
}
static wide of_triangle(int i, int l) {
  const bool turned = now->trans == 'T' || now->trans == 'C';
  const int row = turned ? l : i, column = turned ? i : l;
  if (!in_triangle(row, column))
    return 0;
  if (row == column && now->diag == 'U')
    return 1;
  const wide value = load(a, place(now->lda, row, column));
  return now->trans == 'C' || now->trans == 'R' ? conjl(value) : value;
}
static wide of_symmetric(int i, int l) {
  const wide value = load(a, in_triangle(i, l) ? place(now->lda, i, l) : place(now->lda, l, i));
  if (!is_hermitian())
    return value;
  return i == l ? creall(value) : in_triangle(i, l) ? value : conjl(value);
}
static wide of_factor(int i, int l) {
  return is_in_place() ? of_triangle(i, l) : of_symmetric(i, l);
}

/* Of finite numbers of f64 at most, which overflow nothing in long double; in a tenth of cabsl()'s time, and
 * of a real number's product. */
static long double magnitude(wide x) {
  const long double re = creall(x), im = cimagl(x);
  return im == 0 ? fabsl(re) : sqrtl(re * re + im * im);
}
static wide times(wide x, wide y) {
  return cimagl(x) == 0 && cimagl(y) == 0 ? creall(x) * creall(y) : x * y;
}

/* The sum of products at (i, j), and of their magnitudes; x holds the general factor. */
static wide add_products(const void *x, int ldx, int i, int j, long double *size) {
  wide sum = 0;
  *size = 0;
  for (int l = 0; !is_update() && l < factor_size(); l++) {
    const wide term = now->side == 'L' ? times(of_factor(i, l), load(x, place(ldx, l, j)))
                                       : times(load(x, place(ldx, i, l)), of_factor(l, j));
    sum += term;
    *size += magnitude(term);
  }
  for (int l = 0; is_update() && l < now->k; l++) {
    const wide x_i = of_update(a, now->lda, i, l), x_j = of_update(a, now->lda, j, l);
    const wide y_i = is_two() ? of_update(b, now->ldb, i, l) : x_i;
    const wide y_j = is_two() ? of_update(b, now->ldb, j, l) : x_j;
    sum += times(times(now->alpha, x_i), is_hermitian() ? conjl(y_j) : y_j);
    if (is_two())
      sum += times(times(is_hermitian() ? conjl(now->alpha) : now->alpha, y_i),
                   is_hermitian() ? conjl(x_j) : x_j);
    *size += 2 * magnitude(now->alpha) * (magnitude(x_i) * magnitude(y_j) + magnitude(y_i) * magnitude(x_j));
  }
  if (is_update())
    return sum;
  *size *= now->routine == TRSM ? 1 : cabsl(now->alpha);
  return now->routine == TRSM ? sum : now->alpha * sum;
}

static void expect_near(wide seen, wide right, long double size) {
  const long double unit = kinds[now->kind].is_double ? DBL_EPSILON : FLT_EPSILON;
  const long double bound = (now->m + now->n + now->k + 12) * unit * size + LDBL_MIN;
  if (!(cabsl(seen - right) <= bound))
    fail_msg("%c%s order=%d side=%c uplo=%c trans=%c diag=%c m=%d n=%d k=%d: %.17Lg %+.17Lg i instead of "
             "%.17Lg %+.17Lg i",
             kinds[now->kind].letter, routine_names[now->routine], now->order, now->side, now->uplo,
             now->trans, now->diag, now->m, now->n, now->k, creall(seen), cimagl(seen), creall(right),
             cimagl(right));
}

static void expect_element(int i, int j) {
  const wide seen = load(c, place(now->ldc, i, j)), old = load(before, place(now->ldc, i, j));
  long double size;
  if (now->routine == TRSM) {
    const wide sum = add_products(c, now->ldc, i, j, &size);
    expect_near(sum, now->alpha * old, size);
    return;
  }
  const void *x = is_in_place() ? before : b;
  wide right = 0;
  size = 0;
  if (now->alpha != 0)
    right = add_products(x, is_in_place() ? now->ldc : now->ldb, i, j, &size);
  if (!is_in_place() && now->beta != 0) {
    const bool real = is_hermitian() && is_update() && i == j;
    right += now->beta * (real ? creall(old) : old);
    size += cabsl(now->beta) * cabsl(real ? creall(old) : old);
  }
  if (is_hermitian() && is_update() && i == j) {
    assert_true(cimagl(seen) == 0);
    right = creall(right);
  }
  expect_near(seen, right, size);
}

/* Where the reference returns at once. */
static bool is_left_alone(void) {
  return now->m == 0 || now->n == 0 ||
         (!is_in_place() && (now->alpha == 0 || (is_update() && now->k == 0)) && now->beta == 1);
}

static void expect_right(void) {
  const size_t size = (kinds[now->kind].is_complex ? 2 : 1) * (kinds[now->kind].is_double ? 8 : 4);
  bool written[LD * LD] = {false};
  for (int i = 0; i < now->m; i++)
    for (int j = 0; j < now->n; j++)
      if (!is_left_alone() && (!is_update() || in_triangle(i, j))) {
        written[place(now->ldc, i, j)] = true;
        expect_element(i, j);
      }
  for (int at = 0; at < extent; at++)
    if (!written[at] && memcmp(c + at * size, before + at * size, size) != 0)
      fail_msg("%c%s: element %d, which is not the result's, was written", kinds[now->kind].letter,
               routine_names[now->routine], at);
}

/* --- data --- */

static void fill(void) {
  const bool by_k = is_update();
  const int rows = !by_k ? factor_size() : now->trans == 'N' ? now->n : now->k;
  const int cols = !by_k ? factor_size() : now->trans == 'N' ? now->k : now->n;
  for (int at = 0; at < extent; at++) {
    store(a, at, CMPLXL(NAN, NAN));
    store(b, at, CMPLXL(NAN, NAN));
    store(c, at, noise());
  }
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) {
      if (!by_k && !in_triangle(i, j))
        continue;
      const int at = place(now->lda, i, j);
      /* A solution is well known where the diagonal counts. */
      wide value = now->routine == TRSM ? (i == j ? 2 + noise() / 2 : noise() / factor_size()) : noise();
      if (i == j && is_in_place() && now->diag == 'U')
        value = CMPLXL(NAN, NAN);
      if (i == j && now->routine == HEMM)
        value = CMPLXL(creall(value), NAN);
      store(a, at, value);
      if (by_k)
        store(b, place(now->ldb, i, j), noise());
    }
  for (int i = 0; i < now->m; i++)
    for (int j = 0; j < now->n; j++) {
      const int at = place(now->ldc, i, j);
      if (!by_k)
        store(b, place(now->ldb, i, j), noise());
      if (!is_in_place() && now->beta == 0 && (!by_k || in_triangle(i, j)))
        store(c, at, CMPLXL(NAN, NAN));
      else if (by_k && is_hermitian() && i == j)
        store(c, at, CMPLXL(creall(load(c, at)), NAN));
    }
  memcpy(before, c, sizeof c);
}

/* --- calls --- */

typedef void any(void);

static any *find(const char *name) {
  void *address = dlsym(RTLD_DEFAULT, name);
  any *function;
  if (!address)
    fail_msg("there is no %s", name);
  memcpy(&function, &address, sizeof function);
  return function;
}

static void call_fortran(any *function, const void *alpha, const void *beta) {
  const problem *p = now;
  typedef void update(const char *, const char *, const int *, const int *, const void *, const void *,
                      const int *, const void *, void *, const int *, size_t, size_t);
  typedef void product(const char *, const char *, const int *, const int *, const void *, const void *,
                       const int *, const void *, const int *, const void *, void *, const int *, size_t,
                       size_t);
  typedef void triangle(const char *, const char *, const char *, const char *, const int *, const int *,
                        const void *, const void *, const int *, void *, const int *, size_t, size_t, size_t,
                        size_t);
  if (p->routine == SYRK || p->routine == HERK)
    ((update *)function)(&p->uplo, &p->trans, &p->n, &p->k, alpha, a, &p->lda, beta, c, &p->ldc, 1, 1);
  else if (is_two())
    ((product *)function)(&p->uplo, &p->trans, &p->n, &p->k, alpha, a, &p->lda, b, &p->ldb, beta, c, &p->ldc,
                          1, 1);
  else if (!is_in_place())
    ((product *)function)(&p->side, &p->uplo, &p->m, &p->n, alpha, a, &p->lda, b, &p->ldb, beta, c, &p->ldc,
                          1, 1);
  else
    ((triangle *)function)(&p->side, &p->uplo, &p->trans, &p->diag, &p->m, &p->n, alpha, a, &p->lda, c,
                           &p->ldc, 1, 1, 1, 1);
}

static int number(char letter) {
  static const struct {
    char letter;
    int number;
  } numbers[] = {{'N', 111}, {'T', 112}, {'C', 113}, {'R', 114}, {'U', 121}, {'L', 122}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (numbers[i].letter == letter)
      return numbers[i].number;
  return 0;
}

static int cblas_side(char letter) {
  return letter == 'L' ? 141 : letter == 'R' ? 142 : 0;
}
static int cblas_diag(char letter) {
  return letter == 'N' ? 131 : letter == 'U' ? 132 : 0;
}

static _Alignas(64) unsigned char alpha_at[16], beta_at[16]; /* as elements */

#define CALL_BY call_cblas_s
#define SCALAR float
#define SCALAR_OF(value) (float)creall(value)
#define REAL float
#include "blas/level3_calls.h"
#undef CALL_BY
#undef SCALAR
#undef SCALAR_OF
#undef REAL

#define CALL_BY call_cblas_d
#define SCALAR double
#define SCALAR_OF(value) (double)creall(value)
#define REAL double
#include "blas/level3_calls.h"
#undef CALL_BY
#undef SCALAR
#undef SCALAR_OF
#undef REAL

#define SCALAR const void *
#define SCALAR_OF(value) (&(value) == &p->alpha ? alpha_at : beta_at)
#define CALL_BY call_cblas_c
#define REAL float
#include "blas/level3_calls.h"
#undef CALL_BY
#undef REAL
#define CALL_BY call_cblas_z
#define REAL double
#include "blas/level3_calls.h"
#undef CALL_BY
#undef REAL
#undef SCALAR
#undef SCALAR_OF

/* As the drop-in calls another library's function to measure it. */
static void call_as_theirs(any *function, bool cblas) {
  static const tsl_blas_routine routines[ROUTINES] = {TSL_BLAS_SYRK,  TSL_BLAS_HERK, TSL_BLAS_SYR2K,
                                                      TSL_BLAS_HER2K, TSL_BLAS_SYMM, TSL_BLAS_HEMM,
                                                      TSL_BLAS_TRMM,  TSL_BLAS_TRSM};
  static const tesela_type names_of[KINDS] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};
  const problem *p = now;
  /* An update is gemmt's, too, with the same factor twice. */
  const bool apart = p->routine == SYRK && p->trans == 'N' && draw() % 2 == 0;
  char name[32];
  snprintf(name, sizeof name, cblas ? "cblas_%cgemmt" : "%cgemmt_", kinds[p->kind].letter);
  tsl_blas_level3_call(&(tsl_blas_symbol){.cblas = cblas, .type = names_of[p->kind]},
                       apart ? find(name) : function,
                       &(tsl_blas_multiply){.routine = apart ? TSL_BLAS_GEMMT : routines[p->routine],
                                            .order = p->order,
                                            .side = p->side,
                                            .uplo = p->uplo,
                                            .trans_a = p->trans,
                                            .diag = p->diag,
                                            .m = p->m,
                                            .n = p->n,
                                            .k = p->k,
                                            .alpha = alpha_at,
                                            .a = a,
                                            .lda = p->lda,
                                            .b = apart           ? a
                                                 : is_in_place() ? c
                                                                 : b,
                                            .ldb = apart           ? p->lda
                                                   : is_in_place() ? p->ldc
                                                                   : p->ldb,
                                            .beta = beta_at,
                                            .c = c,
                                            .ldc = p->ldc});
}

static void run(bool cblas, bool as_theirs) {
  static void (*const by_cblas[KINDS])(any *) = {call_cblas_s, call_cblas_d, call_cblas_c, call_cblas_z};
  static any *found[2][KINDS][ROUTINES];
  any **function = &found[cblas][now->kind][now->routine];
  char name[32];
  snprintf(name, sizeof name, cblas ? "cblas_%c%s" : "%c%s_", kinds[now->kind].letter,
           routine_names[now->routine]);
  if (!*function)
    *function = find(name);
  store(alpha_at, 0, now->alpha);
  store(beta_at, 0, now->beta);
  if (as_theirs)
    call_as_theirs(*function, cblas);
  else if (cblas)
    by_cblas[now->kind](*function);
  else
    call_fortran(*function, alpha_at, beta_at);
}

/* --- cases --- */

static int leading(const problem *p, int rows, int cols) {
  const int along = p->order == ROW ? cols : rows;
  return (along > 1 ? along : 1) + (int)(draw() % (GAP + 1));
}

static bool exists(const problem *p) {
  const bool hermitian = p->routine == HERK || p->routine == HER2K || p->routine == HEMM;
  const bool conjugates = p->trans == 'C' && kinds[p->kind].is_complex;
  if (hermitian && !kinds[p->kind].is_complex)
    return false;
  if (p->routine == HERK || p->routine == HER2K)
    return p->trans != 'T' && p->trans != 'R';
  return p->routine >= TRMM || (p->trans != 'R' && !conjugates);
}

/* Scalars of every kind in turn; real where they must be. */
static void draw_scalars(problem *p) {
  static const long double values[][2] = {{1, 0}, {0, 0}, {-0.5L, 1.5L}, {1, 0}, {2, -0.25L}};
  const long double *x = values[draw() % 5], *y = values[draw() % 5];
  const bool is_complex = kinds[p->kind].is_complex, hermitian = p->routine == HERK || p->routine == HER2K;
  p->alpha = CMPLXL(x[0], is_complex && p->routine != HERK ? x[1] : 0);
  p->beta = CMPLXL(y[0], is_complex && !hermitian ? y[1] : 0);
}

static void try_sizes(problem p);

/* Tries a case with square factors of the size, and random other sizes. */
static void try(problem p, int size) {
  const bool update = p.routine < SYMM;
  if (!exists(&p))
    return;
  p.m = p.n = size;
  p.k = update ? (int)(draw() % 41) : 0;
  if (!update && p.side == 'L')
    p.n = (int)(draw() % 41);
  if (!update && p.side == 'R')
    p.m = (int)(draw() % 41);
  draw_scalars(&p);
  try_sizes(p);
}

/* Leading dimensions, with or without gaps, and the elements that count. */
static void set_distances(problem *p) {
  const bool update = p->routine < SYMM;
  const int factor = p->side == 'L' ? p->m : p->n;
  p->lda = !update           ? leading(p, factor, factor)
           : p->trans == 'N' ? leading(p, p->n, p->k)
                             : leading(p, p->k, p->n);
  p->ldb = !update           ? leading(p, p->m, p->n)
           : p->trans == 'N' ? leading(p, p->n, p->k)
                             : leading(p, p->k, p->n);
  p->ldc = leading(p, p->m, p->n);
  const int rows = p->m > p->k ? p->m : p->k, size = rows > p->n ? rows : p->n,
            most = (size > 40 ? size : 40) + GAP;
  extent = most * most;
}

static void try_sizes(problem p) {
  set_distances(&p);
  now = &p;
  fill();
  const bool as_theirs = p.order == COLUMN && tsl_blas_either_width() && draw() % 4 == 0;
  run(p.order == ROW || draw() % 2 == 0, as_theirs);
  expect_right();
}

/* Every letter of a routine; those it does not have are all the same to it. */
static void try_letters(int kind, int routine, int order, int size, unsigned one_of) {
  const int sides = routine < SYMM ? 1 : 2, transposes = routine == SYMM || routine == HEMM ? 1 : 4;
  const int diagonals = routine < TRMM ? 1 : 2;
  for (int way = 0; way < 2 * sides * transposes * diagonals; way++) {
    if (draw() % one_of != 0)
      continue;
    const int rest = way / 2, side = rest % sides, trans = rest / sides % transposes;
    try((problem){.kind = kind,
                  .routine = routine,
                  .order = order,
                  .side = "LR"[side],
                  .uplo = "UL"[way % 2],
                  .trans = "NTCR"[trans],
                  .diag = "NU"[rest / sides / transposes]},
        size);
  }
}

static void test_sizes(void **state) {
  static const int large[] = {97, LARGEST};
  (void)state;
  for (int routine = 0; routine < ROUTINES; routine++)
    for (int kind = 0; kind < KINDS; kind++)
      for (int order = ROW; order <= COLUMN; order++) {
        for (int size = 0; size <= 40; size += 1 + (int)(draw() % 5))
          try_letters(kind, routine, order, size, size > 12 ? 5 : 1);
        for (int i = 0; i < 2; i++)
          try_letters(kind, routine, order, large[i], 32);
      }
}

/* Sizes from which each routine runs by a plan of the public calls. */
static void test_plans(void **state) {
  static const struct {
    int m, n, k; /* of a factor on the left; an update is n x n */
  } real[ROUTINES] = {{0, 256, 260}, {0, 0, 0},    {0, 256, 260}, {0, 0, 0},
                      {365, 31, 0},  {365, 31, 0}, {171, 140, 0}, {130, 65, 0}},
    of_complex[ROUTINES] = {{0, 130, 66}, {0, 130, 66}, {0, 130, 66}, {0, 130, 66},
                            {365, 31, 0}, {365, 31, 0}, {110, 90, 0}, {100, 61, 0}};
  (void)state;
  for (int routine = 0; routine < ROUTINES; routine++)
    for (int kind = 0; kind < KINDS; kind++) {
      const bool is_complex = kinds[kind].is_complex, right = draw() % 2;
      const int m = is_complex ? of_complex[routine].m : real[routine].m;
      const int n = is_complex ? of_complex[routine].n : real[routine].n;
      problem p = {.kind = kind,
                   .routine = routine,
                   .order = draw() % 2 ? ROW : COLUMN,
                   .side = "LR"[right],
                   .uplo = "UL"[draw() % 2],
                   .trans = routine == HERK || routine == HER2K ? "NC"[draw() % 2] : "NT"[draw() % 2],
                   .diag = "NU"[draw() % 2],
                   .m = routine < SYMM ? n
                        : right        ? n
                                       : m,
                   .n = routine < SYMM ? n
                        : right        ? m
                                       : n,
                   .k = is_complex ? of_complex[routine].k : real[routine].k,
                   .alpha = CMPLXL(-0.5L, is_complex && routine != HERK ? 1.5L : 0),
                   .beta = CMPLXL(2, 0)};
      if ((routine == SYMM || routine == HEMM) && p.trans != 'N')
        p.trans = 'N';
      if (exists(&p))
        try_sizes(p);
    }
}

/* Few right-hand sides, for which A is read as it lies, one alone, and systems whose last rows fill no tile;
 * updates of few terms, which become one product of twice as many. */
static void test_thin(void **state) {
  static const int triangles[] = {13, 50, 70, 121}, few[] = {1, 2, 5, 9, 17, 34};
  (void)state;
  for (int kind = 0; kind < KINDS; kind++)
    for (int routine = 0; routine < ROUTINES; routine++)
      for (int way = 0; way < 64; way++) {
        const int size = triangles[draw() % 4], others = few[way % 6];
        const bool update = routine < SYMM, right = way & 1;
        problem p = {.kind = kind,
                     .routine = routine,
                     .order = way & 2 ? ROW : COLUMN,
                     .side = "LR"[right],
                     .uplo = "UL"[way / 4 % 2],
                     .trans = "NTCR"[way / 8 % 4],
                     .diag = "NU"[way / 32],
                     .m = update || !right ? size : others,
                     .n = update || right ? size : others,
                     .k = update ? others : 0};
        draw_scalars(&p);
        if (exists(&p) && draw() % 2 && (routine == TRSM || (update && way % 4 == 0)))
          try_sizes(p);
      }
}

/* Infinity in one row of B: rows that the triangle does not mix with it stay numbers. */
static void spread_infinity(int kind, int m, int n, int row) {
  const int ld = LD;
  typedef void triangle(const char *, const char *, const char *, const char *, const int *, const int *,
                        const void *, const void *, const int *, void *, const int *, size_t, size_t, size_t,
                        size_t);
  now = &(problem){.kind = kind, .routine = TRMM, .order = COLUMN, .uplo = 'L', .side = 'L', .m = m, .n = n};
  for (int j = 0; j < LD; j++)
    for (int i = 0; i < LD; i++) {
      store(a, i + j * LD, noise());
      store(c, i + j * LD, noise());
    }
  store(c, row + 2 * LD, INFINITY);
  store(alpha_at, 0, 1);
  ((triangle *)find(kind == 0 ? "strmm_" : "dtrmm_"))("L", "L", "N", "N", &m, &n, alpha_at, a, &ld, c, &ld, 1,
                                                      1, 1, 1);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++)
      assert_int_equal(isfinite((double)creall(load(c, i + j * LD))), j != 2 || i < row);
}

static void test_infinity_stays_where_it_is(void **state) {
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    spread_infinity(kind, 7, 5, 4);
    spread_infinity(kind, 40, 5, 20);
    spread_infinity(kind, 170, 150, 20);
  }
}

/* A number that is not finite in one row of A: the diagonal stays real, and numbers that the row does not
 * meet stay right. */
static void expect_real_diagonal(problem p, wide value) {
  set_distances(&p);
  now = &p;
  fill();
  const int row = p.n / 2, term = p.k / 3;
  store(a, p.trans == 'N' ? place(p.lda, row, term) : place(p.lda, term, row), value);
  run(p.order == ROW || draw() % 2 == 0, false);
  for (int i = 0; i < p.n; i++) {
    const wide seen = load(c, place(p.ldc, i, i));
    if (cimagl(seen) != 0)
      fail_msg("%c%s uplo=%c trans=%c n=%d k=%d beta=%Lg: C(%d, %d) is %Lg %+Lg i", kinds[p.kind].letter,
               routine_names[p.routine], p.uplo, p.trans, p.n, p.k, creall(p.beta), i, i, creall(seen),
               cimagl(seen));
    if (i == row)
      assert_false(isfinite(creall(seen)));
    else
      expect_element(i, i);
  }
}

static void test_diagonals_are_real(void **state) {
  static const int sizes[] = {1, 2, 3, 7, 12, 16, 31, 33, 47, 48, 49, 64, 112, 130, 260},
                   terms[] = {1, 3, 15, 16, 66};
  (void)state;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (size_t t = 0; t < sizeof terms / sizeof *terms; t++)
      for (int way = 0; way < 64; way++) {
        const problem p = {.kind = way & 1 ? 2 : 3,
                           .routine = way & 2 ? HERK : HER2K,
                           .order = way & 4 ? ROW : COLUMN,
                           .uplo = "UL"[way / 8 % 2],
                           .trans = "NC"[way / 16 % 2],
                           .m = sizes[s],
                           .n = sizes[s],
                           .k = terms[t],
                           .alpha = way & 2 ? 1 : CMPLXL(1, 0.25L * (draw() % 2)),
                           .beta = draw() % 3};
        if (sizes[s] < 100 || draw() % 8 == 0)
          expect_real_diagonal(p, way & 32 ? NAN : CMPLXL(1, INFINITY));
      }
}

/* All names are there, and those with 64-bit integers read such. */
static void test_names(void **state) {
  static const char *const forms[] = {
      "%c%s_",      "%c%s_64_",      "%c%s_64",       "scipy_%c%s_",      "scipy_%c%s_64_",
      "cblas_%c%s", "cblas_%c%s64_", "cblas_%c%s_64", "scipy_cblas_%c%s", "scipy_cblas_%c%s64_"};
  (void)state;
  for (size_t form = 0; form < sizeof forms / sizeof *forms; form++)
    for (int kind = 0; kind < KINDS; kind++)
      for (int routine = 0; routine < ROUTINES; routine++) {
        char name[48];
        snprintf(name, sizeof name, forms[form], kinds[kind].letter, routine_names[routine]);
        if (exists(&(problem){.kind = kind, .routine = routine, .trans = 'N'}))
          (void)find(name);
      }
  typedef void wide_triangle(const char *, const char *, const char *, const char *, const int64_t *,
                             const int64_t *, const double *, const double *, const int64_t *, double *,
                             const int64_t *, size_t, size_t, size_t, size_t);
  const int64_t two = 2, one = 1;
  const double triangle[] = {2, 3, NAN, 4}, alpha = 2;
  double x[] = {5, 7};
  ((wide_triangle *)find("dtrsm_64_"))("l", "l", "n", "n", &two, &one, &alpha, triangle, &two, x, &two, 1, 1,
                                       1, 1);
  assert_true(x[0] == 5 && x[1] == -0.25);
}

/* --- wrong arguments --- */

/* One argument is wrong at a time: its number, and 1 more with CBLAS's order in front. */
static void expect_number(problem p, int routine, int right) {
  char name[32];
  p.routine = routine;
  now = &p;
  for (int cblas = p.order == ROW; cblas < 2; cblas++) {
    told_number = 0;
    memcpy(before, c, sizeof c);
    run(cblas, false);
    snprintf(name, sizeof name, cblas ? "cblas_%c%s" : "%c%s", kinds[p.kind].letter, routine_names[routine]);
    for (char *letter = name; !cblas && *letter; letter++)
      *letter = (char)(*letter >= 'a' ? *letter - 'a' + 'A' : *letter);
    told_name[cblas ? sizeof told_name - 1 : strcspn(told_name, " ")] = 0;
    assert_string_equal(told_name, name);
    assert_int_equal(told_number, right + cblas);
    assert_memory_equal(c, before, sizeof c);
  }
}

static problem fine(int kind, int order) {
  return (problem){.kind = kind,
                   .order = order,
                   .side = 'L',
                   .uplo = 'U',
                   .trans = 'N',
                   .diag = 'N',
                   .m = 3,
                   .n = 2,
                   .k = 4,
                   .lda = 9,
                   .ldb = 9,
                   .ldc = 9,
                   .alpha = 1,
                   .beta = 1};
}

static void test_arguments(void **state) {
  static const struct {
    int number[4]; /* updates; of two; symm; trmm and trsm */
    size_t field;
    int value;
    bool is_letter;
  } wrong[] = {{{0, 0, 1, 1}, offsetof(problem, side), 'x', true},
               {{1, 1, 2, 2}, offsetof(problem, uplo), 'x', true},
               {{2, 2, 0, 3}, offsetof(problem, trans), 'x', true},
               {{0, 0, 0, 4}, offsetof(problem, diag), 'x', true},
               {{0, 0, 3, 5}, offsetof(problem, m), -1, false},
               {{3, 3, 4, 6}, offsetof(problem, n), -1, false},
               {{4, 4, 0, 0}, offsetof(problem, k), -1, false},
               {{7, 7, 7, 9}, offsetof(problem, lda), 1, false},
               {{0, 9, 9, 0}, offsetof(problem, ldb), 1, false},
               {{10, 12, 12, 11}, offsetof(problem, ldc), 1, false}};
  static const int columns[ROUTINES] = {0, 0, 1, 1, 2, 2, 3, 3};
  (void)state;
  for (int kind = 0; kind < KINDS; kind++)
    for (int routine = 0; routine < ROUTINES; routine++)
      for (int order = ROW; order <= COLUMN; order++)
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
          problem p = fine(kind, order);
          p.routine = routine;
          const int right = wrong[i].number[columns[routine]];
          if (right == 0 || !exists(&p))
            continue;
          if (wrong[i].is_letter)
            *((char *)&p + wrong[i].field) = (char)wrong[i].value;
          else
            memcpy((char *)&p + wrong[i].field, &wrong[i].value, sizeof wrong[i].value);
          expect_number(p, routine, right);
        }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_plans),
      cmocka_unit_test(test_thin),
      cmocka_unit_test(test_infinity_stays_where_it_is),
      cmocka_unit_test(test_diagonals_are_real),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
