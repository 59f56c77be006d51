/* enqueue [--device D] [--types f32,f64] [--count N] [--rounds N] SIZE...
 *
 * What does a queued product on a device (cuda:0) cost? Prints the time of a product, by events around N
 * products (1000), and the host's time to queue one product. The plan of tesela and the handle of cuBLAS use
 * the same stream, in turn. cuBLAS is loaded by name (libcublas.so.13, .12), or from CUBLAS; without it, or
 * on another device, tesela is timed alone. Both multiply the same buffers of small whole numbers, and the
 * results are compared. Times are medians of the rounds (21). */
#include "cases.h"

#include <dlfcn.h>

static int count = 1000, rounds = 21;
static const char *types = "f32", *device_name = "cuda:0";
static tesela_context *context;

static struct {
  int (*create)(void **handle);
  int (*set_stream)(void *handle, void *stream);
  int (*sgemm)(void *, int, int, int, int, int, const float *, const float *, int, const float *, int,
               const float *, float *, int);
  int (*dgemm)(void *, int, int, int, int, int, const double *, const double *, int, const double *, int,
               const double *, double *, int);
  void *handle;
} cublas;

/* The present product. */
static struct {
  int size;
  tesela_type type;
  tesela_buffer *buffers[3];
  tesela_plan *plan;
  tesela_stream *stream;
  tesela_event *begin, *end;
  double host[2][1024]; /* seconds to queue a product, of each side's samples */
} product;

static void load_cublas(void) {
  const char *const names[] = {getenv("CUBLAS"), "libcublas.so.13", "libcublas.so.12"};
  void *library = NULL;
  for (int i = 0; i < COUNT_OF(names) && !library; i++)
    library = names[i] ? dlopen(names[i], RTLD_NOW) : NULL;
  if (!library || strncmp(device_name, "cuda", 4) != 0) {
    printf("cuBLAS is not there\n");
    return;
  }
  *(void **)&cublas.create = dlsym(library, "cublasCreate_v2");
  *(void **)&cublas.set_stream = dlsym(library, "cublasSetStream_v2");
  *(void **)&cublas.sgemm = dlsym(library, "cublasSgemm_v2");
  *(void **)&cublas.dgemm = dlsym(library, "cublasDgemm_v2");
  if (!cublas.create || !cublas.set_stream || !cublas.sgemm || !cublas.dgemm || cublas.create(&cublas.handle))
    bench_stop("cuBLAS", "cannot be used");
}

static void queue_tesela(bench_side *side) {
  const tesela_matrix a = {.buffer = product.buffers[0]}, b = {.buffer = product.buffers[1]};
  const tesela_result c = {.buffer = product.buffers[2]};
  (void)side;
  bench_must(
      tesela_plan_enqueue(product.plan, product.stream, &(tesela_operands){.a = &a, .b = &b, .c = &c}, NULL),
      "tesela_plan_enqueue");
}

/* Enqueues cuBLAS's product, column-major, so that C is row-major: C' = B' A'. */
static void queue_cublas(bench_side *side) {
  const int n = product.size;
  const void *a = tesela_buffer_memory(product.buffers[0]).native,
             *b = tesela_buffer_memory(product.buffers[1]).native;
  void *c = tesela_buffer_memory(product.buffers[2]).native;
  const float one = 1, zero = 0;
  const double one_f64 = 1, zero_f64 = 0;
  (void)side;
  if (product.type == TESELA_F32
          ? cublas.sgemm(cublas.handle, 0, 0, n, n, n, &one, b, n, a, n, &zero, c, n)
          : cublas.dgemm(cublas.handle, 0, 0, n, n, n, &one_f64, b, n, a, n, &zero_f64, c, n))
    bench_stop("cuBLAS", "failed");
}

/* Returns the device's seconds, and keeps the host's. */
static double run(bench_side *side, int calls) {
  double seconds, *host = side->state;
  bench_must(tesela_event_record(product.begin, product.stream), "an event");
  const double start = bench_clock();
  for (int i = 0; i < calls; i++)
    side->call(side);
  host[side->count] = (bench_clock() - start) / calls;
  bench_must(tesela_event_record(product.end, product.stream), "an event");
  bench_must(tesela_event_seconds(product.begin, product.end, &seconds), "an event");
  return seconds;
}

static void fill(int operand, const tsl_shape *shape) {
  void *host = bench_matrix(shape, TSL_KIND_INTEGER, (uint64_t)operand + 1);
  bench_must(tesela_buffer_write(product.buffers[operand], 0, host, bench_bytes(shape)),
             "tesela_buffer_write");
  free(host);
}

/* Compares both sides: sums of whole numbers are exact. */
static void check(bench_side *sides, int side_count, const tsl_shape *shape) {
  void *results[2];
  for (int i = 0; i < side_count; i++) {
    results[i] = bench_allocate(bench_bytes(shape), 1);
    fill(2, shape);
    sides[i].call(&sides[i]);
    bench_must(tesela_stream_wait(product.stream), sides[i].name);
    bench_must(tesela_buffer_read(product.buffers[2], 0, results[i], bench_bytes(shape)),
               "tesela_buffer_read");
  }
  if (side_count == 2 && memcmp(results[0], results[1], bench_bytes(shape)) != 0)
    bench_stop("the two results", "differ");
  for (int i = 0; i < side_count; i++)
    free(results[i]);
}

static void measure(int n, tesela_type type) {
  const tsl_shape square = {.type = type, .rows = n, .cols = n, .row_stride = n, .col_stride = 1};
  bench_side sides[2] = {{.name = "tesela", .call = queue_tesela, .state = product.host[0], .calls = count},
                         {.name = "cuBLAS", .call = queue_cublas, .state = product.host[1], .calls = count}};
  const int side_count = cublas.handle ? 2 : 1;
  size_t workspace;
  product.size = n, product.type = type;
  for (int i = 0; i < 3; i++) {
    bench_must(tesela_buffer_create(context, device_name, bench_bytes(&square), &product.buffers[i]),
               "a buffer");
    fill(i, &square);
  }
  const tesela_gemm_desc desc = {.m = n,
                                 .n = n,
                                 .k = n,
                                 .a = {.buffer = product.buffers[0], .type = type},
                                 .b = {.buffer = product.buffers[1], .type = type},
                                 .c = {.buffer = product.buffers[2], .type = type}};
  bench_must(tesela_plan_create(context, &desc, &product.plan), "a plan");
  bench_must(tesela_stream_create(context, device_name, &product.stream), "a stream");
  workspace = tesela_plan_workspace(product.plan);
  bench_must(tesela_stream_reserve(product.stream, workspace), "a workspace");
  bench_must(tesela_event_create(product.stream, &product.begin), "an event");
  bench_must(tesela_event_create(product.stream, &product.end), "an event");
  if (side_count == 2 && cublas.set_stream(cublas.handle, tesela_stream_native(product.stream)))
    bench_stop("cuBLAS", "takes no stream");
  check(sides, side_count, &square);
  for (int i = 0; i < side_count; i++)
    sides[i].run = run;
  bench_race(sides, side_count, &(bench_turns){.rounds_min = rounds, .rounds_max = rounds});
  printf("%s %5d", tsl_type(type)->name, n);
  for (int i = 0; i < side_count; i++)
    printf("  %s %8.2f us, host %5.2f", sides[i].name, 1e6 * sides[i].median,
           1e6 * bench_median(product.host[i], sides[i].count));
  if (side_count == 2)
    printf("  ratio of times %.3f", sides[0].median / sides[1].median);
  printf("  %.60s\n", tesela_plan_describe(product.plan));
  bench_sides_free(sides, side_count);
  tesela_event_destroy(product.begin);
  tesela_event_destroy(product.end);
  tesela_plan_destroy(product.plan);
  tesela_stream_destroy(product.stream);
  for (int i = 0; i < 3; i++)
    tesela_buffer_destroy(product.buffers[i]);
}

int main(int argc, char **argv) {
  static const bench_option options[] = {OPTION_TEXT("types", types), OPTION_TEXT("device", device_name),
                                         OPTION_COUNT("count", count), OPTION_COUNT("rounds", rounds),
                                         OPTIONS_END};
  bench_read(argc, argv, "enqueue", options, bench_take_case);
  if (bench_cases.count == 0 || count < 1 || rounds < 1 || rounds > COUNT_OF(product.host[0]))
    bench_stop("usage",
               "bench_enqueue [--device D] [--types f32,f64] [--count N] [--rounds 1 to 1024] SIZE...");
  bench_must(tesela_context_create(&(tesela_context_desc){.device = device_name}, &context), "a context");
  load_cublas();
  for (int i = 0; i < bench_cases.count; i++) {
    if (bench_has_word(types, "f32"))
      measure((int)bench_cases.items[i].size[0], TESELA_F32);
    if (bench_has_word(types, "f64"))
      measure((int)bench_cases.items[i].size[0], TESELA_F64);
  }
  tesela_context_destroy(context);
  return 0;
}
