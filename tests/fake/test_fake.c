/* The fake device. Each of its failures has the promised status and a sentence, and a clean-up by
 * the vtable's rules leaves no object. The test runs a small job that uses every operation. The nth
 * call of each kind fails in turn, until the job succeeds. */
#include "unit/unit.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/status.h"
#include "device/jit_cache.h"
#include "fake/fake.h"
#include "fake/fake_internal.h"
#include "scratch.h"

enum { ITEMS = 64, BYTES = ITEMS * (int)sizeof(int) };

/* Everything that a job may hold. */
typedef struct job {
  tsl_devices *devices;
  tsl_device *device;
  tsl_stream *stream;
  tsl_event *begin, *end;
  tsl_buffer *a, *b, *shared;
} job;

static void job_end(job *j) {
  if (j->device != NULL) {
    const tsl_device_ops *ops = j->device->ops;
    tsl_buffer *const buffers[] = {j->a, j->b, j->shared};
    for (int i = 0; i < 3; i++)
      if (buffers[i] != NULL)
        ops->buffer_destroy(buffers[i]);
    if (j->begin != NULL)
      ops->event_destroy(j->begin);
    if (j->end != NULL)
      ops->event_destroy(j->end);
    if (j->stream != NULL)
      ops->stream_destroy(j->stream);
  }
  tsl_devices_destroy(j->devices);
}

static tesela_status job_begin(job *j) {
  *j = (job){0};
  TSL_TRY(tsl_devices_create(&j->devices));
  TSL_TRY(tsl_devices_find(j->devices, "fake:0", &j->device));
  TSL_TRY(tsl_device_open(j->device));
  const tsl_device_ops *ops = j->device->ops;
  TSL_TRY(ops->stream_create(j->device, &j->stream));
  TSL_TRY(ops->event_create(j->device, &j->begin));
  TSL_TRY(ops->event_create(j->device, &j->end));
  TSL_TRY(ops->buffer_create(j->device, BYTES, &j->a));
  return ops->buffer_create(j->device, BYTES, &j->b);
}

static tesela_status use_shared(job *j, int *host) {
  const tsl_device_ops *ops = j->device->ops;
  void *seen;
  if (ops->buffer_wrap == NULL)
    return TESELA_OK;
  TSL_TRY(ops->buffer_wrap(j->device, host, BYTES, &j->shared));
  TSL_TRY(ops->buffer_map(j->stream, j->shared, 1, &seen));
  ((int *)seen)[0] = 7;
  TSL_TRY(ops->buffer_unmap(j->stream, j->shared, seen));
  assert_int_equal(host[0], 7);
  return TESELA_OK;
}

/* in -> a -> b -> out, with the second half of b cleared. */
static tesela_status copy_about(job *j) {
  const tsl_device_ops *ops = j->device->ops;
  int in[ITEMS], out[ITEMS] = {0};
  double seconds;
  for (int i = 0; i < ITEMS; i++)
    in[i] = i + 1;
  TSL_TRY(ops->event_record(j->stream, j->begin));
  TSL_TRY(tsl_device_write(j->stream, j->a, 0, in, BYTES));
  TSL_TRY(ops->copy(j->stream, j->a, 0, j->b, 0, BYTES));
  TSL_TRY(ops->fill(j->stream, j->b, BYTES / 2, 0, BYTES / 2));
  TSL_TRY(tsl_device_read(j->stream, j->b, 0, out, BYTES));
  TSL_TRY(ops->event_record(j->stream, j->end));
  TSL_TRY(ops->finish(j->stream));
  TSL_TRY(ops->event_seconds(j->begin, j->end, &seconds));
  assert_true(seconds >= 0);
  for (int i = 0; i < ITEMS; i++)
    assert_int_equal(out[i], i < ITEMS / 2 ? i + 1 : 0);
  return TESELA_OK;
}

/* In and out again through pinned memory. */
static tesela_status copy_through(job *j, tsl_pinned *pinned) {
  const tsl_device_ops *ops = j->device->ops;
  int *host = pinned->host;
  tsl_copy copy = {.buffer = j->a, .host = host, .rows = 1, .row_bytes = BYTES};
  for (int i = 0; i < ITEMS; i++)
    host[i] = 3 * i;
  TSL_TRY(ops->write_later(j->stream, &copy));
  TSL_TRY(ops->event_record(j->stream, j->begin));
  TSL_TRY(ops->stream_wait(j->stream, j->begin));
  copy.host = host + ITEMS;
  TSL_TRY(ops->read_later(j->stream, &copy));
  TSL_TRY(ops->event_record(j->stream, j->end));
  TSL_TRY(ops->event_wait(j->end));
  assert_memory_equal(host, host + ITEMS, BYTES);
  return TESELA_OK;
}

static tesela_status copy_beside(job *j) {
  const tsl_device_ops *ops = j->device->ops;
  tsl_pinned *pinned;
  tsl_status_saved saved;
  if (ops->pinned_create == NULL)
    return TESELA_OK;
  TSL_TRY(ops->pinned_create(j->device, (size_t)2 * BYTES, &pinned));
  tesela_status status = copy_through(j, pinned);
  tsl_status_save(&saved);
  const tesela_status last = ops->finish(j->stream); /* a copy may be pending */
  if (status == TESELA_OK)
    status = last;
  else
    tsl_status_restore(&saved);
  ops->pinned_destroy(pinned);
  return status;
}

static int expected_flip; /* bits of the first result that a fault flips */

static tesela_status run_kernel(job *j) {
  static const char text[] = "__kernel void put(__global int *out, int value)\n"
                             "{ out[get_global_id(0)] = value + (int)get_global_id(0); }\n";
  const tsl_device_ops *ops = j->device->ops;
  const tsl_build build = {.name = "test/put", .text = text, .options = ""};
  tsl_module *module;
  tsl_kernel *kernel;
  int value = 5, out[ITEMS];
  if (ops->build == NULL)
    return TESELA_OK;
  TSL_TRY(tsl_jit_module(j->device, &build, &module, NULL));
  TSL_TRY(ops->kernel_get(module, "put", &kernel));
  assert_true(ops->kernel_items_max(kernel) >= 1);
  const tsl_grid grid = {.groups = {ITEMS / 8, 1, 1}, .items = {8, 1, 1}};
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(j->a), TSL_ARG_VALUE(value)};
  TSL_TRY(ops->launch(j->stream, kernel, &grid, arguments, 2));
  TSL_TRY(tsl_device_read(j->stream, j->a, 0, out, BYTES));
  for (int i = 0; i < ITEMS; i++)
    assert_int_equal(out[i], i == 0 ? value ^ expected_flip : value + i);
  return TESELA_OK;
}

/* A kernel that adds two texels of an image; the image is gone before its kernel has run. */
static tesela_status read_image(job *j) {
  static const char text[] =
      "__kernel void add(__read_only image2d_t image, __global float *out)\n"
      "{ const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
      "  vstore4(read_imagef(image, s, (int2)(0, 0)) + read_imagef(image, s, (int2)(1, 0)), 0, out); }\n";
  const tsl_device_ops *ops = j->device->ops;
  const tsl_build build = {.name = "test/add", .text = text, .options = ""};
  const float in[8] = {1, 2, 3, 4, 50, 60, 70, 80};
  float out[4] = {0};
  tsl_module *module;
  tsl_kernel *kernel;
  tsl_image *image;
  if (ops->image_create == NULL)
    return TESELA_OK;
  const tsl_image_layout layout = {
      .buffer = j->b, .pitch = tsl_image_pitch(j->device, 2), .width = 2, .height = 1};
  TSL_TRY(tsl_jit_module(j->device, &build, &module, NULL));
  TSL_TRY(ops->kernel_get(module, "add", &kernel));
  TSL_TRY(tsl_device_write(j->stream, j->b, 0, in, sizeof in));
  TSL_TRY(ops->image_create(j->stream, &layout, &image));
  const tsl_argument arguments[] = {TSL_ARG_IMAGE(image), TSL_ARG_BUFFER(j->a)};
  const tesela_status status =
      ops->launch(j->stream, kernel, &(tsl_grid){{1, 1, 1}, {1, 1, 1}}, arguments, 2);
  ops->image_destroy(image);
  TSL_TRY(status);
  TSL_TRY(tsl_device_read(j->stream, j->a, 0, out, sizeof out));
  for (int i = 0; i < 4; i++)
    assert_true(out[i] == in[i] + in[i + 4]);
  return TESELA_OK;
}

static tesela_status run_job(void) {
  _Alignas(4096) static int host[4096];
  job j;
  tesela_status status = job_begin(&j);
  if (status == TESELA_OK)
    status = use_shared(&j, host);
  if (status == TESELA_OK)
    status = copy_about(&j);
  if (status == TESELA_OK)
    status = copy_beside(&j);
  if (status == TESELA_OK)
    status = run_kernel(&j);
  if (status == TESELA_OK)
    status = read_image(&j);
  job_end(&j);
  return status;
}

/* Fails each call of an operation in turn; returns how many calls the whole job makes. */
static int fail_in_turn(tesela_fake_operation operation) {
  for (int nth = 1;; nth++) {
    tesela_fake_reset();
    tesela_fake_fail(operation, nth);
    const tesela_status status = run_job();
    assert_string_equal(tesela_fake_live_text(), "");
    if (tesela_fake_failures() == 0) {
      assert_int_equal(status, TESELA_OK);
      return nth - 1;
    }
    assert_int_equal(status, tesela_fake_status(operation));
    assert_ptr_equal(strstr(tesela_last_error(), "fake:0: "), tesela_last_error());
    assert_non_null(strstr(tesela_last_error(), tesela_fake_name(operation)));
    assert_non_null(strstr(tesela_last_error(), "on demand"));
    if (operation == TESELA_FAKE_BUILD)
      assert_non_null(strstr(tesela_last_log(), "fake compiler"));
  }
}

static void fail_everything(const char *inner, bool has_kernels) {
  tesela_fake_inner(inner);
  tesela_fake_hide(0);
  for (int i = 0; i < TESELA_FAKE_CALLS; i++) {
    const bool is_of_kernels = i == TESELA_FAKE_BUILD || i == TESELA_FAKE_LOAD || i == TESELA_FAKE_LAUNCH ||
                               i == TESELA_FAKE_IMAGE || i == TESELA_FAKE_PINNED;
    const int calls = fail_in_turn((tesela_fake_operation)i);
    if (is_of_kernels && !has_kernels)
      assert_int_equal(calls, 0);
    else
      assert_true(calls >= 1);
  }
  tesela_fake_reset();
}

static void test_over_cpu(void **state) {
  (void)state;
  fail_everything("cpu", false);
}

static void test_over_opencl(void **state) {
  (void)state;
  fail_everything("opencl:0", true);
}

/* A flipped launch succeeds, and one bit of its result is wrong. */
static void test_flip(void **state) {
  (void)state;
  tesela_fake_inner("opencl:0");
  tesela_fake_reset();
  tesela_fake_fail(TESELA_FAKE_FLIP, 1);
  expected_flip = 0x40000000;
  assert_int_equal(run_job(), TESELA_OK);
  expected_flip = 0;
  assert_int_equal(tesela_fake_failures(), 1);
  assert_string_equal(tesela_fake_live_text(), "");
  tesela_fake_reset();
}

/* A failure that lasts: nothing works any more, and everything is still cleaned up. */
static void test_lasting(void **state) {
  (void)state;
  tesela_fake_inner("cpu");
  tesela_fake_reset();
  tesela_fake_fail_from(TESELA_FAKE_COPY_OUT, 1);
  for (int i = 1; i <= 3; i++) {
    assert_int_equal(run_job(), TESELA_DEVICE_FAILED);
    assert_int_equal(tesela_fake_failures(), i);
    assert_string_equal(tesela_fake_live_text(), "");
  }
  tesela_fake_fail(TESELA_FAKE_COPY_OUT, 0);
  assert_int_equal(run_job(), TESELA_OK);
  tesela_fake_reset();
}

/* The inner device's own failures arrive under the fake one's name. */
static void test_inner_failure(void **state) {
  job j;
  (void)state;
  tesela_fake_inner("cpu");
  assert_int_equal(job_begin(&j), TESELA_OK);
  tsl_buffer *huge = j.a;
  assert_int_equal(j.device->ops->buffer_create(j.device, SIZE_MAX / 2, &huge), TESELA_OUT_OF_MEMORY);
  assert_null(huge);
  assert_ptr_equal(strstr(tesela_last_error(), "fake:0: cpu: "), tesela_last_error());
  job_end(&j);
  assert_string_equal(tesela_fake_live_text(), "");
}

/* Objects that are not destroyed are counted. */
static void test_counts(void **state) {
  job j;
  (void)state;
  tesela_fake_inner("cpu");
  assert_int_equal(job_begin(&j), TESELA_OK);
  assert_string_equal(tesela_fake_live_text(), "2 buffers, 1 stream, 2 events");
  assert_int_equal(tesela_fake_live(TESELA_FAKE_LIVE_BUFFER), 2);
  job_end(&j);
  assert_string_equal(tesela_fake_live_text(), "");
}

static void test_hidden(void **state) {
  job j;
  (void)state;
  tesela_fake_inner("cpu");
  tesela_fake_hide(TSL_CAN_HOST | TSL_CAN_SHARED_MEMORY);
  assert_int_equal(job_begin(&j), TESELA_OK);
  assert_int_equal(j.device->capabilities & (TSL_CAN_HOST | TSL_CAN_SHARED_MEMORY), 0);
  assert_int_equal(j.device->host_alignment, 0);
  assert_null(j.device->ops->buffer_wrap);
  assert_null(j.a->host);
  assert_int_equal(copy_about(&j), TESELA_OK);
  job_end(&j);
  tesela_fake_hide(0);
}

static void test_environment(void **state) {
  tsl_devices *devices;
  tsl_device *device;
  (void)state;
  tesela_fake_reset();
  setenv("TESELA_FAKE", "event:2,copy_out:1+", 1);
  setenv("TESELA_FAKE_INNER", "cpu", 1);
  tesela_fake_install();
  assert_int_equal(run_job(), TESELA_DEVICE_FAILED);
  assert_non_null(strstr(tesela_last_error(), "event number 2"));
  assert_int_equal(run_job(), TESELA_DEVICE_FAILED);
  assert_non_null(strstr(tesela_last_error(), "copy_out number 1"));
  assert_int_equal(run_job(), TESELA_DEVICE_FAILED);
  assert_non_null(strstr(tesela_last_error(), "copy_out number 2"));
  tesela_fake_reset();

  unsetenv("TESELA_FAKE");
  setenv("TESELA_FAKE_INNER", "fake:0", 1);
  tesela_fake_install();
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "fake:0", &device), TESELA_BAD_CALL);
  assert_non_null(strstr(tesela_last_error(), "wrap itself"));
  tsl_devices_destroy(devices);

  setenv("TESELA_FAKE_INNER", "cpu", 1);
  setenv("TESELA_FAKE", "copy_sideways:1", 1);
  tesela_fake_install();
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "fake:0", &device), TESELA_BAD_CALL);
  assert_non_null(strstr(tesela_last_error(), "copy_sideways:1"));
  tsl_devices_destroy(devices);
}

/* Everything that a device can do is forwarded, but for what knows the inner device's objects: adoption of
 * other libraries' objects, and copies between devices. */
static void test_complete(void **state) {
  (void)state;
  typedef void (*member)(void);
  enum { MEMBERS = sizeof(tsl_device_ops) / sizeof(member) };
  static const size_t left_out[] = {offsetof(tsl_device_ops, buffer_adopt),
                                    offsetof(tsl_device_ops, stream_adopt), offsetof(tsl_device_ops, reaches),
                                    offsetof(tsl_device_ops, copy_rows)};
  union {
    tsl_device_ops ops;
    member members[MEMBERS];
  } all, forwarded;
  for (size_t i = 0; i < MEMBERS; i++)
    all.members[i] = (member)test_complete;
  forwarded.ops = fake_ops(&(tsl_device){.ops = &all.ops}, 0);
  for (size_t i = 0; i < MEMBERS; i++) {
    bool is_left_out = false;
    for (size_t j = 0; j < sizeof left_out / sizeof *left_out; j++)
      is_left_out |= i == left_out[j] / sizeof(member);
    if (is_left_out != (forwarded.members[i] == NULL))
      fail_msg("member %zu", i);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_over_cpu),      cmocka_unit_test(test_over_opencl),
      cmocka_unit_test(test_flip),          cmocka_unit_test(test_lasting),
      cmocka_unit_test(test_inner_failure), cmocka_unit_test(test_counts),
      cmocka_unit_test(test_hidden),        cmocka_unit_test(test_complete),
      cmocka_unit_test(test_environment),
  };
  scratch cache;
  scratch_create(&cache);
  setenv("TESELA_CACHE_DIR", cache.folder, 1);
  tesela_fake_install();
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  scratch_remove(&cache);
  return failed;
}
