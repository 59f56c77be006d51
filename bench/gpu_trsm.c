/* gpu_trsm [DEVICE [SIZE|TYPE|STRATEGY...]]: compares solves with a lower triangle on a CUDA device (cuda:0)
 * with cuBLAS's trsm, in turn in one process. Operands are in device memory, column-major, in place. Types:
 * all four or the named types. SIZE is a triangle (1024 and 4096) with as many right-hand sides, or with
 * another number (128x4096). STRATEGY is a strategy to time, such as "device_blocked block=64", instead of
 * the planner's choice. Prints 10^12 operations a second, the ratio, and the difference of the solutions.
 * TESELA_CUBLAS names another library; TESELA_VENDORS is ignored. */
#define BENCH_NAME "gpu_trsm"
#define CALLED "cublasTrsm"
#include "gpu_cublas.h"

#include <math.h>
#include <stdlib.h>

enum { LIST_MOST = 16, COMPARED = 1 << 16 };

static int call(const tsl_problem *problem, void *handle, const void *a, void *x) {
  enum { LEFT = 0, LOWER = 0, AS_IT_IS = 0, NON_UNIT = 0 };
  const tesela_type type = problem->c.type;
  const float single[2] = {1, 0};
  const double twice[2] = {1, 0};
  const int64_t m = problem->m, n = problem->n, a_leading = problem->a.col_stride,
                x_leading = problem->c.col_stride;
  if (tsl_type(type)->component == TESELA_F64)
    return (type == TESELA_F64 ? cublas.dtrsm : cublas.ztrsm)(handle, LEFT, LOWER, AS_IT_IS, NON_UNIT, m, n,
                                                              twice, a, a_leading, x, x_leading);
  return (type == TESELA_F32 ? cublas.strsm : cublas.ctrsm)(handle, LEFT, LOWER, AS_IT_IS, NON_UNIT, m, n,
                                                            single, a, a_leading, x, x_leading);
}

static const tsl_types types[] = {{TESELA_F32, TESELA_F32, TESELA_F32},
                                  {TESELA_F64, TESELA_F64, TESELA_F64},
                                  {TESELA_C64, TESELA_C64, TESELA_C64},
                                  {TESELA_C128, TESELA_C128, TESELA_C128},
                                  {TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT, TESELA_TYPE_DEFAULT}};
static const tsl_strategy peer = {.name = "vendor_cublas_trsm",
                                  .idea = "the trsm of cuBLAS",
                                  .op = TSL_OP_SOLVE,
                                  .version = 1,
                                  .needs = TSL_CAN_CUDA,
                                  .accuracy = tsl_accuracy_of_substitution,
                                  .supports = {.types = types, .structures = true},
                                  .build = build,
                                  .run = run,
                                  .release = release,
                                  .vendor = {.load = load}};

/* --- the comparison --- */

/* Rows of a triangle, and number of right-hand sides. */
typedef struct extent {
  long long rows, cols;
} extent;

static tsl_problem problem_of(extent size, tesela_type type) {
  tsl_problem problem = tsl_problem_of(TSL_OP_SOLVE, size.rows, size.cols, size.rows, type);
  tsl_shape *const shapes[] = {&problem.a, &problem.b, &problem.c};
  for (int i = 0; i < 3; i++) {
    shapes[i]->row_stride = 1;
    shapes[i]->col_stride = size.rows;
  }
  problem.a.structure = TESELA_TRIANGULAR;
  problem.a.triangle = TESELA_LOWER;
  problem.in_place = true;
  return problem;
}

static size_t bytes_of(const tsl_shape *shape) {
  return (size_t)tsl_shape_extent(shape) * tsl_type(shape->type)->size;
}

/* Returns a triangle with ones on the diagonal and tiny numbers in the rest, so that X keeps its size over
 * hundreds of solves. */
static void *triangle_of(const tsl_shape *shape) {
  const tsl_type_info *info = tsl_type(shape->type);
  unsigned char *block = calloc(bytes_of(shape), 1);
  if (!block)
    stop("memory", "there is none");
  must(tsl_data_fill(TSL_DATA_NORMAL, 1, shape, 1, block), "numbers");
  const int64_t numbers = shape->rows * shape->cols * (info->is_complex ? 2 : 1);
  for (int64_t i = 0; i < numbers; i++)
    if (info->component == TESELA_F64)
      ((double *)(void *)block)[i] /= 8 * (double)shape->rows;
    else
      ((float *)(void *)block)[i] /= 8 * (float)shape->rows;
  for (int64_t i = 0; i < shape->rows; i++)
    tsl_type_store(shape->type, block + i * (shape->rows + 1) * (int64_t)info->size, (double[2]){1, 0});
  return block;
}

/* Solves for a fresh B and returns the last elements of its last column; the caller frees them. */
static double *solution_of(side *side_in, const tsl_operands *operands, const void *b, tsl_stream *stream) {
  const tsl_shape *c = &side_in->plan->work.problem.c;
  const size_t size = tsl_type(c->type)->size, count = COMPARED < c->rows ? COMPARED : (size_t)c->rows;
  double *values = calloc(2 * count, sizeof *values);
  unsigned char *block = calloc(count, size);
  if (!values || !block)
    stop("memory", "there is none");
  must(tsl_device_write(stream, operands->c.buffer, 0, b, bytes_of(c)), "writing B");
  must(device->ops->finish(stream), "writing B");
  (void)seconds_of(side_in, operands, 1);
  must(tsl_device_read(stream, operands->c.buffer, bytes_of(c) - count * size, block, count * size),
       "reading X");
  for (size_t i = 0; i < count; i++)
    tsl_type_load(c->type, block + i * size, values + 2 * i);
  free(block);
  return values;
}

static double difference(side *sides, const tsl_operands *operands, const void *b, tsl_stream *stream) {
  const int64_t m = sides[0].plan->work.problem.m;
  return apart(solution_of(&sides[0], operands, b, stream), solution_of(&sides[1], operands, b, stream),
               2 * (size_t)(COMPARED < m ? COMPARED : m));
}

static void compare(extent size, tesela_type type, const char *strategy, tsl_stream *stream) {
  const tsl_problem problem = problem_of(size, type);
  side sides[2] = {{.plan = NULL}, {.plan = NULL}};
  plan_own(&problem, strategy, &sides[0]);
  plan_peer(&problem, &peer, &sides[1]);
  tsl_buffer *a = buffer_of(&problem.a, stream, false), *x = buffer_of(&problem.c, stream, true);
  void *block = triangle_of(&problem.a), *b = calloc(bytes_of(&problem.c), 1);
  if (!b)
    stop("memory", "there is none");
  must(tsl_device_write(stream, a, 0, block, bytes_of(&problem.a)), "numbers");
  must(device->ops->finish(stream), "numbers");
  must(tsl_data_fill(TSL_DATA_NORMAL, 2, &problem.c, 1, b), "numbers");
  const tsl_operands operands = {.a = {.buffer = a}, .b = {.buffer = x}, .c = {.buffer = x}};
  measure(sides, &operands);
  printf("%-4s %6lld x %-6lld", tsl_type(type)->name, size.rows, size.cols);
  print_sides(sides, tsl_problem_flops(&problem));
  if (sides[0].plan && sides[1].plan)
    printf(" %6.3f  apart %.2g", sides[1].best / sides[0].best, difference(sides, &operands, b, stream));
  printf("  %s\n", sides[0].plan ? sides[0].plan->text : sides[0].why);
  fflush(stdout);
  for (int i = 0; i < 2; i++)
    tsl_plan_destroy(sides[i].plan);
  device->ops->buffer_destroy(a);
  device->ops->buffer_destroy(x);
  free(block);
  free(b);
}

static extent sizes[LIST_MOST] = {{1024, 1024}, {4096, 4096}};
static tesela_type types_asked[LIST_MOST] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};
static const char *strategies[LIST_MOST];
static int size_count, type_count, strategy_count;

static void take_word(const char *word) {
  extent size;
  const tesela_type type = tsl_type_parse(word);
  const int numbers = sscanf(word, "%lldx%lld", &size.rows, &size.cols);
  if (size_count == LIST_MOST || type_count == LIST_MOST || strategy_count == LIST_MOST)
    stop(word, "is one word too many");
  if (numbers < 1 && type == TESELA_TYPE_DEFAULT) {
    strategies[strategy_count++] = word;
    return;
  }
  if (numbers < 1) {
    types_asked[type_count++] = type;
    return;
  }
  if (numbers == 1)
    size.cols = size.rows;
  if (size.rows < 1 || size.cols < 1)
    stop(word, "is no size");
  sizes[size_count++] = size;
}

int main(int argc, char **argv) {
  tsl_stream *stream;
  for (int i = 2; i < argc; i++)
    take_word(argv[i]);
  size_count = size_count > 0 ? size_count : 2;
  type_count = type_count > 0 ? type_count : 4;
  strategy_count = strategy_count > 0 ? strategy_count : 1;
  open_device(argc > 1 ? argv[1] : "cuda:0", &stream);
  printf("%s, %s; 10^12 operations a second\n%-20s %8s %8s %6s\n", device->label,
         load()->why_not[0] ? load()->why_not : load()->name, "", "tesela", "peer", "ratio");
  for (int t = 0; t < type_count; t++)
    for (int i = 0; i < size_count; i++)
      for (int s = 0; s < strategy_count; s++)
        compare(sizes[i], types_asked[t], strategies[s], stream);
  close_device(stream);
  return 0;
}
