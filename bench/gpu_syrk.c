/* gpu_syrk [DEVICE [SIZE...]]: the lower triangle of A A' on a CUDA device (cuda:0) beside cuBLAS's syrk, by turns in one process, operands on the
 * device: f32 and f64, A of SIZE x SIZE (4096 and 8192). 10^12 operations a second, of which a triangle has half of a product's, and
 * their ratio. Both compute the same operands, and pieces of the triangle are compared: they multiplied the same, no more.
 * TESELA_CUBLAS names another library; TESELA_VENDORS is not asked. */
#include "judge/data.h"
#include "planner/planner.h"
#include "strategy/vendor.h"
#define BENCH_NAME "gpu_syrk"
#include "stop.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

enum { ROUNDS = 9, SIZES_MOST = 16, COMPARED = 1 << 16 };
static const double sample_seconds = 0.05;

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
  tsl_device *device = work->device;
  const tsl_vendor_handle *own = work->state;
  must(device->ops->enter(device), "cuBLAS");
  int code = cublas.set_stream(own->handle, device->ops->native_stream(stream));
  if (code == TSL_CUBLAS_SUCCESS)
    code = update(work, operands);
  device->ops->leave(device);
  return tsl_vendor_cublas_check(device, "cublasSyrk", code, cublas.status_name, &library.found);
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

typedef struct side {
  tsl_plan *plan; /* NULL: there is none, and why */
  char why[200];
  double best;
} side;

static tsl_devices *devices;
static tsl_device *device;
static tsl_wisdom *wisdom;

static tsl_problem problem_of(int64_t size, tesela_type type) {
  tsl_problem problem = tsl_problem_gemm(size, size, size, type);
  problem.b.row_stride = 1;
  problem.b.col_stride = size;
  problem.c.triangle = TESELA_LOWER;
  return problem;
}

static void plan_own(const tsl_problem *problem, side *one) {
  const tsl_choice choice = {
      .devices = devices, .device = device->name, .place = TSL_PLACE_DEVICE, .wisdom = wisdom};
  tsl_candidate *list;
  int count;
  must(tsl_planner_list(problem, &choice, &list, &count), "planning");
  if (tsl_planner_take(problem, &choice, list, count, &one->plan) != TESELA_OK)
    snprintf(one->why, sizeof one->why, "%s", tesela_last_error());
  free(list);
}

static void plan_peer(const tsl_problem *problem, side *one) {
  const tsl_config config = tsl_strategy_defaults(&peer);
  if (tsl_plan_create(problem, &peer, &config, device, TSL_PLACE_DEVICE, &one->plan) != TESELA_OK)
    snprintf(one->why, sizeof one->why, "%s", tesela_last_error());
}

static double seconds_of(side *one, const tsl_operands *operands, int runs) {
  const tsl_batch batch = {operands, 1, 0, runs};
  tsl_phases phases;
  must(tsl_plan_run_batch(one->plan, &batch, &phases), one->plan->text);
  return phases.compute / runs;
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

static tsl_buffer *buffer_of(const tsl_shape *shape, tsl_stream *stream, bool is_filled) {
  const size_t bytes = (size_t)tsl_shape_extent(shape) * tsl_type(shape->type)->size;
  tsl_buffer *made;
  must(device->ops->buffer_create(device, bytes, &made), "operands");
  void *block = calloc(bytes, 1);
  if (!block)
    stop("memory", "there is none");
  if (is_filled)
    must(tsl_data_fill(TSL_DATA_NORMAL, 1, shape, 1, block), "numbers");
  must(tsl_device_write(stream, made, 0, block, bytes), "numbers");
  must(device->ops->finish(stream), "numbers");
  free(block);
  return made;
}

static void measure(side *sides, const tsl_operands *operands) {
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < 2; i++) {
      if (!sides[i].plan)
        continue;
      const double once = sides[i].best > 0 ? sides[i].best : seconds_of(&sides[i], operands, 1);
      const int runs = (int)fmax(1, fmin(64, sample_seconds / once));
      const double seconds = seconds_of(&sides[i], operands, runs);
      sides[i].best = round == 0 ? seconds : fmin(sides[i].best, seconds);
    }
}

static void compare(int64_t size, tesela_type type, tsl_stream *stream) {
  const tsl_problem problem = problem_of(size, type);
  const double flops = tsl_problem_flops(&problem);
  side sides[2] = {{.plan = NULL}, {.plan = NULL}};
  plan_own(&problem, &sides[0]);
  plan_peer(&problem, &sides[1]);
  tsl_buffer *a = buffer_of(&problem.a, stream, true), *c = buffer_of(&problem.c, stream, false);
  const tsl_operands operands = {.a = {.buffer = a}, .b = {.buffer = a}, .c = {.buffer = c}};
  measure(sides, &operands);
  printf("%s %6lld", tsl_type(type)->name, (long long)size);
  for (int i = 0; i < 2; i++)
    if (sides[i].plan)
      printf(" %8.3g", flops / sides[i].best / 1e12);
    else
      printf(" %8s", "none");
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
  must(tsl_devices_create(&devices), "devices");
  must(tsl_devices_find(devices, argc > 1 ? argv[1] : "cuda:0", &device), "the device");
  must(tsl_device_open(device), "the device");
  must(tsl_wisdom_open(&wisdom), "wisdom");
  must(device->ops->stream_create(device, &stream), "a stream");
  printf("%s, %s; 10^12 operations a second, half of a product's\n%-10s %8s %8s %6s\n", device->label,
         load()->why_not[0] ? load()->why_not : load()->name, "", "tesela", "peer", "ratio");
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < count; i++)
      compare(sizes[i], both[t], stream);
  device->ops->stream_destroy(stream);
  tsl_wisdom_close(wisdom);
  tsl_devices_destroy(devices);
  return 0;
}
