/* gpu_syrk [DEVICE [SIZE...]]: the lower triangle of A A' on a CUDA device (cuda:0) beside cuBLAS's syrk, by turns in one process, operands on the
 * device: f32 and f64, A of SIZE x SIZE (4096 and 8192). 10^12 operations a second, of which a triangle has half of a product's, and
 * their ratio. Both compute the same operands, and pieces of the triangle are compared: they multiplied the same, no more.
 * TESELA_CUBLAS names another library; TESELA_VENDORS is not asked. */
#include "strategy/vendor.h"
#define BENCH_NAME "gpu_syrk"
#include "gpu_sides.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

enum { SIZES_MOST = 16, COMPARED = 1 << 16 };

/* --- cuBLAS's syrk as a strategy of this program --- */

/* Functions: X(return type, member, symbol, parameters), as strategy/gemm/vendor_cublas has others of the library. */
#define SYRK_LIST(X)                                                                                         \
  X(int, create, cublasCreate_v2, (void **handle))                                                           \
  X(int, destroy, cublasDestroy_v2, (void *handle))                                                          \
  X(int, property, cublasGetProperty, (int what, int *value))                                                \
  X(const char *, status_name, cublasGetStatusName, (int code))                                              \
  X(int, set_stream, cublasSetStream_v2, (void *handle, void *stream))                                       \
  X(int, ssyrk, cublasSsyrk_v2_64,                                                                           \
    (void *handle, int fill, int transpose, int64_t n, int64_t k, const float *alpha, const void *a,         \
     int64_t a_leading, const float *beta, void *c, int64_t c_leading))                                      \
  X(int, dsyrk, cublasDsyrk_v2_64,                                                                           \
    (void *handle, int fill, int transpose, int64_t n, int64_t k, const double *alpha, const void *a,        \
     int64_t a_leading, const double *beta, void *c, int64_t c_leading))

typedef struct syrk_api {
#define MEMBER(type, member, symbol, parameters) type(*member) parameters;
  SYRK_LIST(MEMBER)
#undef MEMBER
} syrk_api;
static syrk_api cublas;

static const tsl_library_symbol symbols[] = {
#define SYMBOL(type, member, symbol, parameters) {#symbol, offsetof(syrk_api, member), 0},
    SYRK_LIST(SYMBOL)
#undef SYMBOL
};
static void name_library(tsl_vendor *found) {
  tsl_vendor_cublas_name(cublas.property, found);
}

static tsl_vendor_library library = {.what = "cuBLAS",
                                     .path = TSL_ENV_CUBLAS,
                                     .names = tsl_vendor_cublas_names,
                                     .symbols = symbols,
                                     .count = sizeof symbols / sizeof *symbols,
                                     .table = &cublas,
                                     .name = name_library};

static const tsl_vendor *load(void) {
  return tsl_vendor_find(&library);
}

static tesela_status prepare(const tsl_work *work, tsl_vendor_handle *made) {
  return tsl_vendor_cublas_check(work->device, "cublasCreate", cublas.create(&made->handle),
                                 cublas.status_name, &library.found);
}

static tesela_status build(tsl_work *work) {
  return tsl_vendor_build(work, sizeof(tsl_vendor_handle), "a handle of cuBLAS", prepare);
}

static void end(tsl_vendor_handle *own, bool entered) {
  if (entered)
    cublas.destroy(own->handle);
}

static void release(tsl_work *work) {
  tsl_vendor_release(work, end);
}

/* By columns, as BLAS counts, A is k x n, and C's lower triangle its upper one. */
static int update(const tsl_work *work, const tsl_operands *operands) {
  enum { UPPER = 1, TRANSPOSED = 1 };
  const tsl_problem *problem = &work->problem;
  const tsl_vendor_handle *own = work->state;
  const tesela_type type = problem->c.type;
  const void *a = tsl_vendor_address(work, &operands->a, type);
  void *c = tsl_vendor_address(work, &operands->c, type);
  const float single[2] = {1, 0};
  const double twice[2] = {1, 0};
  return type == TESELA_F64 ? cublas.dsyrk(own->handle, UPPER, TRANSPOSED, problem->n, problem->k, &twice[0],
                                           a, problem->a.row_stride, &twice[1], c, problem->c.row_stride)
                            : cublas.ssyrk(own->handle, UPPER, TRANSPOSED, problem->n, problem->k, &single[0],
                                           a, problem->a.row_stride, &single[1], c, problem->c.row_stride);
}

static tesela_status run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream) {
  tsl_device *used = work->device;
  const tsl_vendor_handle *own = work->state;
  must(used->ops->enter(used), "cuBLAS");
  int code = cublas.set_stream(own->handle, used->ops->native_stream(stream));
  if (code == TSL_CUBLAS_SUCCESS)
    code = update(work, operands);
  used->ops->leave(used);
  return tsl_vendor_cublas_check(used, "cublasSyrk", code, cublas.status_name, &library.found);
}

static const tsl_types types[] = {{TESELA_F32, TESELA_F32, TESELA_F32},
                                  {TESELA_F64, TESELA_F64, TESELA_F64},
                                  {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT}};
static const tsl_strategy peer = {.name = "vendor_cublas_syrk",
                                  .idea = "the syrk of cuBLAS",
                                  .op = TSL_OP_GEMM,
                                  .version = 1,
                                  .needs = TSL_CAN_CUDA,
                                  .accuracy = tsl_accuracy_in_order,
                                  .takes = {.types = types, .structures = true},
                                  .build = build,
                                  .run = run,
                                  .release = release,
                                  .vendor = {.load = load}};

/* --- the comparison --- */

static tsl_problem problem_of(int64_t size, tesela_type type) {
  tsl_problem problem = tsl_problem_gemm(size, size, size, type);
  problem.b.row_stride = 1;
  problem.b.col_stride = size;
  problem.c.triangle = TESELA_LOWER;
  return problem;
}

/* The last rows' first elements, all of them below the diagonal. */
static double *rows_of(side *one, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_shape *c = &one->plan->work.problem.c;
  const size_t size = tsl_type(c->type)->size,
               count = COMPARED < c->cols / 2 ? COMPARED : (size_t)(c->cols / 2);
  double *values = calloc(2 * count, sizeof *values);
  void *block = calloc(count, size);
  if (!values || !block)
    stop("memory", "there is none");
  (void)seconds_of(one, operands, 1);
  must(tsl_device_read(stream, operands->c.buffer, (size_t)((c->rows - 1) * c->row_stride) * size, block,
                       count * size),
       "reading C");
  for (size_t i = 0; i < count; i++) {
    double value[2] = {0};
    tsl_type_load(c->type, (unsigned char *)block + i * size, value);
    values[i] = value[0];
  }
  free(block);
  return values;
}

static double difference(side *sides, const tsl_operands *operands, tsl_stream *stream) {
  const int64_t n = sides[0].plan->work.problem.n / 2, count = COMPARED < n ? COMPARED : n;
  double apart = 0, all = 0, *own = rows_of(&sides[0], operands, stream),
         *other = rows_of(&sides[1], operands, stream);
  for (int64_t i = 0; i < count; i++) {
    apart += (own[i] - other[i]) * (own[i] - other[i]);
    all += other[i] * other[i];
  }
  free(own);
  free(other);
  return sqrt(apart / all);
}

static void compare(int64_t size, tesela_type type, tsl_stream *stream) {
  const tsl_problem problem = problem_of(size, type);
  const double flops = tsl_problem_flops(&problem);
  side sides[2] = {{.plan = NULL}, {.plan = NULL}};
  plan_own(&problem, NULL, &sides[0]);
  plan_peer(&problem, &peer, &sides[1]);
  tsl_buffer *a = buffer_of(&problem.a, stream, true), *c = buffer_of(&problem.c, stream, false);
  const tsl_operands operands = {.a = {.buffer = a}, .b = {.buffer = a}, .c = {.buffer = c}};
  measure(sides, &operands);
  printf("%s %6lld", tsl_type(type)->name, (long long)size);
  print_sides(sides, flops);
  if (sides[0].plan && sides[1].plan)
    printf(" %6.3f  apart %.2g", sides[1].best / sides[0].best, difference(sides, &operands, stream));
  printf("  %s\n", sides[0].plan ? sides[0].plan->text : sides[0].why);
  for (int i = 0; i < 2; i++)
    tsl_plan_destroy(sides[i].plan);
  device->ops->buffer_destroy(a);
  device->ops->buffer_destroy(c);
}

int main(int argc, char **argv) {
  static const tesela_type both[] = {TESELA_F32, TESELA_F64};
  int64_t sizes[SIZES_MOST] = {4096, 8192};
  int count = argc > 2 ? 0 : 2;
  tsl_stream *stream;
  for (int i = 2; i < argc && count < SIZES_MOST; i++) {
    sizes[count] = atoll(argv[i]);
    if (sizes[count++] < 2)
      stop(argv[i], "not a size");
  }
  open_device(argc > 1 ? argv[1] : "cuda:0", &stream);
  printf("%s, %s; 10^12 operations a second, half of a product's\n%-10s %8s %8s %6s\n", device->label,
         load()->why_not[0] ? load()->why_not : load()->name, "", "tesela", "peer", "ratio");
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < count; i++)
      compare(sizes[i], both[t], stream);
  close_device(stream);
  return 0;
}
