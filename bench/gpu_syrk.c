/* gpu_syrk [DEVICE [SIZE...]]: compares the lower triangle of A A' on a CUDA device (cuda:0) with cuBLAS's
 * syrk, in turn in one process. Operands are in device memory: f32 and f64, A of SIZE x SIZE (4096 and 8192).
 * Prints 10^12 operations a second, half a product's operations for a triangle, and the ratio. Both use the
 * same operands; pieces of the triangles are compared, which shows only that both computed the same product.
 * TESELA_CUBLAS names another library; TESELA_VENDORS is ignored. */
#define BENCH_NAME "gpu_syrk"
#define CALLED "cublasSyrk"
#include "gpu_cublas.h"

#include <math.h>
#include <stdlib.h>

enum { SIZES_MOST = 16, COMPARED = 1 << 16 };

/* By columns, as BLAS counts, A is k x n, and C's lower triangle its upper one. */
static int call(const tsl_problem *problem, void *handle, const void *a, void *c) {
  enum { UPPER = 1, TRANSPOSED = 1 };
  const float single[2] = {1, 0};
  const double twice[2] = {1, 0};
  return problem->c.type == TESELA_F64
             ? cublas.dsyrk(handle, UPPER, TRANSPOSED, problem->n, problem->k, &twice[0], a,
                            problem->a.row_stride, &twice[1], c, problem->c.row_stride)
             : cublas.ssyrk(handle, UPPER, TRANSPOSED, problem->n, problem->k, &single[0], a,
                            problem->a.row_stride, &single[1], c, problem->c.row_stride);
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
                                  .supports = {.types = types, .structures = true},
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

/* Returns the first elements of the last rows, which are below the diagonal; the caller frees them. */
static double *rows_of(side *side_in, const tsl_operands *operands, tsl_stream *stream) {
  const tsl_shape *c = &side_in->plan->work.problem.c;
  const size_t size = tsl_type(c->type)->size,
               count = COMPARED < c->cols / 2 ? COMPARED : (size_t)(c->cols / 2);
  double *values = calloc(2 * count, sizeof *values);
  void *block = calloc(count, size);
  if (!values || !block)
    stop("memory", "there is none");
  (void)seconds_of(side_in, operands, 1);
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
  const int64_t n = sides[0].plan->work.problem.n / 2;
  return apart(rows_of(&sides[0], operands, stream), rows_of(&sides[1], operands, stream),
               (size_t)(COMPARED < n ? COMPARED : n));
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
