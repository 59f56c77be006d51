/* Random products and transposes, on every grid that the ranks can make: mpirun -n RANKS
 * scalapack_products CASES. The process that is first in every grid prints the number of calls of
 * each kind. Every process prints its wrong results. */
#include "scalapack/distributed.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] = "NTC";

static char draw_letter(void) {
  return letters[draw(3)];
}

static number scalars[] = {1, 0, 2, -1};

/* A scalar as the routines take it. */
typedef union scalar {
  char bytes[sizeof(number)];
  number widest;
} scalar;
static scalar scalar_of(const element *type, number value) {
  scalar out = {.widest = 0};
  type->store(&out, 0, value);
  return out;
}

static number draw_scalar(const element *type, bool zero_too) {
  number value;
  do
    value = scalars[draw((int64_t)(sizeof scalars / sizeof *scalars))];
  while (value == 0 && !zero_too);
  return type->is_complex && value != 0 ? value + CMPLX(0, (double)draw(3) - 1) : value;
}

static number op(const distributed *matrix, const element *type, char letter, int64_t i, int64_t j) {
  const number value = letter == 'N' ? dealt(matrix, type, i, j) : dealt(matrix, type, j, i);
  return letter == 'C' ? conj(value) : value;
}

/* --- requests --- */

typedef struct request {
  const element *type;
  char letter_a, letter_b;
  int64_t k; /* 0: a transpose */
  number alpha, beta;
  distributed a, b, c;
} request;

static number expected(const void *state, int64_t i, int64_t j) {
  const request *is = state;
  number sum = 0;
  for (int64_t l = 0; l < is->k; l++)
    sum += op(&is->a, is->type, is->letter_a, i, l) * op(&is->b, is->type, is->letter_b, l, j);
  if (is->k == 0)
    sum = op(&is->a, is->type, is->letter_a, i, j);
  return is->alpha * sum + (is->beta == 0 ? 0 : is->beta * dealt(&is->c, is->type, i, j));
}

static int64_t draw_size(void) {
  static const int64_t most[] = {2, 12, 40};
  return 1 + draw(most[draw(3)]);
}

static int finish(request *is, const grid *on, const char *routine) {
  const int wrong = count_wrong(&is->c, is->type, on, expected, is);
  if (wrong)
    fprintf(stderr, "p%s%s %c%c %lld x %lld x %lld on %d x %d, process (%d, %d): %d elements are wrong\n",
            is->type->name, routine, is->letter_a, is->letter_b, (long long)is->c.rows, (long long)is->c.cols,
            (long long)is->k, (int)on->rows, (int)on->cols, (int)on->row, (int)on->col, wrong);
  discard(&is->a);
  discard(&is->b);
  discard(&is->c);
  return wrong;
}

static int multiply(const grid *on, int which) {
  static gemm_routine *const routines[ELEMENTS] = {psgemm_, pdgemm_, pcgemm_, pzgemm_};
  const INTEGER m = (INTEGER)draw_size(), n = (INTEGER)draw_size(), k = (INTEGER)draw_size();
  request is = {.type = &elements[which], .letter_a = draw_letter(), .letter_b = draw_letter(), .k = k};
  is.alpha = draw_scalar(is.type, false);
  is.beta = draw_scalar(is.type, true);
  deal(&is.a, is.type, on, is.letter_a == 'N' ? m : k, is.letter_a == 'N' ? k : m, false);
  deal(&is.b, is.type, on, is.letter_b == 'N' ? k : n, is.letter_b == 'N' ? n : k, false);
  deal(&is.c, is.type, on, m, n, is.beta == 0);
  const scalar alpha = scalar_of(is.type, is.alpha), beta = scalar_of(is.type, is.beta);
  routines[which](&is.letter_a, &is.letter_b, &m, &n, &k, &alpha, is.a.data, &is.a.i, &is.a.j, is.a.fields,
                  is.b.data, &is.b.i, &is.b.j, is.b.fields, &beta, is.c.data, &is.c.i, &is.c.j, is.c.fields);
  return finish(&is, on, "gemm_");
}

/* p?tran, p?tranu, p?tranc, and p?geadd. */
static int transpose(const grid *on, int which) {
  static geadd_routine *const adds[ELEMENTS] = {psgeadd_, pdgeadd_, pcgeadd_, pzgeadd_};
  static tran_routine *const plain[ELEMENTS] = {pstran_, pdtran_, pctranu_, pztranu_},
                             *const conjugated[ELEMENTS] = {pstran_, pdtran_, pctranc_, pztranc_};
  const INTEGER m = (INTEGER)draw_size(), n = (INTEGER)draw_size();
  request is = {.type = &elements[which], .letter_a = letters[1 + draw(2)], .letter_b = ' '};
  is.alpha = draw_scalar(is.type, false);
  is.beta = draw_scalar(is.type, true);
  deal(&is.a, is.type, on, n, m, false);
  deal(&is.c, is.type, on, m, n, is.beta == 0);
  const scalar alpha = scalar_of(is.type, is.alpha), beta = scalar_of(is.type, is.beta);
  if (draw(2))
    adds[which](&is.letter_a, &m, &n, &alpha, is.a.data, &is.a.i, &is.a.j, is.a.fields, &beta, is.c.data,
                &is.c.i, &is.c.j, is.c.fields);
  else
    (is.letter_a == 'C' ? conjugated : plain)[which](&m, &n, &alpha, is.a.data, &is.a.i, &is.a.j, is.a.fields,
                                                     &beta, is.c.data, &is.c.i, &is.c.j, is.c.fields);
  return finish(&is, on, "tran");
}

/* --- all grids --- */

static int run_grid(INTEGER rows, INTEGER cols, int cases) {
  const INTEGER nobody = -1, system = 0;
  grid on = {.context = 0};
  int wrong = 0;
  blacs_get_(&nobody, &system, &on.context);
  blacs_gridinit_(&on.context, (rows + cols) % 2 ? "R" : "C", &rows, &cols);
  if (on.context >= 0)
    blacs_gridinfo_(&on.context, &on.rows, &on.cols, &on.row, &on.col);
  begin_drawing((uint64_t)rows * 64 + (uint64_t)cols); /* some were outside of the grid before */
  const bool is_in = on.context >= 0 && on.row >= 0;
  for (int i = 0; i < cases && is_in; i++)
    wrong += i % 3 == 2 ? transpose(&on, i % ELEMENTS) : multiply(&on, i % ELEMENTS);
  if (is_in)
    blacs_gridexit_(&on.context);
  return wrong;
}

int main(int count, char **arguments) {
  const int cases = count > 1 ? atoi(arguments[1]) : 12;
  INTEGER me, processes;
  int wrong = 0, grids = 0, all = 0;
  MPI_Init(&count, &arguments);
  blacs_pinfo_(&me, &processes);
  for (INTEGER rows = 1; rows <= processes; rows++)
    for (INTEGER cols = 1; rows * cols <= processes; cols++, grids++)
      wrong += run_grid(rows, cols, cases);
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (me == 0)
    printf("%d calls on %d grids, %d wrong\n", grids * cases, grids, all);
  MPI_Finalize();
  return all != 0;
}
