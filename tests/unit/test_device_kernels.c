/* Kernels on every device that compiles the dialect: build, log, binary, launch, as device/device.h says. */
#include "unit/conformance.h"

#include "core/status.h"
#include "device/source.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* out[i] = factor * in[i] + shift for i < count, and nothing beyond. */
static const char scale_text[] =
    "TSL_KERNEL(32, 1, 1)\n"
    "scale(TSL_GLOBAL const float *TSL_RESTRICT in, TSL_GLOBAL float *TSL_RESTRICT out, const float factor,\n"
    "      const TSL_INDEX count, const int shift) {\n"
    "  const TSL_INDEX i = TSL_GLOBAL_ITEM(0);\n"
    "  if (i < count)\n"
    "    out[i] = TSL_FMA(factor, in[i], (float)shift);\n"
    "}\n"
    /* where each item is, in three dimensions */
    "TSL_KERNEL(4, 2, 2)\n"
    "places(TSL_GLOBAL int *TSL_RESTRICT out) {\n"
    "  const TSL_INDEX across = (TSL_INDEX)TSL_GROUPS(0) * TSL_ITEMS(0), down = (TSL_INDEX)TSL_GROUPS(1) * "
    "2;\n"
    "  const TSL_INDEX at = (TSL_GLOBAL_ITEM(2) * down + TSL_GLOBAL_ITEM(1)) * across + TSL_GLOBAL_ITEM(0);\n"
    "  out[at] = 10000 * TSL_GROUP(2) + 1000 * TSL_GROUP(1) + 100 * TSL_GROUP(0) + 16 * TSL_ITEM(2) +\n"
    "            8 * TSL_ITEM(1) + TSL_ITEM(0);\n"
    "}\n"
    /* the group's items in reverse, through local memory */
    "TSL_KERNEL(64, 1, 1)\n"
    "reverse(TSL_GLOBAL int *TSL_RESTRICT data) {\n"
    "  TSL_LOCAL int shared[64];\n"
    "  shared[TSL_ITEM(0)] = data[TSL_GLOBAL_ITEM(0)];\n"
    "  TSL_BARRIER();\n"
    "  data[TSL_GLOBAL_ITEM(0)] = shared[63 - TSL_ITEM(0)];\n"
    "}\n";

/* out[item] = the texel of that number, row by row, for TSL_ITEMS texels a row */
static const char texels_text[] =
    "TSL_KERNEL(8, 1, 1)\n"
    "texels(TSL_IMAGE image, TSL_GLOBAL float *TSL_RESTRICT out) {\n"
    "  const TSL_VECTOR(float, 4) texel = TSL_TEXEL(image, TSL_ITEM(0), TSL_GROUP(0));\n"
    "  TSL_STORE(float, 4, out + 4 * TSL_GLOBAL_ITEM(0), texel);\n"
    "}\n";

/* The dialect of the device, then `text`. */
static void with_dialect(const tsl_device *device, const char *text, tsl_text *out) {
  const char *folders[] = {"kernel", device->ops->dialect_folder, NULL};
  tsl_text_add(out, "#define TSL_REAL float\n");
  MUST(tsl_source_flatten("kernel/dialect.h", folders, out));
  tsl_text_add(out, "\n%s", text);
  MUST(tsl_text_status(out));
}

static tesela_status build(tsl_device *device, const char *text, tsl_binary *binary) {
  tsl_text all = {0};
  with_dialect(device, text, &all);
  const tsl_build build = {.name = "test/conformance", .text = tsl_text_get(&all), .options = ""};
  const tesela_status status = device->ops->build(device, &build, binary);
  tsl_text_free(&all);
  return status;
}

static tsl_module *load(tsl_device *device, const char *text) {
  tsl_binary binary = {NULL, 0};
  tsl_module *module = NULL;
  MUST(build(device, text, &binary));
  assert_true(binary.data && binary.bytes > 0);
  MUST(device->ops->module_load(device, "test/conformance", &binary, &module));
  free(binary.data);
  return module;
}

static tsl_module *load_scale(tsl_device *device) {
  return load(device, scale_text);
}

static void scale(tsl_stream *stream, tsl_kernel *kernel, tsl_buffer *in, tsl_buffer *out, float factor,
                  int64_t count, int shift) {
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(in), TSL_ARG_BUFFER(out), TSL_ARG_VALUE(factor),
                                    TSL_ARG_VALUE(count), TSL_ARG_VALUE(shift)};
  const tsl_grid grid = {.groups = {(uint64_t)(count + 31) / 32, 1, 1}, .items = {32, 1, 1}};
  MUST(in->device->ops->launch(stream, kernel, &grid, arguments, 5));
}

static void launched(tsl_device *device, tsl_stream *stream) {
  enum { COUNT = 1000 };
  float in[COUNT], out[COUNT];
  tsl_kernel *kernel = NULL, *same = NULL;
  tsl_module *module = load_scale(device);
  MUST(device->ops->kernel_get(module, "scale", &kernel));
  MUST(device->ops->kernel_get(module, "scale", &same));
  assert_true(device->ops->kernel_items_max(kernel) >= 32);
  for (int i = 0; i < COUNT; i++)
    in[i] = (float)i - 500, out[i] = 1e9f;
  tsl_buffer *from = buffer_of(stream, device, in, sizeof in),
             *to = buffer_of(stream, device, out, sizeof out);
  scale(stream, kernel, from, to, 3, COUNT - 7, 2);
  MUST(tsl_device_read(stream, to, 0, out, sizeof out));
  for (int i = 0; i < COUNT; i++)
    assert_true(out[i] == (i < COUNT - 7 ? 3 * in[i] + 2 : 1e9f));
  /* Several in a row: each launch has taken its own values of the arguments. */
  for (int round = 1; round <= 20; round++)
    scale(stream, round % 2 ? kernel : same, round % 2 ? from : to, round % 2 ? to : from, 1, COUNT, round);
  MUST(tsl_device_read(stream, from, 0, out, sizeof out));
  for (int i = 0; i < COUNT; i++)
    assert_true(out[i] == in[i] + 210);
  device->ops->module_destroy(module);
  device->ops->buffer_destroy(from);
  device->ops->buffer_destroy(to);
}

static void three_dimensions(tsl_device *device, tsl_stream *stream) {
  enum { ACROSS = 12, DOWN = 4, DEEP = 8 };
  int out[DEEP][DOWN][ACROSS];
  tsl_kernel *kernel = NULL;
  tsl_module *module = load_scale(device);
  tsl_buffer *to = buffer_of(stream, device, NULL, sizeof out);
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(to)};
  const tsl_grid grid = {.groups = {ACROSS / 4, DOWN / 2, DEEP / 2}, .items = {4, 2, 2}};
  MUST(device->ops->kernel_get(module, "places", &kernel));
  MUST(device->ops->launch(stream, kernel, &grid, arguments, 1));
  MUST(tsl_device_read(stream, to, 0, out, sizeof out));
  for (int z = 0; z < DEEP; z++)
    for (int y = 0; y < DOWN; y++)
      for (int x = 0; x < ACROSS; x++)
        assert_int_equal(out[z][y][x], 10000 * (z / 2) + 1000 * (y / 2) + 100 * (x / 4) + 16 * (z % 2) +
                                           8 * (y % 2) + x % 4);
  device->ops->module_destroy(module);
  device->ops->buffer_destroy(to);
}

static void local_memory(tsl_device *device, tsl_stream *stream) {
  enum { COUNT = 64 * 50 };
  int data[COUNT];
  tsl_kernel *kernel = NULL;
  tsl_module *module = load_scale(device);
  for (int i = 0; i < COUNT; i++)
    data[i] = i;
  tsl_buffer *buffer = buffer_of(stream, device, data, sizeof data);
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(buffer)};
  const tsl_grid grid = {.groups = {COUNT / 64, 1, 1}, .items = {64, 1, 1}};
  MUST(device->ops->kernel_get(module, "reverse", &kernel));
  MUST(device->ops->launch(stream, kernel, &grid, arguments, 1));
  MUST(tsl_device_read(stream, buffer, 0, data, sizeof data));
  for (int i = 0; i < COUNT; i++)
    assert_int_equal(data[i], i - i % 64 + 63 - i % 64);
  device->ops->module_destroy(module);
  device->ops->buffer_destroy(buffer);
}

static void build_fails_with_a_log(tsl_device *device, tsl_stream *stream) {
  (void)stream;
  tsl_binary binary = {NULL, 0};
  tsl_status_keep_log(NULL);
  MUST_FAIL(device, TESELA_BUILD_FAILED,
            build(device, "TSL_KERNEL(1, 1, 1) broken(TSL_GLOBAL int *a) { *a = no_such_word; }\n", &binary));
  assert_null(binary.data);
  assert_non_null(strstr(tesela_last_error(), "test/conformance"));
  assert_non_null(strstr(tesela_last_log(), "no_such_word"));
}

static void foreign_binaries(tsl_device *device, tsl_stream *stream) {
  (void)stream;
  tsl_binary binary = {NULL, 0};
  tsl_module *module = (tsl_module *)&binary;
  char text[] = "this is no program";
  const tsl_binary foreign = {.data = text, .bytes = sizeof text - 1};
  MUST_FAIL(device, TESELA_BUILD_FAILED, device->ops->module_load(device, "test", &foreign, &module));
  assert_null(module);
  /* Cut short. */
  MUST(build(device, scale_text, &binary));
  const tsl_binary part = {.data = binary.data, .bytes = binary.bytes / 3};
  MUST_FAIL(device, TESELA_BUILD_FAILED, device->ops->module_load(device, "test", &part, &module));
  assert_null(module);
  free(binary.data);
}

static void missing_kernel(tsl_device *device, tsl_stream *stream) {
  (void)stream;
  tsl_module *module = load_scale(device);
  tsl_kernel *kernel = (tsl_kernel *)module;
  const tesela_status status = device->ops->kernel_get(module, "no_such_kernel", &kernel);
  assert_int_not_equal(status, TESELA_OK);
  assert_non_null(strstr(tesela_last_error(), "no_such_kernel"));
  assert_null(kernel);
  device->ops->module_destroy(module);
}

static void compiler_has_a_name(tsl_device *device, tsl_stream *stream) {
  (void)stream;
  tsl_text text = {0};
  MUST(device->ops->compiler(device, &text));
  assert_true(text.length > 0);
  print_message("    %s\n", tsl_text_get(&text));
  tsl_text_free(&text);
}

typedef struct launcher {
  tsl_device *device;
  tsl_kernel *kernel;
  float factor;
  const char *wrong;
  char sentence[256];
} launcher;

static const char *launch_rounds(launcher *self, tsl_stream *stream) {
  enum { COUNT = 2048 };
  static const int64_t count = COUNT;
  static const int shift = 0;
  const tsl_device_ops *ops = self->device->ops;
  float in[COUNT], out[COUNT];
  tsl_buffer *from = NULL, *to = NULL;
  for (int i = 0; i < COUNT; i++)
    in[i] = (float)i;
  if (ops->buffer_create(self->device, sizeof in, &from) != TESELA_OK ||
      ops->buffer_create(self->device, sizeof in, &to) != TESELA_OK ||
      tsl_device_write(stream, from, 0, in, sizeof in) != TESELA_OK)
    return "preparing";
  for (int round = 0; round < 100; round++) {
    const float factor = self->factor + (float)round;
    const tsl_argument arguments[] = {TSL_ARG_BUFFER(from), TSL_ARG_BUFFER(to), TSL_ARG_VALUE(factor),
                                      TSL_ARG_VALUE(count), TSL_ARG_VALUE(shift)};
    const tsl_grid grid = {.groups = {COUNT / 32, 1, 1}, .items = {32, 1, 1}};
    if (ops->launch(stream, self->kernel, &grid, arguments, 5) != TESELA_OK ||
        tsl_device_read(stream, to, 0, out, sizeof out) != TESELA_OK)
      return "a launch";
    for (int i = 0; i < COUNT; i++)
      if (out[i] != factor * in[i])
        return "a value";
  }
  ops->buffer_destroy(from);
  ops->buffer_destroy(to);
  return NULL;
}

static void *launch_in_thread(void *argument) {
  launcher *self = argument;
  tsl_stream *stream = NULL;
  self->wrong = self->device->ops->stream_create(self->device, &stream) == TESELA_OK
                    ? launch_rounds(self, stream)
                    : "stream_create";
  snprintf(self->sentence, sizeof self->sentence, "%s", tesela_last_error());
  if (stream)
    self->device->ops->stream_destroy(stream);
  return NULL;
}

/* One kernel, two threads, each with arguments of its own. */
static void shared_by_threads(tsl_device *device, tsl_stream *stream) {
  (void)stream;
  tsl_module *module = load_scale(device);
  tsl_kernel *kernel = NULL;
  pthread_t threads[2];
  MUST(device->ops->kernel_get(module, "scale", &kernel));
  launcher both[2] = {{.device = device, .kernel = kernel, .factor = 2},
                      {.device = device, .kernel = kernel, .factor = 2000}};
  for (int t = 0; t < 2; t++)
    assert_int_equal(pthread_create(&threads[t], NULL, launch_in_thread, &both[t]), 0);
  for (int t = 0; t < 2; t++)
    pthread_join(threads[t], NULL);
  for (int t = 0; t < 2; t++)
    if (both[t].wrong)
      fail_msg("%s: thread %d: %s: %s", device->name, t, both[t].wrong, both[t].sentence);
  device->ops->module_destroy(module);
}

enum { IMAGE_WIDTH = 8, IMAGE_HEIGHT = 50, IMAGE_FLOATS = 4 * IMAGE_WIDTH * IMAGE_HEIGHT };

/* Where an image lies in a buffer with room before and behind it. */
static tsl_image_layout image_in(tsl_buffer *buffer, int64_t width) {
  const tsl_device *device = buffer->device;
  const size_t pitch = tsl_image_pitch(device, width) + 2 * device->image_pitch_alignment;
  return (tsl_image_layout){.buffer = buffer,
                            .offset = 3 * device->image_offset_alignment,
                            .pitch = pitch,
                            .width = width,
                            .height = IMAGE_HEIGHT};
}

/* Makes an image, launches the kernel that copies it out, and drops the image at once. */
static void copy_image(tsl_stream *stream, tsl_kernel *kernel, tsl_buffer *from, tsl_buffer *buffer) {
  const tsl_device_ops *ops = from->device->ops;
  const tsl_image_layout layout = image_in(from, IMAGE_WIDTH);
  const tsl_grid grid = {.groups = {IMAGE_HEIGHT, 1, 1}, .items = {IMAGE_WIDTH, 1, 1}};
  tsl_image *image = NULL;
  MUST(ops->image_create(stream, &layout, &image));
  const tsl_argument arguments[] = {TSL_ARG_IMAGE(image), TSL_ARG_BUFFER(buffer)};
  MUST(ops->launch(stream, kernel, &grid, arguments, 2));
  ops->image_destroy(image);
}

/* Images have the buffer's content at their point of the stream. One image follows another, is
 * destroyed before its kernel has run, and the buffer is written again afterwards. */
static void images(tsl_device *device, tsl_stream *stream) {
  float in[IMAGE_FLOATS], out[3][IMAGE_FLOATS];
  tsl_buffer *from = buffer_of(stream, device, NULL, (size_t)1 << 20), *to[3];
  tsl_kernel *kernel = NULL;
  tsl_module *module = load(device, texels_text);
  const tsl_image_layout layout = image_in(from, IMAGE_WIDTH);
  MUST(device->ops->kernel_get(module, "texels", &kernel));
  for (int i = 0; i < IMAGE_FLOATS; i++)
    in[i] = (float)(i + 1);
  MUST(device->ops->fill(stream, from, 0, 0xff, from->bytes)); /* NaN around it */
  const tsl_copy rows = {.buffer = from,
                         .offset = layout.offset,
                         .device_pitch = layout.pitch,
                         .host = in,
                         .host_pitch = IMAGE_WIDTH * TSL_TEXEL_BYTES,
                         .rows = IMAGE_HEIGHT,
                         .row_bytes = IMAGE_WIDTH * TSL_TEXEL_BYTES};
  MUST(device->ops->write(stream, &rows));
  for (int round = 0; round < 3; round++) {
    to[round] = buffer_of(stream, device, NULL, sizeof in);
    copy_image(stream, kernel, from, to[round]);
    MUST(device->ops->fill(stream, from, layout.offset + (size_t)round * layout.pitch, 0, 16));
  }
  for (int round = 0; round < 3; round++) {
    MUST(tsl_device_read(stream, to[round], 0, out[round], sizeof in));
    for (int i = 0; i < IMAGE_FLOATS; i++) {
      const bool zero = i / (4 * IMAGE_WIDTH) < round && i % (4 * IMAGE_WIDTH) < 4;
      if (out[round][i] != (zero ? 0 : in[i]))
        fail_msg("%s: number %d of image %d is %g", device->name, i, round, out[round][i]);
    }
    device->ops->buffer_destroy(to[round]);
  }
  device->ops->module_destroy(module);
  device->ops->buffer_destroy(from);
}

/* An image that does not fit is refused, with the numbers in the message. */
static void images_that_do_not_fit(tsl_device *device, tsl_stream *stream) {
  tsl_buffer *buffer = buffer_of(stream, device, NULL, (size_t)1 << 20);
  const tsl_image_layout fits = image_in(buffer, IMAGE_WIDTH);
  tsl_image_layout wrong[7];
  assert_true(tsl_image_fits(&fits));
  assert_true(device->image_width_max >= 2048 && device->image_height_max >= 2048);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    wrong[i] = fits;
  wrong[0].width = 0;
  wrong[1].width = device->image_width_max + 1;
  wrong[1].pitch = tsl_image_pitch(device, wrong[1].width);
  wrong[2].height = 0;
  wrong[3].height = device->image_height_max + 1;
  wrong[4].pitch -= 4;
  wrong[5].height = (int64_t)(buffer->bytes / fits.pitch) + 1;
  wrong[6].offset = SIZE_MAX - 1024 * device->image_offset_alignment;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    tsl_image *image = (tsl_image *)buffer;
    assert_false(tsl_image_fits(&wrong[i]));
    MUST_FAIL(device, TESELA_BAD_CALL, device->ops->image_create(stream, &wrong[i], &image));
    assert_null(image);
  }
  print_message("    %s\n", tesela_last_error());
  device->ops->buffer_destroy(buffer);
}

/* X(test, capabilities it needs) */
#define KERNEL_TEST_LIST(X)                                                                                  \
  X(launched, TSL_CAN_KERNELS)                                                                               \
  X(three_dimensions, TSL_CAN_KERNELS)                                                                       \
  X(local_memory, TSL_CAN_KERNELS | TSL_CAN_LOCAL)                                                           \
  X(build_fails_with_a_log, TSL_CAN_KERNELS)                                                                 \
  X(foreign_binaries, TSL_CAN_KERNELS)                                                                       \
  X(missing_kernel, TSL_CAN_KERNELS)                                                                         \
  X(compiler_has_a_name, TSL_CAN_KERNELS)                                                                    \
  X(shared_by_threads, TSL_CAN_KERNELS)                                                                      \
  X(images, TSL_CAN_KERNELS | TSL_CAN_IMAGES)                                                                \
  X(images_that_do_not_fit, TSL_CAN_KERNELS | TSL_CAN_IMAGES)

#define KERNEL_TEST(name, needs)                                                                             \
  static void test_##name(void **state) {                                                                    \
    (void)state;                                                                                             \
    on_each_device(needs, name);                                                                             \
  }
KERNEL_TEST_LIST(KERNEL_TEST)

int main(void) {
#define KERNEL_TEST_ROW(name, needs) cmocka_unit_test(test_##name),
  const struct CMUnitTest tests[] = {KERNEL_TEST_LIST(KERNEL_TEST_ROW)};
  return cmocka_run_group_tests(tests, find_devices, close_devices);
}
