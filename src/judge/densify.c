#include "judge/densify.h"

#include "core/memory.h"
#include "core/status.h"
#include "judge/nonfinite.h"
#include "problem/structure.h"

#include <math.h>
#include <string.h>

static int64_t index_of_sample(const tsl_indices *indices, int64_t i) {
  return indices->list ? indices->list[i] : i;
}

/* Loads element (row, col) by the definition of the structure, stored or not. */
static void load_by_structure(const tsl_shape *shape, const void *origin, int64_t row, int64_t col,
                              double value[2]) {
  const tsl_stored from = tsl_shape_element(shape, row, col);
  value[0] = from.what == TSL_ELEMENT_ONE;
  value[1] = 0;
  if (from.what != TSL_ELEMENT_STORED)
    return;
  tsl_type_load(shape->type, tsl_shape_at(shape, origin, from.row, from.col), value);
  if (from.real)
    value[1] = 0;
  else if (from.conjugate)
    value[1] = -value[1];
}

/* Loads the factor at (row, term) of A, or at (col, term) of B. A sum's second product follows the first. */
static void load_term_of_sum(const tsl_problem *problem, bool by_a, const void *a, const void *b,
                             int64_t line, int64_t term, double value[2]) {
  const bool second = term >= problem->k, of_a = by_a != second,
             conjugates = of_a ? problem->conjugate_a : problem->conjugate_b;
  const int64_t l = second ? term - problem->k : term;
  load_by_structure(of_a ? &problem->a : &problem->b, of_a ? a : b, of_a ? line : l, of_a ? l : line, value);
  if (conjugates != (second && tsl_is_hermitian(problem->c.structure)))
    value[1] = -value[1];
}

static void copy_terms_of_sum(const tsl_problem *problem, const void *a, const void *b,
                              const tsl_indices *rows, const tsl_indices *cols,
                              const tsl_dense_sample *made_sample) {
  const tsl_problem *general = &made_sample->problem;
  for (int64_t l = 0; l < general->k; l++) {
    double value[2];
    for (int64_t i = 0; i < general->m; i++) {
      load_term_of_sum(problem, true, a, b, index_of_sample(rows, i), l, value);
      tsl_type_store(general->a.type, (unsigned char *)made_sample->a + tsl_shape_offset(&general->a, i, l),
                     value);
    }
    for (int64_t j = 0; j < general->n; j++) {
      load_term_of_sum(problem, false, a, b, index_of_sample(cols, j), l, value);
      tsl_type_store(general->b.type, (unsigned char *)made_sample->b + tsl_shape_offset(&general->b, l, j),
                     value);
    }
  }
}

static void copy_completed_elements(const tsl_shape *shape, const void *origin, const tsl_indices *rows,
                                    const tsl_indices *cols, const tsl_shape *dense, void *dst) {
  for (int64_t i = 0; i < dense->rows; i++)
    for (int64_t j = 0; j < dense->cols; j++) {
      double value[2];
      load_by_structure(shape, origin, index_of_sample(rows, i), index_of_sample(cols, j), value);
      tsl_type_store(shape->type, (unsigned char *)dst + tsl_shape_offset(dense, i, j), value);
    }
}

static tsl_problem make_general_problem(const tsl_problem *problem, int64_t rows, int64_t cols) {
  const bool is_sum = tsl_is_sum(problem->c.structure); /* copies of a sum are conjugated already */
  const int64_t terms = tsl_problem_terms(problem);
  tsl_problem made = tsl_problem_gemm(rows, cols, terms, problem->c.type);
  made.b.row_stride = 1; /* sampled columns are contiguous */
  made.b.col_stride = terms > 0 ? terms : 1;
  made.conjugate_a = !is_sum && problem->conjugate_a;
  made.conjugate_b = !is_sum && problem->conjugate_b;
  memcpy(made.alpha, problem->alpha, sizeof made.alpha);
  memcpy(made.beta, problem->beta, sizeof made.beta);
  return made;
}

static size_t dense_bytes_rounded_to_16(const tsl_shape *shape) {
  return ((size_t)(shape->rows * shape->cols) * tsl_type(shape->type)->size + 15) / 16 * 16;
}

static tesela_status allocate_dense_sample(tsl_dense_sample *out) {
  const tsl_problem *p = &out->problem;
  const size_t a = dense_bytes_rounded_to_16(&p->a), b = dense_bytes_rounded_to_16(&p->b),
               c = dense_bytes_rounded_to_16(&p->c), lines = (size_t)(p->m > p->n ? p->m : p->n);
  TSL_TRY(tsl_alloc_zeroed(a + b + c + 2 * lines * sizeof *out->first_nonfinite + (size_t)(p->m * p->n) + 1,
                           "operands for the judge", &out->memory));
  unsigned char *memory = out->memory;
  out->a = memory;
  out->b = memory + a;
  out->before = memory + a + b;
  out->first_nonfinite = (int64_t *)(void *)(memory + a + b + c);
  out->last_nonfinite = out->first_nonfinite + lines;
  out->kinds = (unsigned char *)(out->last_nonfinite + lines);
  return TESELA_OK;
}

static bool is_finite_element(const tsl_shape *shape, const void *origin, int64_t row, int64_t col) {
  double value[2] = {0, 0};
  tsl_type_load(shape->type, tsl_shape_at(shape, origin, row, col), value);
  return isfinite(value[0]) && isfinite(value[1]);
}

/* Sets the non-finite range of each row of A (`by_rows`) or column of B. */
static void find_nonfinite_ranges(tsl_dense_sample *out, bool by_rows) {
  const tsl_problem *p = &out->problem;
  const int64_t lines = by_rows ? p->m : p->n;
  for (int64_t i = 0; i < lines; i++) {
    out->first_nonfinite[i] = p->k;
    out->last_nonfinite[i] = -1;
    for (int64_t l = 0; l < p->k; l++) {
      if (by_rows ? is_finite_element(&p->a, out->a, i, l) : is_finite_element(&p->b, out->b, l, i))
        continue;
      out->first_nonfinite[i] = out->first_nonfinite[i] < l ? out->first_nonfinite[i] : l;
      out->last_nonfinite[i] = l;
    }
  }
}

/* Gets the terms, *first to *end - 1, in which element (row, col) needs the structured factor. */
static void range_in_triangle(const tsl_problem *problem, int64_t row, int64_t col, int64_t *first,
                              int64_t *end) {
  const bool by_a = tsl_problem_structured(problem) == TSL_OPERAND_A;
  const int64_t place = by_a ? row : col;
  const bool up_to = by_a == ((by_a ? problem->a.triangle : problem->b.triangle) == TESELA_LOWER);
  *first = up_to ? 0 : place;
  *end = up_to ? place + 1 : problem->k;
}

/* Returns true if the factor's diagonal has imaginary parts that are 0 by definition. */
static bool has_real_diagonal(const tsl_problem *problem) {
  const tesela_structure structure = tsl_problem_shape(problem, tsl_problem_structured(problem))->structure;
  return tsl_type(problem->c.type)->is_complex &&
         (structure == TESELA_HERMITIAN || structure == TESELA_UNIT_TRIANGULAR);
}

/* Returns true if a 0 of the diagonal is multiplied by a non-finite element; *outside: a 0 outside of the
 * triangle is. */
static bool zero_meets_nonfinite(const tsl_problem *problem, const tsl_dense_sample *made_sample,
                                 const tsl_indices *rows, const tsl_indices *cols, int64_t i, int64_t j,
                                 bool *outside) {
  const int factor = tsl_problem_structured(problem);
  const bool by_a = factor == TSL_OPERAND_A;
  const int64_t line = by_a ? j : i, place = by_a ? index_of_sample(rows, i) : index_of_sample(cols, j);
  *outside = false;
  if (made_sample->first_nonfinite[line] > made_sample->last_nonfinite[line])
    return false;
  if (tsl_is_triangular(tsl_problem_shape(problem, factor)->structure)) {
    int64_t first, end;
    range_in_triangle(problem, place, place, &first, &end);
    *outside = made_sample->first_nonfinite[line] < first || made_sample->last_nonfinite[line] >= end;
  }
  return has_real_diagonal(problem) &&
         (by_a ? !is_finite_element(&made_sample->problem.b, made_sample->b, place, j)
               : !is_finite_element(&made_sample->problem.a, made_sample->a, i, place));
}

/* Sets out->kinds of each sampled element: TSL_KIND_IGNORED, TSL_KIND_REAL_ONLY or 0. */
static void set_ignored_kinds(const tsl_problem *problem, const tsl_indices *rows, const tsl_indices *cols,
                              tsl_dense_sample *out) {
  const bool of_c = tsl_problem_structured(problem) == TSL_OPERAND_C, reads = out->a != NULL;
  unsigned char *kinds = out->kinds;
  for (int64_t i = 0; i < rows->count; i++)
    for (int64_t j = 0; j < cols->count; j++, kinds++) {
      bool meets_outside = false;
      const bool passed =
          (of_c && !tsl_shape_stores(&problem->c, index_of_sample(rows, i), index_of_sample(cols, j))) ||
          (!of_c && reads && zero_meets_nonfinite(problem, out, rows, cols, i, j, &meets_outside));
      const bool is_real =
          tsl_is_hermitian(problem->c.structure) && index_of_sample(rows, i) == index_of_sample(cols, j);
      *kinds = passed || meets_outside ? TSL_KIND_IGNORED : is_real ? TSL_KIND_REAL_ONLY : 0;
    }
}

tesela_status tsl_dense_sample_create(const tsl_problem *problem, const void *a, const void *b,
                                      const void *before, const tsl_indices *rows, const tsl_indices *cols,
                                      tsl_dense_sample *out) {
  const int factor = tsl_problem_structured(problem);
  const tsl_indices all = {NULL, problem->k};
  const bool reads = problem->k > 0 && (problem->alpha[0] != 0 || problem->alpha[1] != 0);
  *out = (tsl_dense_sample){.problem = make_general_problem(problem, rows->count, cols->count)};
  TSL_TRY(allocate_dense_sample(out));
  if (reads && tsl_is_sum(problem->c.structure)) {
    copy_terms_of_sum(problem, a, b, rows, cols, out);
  } else if (reads) {
    copy_completed_elements(&problem->a, problem->in_place && factor == TSL_OPERAND_B ? before : a, rows,
                            &all, &out->problem.a, out->a);
    copy_completed_elements(&problem->b, problem->in_place && factor == TSL_OPERAND_A ? before : b, &all,
                            cols, &out->problem.b, out->b);
    if (factor != TSL_OPERAND_C)
      find_nonfinite_ranges(out, factor == TSL_OPERAND_B);
  } else {
    out->a = out->b = NULL;
  }
  if (tsl_problem_reads(&out->problem, TSL_OPERAND_C))
    copy_completed_elements(&problem->c, before, rows, cols, &out->problem.c, out->before);
  else
    out->before = NULL;
  set_ignored_kinds(problem, rows, cols, out);
  return TESELA_OK;
}

void tsl_dense_sample_free(tsl_dense_sample *made_sample) {
  tsl_free(made_sample->memory);
  *made_sample = (tsl_dense_sample){.memory = NULL};
}

bool tsl_dense_sample_needed_terms(const tsl_problem *problem, const tsl_dense_sample *made_sample,
                                   int64_t row, int64_t col, int64_t *first, int64_t *count) {
  const tsl_indices all_rows = {NULL, problem->m}, all_cols = {NULL, problem->n};
  bool meets_outside;
  if (!made_sample->a || tsl_problem_structured(problem) == TSL_OPERAND_C ||
      zero_meets_nonfinite(problem, made_sample, &all_rows, &all_cols, row, col, &meets_outside) ||
      !meets_outside)
    return false;
  int64_t end;
  range_in_triangle(problem, row, col, first, &end);
  *count = end - *first;
  return true;
}
