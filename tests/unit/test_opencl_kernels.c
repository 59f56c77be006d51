/* The OpenCL device: building, binaries, launching, events, and kernels on the host's memory. */
#include "unit/opencl_fixture.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/status.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* --- kernels --- */

static const char scale_text[] = "#define N 64\n"
                                 "__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void\n"
                                 "scale(__global float *x, int rounds, float by) {\n"
                                 "  float value = x[get_global_id(0)];\n"
                                 "  for (int i = 0; i < rounds; i++)\n"
                                 "    value = fma(value, by, 0.0f);\n"
                                 "  x[get_global_id(0)] = value;\n"
                                 "}\n"
                                 "__kernel void add(__global float *x, float what) {\n"
                                 "  x[get_global_id(0)] += what;\n"
                                 "}\n";

static tsl_module *module_of(const char *text) {
  tsl_binary binary;
  tsl_module *module;
  must(ops->build(device, &(tsl_build){.name = "unit/opencl", .text = text, .options = ""}, &binary));
  assert_true(binary.bytes > 0);
  must(ops->module_load(device, "unit/opencl", &binary, &module));
  free(binary.data);
  return module;
}

static void launch_scale(tsl_kernel *kernel, tsl_buffer *buffer, int rounds, float by, uint64_t groups) {
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(buffer), TSL_ARG_VALUE(rounds), TSL_ARG_VALUE(by)};
  must(ops->launch(stream, kernel, &(tsl_grid){{groups, 1, 1}, {8, 1, 1}}, arguments, 3));
}

static void test_wrapped_memory_is_the_hosts(void **state) {
  (void)state;
  need_shared_memory();
  tsl_module *module = module_of(scale_text);
  tsl_kernel *kernel;
  must(ops->kernel_get(module, "scale", &kernel));
  void *block;
  must(tsl_alloc(8192, "a test", &block));
  for (size_t shift = 0; shift < 256; shift += device->host_alignment) {
    float *host = (float *)((char *)block + shift);
    tsl_buffer *buffer;
    for (int i = 0; i < 1024; i++)
      host[i] = (float)i;
    must(ops->buffer_wrap(device, host, 1024 * sizeof(float), &buffer));
    launch_scale(kernel, buffer, 1, 2.0f, 128);
    must(ops->finish(stream));
    for (int i = 0; i < 1024; i++) /* no map, no read */
      assert_true(host[i] == 2.0f * (float)i);
    host[7] = 100;
    launch_scale(kernel, buffer, 1, 3.0f, 128);
    must(ops->finish(stream));
    assert_true(host[7] == 300.0f);
    ops->buffer_destroy(buffer);
  }
  tsl_buffer *refused;
  assert_int_equal(ops->buffer_wrap(device, (char *)block + 1, 64, &refused), TESELA_BAD_CALL);
  assert_says("aligned to");
  must(ops->buffer_wrap(device, block, 0, &refused));
  ops->buffer_destroy(refused);
  tsl_free(block);
  ops->module_destroy(module);
}

static void test_events_give_plausible_seconds(void **state) {
  (void)state;
  tsl_module *module = module_of(scale_text);
  tsl_buffer *buffer = opencl_buffer(4096 * sizeof(float));
  tsl_kernel *kernel;
  tsl_event *begin, *end;
  double seconds;
  must(ops->kernel_get(module, "scale", &kernel));
  must(ops->fill(stream, buffer, 0, 0, 4096 * sizeof(float)));
  must(ops->event_create(device, &begin));
  must(ops->event_create(device, &end));
  assert_int_equal(ops->event_seconds(begin, end, &seconds), TESELA_INTERNAL);
  launch_scale(kernel, buffer, 1, 1.5f, 512);
  must(ops->finish(stream));
  for (int round = 0; round < 2; round++) { /* an event may be recorded again */
    const double start = tsl_clock();
    must(ops->event_record(stream, begin));
    launch_scale(kernel, buffer, 20000, 1.0001f, 512);
    must(ops->event_record(stream, end));
    must(ops->event_seconds(begin, end, &seconds));
    const double wall = tsl_clock() - start;
    print_message("events %.6f s, wall clock %.6f s\n", seconds, wall);
    assert_true(seconds > 0.3 * wall);
    assert_true(seconds < 1.05 * wall);
  }
  ops->event_destroy(begin);
  ops->event_destroy(end);
  ops->buffer_destroy(buffer);
  ops->module_destroy(module);
}

static void test_build_failure_names_file_and_line(void **state) {
  (void)state;
  tsl_binary binary;
  const char *text = "#line 41 \"strategy/gemm/broken/broken.cl\"\n"
                     "__kernel void broken(__global float *x) { x[0] = nowhere; }\n";
  assert_int_equal(
      ops->build(device, &(tsl_build){.name = "gemm/broken", .text = text, .options = ""}, &binary),
      TESELA_BUILD_FAILED);
  assert_null(binary.data);
  assert_says(device->name);
  assert_says("gemm/broken does not compile");
  assert_says("strategy/gemm/broken/broken.cl:41");
  assert_non_null(strstr(tesela_last_log(), "strategy/gemm/broken/broken.cl:41"));
  assert_non_null(strstr(tesela_last_log(), "nowhere"));
  assert_int_equal(
      ops->build(device,
                 &(tsl_build){.name = "gemm/options", .text = scale_text, .options = "-no-such-option"},
                 &binary),
      TESELA_BUILD_FAILED);
}

static void test_lines_of_logs_get_their_files(void **state) {
  (void)state;
  const char *text = "#define N 1\n"
                     "#line 1 \"kernel/a.h\"\n"
                     "one\n"
                     "two\n"
                     "#line 30 \"b.cl\"\n"
                     "thirty\n";
  static const char *const pairs[][2] = {
      {"<kernel>:6:5: error: x\n  thirty\n", "b.cl:30:5: error: x\n  thirty\n"},
      {"a <kernel>:3:1 b <kernel>:4 c", "a kernel/a.h:1:1 b kernel/a.h:2 c"},
      {"<kernel>:1:9: warning", "<kernel>:1:9: warning"},
      {"<kernel>:99", "b.cl:31"},
      {"error: b.cl:30:5", "error: b.cl:30:5"},
      {"", ""},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    char *log = tsl_opencl_log_with_files(pairs[i][0], text);
    assert_string_equal(log, pairs[i][1]);
    free(log);
  }
}

static void refuse_launch(tsl_kernel *kernel, tsl_buffer *buffer, tsl_grid grid, int count, const char *why) {
  const int rounds = 1;
  const float by = 1;
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(buffer), TSL_ARG_VALUE(rounds), TSL_ARG_VALUE(by)};
  assert_int_not_equal(ops->launch(stream, kernel, &grid, arguments, count), TESELA_OK);
  assert_says(why);
  assert_int_equal(strncmp(tesela_last_error(), device->name, strlen(device->name)), 0);
}

static void test_launch_geometry_is_checked(void **state) {
  (void)state;
  tsl_module *module = module_of(scale_text);
  tsl_buffer *buffer = opencl_buffer(64 * sizeof(float));
  tsl_kernel *scale, *add, *again, *missing;
  must(ops->kernel_get(module, "scale", &scale));
  must(ops->kernel_get(module, "add", &add));
  must(ops->kernel_get(module, "scale", &again));
  assert_ptr_equal(scale, again);
  assert_int_not_equal(ops->kernel_get(module, "subtract", &missing), TESELA_OK);
  assert_null(missing);
  assert_says("no kernel named \"subtract\"");
  assert_true(ops->kernel_items_max(add) >= 64);
  /* the work-group's size that the kernel declares */
  assert_int_equal(ops->kernel_items_max(scale), 8);
  const int most = device->group_size_max[0];
  refuse_launch(scale, buffer, (tsl_grid){{1, 1, 1}, {16, 1, 1}}, 3, "compiled for work-groups of 8 x 1 x 1");
  refuse_launch(add, buffer, (tsl_grid){{1, 1, 1}, {most + 1, 1, 1}}, 2, "more than the device's");
  refuse_launch(add, buffer, (tsl_grid){{1, 1, 1}, {most, 2, 1}}, 2, "work-group of");
  refuse_launch(add, buffer, (tsl_grid){{(uint64_t)1 << 40, 1, 1}, {1, 1, 1}}, 2,
                "work-groups in dimension 0");
  refuse_launch(scale, buffer, (tsl_grid){{1, 1, 1}, {8, 1, 1}}, 2, "takes 3 arguments and was given 2");
  const double wrong = 1;
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(buffer), TSL_ARG_VALUE(wrong)};
  assert_int_equal(ops->launch(stream, add, &(tsl_grid){{1, 1, 1}, {1, 1, 1}}, arguments, 2),
                   TESELA_DEVICE_FAILED);
  assert_says("clSetKernelArg: CL_INVALID_ARG_SIZE, argument 1 of add");
  ops->buffer_destroy(buffer);
  ops->module_destroy(module);
}

/* --- binaries --- */

/* Loads a binary, runs `add` from it, and checks the sums. */
static void check_adds(const tsl_binary *binary) {
  tsl_module *module;
  tsl_kernel *kernel;
  float got[64];
  must(ops->module_load(device, "unit/opencl", binary, &module));
  must(ops->kernel_get(module, "add", &kernel));
  tsl_buffer *buffer = opencl_buffer(sizeof got);
  must(ops->fill(stream, buffer, 0, 0, sizeof got));
  const float what = 2.5f;
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(buffer), TSL_ARG_VALUE(what)};
  must(ops->launch(stream, kernel, &(tsl_grid){{16, 1, 1}, {4, 1, 1}}, arguments, 2));
  must(tsl_device_read(stream, buffer, 0, got, sizeof got));
  for (int i = 0; i < 64; i++)
    assert_true(got[i] == 2.5f);
  ops->buffer_destroy(buffer);
  ops->module_destroy(module);
}

/* Probes the compiler's instructions without leaving an error. PoCL supports none of the matrix
 * instructions. */
static void test_matrix_instructions_are_probed(void **state) {
  (void)state;
  const tsl_opencl_device *self = device->impl;
  int taken = 0;
  assert_true((device->fragments != NULL) == ((device->capabilities & TSL_CAN_FRAGMENTS) != 0));
  (void)tsl_fail(TESELA_INTERNAL, "before");
  assert_true(tsl_opencl_compiles(self->platform, self->id, scale_text));
  for (int i = 0; i < 2 * TSL_FRAGMENTS_COUNT; i++) {
    tsl_text text = {0};
    must(tsl_opencl_fragments_text(&tsl_fragments_all[i / 2], i % 2 == 1, &text));
    taken += tsl_opencl_compiles(self->platform, self->id, tsl_text_get(&text));
    tsl_text_free(&text);
  }
  assert_string_equal(tesela_last_error(), "before");
  if (device->is_cpu)
    assert_true(taken == 0 && device->fragments == NULL);
}

/* Builds as on a platform whose binaries are kept. */
static void build_binary(const tsl_build *build, tsl_binary *binary) {
  tsl_opencl_device *self = device->impl;
  const bool keeps_source = self->keeps_source;
  self->keeps_source = false;
  must(ops->build(device, build, binary));
  self->keeps_source = keeps_source;
}

static void test_binaries_go_round(void **state) {
  (void)state;
  const tsl_build build = {.name = "unit/opencl", .text = scale_text, .options = ""};
  tsl_binary binary;
  build_binary(&build, &binary);
  assert_memory_equal(binary.data, "tslCLbin", 8);
  check_adds(&binary);
  free(binary.data);
  /* PoCL has a cache of its own, and a binary would double the time to compile */
  if (strstr(device->platform, "Portable Computing Language")) {
    must(ops->build(device, &build, &binary));
    assert_memory_equal(binary.data, "tslCLsrc", 8);
    free(binary.data);
  }
  /* the source, which the cache stores for PoCL and for platforms without binaries */
  must(tsl_opencl_seal_source(&build, &binary));
  check_adds(&binary);
  free(binary.data);
}

static void refuse_binary(const void *data, size_t bytes, const char *why) {
  tsl_binary copy = {malloc(bytes + 1), bytes};
  tsl_module *module;
  assert_non_null(copy.data);
  if (bytes > 0)
    memcpy(copy.data, data, bytes);
  assert_int_equal(ops->module_load(device, "unit/opencl", &copy, &module), TESELA_BUILD_FAILED);
  assert_null(module);
  assert_says(why);
  free(copy.data);
}

static void test_damaged_binaries_are_refused(void **state) {
  (void)state;
  tsl_binary binary, foreign;
  build_binary(&(tsl_build){.name = "unit/opencl", .text = scale_text, .options = ""}, &binary);
  unsigned char *bytes = binary.data;
  refuse_binary(bytes, 0, "not from this library");
  refuse_binary(bytes, 20, "not from this library");
  refuse_binary("Once upon a time there was a file of text.", 42, "not from this library");
  refuse_binary(bytes, binary.bytes / 2, "damaged");
  refuse_binary(bytes, binary.bytes - 1, "damaged");
  bytes[binary.bytes / 2] ^= 4;
  refuse_binary(bytes, binary.bytes, "damaged");
  must(tsl_opencl_seal(false, "of some other vendor, whole and well", 36, &foreign));
  refuse_binary(foreign.data, foreign.bytes, "CL_INVALID_BINARY");
  free(foreign.data);
  free(binary.data);
}

/* --- threads --- */

typedef struct worker {
  pthread_t thread;
  tsl_kernel *kernel;
  tsl_buffer *buffer;
  float what;
  tesela_status status;
} worker;

static void *work(void *argument) {
  worker *self = argument;
  tsl_stream *mine;
  self->status = ops->stream_create(device, &mine);
  for (int i = 0; i < 50 && self->status == TESELA_OK; i++) {
    const tsl_argument arguments[] = {TSL_ARG_BUFFER(self->buffer), TSL_ARG_VALUE(self->what)};
    self->status = ops->launch(mine, self->kernel, &(tsl_grid){{4, 1, 1}, {16, 1, 1}}, arguments, 2);
  }
  if (self->status == TESELA_OK)
    self->status = ops->finish(mine);
  ops->stream_destroy(mine);
  return NULL;
}

/* One kernel, four threads, each with its own arguments: none sees another's. */
static void test_threads_share_a_kernel(void **state) {
  (void)state;
  tsl_module *module = module_of(scale_text);
  worker workers[4];
  for (int i = 0; i < 4; i++) {
    workers[i] = (worker){.buffer = opencl_buffer(64 * sizeof(float)), .what = (float)(i + 1)};
    must(ops->kernel_get(module, "add", &workers[i].kernel));
    must(ops->fill(stream, workers[i].buffer, 0, 0, 64 * sizeof(float)));
  }
  must(ops->finish(stream));
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  for (int i = 0; i < 4; i++) {
    float got[64];
    pthread_join(workers[i].thread, NULL);
    assert_int_equal(workers[i].status, TESELA_OK);
    must(tsl_device_read(stream, workers[i].buffer, 0, got, sizeof got));
    for (int j = 0; j < 64; j++)
      assert_true(got[j] == 50.0f * (float)(i + 1));
    ops->buffer_destroy(workers[i].buffer);
  }
  ops->module_destroy(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wrapped_memory_is_the_hosts),
      cmocka_unit_test(test_events_give_plausible_seconds),
      cmocka_unit_test(test_build_failure_names_file_and_line),
      cmocka_unit_test(test_lines_of_logs_get_their_files),
      cmocka_unit_test(test_launch_geometry_is_checked),
      cmocka_unit_test(test_matrix_instructions_are_probed),
      cmocka_unit_test(test_binaries_go_round),
      cmocka_unit_test(test_damaged_binaries_are_refused),
      cmocka_unit_test(test_threads_share_a_kernel),
  };
  return run_on_each_device(tests, sizeof tests / sizeof tests[0]);
}
