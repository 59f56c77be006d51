#include "judge/solve_data.h"

#include "core/status.h"
#include "problem/structure.h"

#include <math.h>
#include <stdlib.h>

/* Rows of a graded triangle that grow from row to row. */
enum { GROWING = 64 };

typedef struct triangle_job {
  tsl_data data;
  uint64_t seed;
  const tsl_shape *shape;
  unsigned char *origin;
  bool is_unit, is_upper;
} triangle_job;

static unsigned char *triangle_element_address(const triangle_job *job, int64_t row, int64_t col) {
  return job->origin + tsl_shape_offset(job->shape, row, col);
}

static int roll_die_for_row(const triangle_job *job, int64_t row, int draw, int sides) {
  return (int)(tsl_random_u64(job->seed + 77 + (uint64_t)draw, (uint64_t)row) % (uint64_t)sides);
}

static double scale_of_row(const triangle_job *job, int64_t row) {
  return job->data == TSL_DATA_GRADED ? ldexp(1, roll_die_for_row(job, row, 0, 25) - 12) : 1;
}
/* Returns a column's power of 2; with scale_of_row() it preserves a unit diagonal. */
static double scale_of_col(const triangle_job *job, int64_t col) {
  if (job->data != TSL_DATA_GRADED)
    return 1;
  return job->is_unit ? 1 / scale_of_row(job, col) : ldexp(1, roll_die_for_row(job, col, 1, 25) - 12);
}

static void replace_diagonal_by_special(const triangle_job *job, int64_t row, double value[2]) {
  const tsl_type_info *type = tsl_type(job->shape->type);
  const double kinds[] = {0, -0.0, type->smallest * 5, type->largest / 2, -INFINITY, NAN};
  if (job->data != TSL_DATA_SPECIAL || roll_die_for_row(job, 0, 2, 3) != 0 ||
      roll_die_for_row(job, 1, 2, (int)job->shape->rows) != row)
    return;
  value[0] = kinds[roll_die_for_row(job, 2, 2, sizeof kinds / sizeof *kinds)];
  value[1] = 0;
}

static void set_diagonal_element(const triangle_job *job, int64_t row) {
  const bool is_imaginary = tsl_type(job->shape->type)->is_complex && roll_die_for_row(job, row, 3, 2);
  const double sign = roll_die_for_row(job, row, 4, 2) ? 1 : -1;
  double size = job->data == TSL_DATA_INTEGER ? ldexp(1, roll_die_for_row(job, row, 5, 3))
                                              : 1 + roll_die_for_row(job, row, 5, 1000) / 1000.0;
  size *= sign * scale_of_row(job, row) * scale_of_col(job, row);
  double value[2] = {size, is_imaginary && job->data != TSL_DATA_INTEGER ? size / 3 : 0};
  if (is_imaginary && job->data == TSL_DATA_INTEGER) {
    value[0] = 0;
    value[1] = size;
  }
  replace_diagonal_by_special(job, row, value);
  tsl_type_store(job->shape->type, triangle_element_address(job, row, row), value);
}

static bool is_growing(const triangle_job *job, int64_t row, int64_t col) {
  const int64_t last = job->shape->rows - 1, i = job->is_upper ? last - row : row,
                l = job->is_upper ? last - col : col;
  return job->data == TSL_DATA_GRADED && l == i - 1 && i < GROWING;
}

static void scale_off_diagonal_element(const triangle_job *job, int64_t row, int64_t col) {
  const double smaller = is_growing(job, row, col) ? 1.25 : 1 / sqrt((double)job->shape->rows);
  const double by = smaller * scale_of_row(job, row) * scale_of_col(job, col);
  double value[2];
  if (job->data == TSL_DATA_INTEGER)
    return;
  tsl_type_load(job->shape->type, triangle_element_address(job, row, col), value);
  if (is_growing(job, row, col))
    value[0] = copysign(1.5, value[0]);
  value[0] *= by;
  value[1] *= by;
  tsl_type_store(job->shape->type, triangle_element_address(job, row, col), value);
}

void tsl_solve_make_triangle(tsl_data data, uint64_t seed, const tsl_shape *shape, void *a) {
  const double nothing[2] = {NAN, NAN};
  const triangle_job job = {.data = data,
                            .seed = seed,
                            .shape = shape,
                            .origin = a,
                            .is_unit = shape->structure == TESELA_UNIT_TRIANGULAR,
                            .is_upper = shape->triangle == TESELA_UPPER};
  for (int64_t i = 0; i < shape->rows; i++)
    for (int64_t j = 0; j < shape->cols; j++)
      if (i == j ? job.is_unit : job.is_upper == (i > j))
        tsl_type_store(shape->type, triangle_element_address(&job, i, j), nothing);
      else if (i == j)
        set_diagonal_element(&job, i);
      else
        scale_off_diagonal_element(&job, i, j);
}

/* Computes element (row, col) of A X / alpha from the triangle of A. */
static void element_of_product(const tsl_problem *problem, const void *a, const void *x, int64_t row,
                               int64_t col, double sum[2]) {
  const bool is_upper = problem->a.triangle == TESELA_UPPER;
  const int64_t end = is_upper ? problem->m : row + 1;
  sum[0] = sum[1] = 0;
  for (int64_t l = is_upper ? row : 0; l < end; l++) {
    double y[2] = {1, 0}, z[2];
    if (l != row || problem->a.structure != TESELA_UNIT_TRIANGULAR)
      tsl_type_load(problem->a.type, tsl_shape_at(&problem->a, a, row, l), y);
    tsl_type_load(problem->c.type, tsl_shape_at(&problem->c, x, l, col), z);
    y[1] = problem->conjugate_a ? -y[1] : y[1];
    sum[0] += y[0] * z[0] - y[1] * z[1];
    sum[1] += y[0] * z[1] + y[1] * z[0];
  }
  sum[0] /= problem->alpha[0];
  sum[1] /= problem->alpha[0];
}

/* Computes B = A X / alpha in place, in an order that overwrites rows after their last use. */
static void multiply_solution_in_place(const tsl_problem *problem, const void *a, void *b) {
  tsl_problem same = *problem;
  same.c = problem->b;
  for (int64_t step = 0; step < problem->m; step++) {
    const int64_t row = problem->a.triangle == TESELA_UPPER ? step : problem->m - 1 - step;
    for (int64_t col = 0; col < problem->n; col++) {
      double sum[2];
      element_of_product(&same, a, b, row, col, sum);
      tsl_type_store(same.c.type, (unsigned char *)b + tsl_shape_offset(&same.c, row, col), sum);
    }
  }
}

bool tsl_solve_is_exact(const tsl_problem *problem, tsl_data data) {
  int exponent;
  const double unit = tsl_type(problem->c.type)->unit_roundoff;
  return data == TSL_DATA_INTEGER && problem->alpha[1] == 0 &&
         fabs(frexp(problem->alpha[0], &exponent)) == 0.5 && abs(exponent) < 4 &&
         128 * (double)(problem->m + 1) < 0.125 / unit;
}

tesela_status tsl_solve_fill(const tsl_problem *problem, tsl_data data, uint64_t seed, void *a, void *b) {
  TSL_TRY(tsl_data_fill(data == TSL_DATA_GRADED ? TSL_DATA_NORMAL : data, seed, &problem->a,
                        problem->m * problem->m / 2, a));
  tsl_solve_make_triangle(data, seed, &problem->a, a);
  TSL_TRY(tsl_data_fill(data, seed + 1, &problem->b, problem->m, b));
  if (tsl_solve_is_exact(problem, data))
    multiply_solution_in_place(problem, a, b);
  return TESELA_OK;
}
