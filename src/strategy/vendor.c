#include "strategy/vendor.h"

#include "core/memory.h"
#include "core/status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Loads the library and its table; on failure sets out->why_not and keeps the thread's error message. */
static tesela_status vendor_load(const tsl_vendor_library *library, tsl_vendor *out) {
  const char *chosen = tsl_env_get(library->path);
  void (*first)(void);
  /* A failed search is not an error of the caller: the thread's last error message must not change. */
  tsl_status_saved saved;
  tsl_status_save(&saved);
  const tesela_status status = tsl_library_load(library->what, *chosen ? chosen : NULL, library->names,
                                                library->symbols, library->count, library->table);
  if (status != TESELA_OK)
    snprintf(out->why_not, sizeof out->why_not, "%.110s (%s names %s)", tesela_last_error(),
             tsl_env_info_at((int)library->path)->name, *chosen ? "it" : "one");
  tsl_status_restore(&saved);
  if (status != TESELA_OK)
    return status;
  memcpy(&first, (char *)library->table + library->symbols[0].offset, sizeof first);
  tsl_library_file(first, out->file, sizeof out->file);
  return TESELA_OK;
}

const tsl_vendor *tsl_vendor_find(tsl_vendor_library *library) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  if (!library->was_looked_for) {
    library->found = (tsl_vendor){.why_not = ""};
    const tesela_status status = vendor_load(library, &library->found);
    if (status == TESELA_OK)
      library->name(&library->found);
    library->was_looked_for = status != TESELA_OUT_OF_MEMORY;
  }
  pthread_mutex_unlock(&lock);
  return &library->found;
}

static int64_t vendor_at_least_1(int64_t size) {
  return size < 1 ? 1 : size;
}

/* Gets BLAS terms of a matrix; false: BLAS cannot express its strides. A side <= 1 has any stride. */
static bool get_blas_layout(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride,
                            bool *transposed, int64_t *leading) {
  if ((rows <= 1 || row_stride == 1) && (cols <= 1 || col_stride >= vendor_at_least_1(rows))) {
    *transposed = false;
    *leading = cols <= 1 ? vendor_at_least_1(rows) : col_stride;
    return true;
  }
  *transposed = true;
  *leading = rows <= 1 ? vendor_at_least_1(cols) : row_stride;
  return (cols <= 1 || col_stride == 1) && (rows <= 1 || row_stride >= vendor_at_least_1(cols));
}

bool tsl_blas_reads_products(const tsl_problem *problem) {
  return problem->k > 0 && (problem->alpha[0] != 0 || problem->alpha[1] != 0);
}

/* Returns NULL, or a refusal of the operand `name`: its strides, or a size or leading dimension. */
static const char *refuse_shape(const tsl_shape *shape, char name, int64_t max) {
  bool transposed;
  int64_t leading;
  if (!get_blas_layout(shape->rows, shape->cols, shape->row_stride, shape->col_stride, &transposed, &leading))
    return tsl_refusal(
        "BLAS cannot express strides %lld, %lld of %c, %lld x %lld: one must be 1, the other at least the "
        "length of a line",
        (long long)shape->row_stride, (long long)shape->col_stride, name, (long long)shape->rows,
        (long long)shape->cols);
  const int64_t sizes[] = {shape->rows, shape->cols, leading};
  for (int i = 0; i < 3; i++)
    if (sizes[i] > max)
      return tsl_refusal("the library's interface counts to %lld, and %c, %lld x %lld, has %lld",
                         (long long)max, name, (long long)shape->rows, (long long)shape->cols,
                         (long long)sizes[i]);
  return NULL;
}

const char *tsl_blas_refuse(const tsl_problem *problem, int64_t max) {
  if (problem->m == 0 || problem->n == 0)
    return NULL;
  const char *why = refuse_shape(&problem->c, 'C', max);
  if (!why && tsl_blas_reads_products(problem))
    why = refuse_shape(&problem->a, 'A', max);
  if (!why && tsl_blas_reads_products(problem))
    why = refuse_shape(&problem->b, 'B', max);
  return why;
}

const char *tsl_blas_refuse_wide(const tsl_problem *problem, const tsl_config *config,
                                 const tsl_device *device) {
  (void)config;
  (void)device;
  return tsl_blas_refuse(problem, INT64_MAX);
}

static bool get_operand_layout(const tsl_operand *operand, int64_t rows, int64_t cols, bool *transposed,
                               int64_t *leading) {
  return get_blas_layout(rows, cols, operand->row_stride, operand->col_stride, transposed, leading);
}

static void swap_product(tsl_blas_product *product) {
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
  const bool reads = tsl_blas_reads_products(problem);
  bool c_transposed;
  *out = (tsl_blas_product){.m = problem->m,
                            .n = problem->n,
                            .k = reads ? problem->k : 0,
                            .a = &operands->a,
                            .b = &operands->b,
                            .c = &operands->c,
                            .alpha = reads ? problem->alpha[0] : 0,
                            .beta = problem->beta[0]};
  bool named = get_operand_layout(out->c, out->m, out->n, &c_transposed, &out->c_leading);
  if (reads) {
    named = named && get_operand_layout(out->a, out->m, out->k, &out->a_transposed, &out->a_leading);
    named = named && get_operand_layout(out->b, out->k, out->n, &out->b_transposed, &out->b_leading);
  }
  if (!named)
    return tsl_fail(TESELA_UNSUPPORTED, "%s on %s: BLAS cannot express the strides of this run's operands",
                    work->strategy->name, work->device->name);
  if (c_transposed)
    swap_product(out);
  if (!reads) { /* k = 0: the smallest values that BLAS accepts for operands that are not read */
    out->a_transposed = out->b_transposed = false;
    out->a_leading = out->m;
    out->b_leading = 1;
  }
  return TESELA_OK;
}

tesela_status tsl_vendor_build(tsl_work *work, size_t bytes, const char *what,
                               tesela_status (*prepare)(const tsl_work *work, tsl_vendor_handle *handle)) {
  tsl_device *device = work->device;
  void *block;
  TSL_TRY(tsl_alloc_zeroed(bytes, what, &block));
  tsl_vendor_handle *made = block;
  tesela_status status = device->ops->enter(device);
  if (status == TESELA_OK) {
    status = prepare(work, made);
    device->ops->leave(device);
  }
  if (status != TESELA_OK) {
    tsl_free(made);
    return status;
  }
  pthread_mutex_init(&made->lock, NULL);
  work->state = made;
  return TESELA_OK;
}

void tsl_vendor_release(tsl_work *work, void (*end)(tsl_vendor_handle *handle, bool entered)) {
  tsl_vendor_handle *own = work->state;
  tsl_status_saved saved;
  tsl_status_save(&saved);
  const bool entered = work->device->ops->enter(work->device) == TESELA_OK;
  end(own, entered);
  if (entered)
    work->device->ops->leave(work->device);
  tsl_status_restore(&saved);
  pthread_mutex_destroy(&own->lock);
  tsl_free(own);
  work->state = NULL;
}

void *tsl_vendor_address(const tsl_work *work, const tsl_operand *operand, tesela_type type) {
  const int64_t size = (int64_t)tsl_type(type)->size;
  return (char *)work->device->ops->native_buffer(operand->buffer) + operand->offset * size;
}

tesela_status tsl_vendor_cublas_check(const tsl_device *device, const char *call, int code,
                                      const char *(*name_of)(int code), const tsl_vendor *found) {
  if (code == TSL_CUBLAS_SUCCESS)
    return TESELA_OK;
  const tesela_status status = code == TSL_CUBLAS_ALLOC_FAILED      ? TESELA_OUT_OF_MEMORY
                               : code == TSL_CUBLAS_NOT_INITIALIZED ? TESELA_UNSUPPORTED
                               : code == TSL_CUBLAS_NOT_SUPPORTED   ? TESELA_UNSUPPORTED
                                                                    : TESELA_DEVICE_FAILED;
  return tsl_fail(status, "%s: %s: %s (%s)", device->name, call, name_of(code), found->name);
}

const char *const tsl_vendor_cublas_names[] = {"libcublas.so.13", "/usr/local/cuda/lib64/libcublas.so.13",
                                               "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so.12",
                                               NULL};

void tsl_vendor_cublas_name(int (*property)(int what, int *value), tsl_vendor *found) {
  enum { MAJOR, MINOR, PATCH, LEVELS }; /* arguments of cublasGetProperty() */
  int version[LEVELS] = {0};
  for (int i = 0; i < LEVELS; i++)
    property(i, &version[i]);
  snprintf(found->name, sizeof found->name, "cuBLAS %d.%d.%d", version[MAJOR], version[MINOR],
           version[PATCH]);
}

tsl_accuracy tsl_vendor_accuracy(const tsl_problem *problem, const tsl_config *config) {
  (void)config;
  tsl_accuracy promised = tsl_accuracy_of_sum(problem->k);
  promised.is_reproducible = false;
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
