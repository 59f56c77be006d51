/* enqueue [--types f32,f64] [--count N] [--rounds N] SIZE...
 *
 * Measures the cost of queued products on the first CUDA device. Prints the time of a product, by events
 * around N products, and the host's time to queue one product. The plan of tesela and the handle of cuBLAS
 * use the same stream, in turn. cuBLAS is loaded by name (libcublas.so.13, .12), or from CUBLAS. Both
 * multiply the same buffers, and the results are compared. Times are medians of the rounds. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/tesela.h>
#include <time.h>

#define BENCH_NAME "bench_enqueue"
#include "stop.h"

enum { ROUNDS_MOST = 101 };

static int count = 1000, rounds = 21;

static struct {
  int (*create)(void **handle);
  int (*set_stream)(void *handle, void *stream);
  int (*sgemm)(void *, int, int, int, int, int, const float *, const float *, int, const float *, int,
               const float *, float *, int);
  int (*dgemm)(void *, int, int, int, int, int, const double *, const double *, int, const double *, int,
               const double *, double *, int);
  void *handle;
} cublas;

static double now(void) {
  struct timespec time;
  timespec_get(&time, TIME_UTC);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void load(void) {
  const char *const names[] = {getenv("CUBLAS"), "libcublas.so.13", "libcublas.so.12"};
  void *library = NULL;
  for (int i = 0; i < 3 && !library; i++)
    library = names[i] ? dlopen(names[i], RTLD_NOW) : NULL;
  if (!library)
    stop("cuBLAS", dlerror());
  *(void **)&cublas.create = dlsym(library, "cublasCreate_v2");
  *(void **)&cublas.set_stream = dlsym(library, "cublasSetStream_v2");
  *(void **)&cublas.sgemm = dlsym(library, "cublasSgemm_v2");
  *(void **)&cublas.dgemm = dlsym(library, "cublasDgemm_v2");
  if (!cublas.create || !cublas.set_stream || !cublas.sgemm || !cublas.dgemm || cublas.create(&cublas.handle))
    stop("cuBLAS", "cannot be used");
}

/* One size and type. */
typedef struct shape {
  int size;
  tesela_type type;
  tesela_buffer *a, *b, *c;
  tesela_plan *plan;
  tesela_stream *stream;
  tesela_event *begin, *end;
} shape;

static void queue_tesela(const shape *shape_in) {
  const tesela_matrix a = {.buffer = shape_in->a}, b = {.buffer = shape_in->b};
  const tesela_result c = {.buffer = shape_in->c};
  must(tesela_plan_enqueue(shape_in->plan, shape_in->stream, &(tesela_operands){.a = &a, .b = &b, .c = &c},
                           NULL),
       "tesela_plan_enqueue");
}

/* Enqueues cuBLAS's product, column-major, so that C is row-major: C' = B' A'. */
static void queue_cublas(const shape *shape_in) {
  const int n = shape_in->size;
  const void *a = tesela_buffer_memory(shape_in->a).native, *b = tesela_buffer_memory(shape_in->b).native;
  void *c = tesela_buffer_memory(shape_in->c).native;
  const float one = 1, zero = 0;
  const double one_f64 = 1, zero_f64 = 0;
  if (shape_in->type == TESELA_F32
          ? cublas.sgemm(cublas.handle, 0, 0, n, n, n, &one, b, n, a, n, &zero, c, n)
          : cublas.dgemm(cublas.handle, 0, 0, n, n, n, &one_f64, b, n, a, n, &zero_f64, c, n))
    stop("cuBLAS", "failed");
}

static void measure(const shape *the_shape, void (*queue)(const shape *shape_in), double *device,
                    double *host) {
  must(tesela_event_record(the_shape->begin, the_shape->stream), "an event");
  const double start = now();
  for (int i = 0; i < count; i++)
    queue(the_shape);
  *host = (now() - start) / count;
  must(tesela_event_record(the_shape->end, the_shape->stream), "an event");
  must(tesela_event_seconds(the_shape->begin, the_shape->end, device), "an event");
  *device /= count;
}

static int compare(const void *a, const void *b) {
  const double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}
static double median(double *values) {
  qsort(values, (size_t)rounds, sizeof *values, compare);
  return 1e6 * values[rounds / 2];
}

static void fill(tesela_buffer *buffer, const shape *shape_in, int seed) {
  const size_t elements = (size_t)shape_in->size * (size_t)shape_in->size;
  const size_t size = shape_in->type == TESELA_F32 ? sizeof(float) : sizeof(double);
  void *host = malloc(elements * size);
  if (!host)
    stop("memory", "none");
  for (size_t i = 0; i < elements; i++) {
    const double value = (double)((i * 7 + (size_t)seed) % 11) - 5;
    if (shape_in->type == TESELA_F32)
      ((float *)host)[i] = (float)value;
    else
      ((double *)host)[i] = value;
  }
  must(tesela_buffer_write(buffer, 0, host, elements * size), "tesela_buffer_write");
  free(host);
}

/* Compares both with small integers, whose sums are exact. */
static void check(const shape *shape_in) {
  const size_t bytes =
      (size_t)shape_in->size * (size_t)shape_in->size * (shape_in->type == TESELA_F32 ? 4 : 8);
  char *one = malloc(bytes), *other = malloc(bytes);
  if (!one || !other)
    stop("memory", "none");
  queue_tesela(shape_in);
  must(tesela_stream_wait(shape_in->stream), "tesela");
  must(tesela_buffer_read(shape_in->c, 0, one, bytes), "tesela_buffer_read");
  fill(shape_in->c, shape_in, 3);
  queue_cublas(shape_in);
  must(tesela_stream_wait(shape_in->stream), "cuBLAS");
  must(tesela_buffer_read(shape_in->c, 0, other, bytes), "tesela_buffer_read");
  if (memcmp(one, other, bytes) != 0)
    stop("the two results", "differ");
  free(one);
  free(other);
}

static void run(tesela_context *context, int size, tesela_type type) {
  const size_t bytes = (size_t)size * (size_t)size * (type == TESELA_F32 ? 4 : 8);
  double device[2][ROUNDS_MOST], host[2][ROUNDS_MOST];
  shape of = {.size = size, .type = type};
  size_t workspace;
  must(tesela_buffer_create(context, "cuda:0", bytes, &of.a), "a buffer");
  must(tesela_buffer_create(context, "cuda:0", bytes, &of.b), "a buffer");
  must(tesela_buffer_create(context, "cuda:0", bytes, &of.c), "a buffer");
  fill(of.a, &of, 1);
  fill(of.b, &of, 2);
  const tesela_gemm_desc desc = {.m = size,
                                 .n = size,
                                 .k = size,
                                 .a = {.buffer = of.a, .type = type},
                                 .b = {.buffer = of.b, .type = type},
                                 .c = {.buffer = of.c, .type = type}};
  must(tesela_plan_create(context, &desc, &of.plan), "a plan");
  must(tesela_stream_create(context, "cuda:0", &of.stream), "a stream");
  workspace = tesela_plan_workspace(of.plan);
  must(tesela_stream_reserve(of.stream, workspace), "a workspace");
  must(tesela_event_create(of.stream, &of.begin), "an event");
  must(tesela_event_create(of.stream, &of.end), "an event");
  if (cublas.set_stream(cublas.handle, tesela_stream_native(of.stream)))
    stop("cuBLAS", "takes no stream");
  check(&of);
  for (int i = 0; i < rounds; i++) {
    measure(&of, queue_tesela, &device[0][i], &host[0][i]);
    measure(&of, queue_cublas, &device[1][i], &host[1][i]);
  }
  const double ours = median(device[0]), theirs = median(device[1]);
  printf("%s %5d  tesela %8.2f us, host %5.2f  cuBLAS %8.2f us, host %5.2f  ratio of times %.3f  %.60s\n",
         type == TESELA_F32 ? "f32" : "f64", size, ours, median(host[0]), theirs, median(host[1]),
         ours / theirs, tesela_plan_describe(of.plan));
  tesela_event_destroy(of.begin);
  tesela_event_destroy(of.end);
  tesela_plan_destroy(of.plan);
  tesela_stream_destroy(of.stream);
  tesela_buffer_destroy(of.a);
  tesela_buffer_destroy(of.b);
  tesela_buffer_destroy(of.c);
}

int main(int words, char **word) {
  tesela_context *context;
  const char *types = "f32";
  int i = 1;
  for (; i + 1 < words && word[i][0] == '-'; i += 2) {
    if (strcmp(word[i], "--types") == 0)
      types = word[i + 1];
    else if (strcmp(word[i], "--count") == 0)
      count = atoi(word[i + 1]);
    else if (strcmp(word[i], "--rounds") == 0)
      rounds = atoi(word[i + 1]);
    else
      stop(word[i], "is not one of --types, --count, --rounds");
  }
  if (i == words || count < 1 || rounds < 1 || rounds > ROUNDS_MOST)
    stop("usage", "bench_enqueue [--types f32,f64] [--count N] [--rounds 1 to 101] SIZE...");
  must(tesela_context_create(NULL, &context), "a context");
  load();
  for (; i < words; i++) {
    if (strstr(types, "f32"))
      run(context, atoi(word[i]), TESELA_F32);
    if (strstr(types, "f64"))
      run(context, atoi(word[i]), TESELA_F64);
  }
  tesela_context_destroy(context);
  return 0;
}
