/* The OpenCL device: listing, errors, buffers and copies. */
#include "unit/opencl_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "scratch.h"

/* --- listing --- */

static void test_the_device_is_described(void **state) {
  (void)state;
  const bool shares = (device->capabilities & TSL_CAN_SHARED_MEMORY) != 0;
  print_message("%s: %s; %s; %d units at %d MHz; %.0f and %.0f GFLOP/s guessed; key %s\n", device->name,
                device->label, device->platform, device->compute_units, device->clock_mhz,
                device->peak_f32 * 1e-9, device->peak_f64 * 1e-9, device->key);
  assert_true(device->label[0] != '\0' && device->platform[0] != '\0' && device->key[0] != '\0');
  assert_null(strpbrk(device->key, " \t\n"));
  assert_true(device->compute_units >= 1 && device->memory_bytes > 0 && device->allocation_max > 0);
  assert_true(device->group_items_max >= 1 && device->group_size_max[2] >= 1);
  assert_true(device->group_count_max[0] > 65536);
  assert_true(device->peak_f32 > 1e9 && device->bandwidth > 1e9 && device->launch_seconds > 0);
  assert_true(device->capabilities & TSL_CAN_KERNELS);
  assert_true((device->peak_f64 > 0) == ((device->capabilities & TSL_CAN_F64) != 0));
  assert_true((device->link_bandwidth == 0) == shares);
  if (device->is_cpu)
    assert_true(shares && device->host_alignment > 0);
}

static void ignore(void *argument, const tsl_device *found) {
  (void)argument;
  tsl_device copy = *found;
  if (tsl_device_kind_opencl.forget != NULL)
    tsl_device_kind_opencl.forget(&copy);
}

static void test_none_is_a_reason(void **state) {
  (void)state;
  setenv("TESELA_OPENCL", "none", 1);
  assert_int_equal(tsl_device_kind_opencl.list(ignore, NULL), TESELA_NO_DEVICE);
  assert_says("none");
  setenv("TESELA_OPENCL", "/nowhere/libOpenCL.so", 1);
  assert_int_equal(tsl_device_kind_opencl.list(ignore, NULL), TESELA_NO_DEVICE);
  assert_says("/nowhere/libOpenCL.so");
  unsetenv("TESELA_OPENCL");
  must(tsl_device_kind_opencl.list(ignore, NULL));
}

/* The libraries named in the vendors' files decide whether a platform is the processor's, unless an
 * environment variable selects another device. */
static void test_platforms_of_processors_are_told(void **state) {
  scratch s;
  (void)state;
  scratch_create(&s);
  assert_false(tsl_opencl_lists_only_processors_at(s.folder)); /* no files: maybe a driver itself */
  scratch_write(&s, "etc/OpenCL/vendors/readme.txt", "libnvidia-opencl.so.1\n");
  scratch_write(&s, "etc/OpenCL/vendors/pocl.icd", "/usr/lib/x86_64-linux-gnu/libpocl.so.2.9.0\n");
  assert_true(tsl_opencl_lists_only_processors_at(s.folder));
  setenv("POCL_DEVICES", "cuda", 1);
  assert_false(tsl_opencl_lists_only_processors_at(s.folder));
  unsetenv("POCL_DEVICES");
  scratch_write(&s, "etc/OpenCL/vendors/intel64.icd", "libintelocl.so");
  assert_true(tsl_opencl_lists_only_processors_at(s.folder));
  scratch_write(&s, "etc/OpenCL/vendors/nvidia.icd", "libnvidia-opencl.so.1\n");
  assert_false(tsl_opencl_lists_only_processors_at(s.folder));
  scratch_remove(&s);
}

static void test_errors_have_names(void **state) {
  (void)state;
  assert_string_equal(tsl_opencl_error_name(CL_OUT_OF_RESOURCES), "CL_OUT_OF_RESOURCES");
  assert_string_equal(tsl_opencl_error_name(CL_INVALID_KERNEL_ARGS), "CL_INVALID_KERNEL_ARGS");
  assert_string_equal(tsl_opencl_error_name(-9999), "OpenCL error -9999");
  assert_int_equal(tsl_opencl_fail(device, "clFinish", CL_OUT_OF_RESOURCES, ""), TESELA_DEVICE_FAILED);
  assert_says(": clFinish: CL_OUT_OF_RESOURCES");
  assert_int_equal(tsl_opencl_fail(device, "clFinish", CL_MEM_OBJECT_ALLOCATION_FAILURE, "here"),
                   TESELA_OUT_OF_MEMORY);
  assert_says("CL_MEM_OBJECT_ALLOCATION_FAILURE, here");
}

/* --- memory --- */

static void test_too_much_memory_is_refused(void **state) {
  (void)state;
  tsl_buffer *buffer = (void *)&opencl_devices;
  assert_int_equal(ops->buffer_create(device, (size_t)1 << 50, &buffer), TESELA_OUT_OF_MEMORY);
  assert_null(buffer);
  assert_says("clCreateBuffer: CL_");
  assert_says("asked for 1 PiB");
  assert_int_equal(strncmp(tesela_last_error(), device->name, strlen(device->name)), 0);
}

static void test_bytes_come_back(void **state) {
  (void)state;
  unsigned char from[1000], to[1000];
  for (int i = 0; i < 1000; i++)
    from[i] = (unsigned char)(i * 7 + i / 256);
  tsl_buffer *one = opencl_buffer(1000), *two = opencl_buffer(1003), *none = opencl_buffer(0);
  must(tsl_device_write(stream, one, 0, from, 1000));
  must(ops->copy(stream, one, 3, two, 6, 997));
  memset(to, 0, sizeof to);
  must(tsl_device_read(stream, two, 6, to, 997));
  assert_memory_equal(to, from + 3, 997);
  /* nothing to do is nothing done */
  must(ops->copy(stream, one, 0, two, 0, 0));
  must(ops->fill(stream, one, 5, 1, 0));
  must(tsl_device_write(stream, none, 0, from, 0));
  must(tsl_device_read(stream, one, 0, to, 1000));
  assert_memory_equal(to, from, 1000);
  /* beyond the end is refused by name */
  assert_int_equal(tsl_device_read(stream, one, 900, to, 200), TESELA_DEVICE_FAILED);
  assert_says("clEnqueueReadBuffer: CL_INVALID_VALUE");
  ops->buffer_destroy(one);
  ops->buffer_destroy(two);
  ops->buffer_destroy(none);
}

static void test_fill_keeps_to_its_range(void **state) {
  (void)state;
  static const struct {
    size_t offset, bytes;
  } ranges[] = {{0, 128}, {1, 17}, {16, 32}, {8, 8}, {3, 1}, {4, 12}, {0, 127}, {62, 66}};
  tsl_buffer *buffer = opencl_buffer(128);
  for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
    unsigned char got[128];
    must(ops->fill(stream, buffer, 0, 0x11, 128));
    must(ops->fill(stream, buffer, ranges[r].offset, 0xa7, ranges[r].bytes));
    must(tsl_device_read(stream, buffer, 0, got, 128));
    for (size_t i = 0; i < 128; i++)
      assert_int_equal(got[i], i >= ranges[r].offset && i < ranges[r].offset + ranges[r].bytes ? 0xa7 : 0x11);
  }
  ops->buffer_destroy(buffer);
}

/* Rows with a pitch on both sides, to and from a buffer that ends with the last row. */
static void check_pitched(size_t offset, size_t device_pitch, size_t host_pitch, size_t rows,
                          size_t row_bytes) {
  const size_t device_bytes = offset + (rows - 1) * device_pitch + row_bytes;
  const size_t host_bytes = (rows - 1) * host_pitch + row_bytes;
  unsigned char *from = malloc(host_bytes), *to = malloc(host_bytes), *all = malloc(device_bytes);
  assert_true(from != NULL && to != NULL && all != NULL);
  for (size_t i = 0; i < host_bytes; i++)
    from[i] = (unsigned char)(1 + i % 199);
  memset(to, 0xee, host_bytes);
  tsl_buffer *buffer = opencl_buffer(device_bytes);
  must(ops->fill(stream, buffer, 0, 0, device_bytes));
  tsl_copy copy = {.buffer = buffer,
                   .offset = offset,
                   .device_pitch = device_pitch,
                   .host = from,
                   .host_pitch = host_pitch,
                   .rows = rows,
                   .row_bytes = row_bytes};
  must(ops->write(stream, &copy));
  must(tsl_device_read(stream, buffer, 0, all, device_bytes));
  for (size_t i = 0; i < device_bytes; i++) {
    const size_t row = i < offset ? rows : (i - offset) / device_pitch;
    const size_t byte = i < offset ? 0 : (i - offset) % device_pitch;
    assert_int_equal(all[i], row < rows && byte < row_bytes ? from[row * host_pitch + byte] : 0);
  }
  copy.host = to;
  must(ops->read(stream, &copy));
  for (size_t i = 0; i < host_bytes; i++)
    assert_int_equal(to[i], i % host_pitch < row_bytes ? from[i] : 0xee);
  ops->buffer_destroy(buffer);
  free(from);
  free(to);
  free(all);
}

static void test_copies_with_pitch(void **state) {
  (void)state;
  check_pitched(0, 16, 16, 5, 16);
  check_pitched(0, 24, 40, 7, 20);
  check_pitched(13, 10, 13, 3, 8);
  check_pitched(8, 10, 13, 4, 8); /* each row crosses a multiple of the pitch */
  check_pitched(1003, 100, 7, 9, 7);
  check_pitched(5, 64, 3, 1, 3);
  check_pitched(0, 8, 32, 6, 8);
  check_pitched(64, 4096, 512, 33, 256);
}

static void test_host_memory_may_change_after_write(void **state) {
  (void)state;
  const size_t bytes = (size_t)4 << 20;
  unsigned char *host = malloc(bytes), *back = malloc(bytes);
  assert_true(host != NULL && back != NULL);
  tsl_buffer *buffer = opencl_buffer(bytes);
  memset(host, 5, bytes);
  must(tsl_device_write(stream, buffer, 0, host, bytes));
  memset(host, 9, bytes);
  must(tsl_device_read(stream, buffer, 0, back, bytes));
  for (size_t i = 0; i < bytes; i += 997)
    assert_int_equal(back[i], 5);
  ops->buffer_destroy(buffer);
  free(host);
  free(back);
}

static void test_map_and_unmap(void **state) {
  (void)state;
  need_shared_memory();
  tsl_buffer *buffer = opencl_buffer(4000);
  void *host;
  must(ops->fill(stream, buffer, 0, 3, 4000));
  must(ops->buffer_map(stream, buffer, 1, &host));
  unsigned char *bytes = host;
  assert_int_equal(bytes[0], 3);
  assert_int_equal(bytes[3999], 3);
  bytes[1] = 77;
  must(ops->buffer_unmap(stream, buffer, host));
  must(tsl_device_read(stream, buffer, 0, (unsigned char[2]){0}, 2));
  unsigned char got[2];
  must(tsl_device_read(stream, buffer, 0, got, 2));
  assert_int_equal(got[0], 3);
  assert_int_equal(got[1], 77);
  ops->buffer_destroy(buffer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_device_is_described),
      cmocka_unit_test(test_none_is_a_reason),
      cmocka_unit_test(test_platforms_of_processors_are_told),
      cmocka_unit_test(test_errors_have_names),
      cmocka_unit_test(test_too_much_memory_is_refused),
      cmocka_unit_test(test_bytes_come_back),
      cmocka_unit_test(test_fill_keeps_to_its_range),
      cmocka_unit_test(test_copies_with_pitch),
      cmocka_unit_test(test_host_memory_may_change_after_write),
      cmocka_unit_test(test_map_and_unmap),
  };
  return run_on_each_device(tests, sizeof tests / sizeof tests[0]);
}
