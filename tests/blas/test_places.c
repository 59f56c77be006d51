/* A result's bits do not depend on the element's place in a vector, nor on the number of elements
 * around it. Programs compute the same columns of matrices of several sizes, and LAPACK's own
 * testers compare such results bit by bit. Each routine runs on N elements and on every part of
 * them, and must give the same bits. So must one thread and two threads. */
#include "blas/operands.h"

#include <sys/mman.h>
#include <tesela/blas.h>

typedef const int32_t *num;
enum { N = 40, STEPS = 2, BYTES = 16 };
typedef unsigned char numbers[N * N * BYTES];

static void fill(const type *type_in, unsigned char *data, int count) {
  for (int i = 0; i < count * (type_in->is_complex ? 2 : 1); i++) {
    const double value = (double)draw(2000001) / 1e6 - 1;
    const float single = (float)value;
    if (type_in->is_single)
      memcpy(data + (size_t)i * 4, &single, 4);
    else
      memcpy(data + (size_t)i * 8, &value, 8);
  }
}

/* A call on elements `first` to `end` of x and y. */
typedef struct part {
  const type *of;
  void (*call)(void);
  int32_t first, end, step;
  unsigned char *x, *y;
  double scalars[6];
} part;

static void scal(part *p, const int32_t *n, unsigned char *x, unsigned char *y) {
  (void)y;
  ((void (*)(num, const void *, void *, num))p->call)(n, p->scalars, x, &p->step);
}
static void axpy(part *p, const int32_t *n, unsigned char *x, unsigned char *y) {
  ((void (*)(num, const void *, const void *, num, void *, num))p->call)(n, p->scalars, x, &p->step, y,
                                                                         &p->step);
}
static void rot(part *p, const int32_t *n, unsigned char *x, unsigned char *y) {
  ((void (*)(num, void *, num, void *, num, const void *, const void *))p->call)(n, x, &p->step, y, &p->step,
                                                                                 p->scalars, p->scalars + 2);
}

typedef struct row {
  const char *names[4]; /* of s, d, c, z */
  void (*run)(part *p, const int32_t *n, unsigned char *x, unsigned char *y);
} row;
static const row rows[] = {{{"sscal_", "dscal_", "cscal_", "zscal_"}, scal},
                           {{"sscal_", "dscal_", "csscal_", "zdscal_"}, scal},
                           {{"saxpy_", "daxpy_", "caxpy_", "zaxpy_"}, axpy},
                           {{"srot_", "drot_", "csrot_", "zdrot_"}, rot}};

static void run_part(const row *which, part *p, const unsigned char *x_before,
                     const unsigned char *y_before) {
  const size_t offset = (size_t)(p->first * p->step) * p->of->size;
  const int32_t n = p->end - p->first;
  memcpy(p->x, x_before, sizeof(numbers));
  memcpy(p->y, y_before, sizeof(numbers));
  which->run(p, &n, p->x + offset, p->y + offset);
}

static void vectors(void **state_of_test) {
  static _Alignas(64) numbers x_before, y_before, x_whole, y_whole, x, y;
  (void)state_of_test;
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
    for (int t = 0; t < 4; t++)
      for (int32_t step = 1; step <= STEPS; step++) {
        const type *of = &types[t];
        part whole = {of, function_of(rows[r].names[t]), 0, N, step, x_whole, y_whole, {0}};
        fill(of, x_before, N * STEPS);
        fill(of, y_before, N * STEPS);
        fill(of, (unsigned char *)whole.scalars, 1);
        fill(of, (unsigned char *)(whole.scalars + 2), 1);
        run_part(&rows[r], &whole, x_before, y_before);
        for (int32_t first = 0; first < N; first++)
          for (int32_t end = first + 1; end <= N; end++) {
            part some = whole;
            some.first = first, some.end = end, some.x = x, some.y = y;
            run_part(&rows[r], &some, x_before, y_before);
            for (int32_t i = first; i < end; i++)
              if (memcmp(x + (size_t)(i * step) * of->size, x_whole + (size_t)(i * step) * of->size,
                         of->size) != 0 ||
                  memcmp(y + (size_t)(i * step) * of->size, y_whole + (size_t)(i * step) * of->size,
                         of->size) != 0)
                fail_msg("%s of %d to %d, step %d: element %d has other bits than among %d", rows[r].names[t],
                         (int)first, (int)end, (int)step, (int)i, N);
          }
      }
}

/* y = alpha op(A) x + beta y on rows, or columns, `first` to `end` of A: those elements of y. */
static void matrices(void **state_of_test) {
  static _Alignas(64) numbers a, x, y_before, y_whole, y;
  (void)state_of_test;
  for (int t = 0; t < 4; t++)
    for (const char *op = "NTC"; *op; op++) {
      const type *of = &types[t];
      double alpha[2];
      const int32_t whole = N, one = 1;
      void (*gemv)(void) = routine(of, "gemv");
      fill(of, a, N * N);
      fill(of, x, N);
      fill(of, y_before, N);
      fill(of, (unsigned char *)alpha, 1);
      memcpy(y_whole, y_before, sizeof y);
      ((void (*)(const char *, num, num, const void *, const void *, num, const void *, num, const void *,
                 void *, num))gemv)(op, &whole, &whole, alpha, a, &whole, x, &one, alpha, y_whole, &one);
      for (int32_t first = 0; first < N; first++)
        for (int32_t end = first + 1; end <= N; end++) {
          const int32_t some = end - first;
          const size_t offset = (size_t)first * of->size;
          memcpy(y, y_before, sizeof y);
          ((void (*)(const char *, num, num, const void *, const void *, num, const void *, num, const void *,
                     void *, num))gemv)(op, *op == 'N' ? &some : &whole, *op == 'N' ? &whole : &some, alpha,
                                        a + (*op == 'N' ? offset : offset * N), &whole, x, &one, alpha,
                                        y + offset, &one);
          if (memcmp(y + offset, y_whole + offset, (size_t)some * of->size) != 0)
            fail_msg("%cgemv %c of %d to %d: elements have other bits than among %d", of->letter, *op,
                     (int)first, (int)end, N);
        }
    }
}

/* Short columns side by side are one stream of numbers; apart from each other they are not. */
static void gaps(void **state_of_test) {
  enum { ROWS = 9, COLUMNS = 101, APART = 13 };
  static _Alignas(64) unsigned char apart[COLUMNS * APART * BYTES], near[COLUMNS * APART * BYTES],
      x[ROWS * BYTES], wanted[COLUMNS * BYTES], y[COLUMNS * BYTES];
  (void)state_of_test;
  for (int t = 0; t < 4; t++)
    for (int32_t height = 1; height <= ROWS; height++)
      for (int32_t ld = height; ld < APART; ld++) {
        const type *of = &types[t];
        double alpha[2];
        const int32_t columns = COLUMNS, one = 1, most = APART;
        void (*gemv)(void) = routine(of, "gemv");
        fill(of, apart, COLUMNS * APART);
        fill(of, near, COLUMNS * APART);
        fill(of, x, ROWS);
        fill(of, y, COLUMNS);
        fill(of, (unsigned char *)alpha, 1);
        memcpy(wanted, y, sizeof y);
        for (int32_t j = 0; j < COLUMNS; j++)
          memcpy(near + (size_t)(j * ld) * of->size, apart + (size_t)(j * APART) * of->size,
                 (size_t)height * of->size);
        ((void (*)(const char *, num, num, const void *, const void *, num, const void *, num, const void *,
                   void *, num))gemv)("T", &height, &columns, alpha, apart, &most, x, &one, alpha, wanted,
                                      &one);
        ((void (*)(const char *, num, num, const void *, const void *, num, const void *, num, const void *,
                   void *, num))gemv)("T", &height, &columns, alpha, near, &ld, x, &one, alpha, y, &one);
        if (memcmp(y, wanted, (size_t)COLUMNS * of->size) != 0)
          fail_msg("%cgemv T of %d rows: %d apart others than %d apart", of->letter, (int)height, (int)ld,
                   APART);
      }
}

/* Repeats the comparison at the edges of protected pages, after the first and before the last. An
 * access outside ends the program. */
static void edges(void **state_of_test) {
  enum {
    ROWS = 9,
    COLUMNS = 70,
    PAGE = 1 << 16,
    ROOM = PAGE * ((COLUMNS * (ROWS + 4) * BYTES + PAGE - 1) / PAGE)
  };
  static const double zero[2] = {0};
  unsigned char *all = mmap(NULL, ROOM + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                *room = all + PAGE;
  (void)state_of_test;
  assert_true(all != MAP_FAILED);
  assert_int_equal(mprotect(room, ROOM, PROT_READ | PROT_WRITE), 0);
  for (int t = 0; t < 4; t++)
    for (int32_t height = 1; height <= ROWS; height++)
      for (int32_t ld = height; ld < height + 4; ld++)
        for (int32_t columns = 1; columns <= COLUMNS; columns++)
          for (int at_end = 0; at_end < 2; at_end++) {
            const type *of = &types[t];
            const int32_t one = 1;
            const size_t bytes = (size_t)((columns - 1) * ld + height) * of->size;
            unsigned char x[ROWS * BYTES] = {0}, y[COLUMNS * BYTES];
            store(of, x, 0, 1);
            ((void (*)(const char *, num, num, const void *, const void *, num, const void *, num,
                       const void *, void *, num))routine(of, "gemv"))(
                "T", &height, &columns, x, room + (at_end ? ROOM - bytes : 0), &ld, x, &one, zero, y, &one);
          }
  munmap(all, ROOM + 2 * PAGE);
}

/* Sizes alone determine the parts of threads. Compares one thread with two for a triangle, a
 * symmetric matrix and some long rows. */
typedef struct shape {
  const char *name, *letters;
  int32_t rows, columns;
} shape;
static const shape shapes[] = {
    {"gemv", "N", 3, 40000}, {"gemv", "T", 20000, 3}, {"symv", "UL", 520, 520}, {"trmv", "UL", 520, 520}};
enum { MOST = 520 * 520 };

static void call_shape(const type *type_in, const shape *what, char letter, char trans,
                       const unsigned char *a, const unsigned char *x, unsigned char *y) {
  static const double one_f64[2] = {1};
  static const float one_f32[2] = {1};
  const void *scalar = type_in->is_single ? (const void *)one_f32 : (const void *)one_f64;
  const int32_t one = 1, *m = &what->rows, *n = &what->columns;
  const char *name = type_in->is_complex && strcmp(what->name, "symv") == 0 ? "hemv" : what->name;
  void (*function)(void) = routine(type_in, name);
  if (strcmp(what->name, "gemv") == 0)
    ((void (*)(const char *, num, num, const void *, const void *, num, const void *, num, const void *,
               void *, num))function)(&letter, m, n, scalar, a, m, x, &one, scalar, y, &one);
  else if (strcmp(what->name, "symv") == 0)
    ((void (*)(const char *, num, const void *, const void *, num, const void *, num, const void *, void *,
               num))function)(&letter, n, scalar, a, m, x, &one, scalar, y, &one);
  else
    ((void (*)(const char *, const char *, const char *, num, const void *, num, void *, num))function)(
        &letter, &trans, "N", n, a, m, y, &one);
}

static void threads(void **state_of_test) {
  static _Alignas(64) unsigned char a[MOST * BYTES], x[40000 * BYTES], before[40000 * BYTES];
  static _Alignas(64) unsigned char alone[40000 * BYTES], together[40000 * BYTES];
  (void)state_of_test;
  for (int t = 0; t < 4; t++) {
    const type *of = &types[t];
    fill(of, a, MOST);
    fill(of, x, 40000);
    fill(of, before, 40000);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
      for (const char *letter = shapes[s].letters; *letter; letter++)
        for (const char *trans = "NTC"; *trans; trans++) {
          memcpy(alone, before, sizeof alone);
          memcpy(together, before, sizeof together);
          tesela_set_num_threads(1);
          call_shape(of, &shapes[s], *letter, *trans, a, x, alone);
          tesela_set_num_threads(0);
          call_shape(of, &shapes[s], *letter, *trans, a, x, together);
          if (memcmp(alone, together, sizeof alone) != 0)
            fail_msg("%c%s %c %c: threads change bits", of->letter, shapes[s].name, *letter, *trans);
        }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(vectors), cmocka_unit_test(matrices),
                                     cmocka_unit_test(gaps), cmocka_unit_test(edges),
                                     cmocka_unit_test(threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
