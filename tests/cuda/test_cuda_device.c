/* Features of CUDA devices only: use of the process's context, errors as sentences, PTX for a
 * device that NVRTC does not know, and the end of a context. Pitches above the driver's limit are
 * tested too. Other tests are for all kinds of devices: tests/unit/test_device_conformance.c and
 * test_device_kernels.c. */
#include "unit/conformance.h"

#include "device/cuda/nvrtc.h"
#include "device/source.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static tsl_device *cuda; /* the first CUDA device, open */
static tsl_stream *stream;

static void text_of(const char *kernels, tsl_text *text) {
  const char *folders[] = {"kernel", cuda->ops->dialect_folder, NULL};
  tsl_text_add(text, "#define TSL_REAL float\n");
  MUST(tsl_source_flatten("kernel/dialect.h", folders, text));
  tsl_text_add(text, "\n%s", kernels);
  MUST(tsl_text_status(text));
}

static tsl_module *module_of(const char *kernels) {
  tsl_text text = {0};
  tsl_binary binary = {NULL, 0};
  tsl_module *module = NULL;
  text_of(kernels, &text);
  const tsl_build build = {.name = "test/cuda", .text = tsl_text_get(&text), .options = ""};
  MUST(cuda->ops->build(cuda, &build, &binary));
  MUST(cuda->ops->module_load(cuda, "test/cuda", &binary, &module));
  free(binary.data);
  tsl_text_free(&text);
  return module;
}

static void described(void **state) {
  (void)state;
  print_message("  %s: %s, %s, key %s\n", cuda->name, cuda->label, cuda->platform, cuda->key);
  print_message("  %d multiprocessors, %d MHz, sm_%d, %.3g and %.3g FLOP/s, %.3g B/s, %llu B\n",
                cuda->compute_units, cuda->clock_mhz, cuda->architecture, cuda->peak_f32, cuda->peak_f64,
                cuda->bandwidth, (unsigned long long)cuda->memory_bytes);
  const unsigned wanted = TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_F64 | TSL_CAN_CUDA;
  assert_int_equal(cuda->capabilities & wanted, wanted);
  assert_true(cuda->architecture >= 50 && cuda->warp == 32);
  assert_true(cuda->local_bytes >= 48 << 10 && cuda->group_items_max == 1024);
  assert_true(cuda->group_size_max[0] == 1024 && cuda->group_size_max[2] == 64);
  assert_true(cuda->group_count_max[0] == 2147483647 && cuda->group_count_max[1] == 65535);
  assert_true(cuda->peak_f32 > 1e11 && cuda->peak_f32 < 1e15 && cuda->peak_f64 <= cuda->peak_f32);
  assert_true(cuda->bandwidth > 1e10 && cuda->bandwidth < 1e14);
  assert_int_equal(strncmp(cuda->platform, "CUDA ", 5), 0);
}

/* Each call leaves the thread's current context unchanged. */
static void guest(void **state) {
  (void)state;
  void *library = dlopen("libcuda.so.1", RTLD_LAZY);
  if (!library) { /* TESELA_CUDA names a driver that the loader does not find by itself */
    print_message("  libcuda.so.1 is not in the loader's path\n");
    skip();
  }
  int (*get_current)(void **), (*set_current)(void *), (*retain)(void **, int), (*release)(int);
  *(void **)&get_current = dlsym(library, "cuCtxGetCurrent");
  *(void **)&set_current = dlsym(library, "cuCtxSetCurrent");
  *(void **)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
  *(void **)&release = dlsym(library, "cuDevicePrimaryCtxRelease_v2");
  void *host = NULL, *current = &host;
  assert_int_equal(get_current(&current), 0);
  assert_null(current);
  assert_int_equal(retain(&host, 0), 0);
  for (int round = 0; round < 2; round++) {
    unsigned char byte = 1, out = 0;
    tsl_buffer *buffer = buffer_of(stream, cuda, &byte, 1);
    tsl_module *module = module_of("TSL_KERNEL(1, 1, 1) one(TSL_GLOBAL int *a) { a[0] = 1; }\n");
    tsl_kernel *kernel = NULL;
    assert_int_not_equal(cuda->ops->kernel_get(module, "two", &kernel), TESELA_OK);
    MUST(tsl_device_read(stream, buffer, 0, &out, 1));
    cuda->ops->module_destroy(module);
    cuda->ops->buffer_destroy(buffer);
    assert_int_equal(get_current(&current), 0);
    assert_ptr_equal(current, round == 0 ? NULL : host);
    assert_int_equal(set_current(round == 0 ? host : NULL), 0);
  }
  assert_int_equal(release(0), 0);
}

static void out_of_memory(void **state) {
  (void)state;
  tsl_buffer *buffer;
  MUST_FAIL(cuda, TESELA_OUT_OF_MEMORY,
            cuda->ops->buffer_create(cuda, (size_t)cuda->memory_bytes + (1 << 30), &buffer));
  print_message("  %s\n", tesela_last_error());
  assert_non_null(strstr(tesela_last_error(), "CUDA_ERROR_OUT_OF_MEMORY"));
  assert_non_null(strstr(tesela_last_error(), "asked for"));
  assert_non_null(strstr(tesela_last_error(), "free"));
}

static void past_the_end(void **state) {
  (void)state;
  unsigned char bytes[100] = {0};
  tsl_buffer *buffer = buffer_of(stream, cuda, bytes, 64);
  MUST_FAIL(cuda, TESELA_BAD_CALL, tsl_device_write(stream, buffer, 0, bytes, 65));
  MUST_FAIL(cuda, TESELA_BAD_CALL, tsl_device_read(stream, buffer, 64, bytes, 1));
  MUST_FAIL(cuda, TESELA_BAD_CALL, cuda->ops->fill(stream, buffer, SIZE_MAX, 0, 2));
  MUST_FAIL(cuda, TESELA_BAD_CALL, cuda->ops->copy(stream, buffer, 0, buffer, 60, 5));
  const tsl_copy rows = {
      .buffer = buffer, .device_pitch = 16, .host = bytes, .host_pitch = 10, .rows = 5, .row_bytes = 10};
  MUST_FAIL(cuda, TESELA_BAD_CALL, cuda->ops->write(stream, &rows));
  const tsl_copy closer = {
      .buffer = buffer, .device_pitch = 9, .host = bytes, .host_pitch = 10, .rows = 2, .row_bytes = 10};
  MUST_FAIL(cuda, TESELA_BAD_CALL, cuda->ops->read(stream, &closer));
  cuda->ops->buffer_destroy(buffer);
}

/* Rows 3 GiB apart on the host: more than a two-dimensional copy of the driver takes. */
static void wide_pitch(void **state) {
  (void)state;
  const size_t pitch = (size_t)3 << 30, row_bytes = 1000;
  unsigned char expected[2][1000], out[2][1000];
  unsigned char *host =
      mmap(NULL, pitch + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  assert_true(host != MAP_FAILED);
  for (int row = 0; row < 2; row++)
    for (size_t i = 0; i < row_bytes; i++)
      host[(size_t)row * pitch + i] = expected[row][i] = pattern(i, (unsigned)row);
  tsl_buffer *buffer = buffer_of(stream, cuda, NULL, sizeof out);
  tsl_copy copy = {.buffer = buffer,
                   .device_pitch = row_bytes,
                   .host = host,
                   .host_pitch = pitch,
                   .rows = 2,
                   .row_bytes = row_bytes};
  MUST(cuda->ops->write(stream, &copy));
  MUST(tsl_device_read(stream, buffer, 0, out, sizeof out));
  assert_memory_equal(out, expected, sizeof out);
  memset(host, 0, row_bytes);
  memset(host + pitch, 0, row_bytes);
  MUST(cuda->ops->read(stream, &copy));
  assert_memory_equal(host, expected[0], row_bytes);
  assert_memory_equal(host + pitch, expected[1], row_bytes);
  cuda->ops->buffer_destroy(buffer);
  munmap(host, pitch + 4096);
}

static const char add_text[] = "typedef struct pair { TSL_INDEX a; float b, c; } pair;\n"
                               "TSL_KERNEL(32, 2, 1) add(TSL_GLOBAL float *out, const pair p) {\n"
                               "  out[TSL_ITEM(1) * 32 + TSL_ITEM(0)] = (float)p.a + p.b * p.c;\n"
                               "}\n";
typedef struct pair {
  long long a;
  float b, c;
} pair;

static void run_add(tsl_module *module) {
  float out[64];
  const pair p = {5000000000, 3, 4};
  tsl_kernel *kernel = NULL;
  tsl_buffer *buffer = buffer_of(stream, cuda, NULL, sizeof out);
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(buffer), TSL_ARG_VALUE(p)};
  const tsl_grid grid = {.groups = {1, 1, 1}, .items = {32, 2, 1}};
  MUST(cuda->ops->kernel_get(module, "add", &kernel));
  assert_int_equal(cuda->ops->kernel_items_max(kernel), 64);
  MUST(cuda->ops->launch(stream, kernel, &grid, arguments, 2));
  MUST(tsl_device_read(stream, buffer, 0, out, sizeof out));
  for (int i = 0; i < 64; i++)
    assert_true(out[i] == 5000000000.0f + 12);
  cuda->ops->buffer_destroy(buffer);
}

static void grids(void **state) {
  (void)state;
  tsl_module *module = module_of(add_text);
  tsl_kernel *kernel = NULL;
  const pair p = {0, 0, 0};
  tsl_buffer *buffer = buffer_of(stream, cuda, NULL, 256);
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(buffer), TSL_ARG_VALUE(p)};
  const tsl_grid wrong[] = {{{1, 70000, 1}, {32, 2, 1}},
                            {{3000000000, 1, 1}, {32, 2, 1}},
                            {{1, 1, 1}, {2048, 1, 1}},
                            {{1, 1, 1}, {32, 4, 1}},
                            {{1, 1, 1}, {1, 1, 128}}};
  MUST(cuda->ops->kernel_get(module, "add", &kernel));
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    MUST_FAIL(cuda, TESELA_BAD_CALL, cuda->ops->launch(stream, kernel, &wrong[i], arguments, 2));
    print_message("  %s\n", tesela_last_error());
  }
  run_add(module);
  cuda->ops->module_destroy(module);
  cuda->ops->buffer_destroy(buffer);
}

/* The way of a device that is newer than NVRTC: PTX, which the driver compiles on. */
static void ptx(void **state) {
  (void)state;
  tsl_nvrtc_target target = {.is_ptx = true};
  tsl_text text = {0};
  tsl_binary binary = {NULL, 0};
  tsl_module *module = NULL;
  snprintf(target.name, sizeof target.name, "compute_%d", cuda->architecture);
  text_of(add_text, &text);
  const tsl_build build = {.name = "test/ptx", .text = tsl_text_get(&text), .options = ""};
  MUST(tsl_nvrtc_compile(cuda->name, &target, &build, &binary));
  MUST(cuda->ops->module_load(cuda, "test/ptx", &binary, &module));
  run_add(module);
  cuda->ops->module_destroy(module);
  /* PTX that is none gives the driver's log. */
  char broken[] = ".version 7.0\n.target sm_70\n.address_size 64\nno_such_directive\n";
  const tsl_binary wrong = {.data = broken, .bytes = sizeof broken};
  MUST_FAIL(cuda, TESELA_BUILD_FAILED, cuda->ops->module_load(cuda, "test/ptx", &wrong, &module));
  print_message("  %s\n  %s\n", tesela_last_error(), tesela_last_log());
  assert_true(strlen(tesela_last_log()) > 0);
  free(binary.data);
  tsl_text_free(&text);
}

/* Last of all: a kernel that writes where nothing is ends the context, which the device says from then on. */
static void ended(void **state) {
  (void)state;
  tsl_module *module = module_of("TSL_KERNEL(1, 1, 1) stray(TSL_GLOBAL int *a) { a[1LL << 44] = 1; }\n");
  tsl_kernel *kernel = NULL;
  tsl_buffer *buffer = buffer_of(stream, cuda, NULL, 16), *other = NULL;
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(buffer)};
  const tsl_grid grid = {.groups = {1, 1, 1}, .items = {1, 1, 1}};
  MUST(cuda->ops->kernel_get(module, "stray", &kernel));
  MUST(cuda->ops->launch(stream, kernel, &grid, arguments, 1));
  MUST_FAIL(cuda, TESELA_DEVICE_FAILED, cuda->ops->finish(stream));
  print_message("  %s\n", tesela_last_error());
  assert_non_null(strstr(tesela_last_error(), "CUDA_ERROR_ILLEGAL_ADDRESS"));
  assert_non_null(strstr(tesela_last_error(), "any more"));
  MUST_FAIL(cuda, TESELA_DEVICE_FAILED, cuda->ops->buffer_create(cuda, 16, &other));
  print_message("  %s\n", tesela_last_error());
  assert_non_null(strstr(tesela_last_error(), "CUDA_ERROR_ILLEGAL_ADDRESS"));
  assert_null(other);
  cuda->ops->buffer_destroy(buffer);
  cuda->ops->module_destroy(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(described),    cmocka_unit_test(guest),      cmocka_unit_test(out_of_memory),
      cmocka_unit_test(past_the_end), cmocka_unit_test(wide_pitch), cmocka_unit_test(grids),
      cmocka_unit_test(ptx),          cmocka_unit_test(ended),
  };
  if (find_devices(NULL) != 0 || tsl_devices_find(all_devices, "cuda", &cuda) != TESELA_OK) {
    printf("skipped: %s\n", tesela_last_error());
    tsl_devices_destroy(all_devices);
    return 77;
  }
  if (tsl_device_open(cuda) != TESELA_OK || cuda->ops->stream_create(cuda, &stream) != TESELA_OK) {
    fprintf(stderr, "%s\n", tesela_last_error());
    return 1;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  cuda->ops->stream_destroy(stream);
  close_devices(NULL);
  return failed;
}
