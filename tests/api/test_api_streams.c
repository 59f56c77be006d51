/* Queued runs, streams and foreign memory, on the cpu and on OpenCL. A host program's own context,
 * queue and memory are made by OpenCL calls. examples/cuda_stream.c covers what only CUDA offers. */
#include "device/opencl/opencl.h"
#include "unit/calls.h"

#include <stdlib.h>
#include <string.h>

enum { M = 37, N = 29, K = 41, RUNS = 10 };

static float a[M * K], b[K * N], expected[M * N];
static tesela_context *own, *shared; /* the second one in the program's own cl_context */
static cl_context cl;
static cl_command_queue queue;

/* Returns the device that "opencl:0" names: the first device of the first platform that has one. */
static cl_device_id first_device(void) {
  cl_platform_id platforms[8];
  cl_uint count = 0, ids = 0;
  cl_device_id id = NULL;
  if (tsl_opencl_load() != TESELA_OK || tsl_opencl.clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS)
    return NULL;
  for (cl_uint p = 0; p < count && ids == 0; p++)
    (void)tsl_opencl.clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 1, &id, &ids);
  return ids ? id : NULL;
}

static int set_up(void **state) {
  (void)state;
  for (int i = 0; i < M * K; i++)
    a[i] = (float)(i % 7 - 3);
  for (int i = 0; i < K * N; i++)
    b[i] = (float)(i % 5 - 2);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      for (int l = 0; l < K; l++)
        expected[i * N + j] += a[i * K + l] * b[l * N + j];
  cl_device_id id = first_device();
  cl_int code;
  assert_non_null(id);
  cl = tsl_opencl.clCreateContext(NULL, 1, &id, NULL, NULL, &code);
  assert_int_equal(code, CL_SUCCESS);
  queue = tsl_opencl.clCreateCommandQueue(cl, id, 0, &code);
  assert_int_equal(code, CL_SUCCESS);
  must(tesela_context_create(NULL, &own));
  must(tesela_context_create(&(tesela_context_desc){.opencl_context = cl}, &shared));
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  tesela_context_destroy(own);
  tesela_context_destroy(shared);
  tsl_opencl.clReleaseCommandQueue(queue);
  tsl_opencl.clReleaseContext(cl);
  return 0;
}

/* --- products in buffers --- */

typedef struct product {
  tesela_buffer *a, *b, *c;
  tesela_plan *plan;
} product;

static product product_on(tesela_context *context, const char *device, const char *strategy) {
  product made;
  must(tesela_buffer_create(context, device, sizeof a, &made.a));
  must(tesela_buffer_create(context, device, sizeof b, &made.b));
  must(tesela_buffer_create(context, device, sizeof expected, &made.c));
  must(tesela_buffer_write(made.a, 0, a, sizeof a));
  must(tesela_buffer_write(made.b, 0, b, sizeof b));
  const tesela_gemm_desc desc = {.m = M,
                                 .n = N,
                                 .k = K,
                                 .a = {.buffer = made.a},
                                 .b = {.buffer = made.b},
                                 .c = {.buffer = made.c},
                                 .options.strategy = strategy};
  must(tesela_plan_create(context, &desc, &made.plan));
  return made;
}

static tesela_status enqueue(const product *product_in, tesela_stream *stream, tesela_buffer *workspace) {
  const tesela_matrix left = {.buffer = product_in->a}, right = {.buffer = product_in->b};
  const tesela_result result = {.buffer = product_in->c};
  return tesela_plan_enqueue(product_in->plan, stream,
                             &(tesela_operands){.a = &left, .b = &right, .c = &result}, workspace);
}

static void expect_result(const tesela_buffer *c) {
  float got[M * N];
  must(tesela_buffer_read(c, 0, got, sizeof got));
  assert_memory_equal(got, expected, sizeof got);
}

static void forget(product *product_in) {
  tesela_plan_destroy(product_in->plan);
  tesela_buffer_destroy(product_in->a);
  tesela_buffer_destroy(product_in->b);
  tesela_buffer_destroy(product_in->c);
}

/* Every strategy that takes such a product and can be queued, again and again without a wait, with events
 * around. */
static void queued_runs(void **state) {
  static const char *const devices[] = {"cpu", "opencl:0"};
  static const char *const strategies[] = {
      NULL,         "sequential",    "host_packed",           "element",  "image_microtile",
      "tile_local", "register_tile", "register_tile split=2", "thin_tile"};
  (void)state;
  int ran = 0;
  for (int d = 0; d < 2; d++) {
    tesela_stream *stream;
    tesela_event *begin, *end;
    must(tesela_stream_create(own, devices[d], &stream));
    must(tesela_event_create(stream, &begin));
    must(tesela_event_create(stream, &end));
    for (size_t s = 0; s < sizeof strategies / sizeof *strategies; s++) {
      const tesela_gemm_desc desc = {
          .m = M, .n = N, .k = K, .options.device = devices[d], .options.strategy = strategies[s]};
      tesela_plan *fits;
      if (tesela_plan_create(own, &desc, &fits) == TESELA_UNSUPPORTED)
        continue;
      tesela_plan_destroy(fits);
      product of = product_on(own, devices[d], strategies[s]);
      size_t bytes;
      double seconds;
      bytes = tesela_plan_workspace(of.plan);
      must(tesela_stream_reserve(stream, bytes));
      must(tesela_event_record(begin, stream));
      for (int i = 0; i < RUNS; i++)
        must(enqueue(&of, stream, NULL));
      must(tesela_event_record(end, stream));
      must(tesela_stream_wait(stream));
      must(tesela_event_seconds(begin, end, &seconds));
      assert_true(seconds > 0);
      expect_result(of.c);
      forget(&of);
      ran++;
    }
    tesela_event_destroy(begin);
    tesela_event_destroy(end);
    tesela_stream_destroy(stream);
  }
  assert_true(ran > 6);
}

/* The caller's own workspace, and too small a one. */
static void workspaces(void **state) {
  (void)state;
  product of = product_on(own, "opencl:0", "register_tile split=2");
  tesela_stream *stream;
  tesela_buffer *workspace, *small, *elsewhere;
  size_t bytes;
  bytes = tesela_plan_workspace(of.plan);
  assert_true(bytes > 0);
  must(tesela_stream_create(own, "opencl:0", &stream));
  must(tesela_buffer_create(own, "opencl:0", bytes, &workspace));
  must(tesela_buffer_create(own, "opencl:0", bytes - 1, &small));
  must(tesela_buffer_create(own, "cpu", bytes, &elsewhere));
  expect(enqueue(&of, stream, NULL), TESELA_BAD_CALL, "the stream reserved 0: tesela_stream_reserve()");
  expect(enqueue(&of, stream, small), TESELA_BAD_CALL, "the workspace has");
  expect(enqueue(&of, stream, elsewhere), TESELA_BAD_CALL, "workspace is on cpu");
  must(enqueue(&of, stream, workspace));
  must(tesela_stream_wait(stream));
  expect_result(of.c);
  tesela_stream_destroy(stream);
  tesela_buffer_destroy(workspace);
  tesela_buffer_destroy(small);
  tesela_buffer_destroy(elsewhere);
  forget(&of);
}

/* --- batches --- */

enum { COUNT = 5, GAP = 3, C_STEP = M * N + GAP };
static const tesela_batch distances = {
    .count = COUNT, .a_stride = M * K, .c_stride = C_STEP, .bias_stride = N};

typedef struct batch {
  tesela_buffer *a, *b, *c, *bias;
  tesela_gemm_desc desc;
  tesela_epilogue epilogue;
} batch;

/* Product i has A times i + 1, the same B, and a bias of 10 i; C has gaps of ones. */
static void make_batch(batch *set, const char *device, const char *strategy) {
  static float all[COUNT * C_STEP], biases[COUNT * N];
  must(tesela_buffer_create(own, device, COUNT * sizeof a, &set->a));
  must(tesela_buffer_create(own, device, sizeof b, &set->b));
  must(tesela_buffer_create(own, device, sizeof all, &set->c));
  must(tesela_buffer_create(own, device, sizeof biases, &set->bias));
  for (int i = 0; i < COUNT; i++) {
    float scaled[M * K];
    for (int j = 0; j < M * K; j++)
      scaled[j] = a[j] * (float)(i + 1);
    must(tesela_buffer_write(set->a, i * sizeof scaled, scaled, sizeof scaled));
  }
  for (int i = 0; i < COUNT * N; i++)
    biases[i] = (float)(10 * (i / N));
  for (int i = 0; i < COUNT * C_STEP; i++)
    all[i] = 1;
  must(tesela_buffer_write(set->b, 0, b, sizeof b));
  must(tesela_buffer_write(set->c, 0, all, sizeof all));
  must(tesela_buffer_write(set->bias, 0, biases, sizeof biases));
  set->epilogue = (tesela_epilogue){.bias = {.buffer = set->bias}, .bias_axis = TESELA_BIAS_ROW};
  set->desc = (tesela_gemm_desc){.m = M,
                                 .n = N,
                                 .k = K,
                                 .a = {.buffer = set->a},
                                 .b = {.buffer = set->b},
                                 .c = {.buffer = set->c},
                                 .epilogue = &set->epilogue,
                                 .options.strategy = strategy};
}

static void expect_batch(const batch *set) {
  static float got[COUNT * C_STEP];
  must(tesela_buffer_read(set->c, 0, got, sizeof got));
  for (int i = 0; i < COUNT * C_STEP; i++) {
    const int index = i / C_STEP, at = i % C_STEP;
    const float wanted = at < M * N ? (float)(index + 1) * expected[at] + (float)(10 * index) : 1;
    if (got[i] != wanted)
      fail_msg("element %d of product %d is %g, and not %g", at, index, (double)got[i], (double)wanted);
  }
}

static void forget_batch(batch *set) {
  tesela_buffer_destroy(set->a);
  tesela_buffer_destroy(set->b);
  tesela_buffer_destroy(set->c);
  tesela_buffer_destroy(set->bias);
}

static tesela_operands operands_of(const batch *set) {
  return (tesela_operands){
      .a = &set->desc.a, .b = &set->desc.b, .c = &set->desc.c, .epilogue = &set->epilogue};
}

/* Strategies with and without batches. */
static void queued_batches(void **state) {
  static const char *const devices[] = {"cpu", "opencl:0"};
  static const char *const strategies[] = {NULL, "sequential", "element", "register_tile"};
  (void)state;
  int ran = 0;
  for (int d = 0; d < 2; d++)
    for (size_t s = 0; s < sizeof strategies / sizeof *strategies; s++) {
      batch set;
      tesela_plan *plan;
      tesela_stream *stream;
      make_batch(&set, devices[d], strategies[s]);
      const tesela_operands operands = operands_of(&set);
      if (tesela_plan_create_batched(own, &set.desc, &distances, &plan) == TESELA_OK) {
        must(tesela_stream_create(own, devices[d], &stream));
        must(tesela_stream_reserve(stream, tesela_plan_workspace(plan)));
        must(tesela_plan_enqueue(plan, stream, &operands, NULL));
        must(tesela_stream_wait(stream));
        expect_batch(&set);
        expect(tesela_plan_run(plan, &operands, NULL), TESELA_UNSUPPORTED, "the plan is of a batch");
        tesela_stream_destroy(stream);
        tesela_plan_destroy(plan);
        ran++;
      }
      forget_batch(&set);
    }
  assert_true(ran >= 5);
}

static void wrong_batches(void **state) {
  batch set;
  tesela_plan *plan;
  tesela_stream *stream;
  tesela_batch wrong = distances;
  const void *address = NULL;
  (void)state;
  make_batch(&set, "opencl:0", NULL);
  expect(tesela_plan_create_batched(own, &set.desc, NULL, &plan), TESELA_BAD_CALL, "batch is NULL");
  wrong.count = 0;
  expect(tesela_plan_create_batched(own, &set.desc, &wrong, &plan), TESELA_BAD_CALL, "batch.count");
  wrong = distances;
  wrong.a = &address;
  expect(tesela_plan_create_batched(own, &set.desc, &wrong, &plan), TESELA_BAD_CALL, "a plan has distances");
  wrong = distances;
  wrong.c_stride = M * N - 1;
  expect(tesela_plan_create_batched(own, &set.desc, &wrong, &plan), TESELA_BAD_CALL, "overwrite each other");
  assert_null(plan);
  wrong = distances;
  wrong.count = COUNT + 1;
  must(tesela_plan_create_batched(own, &set.desc, &wrong, &plan));
  must(tesela_stream_create(own, "opencl:0", &stream));
  must(tesela_stream_reserve(stream, tesela_plan_workspace(plan)));
  const tesela_operands operands = operands_of(&set);
  expect(tesela_plan_enqueue(plan, stream, &operands, NULL), TESELA_BAD_CALL, "product 5");
  tesela_stream_destroy(stream);
  tesela_plan_destroy(plan);
  forget_batch(&set);
}

static void dots_and_transposes(void **state) {
  static const char *const devices[] = {"cpu", "opencl:0"};
  (void)state;
  for (int d = 0; d < 2; d++) {
    tesela_stream *stream;
    tesela_buffer *x, *y;
    tesela_plan *plan;
    size_t bytes;
    float got[4], zeros[4] = {0};
    const float values[] = {1, 2, 3, 4}, transposed[] = {1, 3, 2, 4};
    must(tesela_stream_create(own, devices[d], &stream));
    must(tesela_stream_reserve(stream, 1 << 20));
    must(tesela_buffer_create(own, devices[d], sizeof values, &x));
    must(tesela_buffer_create(own, devices[d], sizeof values, &y));
    must(tesela_buffer_write(x, 0, values, sizeof values));
    must(tesela_buffer_write(y, 0, zeros, sizeof zeros));
    const tesela_dot_desc dot = {.n = 4, .x = {.buffer = x}, .y = {.buffer = x}, .result = {.buffer = y}};
    must(tesela_plan_create_dot(own, &dot, &plan));
    bytes = tesela_plan_workspace(plan);
    assert_true(bytes <= 1 << 20);
    expect(tesela_plan_enqueue(plan, stream, &(tesela_operands){.c = &(tesela_result){0}}, NULL),
           TESELA_BAD_CALL, "for a dot");
    must(tesela_plan_enqueue(plan, stream,
                             &(tesela_operands){.x = &dot.x, .y = &dot.y, .result = &dot.result}, NULL));
    must(tesela_stream_wait(stream));
    must(tesela_buffer_read(y, 0, got, sizeof got));
    assert_true(got[0] == 30 && got[1] == 0);
    tesela_plan_destroy(plan);
    const tesela_transpose_desc desc = {.rows = 2, .cols = 2, .a = {.buffer = x}, .b = {.buffer = y}};
    must(tesela_plan_create_transpose(own, &desc, &plan));
    must(tesela_plan_enqueue(plan, stream, &(tesela_operands){.a = &desc.a, .c = &desc.b}, NULL));
    must(tesela_stream_wait(stream));
    must(tesela_buffer_read(y, 0, got, sizeof got));
    assert_memory_equal(got, transposed, sizeof got);
    tesela_plan_destroy(plan);
    tesela_buffer_destroy(x);
    tesela_buffer_destroy(y);
    tesela_stream_destroy(stream);
  }
}

/* --- what others made --- */

static cl_mem memory_of(cl_context in, const void *data, size_t bytes) {
  cl_int code;
  cl_mem made = tsl_opencl.clCreateBuffer(in, CL_MEM_READ_WRITE, bytes, NULL, &code);
  assert_int_equal(code, CL_SUCCESS);
  if (data)
    assert_int_equal(tsl_opencl.clEnqueueWriteBuffer(queue, made, CL_TRUE, 0, bytes, data, 0, NULL, NULL),
                     CL_SUCCESS);
  return made;
}

/* A program's queue and memory: its own write before and its own read behind, in the queue's order alone. */
static void opencl_of_others(void **state) {
  (void)state;
  cl_mem left = memory_of(cl, NULL, sizeof a), right = memory_of(cl, b, sizeof b),
         result = memory_of(cl, NULL, sizeof expected);
  tesela_stream *stream;
  product of;
  float got[M * N];
  size_t bytes;
  must(tesela_stream_wrap(shared, "opencl:0", queue, &stream));
  assert_ptr_equal(tesela_stream_native(stream), queue);
  must(tesela_buffer_wrap(shared, "opencl:0", left, 0, &of.a));
  must(tesela_buffer_wrap(shared, "opencl:0", right, sizeof b, &of.b));
  must(tesela_buffer_wrap(shared, "opencl:0", result, 0, &of.c));
  assert_ptr_equal(tesela_buffer_memory(of.a).native, left);
  assert_true(tesela_buffer_memory(of.a).bytes == sizeof a);
  assert_string_equal(tesela_buffer_memory(of.a).device, "opencl:0");
  const tesela_gemm_desc desc = {
      .m = M, .n = N, .k = K, .a = {.buffer = of.a}, .b = {.buffer = of.b}, .c = {.buffer = of.c}};
  must(tesela_plan_create(shared, &desc, &of.plan));
  bytes = tesela_plan_workspace(of.plan);
  must(tesela_stream_reserve(stream, bytes));
  assert_int_equal(tsl_opencl.clEnqueueWriteBuffer(queue, left, CL_FALSE, 0, sizeof a, a, 0, NULL, NULL),
                   CL_SUCCESS);
  must(enqueue(&of, stream, NULL));
  tesela_buffer_destroy(of.a); /* the memory is the program's */
  assert_int_equal(tsl_opencl.clEnqueueReadBuffer(queue, result, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL),
                   CL_SUCCESS);
  assert_memory_equal(got, expected, sizeof got);
  of.a = NULL;
  forget(&of);
  tesela_stream_destroy(stream);
  assert_int_equal(tsl_opencl.clFinish(queue), CL_SUCCESS);
  tsl_opencl.clReleaseMemObject(left);
  tsl_opencl.clReleaseMemObject(right);
  tsl_opencl.clReleaseMemObject(result);
}

/* The host's memory, as any library's array. */
static void host_memory(void **state) {
  (void)state;
  float got[M * N];
  tesela_stream *stream;
  product of;
  must(tesela_stream_create(own, "cpu", &stream));
  assert_null(tesela_stream_native(stream));
  must(tesela_buffer_wrap(own, "cpu", a, sizeof a, &of.a));
  must(tesela_buffer_wrap(own, NULL, b, sizeof b, &of.b)); /* asked: no other device knows it */
  must(tesela_buffer_wrap(own, NULL, got, sizeof got, &of.c));
  assert_string_equal(tesela_buffer_memory(of.b).device, "cpu");
  assert_ptr_equal(tesela_buffer_memory(of.c).native, got);
  const tesela_gemm_desc desc = {
      .m = M, .n = N, .k = K, .a = {.buffer = of.a}, .b = {.buffer = of.b}, .c = {.buffer = of.c}};
  must(tesela_plan_create(own, &desc, &of.plan));
  must(enqueue(&of, stream, NULL));
  assert_memory_equal(got, expected, sizeof got);
  forget(&of);
  tesela_stream_destroy(stream);
}

static void wrong_calls(void **state) {
  (void)state;
  tesela_stream *stream = NULL, *on_cpu;
  tesela_buffer *buffer = NULL;
  tesela_context *none;
  tesela_event *event = NULL, *other;
  double seconds;
  cl_int code;
  cl_mem memory = memory_of(cl, NULL, 64);
  cl_device_id id = first_device();
  expect(tesela_stream_wrap(own, "opencl:0", queue, &stream), TESELA_BAD_CALL, "desc.opencl_context");
  expect(tesela_buffer_wrap(own, "opencl:0", memory, 64, &buffer), TESELA_BAD_CALL, "desc.opencl_context");
  expect(tesela_buffer_wrap(shared, "opencl:0", memory, 65, &buffer), TESELA_BAD_CALL, "the cl_mem has 64");
  expect(tesela_buffer_wrap(shared, "opencl:0", NULL, 64, &buffer), TESELA_BAD_CALL, "native is NULL");
  expect(tesela_buffer_wrap(shared, "auto", memory, 64, &buffer), TESELA_BAD_CALL, "device is auto");
  expect(tesela_buffer_wrap(own, "cpu", a, 0, &buffer), TESELA_BAD_CALL, "bytes is 0");
  expect(tesela_buffer_wrap(own, "cpu", NULL, 8, &buffer), TESELA_BAD_CALL, "native is NULL");
  expect(tesela_stream_wrap(own, NULL, queue, &stream), TESELA_BAD_CALL, "device is NULL");
  expect(tesela_stream_wait(NULL), TESELA_BAD_CALL, "stream is NULL");
  expect(tesela_stream_reserve(NULL, 8), TESELA_BAD_CALL, "stream is NULL");
  expect(tesela_stream_wrap(own, "cpu", queue, &stream), TESELA_UNSUPPORTED, "tesela_stream_create()");
  expect(tesela_stream_wrap(shared, "opencl:0", NULL, &stream), TESELA_BAD_CALL, "native is NULL");
  assert_null(stream);
  assert_null(buffer);
  cl_command_queue loose =
      tsl_opencl.clCreateCommandQueue(cl, id, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
  if (code == CL_SUCCESS) {
    expect(tesela_stream_wrap(shared, "opencl:0", loose, &stream), TESELA_BAD_CALL, "out of order");
    tsl_opencl.clReleaseCommandQueue(loose);
  }
  expect(tesela_context_create(&(tesela_context_desc){.reserved = 1}, &none), TESELA_BAD_CALL,
         "desc.reserved");

  product of = product_on(own, "opencl:0", NULL), theirs = product_on(shared, "opencl:0", NULL);
  must(tesela_stream_create(shared, "opencl:0", &stream));
  must(tesela_stream_create(own, "cpu", &on_cpu));
  expect(enqueue(&of, stream, NULL), TESELA_BAD_CALL, "opencl:0 of another context");
  expect(enqueue(&of, on_cpu, NULL), TESELA_BAD_CALL, "the stream is of cpu");
  const product mixed = {of.a, theirs.b, of.c, of.plan};
  tesela_stream *right;
  must(tesela_stream_create(own, "opencl:0", &right));
  must(tesela_stream_reserve(right, 1 << 20));
  expect(enqueue(&mixed, right, NULL), TESELA_BAD_CALL,
         "b.buffer is on opencl:0, but the plan runs on opencl:0 of");
  const tesela_gemm_desc on_host = {.m = M, .n = N, .k = K, .options.device = "opencl:0"};
  tesela_plan *plan;
  must(tesela_plan_create(own, &on_host, &plan));
  expect(tesela_plan_enqueue(plan, right, &(tesela_operands){0}, NULL), TESELA_BAD_CALL,
         "is for host memory");
  expect(tesela_plan_enqueue(NULL, right, &(tesela_operands){0}, NULL), TESELA_BAD_CALL, "plan is NULL");
  expect(tesela_plan_enqueue(plan, NULL, &(tesela_operands){0}, NULL), TESELA_BAD_CALL, "stream is NULL");
  expect(tesela_stream_wait(NULL), TESELA_BAD_CALL, "stream is NULL");
  expect(tesela_event_create(NULL, &event), TESELA_BAD_CALL, "stream is NULL");
  must(tesela_event_create(on_cpu, &event));
  must(tesela_event_create(right, &other));
  expect(tesela_event_record(event, right), TESELA_BAD_CALL, "the event is of cpu");
  must(tesela_event_record(other, right));
  expect(tesela_event_seconds(event, event, &seconds), TESELA_BAD_CALL, "begin was not recorded");
  expect(tesela_event_seconds(event, other, &seconds), TESELA_BAD_CALL, "begin is of cpu");
  tesela_event_destroy(event);
  tesela_event_destroy(other);
  tesela_event_destroy(NULL);
  tesela_plan_destroy(plan);
  tesela_stream_destroy(right);
  tesela_stream_destroy(on_cpu);
  tesela_stream_destroy(stream);
  tesela_stream_destroy(NULL);
  forget(&of);
  forget(&theirs);
  tsl_opencl.clReleaseMemObject(memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(queued_runs),         cmocka_unit_test(workspaces),
      cmocka_unit_test(queued_batches),      cmocka_unit_test(wrong_batches),
      cmocka_unit_test(dots_and_transposes), cmocka_unit_test(opencl_of_others),
      cmocka_unit_test(host_memory),         cmocka_unit_test(wrong_calls),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
