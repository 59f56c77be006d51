/* The list of devices, with kinds that this test defines: when devices are searched, and what names
 * mean. Also the messages for a missing device, and the order in which devices are opened and
 * closed. */
#include "unit.h"

#include "core/status.h"
#include "device/devices.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char happened[256]; /* calls that the kinds below received, one word a call */
static pthread_mutex_t happened_lock = PTHREAD_MUTEX_INITIALIZER;
static tesela_status open_result;

static void note(const char *what, const char *name) {
  pthread_mutex_lock(&happened_lock);
  const size_t length = strlen(happened);
  snprintf(happened + length, sizeof happened - length, "%s(%s) ", what, name);
  pthread_mutex_unlock(&happened_lock);
}

static tesela_status note_open(tsl_device *device) {
  note("open", device->name);
  return open_result == TESELA_OK ? TESELA_OK : tsl_fail(open_result, "%s: does not open", device->name);
}
static void note_close(tsl_device *device) {
  note("close", device->name);
}
static void note_forget(tsl_device *device) {
  note("forget", (const char *)device->impl);
}

static const tsl_device_ops ops = {.open = note_open, .close = note_close};
static char impls[2][8] = {"first", "second"};

static tesela_status list_two(void (*found)(void *argument, const tsl_device *device), void *argument) {
  note("list", "pair");
  for (int i = 0; i < 2; i++) {
    const tsl_device device = {.ops = &ops, .impl = impls[i], .name = "overwritten", .index = 9};
    found(argument, &device);
  }
  return TESELA_OK;
}
static tesela_status list_none(void (*found)(void *argument, const tsl_device *device), void *argument) {
  (void)found;
  (void)argument;
  return tsl_fail(TESELA_NO_DEVICE, "libnone.so.1 is not installed");
}
/* Fails after the first device: none shall stay. */
static tesela_status half_status = TESELA_DEVICE_FAILED;
static tesela_status list_half(void (*found)(void *argument, const tsl_device *device), void *argument) {
  const tsl_device device = {.ops = &ops, .impl = impls[0]};
  note("list", "half");
  found(argument, &device);
  return tsl_fail(half_status, "the second does not answer");
}

static const tsl_device_kind pair_kind = {
    .kind = "pair", .what = "two devices", .list = list_two, .forget = note_forget};
static const tsl_device_kind none_kind = {.kind = "none", .what = "nothing", .list = list_none};
static const tsl_device_kind half_kind = {
    .kind = "half", .what = "a kind that fails half-way", .list = list_half, .forget = note_forget};

static tsl_devices *fresh(void) {
  tsl_devices *devices;
  happened[0] = '\0';
  open_result = TESELA_OK;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  return devices;
}

static void expect_find(tsl_devices *devices, const char *name, tesela_status status, const char *sentence) {
  tsl_device *device = NULL;
  assert_int_equal(tsl_devices_find(devices, name, &device), status);
  assert_null(device);
  assert_string_equal(tesela_last_error(), sentence);
}

static void test_names(void **state) {
  static const char *const good[] = {"cpu",  "cpu:0",   "opencl",   "opencl:0", "cuda:12",
                                     "pair", "pair:07", "none:000", "auto"};
  static const char *const bad[] = {"",
                                    "CPU",
                                    "cpu:",
                                    "cpu:x",
                                    "cpu:-1",
                                    "cpu:+1",
                                    "cpu: 1",
                                    " cpu",
                                    "opencl0",
                                    "cpu:0:1",
                                    "opencl:99999999999999999999",
                                    "op",
                                    "gpu"};
  tsl_devices *devices = fresh();
  tsl_device *device;
  (void)state;
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
    assert_int_equal(tsl_device_name_check(good[i]), TESELA_OK);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(tsl_device_name_check(bad[i]), TESELA_BAD_CALL);
    assert_int_equal(tsl_devices_find(devices, bad[i], &device), TESELA_BAD_CALL);
  }
  assert_string_equal(happened, ""); /* nothing was looked for */
  expect_find(devices, "gpu:1", TESELA_BAD_CALL,
              "\"gpu:1\" is no device's name; names are a kind, or a kind, a colon and a number: cpu, "
              "opencl:0, cuda:0, pair:0, none:0, half:0");
  tsl_devices_destroy(devices);
}

static void test_find(void **state) {
  tsl_devices *devices = fresh();
  tsl_device *device;
  (void)state;
  assert_int_equal(tsl_devices_find(devices, "cpu", &device), TESELA_OK);
  assert_string_equal(device->name, "cpu");
  assert_string_equal(device->kind, "cpu");
  assert_string_equal(happened, "");
  assert_int_equal(tsl_devices_find(devices, "pair", &device), TESELA_OK);
  assert_string_equal(device->name, "pair:0");
  assert_int_equal(tsl_devices_find(devices, "pair:1", &device), TESELA_OK);
  assert_string_equal(device->name, "pair:1");
  assert_int_equal(device->index, 1);
  assert_string_equal(happened, "list(pair) "); /* once */
  expect_find(devices, "pair:2", TESELA_NO_DEVICE, "there is no device pair:2; there are pair:0, pair:1");
  expect_find(devices, "cpu:1", TESELA_NO_DEVICE, "there is no device cpu:1; there is cpu");
  expect_find(devices, "none:0", TESELA_NO_DEVICE,
              "there is no device none:0: libnone.so.1 is not installed");
  tsl_devices_destroy(devices);
}

/* A failure is remembered, and asked for again where memory ran out. */
static void test_failures_are_remembered(void **state) {
  tsl_devices *devices = fresh();
  (void)state;
  half_status = TESELA_OUT_OF_MEMORY;
  expect_find(devices, "half", TESELA_OUT_OF_MEMORY, "half: no memory for the list of devices");
  half_status = TESELA_DEVICE_FAILED;
  expect_find(devices, "half", TESELA_DEVICE_FAILED, "half: the second does not answer");
  assert_string_equal(happened, "list(half) forget(first) list(half) forget(first) ");
  expect_find(devices, "half", TESELA_DEVICE_FAILED, "half: the second does not answer");
  assert_string_equal(happened, "list(half) forget(first) list(half) forget(first) ");
  tsl_devices_destroy(devices);
}

static void test_kinds(void **state) {
  static const char *const names[] = {"cpu", "opencl", "cuda", "pair", "none", "half"};
  tsl_devices *devices = fresh();
  const char *name, *what, *why;
  int count, total = 0;
  (void)state;
  assert_int_equal(tsl_device_kind_count(), 6);
  for (int i = 0; i < 6; i++) {
    tsl_fail(TESELA_BAD_CALL, "earlier");
    assert_int_equal(tsl_devices_kind(devices, i, &name, &what, &count, &why), TESELA_OK);
    assert_string_equal(tesela_last_error(), "earlier"); /* the question did not fail */
    assert_string_equal(name, names[i]);
    assert_int_equal(count == 0, why[0] != '\0');
    total += count;
  }
  assert_string_equal(why, "the second does not answer");
  assert_int_equal(count, 0);
  assert_int_equal(tsl_devices_kind(devices, 6, &name, &what, &count, &why), TESELA_BAD_CALL);
  for (int i = 0; i < total; i++)
    assert_non_null(tsl_devices_at(devices, i));
  assert_null(tsl_devices_at(devices, total));
  assert_null(tsl_devices_at(devices, -1));
  assert_string_equal(tsl_devices_at(devices, 0)->name, "cpu");
  assert_string_equal(tsl_devices_at(devices, total - 1)->name, "pair:1");
  assert_string_equal(happened, "list(pair) list(half) forget(first) "); /* the half list is given back */
  tsl_devices_destroy(devices);
  tsl_device_kind_add(&pair_kind);
  assert_int_equal(tsl_device_kind_count(), 6);
}

static void test_open_once(void **state) {
  tsl_devices *devices = fresh();
  tsl_device *first, *second;
  (void)state;
  assert_int_equal(tsl_devices_find(devices, "pair:0", &first), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "pair:1", &second), TESELA_OK);
  open_result = TESELA_DEVICE_FAILED;
  assert_int_equal(tsl_device_open(second), TESELA_DEVICE_FAILED);
  assert_string_equal(tesela_last_error(), "pair:1: does not open");
  open_result = TESELA_OK; /* a device that failed may be tried again */
  for (int i = 0; i < 3; i++) {
    assert_int_equal(tsl_device_open(first), TESELA_OK);
    assert_int_equal(tsl_device_open(second), TESELA_OK);
  }
  tsl_devices_destroy(devices);
  assert_string_equal(happened,
                      "list(pair) open(pair:1) open(pair:0) open(pair:1) close(pair:1) close(pair:0) "
                      "forget(second) forget(first) ");
  tsl_devices_destroy(fresh());
  assert_string_equal(happened, "");
  tsl_devices_destroy(NULL);
}

static void *open_from_thread(void *argument) {
  tsl_device *device;
  tesela_status status = tsl_devices_find(argument, "pair:1", &device);
  if (status == TESELA_OK)
    status = tsl_device_open(device);
  return status == TESELA_OK ? NULL : argument;
}

static void test_open_from_threads(void **state) {
  tsl_devices *devices = fresh();
  pthread_t threads[8];
  (void)state;
  for (int i = 0; i < 8; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, open_from_thread, devices), 0);
  for (int i = 0; i < 8; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    assert_null(failed);
  }
  assert_string_equal(happened, "list(pair) open(pair:1) ");
  tsl_devices_destroy(devices);
}

static void test_capability_text(void **state) {
  (void)state;
  assert_null(tsl_capability_missing(0, 0));
  assert_null(tsl_capability_missing(TSL_CAN_F64 | TSL_CAN_HOST, TSL_CAN_F64 | TSL_CAN_HOST | TSL_CAN_LOCAL));
  assert_string_equal(tsl_capability_missing(TSL_CAN_F64, TSL_CAN_LOCAL), "double precision");
  assert_string_equal(tsl_capability_missing(TSL_CAN_AVX512 | TSL_CAN_KERNELS, 0), "a compiler for kernels");
}

/* An image lies in its buffer, within the device's limits. */
static void test_images_fit(void **state) {
  (void)state;
  tsl_device device = {.image_width_max = 64,
                       .image_height_max = 32,
                       .image_offset_alignment = 16,
                       .image_pitch_alignment = 64,
                       .image_pitch_max = 2048};
  tsl_buffer buffer = {.device = &device, .bytes = 4096};
  static const struct {
    size_t offset, pitch;
    int64_t width, height;
    bool fits;
  } cases[] = {
      {0, 128, 8, 32, true},   {16, 128, 8, 31, true},
      {16, 128, 8, 32, false}, {0, 1024, 64, 4, true},
      {0, 2048, 65, 2, false}, {0, 128, 0, 4, false},
      {0, 128, 8, 0, false},   {0, 64, 4, 33, false},
      {0, 96, 4, 4, false},    {8, 128, 8, 4, false},
      {0, 64, 8, 4, false},    {0, 4096, 8, 1, false},
      {4096, 64, 4, 1, false}, {SIZE_MAX - 15, 64, 4, 1, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tsl_image_layout layout = {&buffer, cases[i].offset, cases[i].pitch, cases[i].width,
                                     cases[i].height};
    if (tsl_image_fits(&layout) != cases[i].fits)
      fail_msg("case %zu %s", i, cases[i].fits ? "fits" : "does not fit");
    assert_int_equal(tsl_image_check(&layout), cases[i].fits ? TESELA_OK : TESELA_BAD_CALL);
  }
  buffer.askew = true;
  assert_false(tsl_image_fits(&(tsl_image_layout){&buffer, 0, 128, 8, 4}));
}

static void test_sizes_of_the_environment(void **state) {
  (void)state;
  static const char *const wrong[] = {"0", "0GiB", "much", "-1"};
  tsl_devices *list;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    setenv("TESELA_DEVICE_MEMORY", wrong[i], 1);
    assert_int_equal(tsl_devices_create(&list), TESELA_BAD_CALL);
    assert_non_null(strstr(tesela_last_error(), "TESELA_DEVICE_MEMORY is \""));
  }
  unsetenv("TESELA_DEVICE_MEMORY");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_find),
      cmocka_unit_test(test_failures_are_remembered),
      cmocka_unit_test(test_kinds),
      cmocka_unit_test(test_open_once),
      cmocka_unit_test(test_open_from_threads),
      cmocka_unit_test(test_capability_text),
      cmocka_unit_test(test_images_fit),
      cmocka_unit_test(test_sizes_of_the_environment),
  };
  tsl_device_kind_add(&pair_kind);
  tsl_device_kind_add(&none_kind);
  tsl_device_kind_add(&half_kind);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
