#include "strategy/vendor.h"

#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool tsl_vendor_load(const tsl_vendor_library *library, void *table, tsl_vendor *out) {
  const char *chosen = tsl_env_get(library->path);
  void (*first)(void);
  memset(out, 0, sizeof *out);
  /* The caller is asked a question, and answers it; the sentence of this thread's last failure stays what it was. */
  tsl_status_saved saved;
  tsl_status_save(&saved);
  const tesela_status status = tsl_library_load(library->what, *chosen ? chosen : NULL, library->names,
                                                library->symbols, library->count, table);
  if (status != TESELA_OK)
    snprintf(out->why_not, sizeof out->why_not, "%.110s (%s names %s)", tesela_last_error(),
             tsl_env_at((int)library->path)->name, *chosen ? "it" : "one");
  tsl_status_restore(&saved);
  if (status != TESELA_OK)
    return false;
  memcpy(&first, (char *)table + library->symbols[0].offset, sizeof first);
  tsl_library_file(first, out->file, sizeof out->file);
  return true;
}

static int64_t at_least_1(int64_t size) {
  return size < 1 ? 1 : size;
}

/* How BLAS can name a matrix of these strides: column-major, or as the transpose of a column-major one; with which
 * leading dimension. The stride along a side of at most one element is never used, and may be anything. */
static bool name_layout(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride, bool *transposed,
                        int64_t *leading) {
  if ((rows <= 1 || row_stride == 1) && (cols <= 1 || col_stride >= at_least_1(rows))) {
    *transposed = false;
    *leading = cols <= 1 ? at_least_1(rows) : col_stride;
    return true;
  }
  *transposed = true;
  *leading = rows <= 1 ? at_least_1(cols) : row_stride;
  return (cols <= 1 || col_stride == 1) && (rows <= 1 || row_stride >= at_least_1(cols));
}

static bool reads_products(const tsl_problem *problem) {
  return problem->k > 0 && problem->alpha[0] != 0;
}

static const char *refuse_shape(const tsl_shape *shape, char name, int64_t most) {
  bool transposed;
  int64_t leading;
  if (!name_layout(shape->rows, shape->cols, shape->row_stride, shape->col_stride, &transposed, &leading))
    return tsl_refusal(
        "BLAS has no word for strides %lld, %lld of %c, %lld x %lld: one must be 1, the other at "
        "least the length of that line",
        (long long)shape->row_stride, (long long)shape->col_stride, name, (long long)shape->rows,
        (long long)shape->cols);
  const int64_t sizes[] = {shape->rows, shape->cols, leading};
  for (int i = 0; i < 3; i++)
    if (sizes[i] > most)
      return tsl_refusal("the library's interface counts to %lld, and %c, %lld x %lld, has %lld",
                         (long long)most, name, (long long)shape->rows, (long long)shape->cols,
                         (long long)sizes[i]);
  return NULL;
}

const char *tsl_blas_refuse(const tsl_problem *problem, int64_t most) {
  if (problem->m == 0 || problem->n == 0)
    return NULL;
  const char *why = refuse_shape(&problem->c, 'C', most);
  if (!why && reads_products(problem))
    why = refuse_shape(&problem->a, 'A', most);
  if (!why && reads_products(problem))
    why = refuse_shape(&problem->b, 'B', most);
  return why;
}

static bool name_operand(const tsl_operand *operand, int64_t rows, int64_t cols, bool *transposed,
                         int64_t *leading) {
  return name_layout(rows, cols, operand->row_stride, operand->col_stride, transposed, leading);
}

/* (A B)' = B' A'. */
static void swap_sides(tsl_blas_product *product) {
  const tsl_blas_product given = *product;
  product->m = given.n;
  product->n = given.m;
  product->a = given.b;
  product->b = given.a;
  product->a_transposed = !given.b_transposed;
  product->b_transposed = !given.a_transposed;
  product->a_leading = given.b_leading;
  product->b_leading = given.a_leading;
}

tesela_status tsl_blas_product_of(const tsl_work *work, const tsl_operands *operands, tsl_blas_product *out) {
  const tsl_problem *problem = &work->problem;
  const bool reads = reads_products(problem);
  bool c_transposed;
  *out = (tsl_blas_product){.m = problem->m,
                            .n = problem->n,
                            .k = reads ? problem->k : 0,
                            .a = &operands->a,
                            .b = &operands->b,
                            .c = &operands->c,
                            .alpha = reads ? problem->alpha[0] : 0,
                            .beta = problem->beta[0]};
  bool named = name_operand(out->c, out->m, out->n, &c_transposed, &out->c_leading);
  if (reads) {
    named = named && name_operand(out->a, out->m, out->k, &out->a_transposed, &out->a_leading);
    named = named && name_operand(out->b, out->k, out->n, &out->b_transposed, &out->b_leading);
  }
  if (!named)
    return tsl_fail(TESELA_UNSUPPORTED, "%s on %s: BLAS has no word for the strides of this run's operands",
                    work->strategy->name, work->device->name);
  if (c_transposed)
    swap_sides(out);
  if (!reads) { /* k = 0: the least that BLAS takes for what is not read */
    out->a_transposed = out->b_transposed = false;
    out->a_leading = out->m;
    out->b_leading = 1;
  }
  return TESELA_OK;
}

tsl_accuracy tsl_vendor_accuracy(const tsl_problem *problem, const tsl_config *config) {
  (void)config;
  tsl_accuracy promised = tsl_accuracy_of_sum(problem->k);
  promised.repeats = false;
  return promised;
}

double tsl_vendor_seconds(const tsl_problem *problem, const tsl_device *device, double efficiency,
                          double start, int64_t tile) {
  const double peak = problem->c.type == TESELA_F64 ? device->peak_f64 : device->peak_f32;
  const double edge = (double)tile, tiles = ceil((double)problem->m / edge) * ceil((double)problem->n / edge);
  const double units = device->threads > 0 ? device->threads : fmax(1, device->compute_units);
  const double busy = fmin(1, fmax(1, tiles) / units);
  return start + fmax(tsl_problem_flops(problem) / (efficiency * busy * peak),
                      tsl_problem_bytes(problem) / device->bandwidth);
}
