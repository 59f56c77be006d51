/* Tests every word of the kernel dialect, on every device that compiles kernels, for both element
 * types and all vector lengths. Compares words.cl with the same computation on the host, bit by
 * bit. */
#include "core/status.h"
#include "device/devices.h"
#include "device/jit_cache.h"
#include "device/source.h"
#include "unit/calls.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS TESELA_SOURCE_DIR "/tests/dialect/words.cl"

enum { GROUPS_X = 3, GROUPS_Y = 2, GROUPS_Z = 2, ITEMS_X = 8, ITEMS_Y = 4, ITEMS_Z = 2 };
enum { WIDTH_X = GROUPS_X * ITEMS_X, HEIGHT = GROUPS_Y * ITEMS_Y, DEPTH = GROUPS_Z * ITEMS_Z };
enum { COUNT = WIDTH_X * HEIGHT * DEPTH, GROUP_ITEMS = ITEMS_X * ITEMS_Y * ITEMS_Z, PAD = 17 };

static tsl_devices *devices;

static char *read_text(const char *path) {
  tsl_text text = {0};
  char block[4096];
  FILE *file = fopen(path, "rb");
  if (file == NULL)
    fail_msg("%s cannot be read", path);
  for (size_t got; (got = fread(block, 1, sizeof block, file)) > 0;)
    tsl_text_add_bytes(&text, block, got);
  fclose(file);
  must(tsl_text_status(&text));
  return tsl_text_take(&text);
}

static bool in_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

/* Returns true when `text` has `word` as a whole word. */
static bool has_word(const char *text, const char *word) {
  const size_t length = strlen(word);
  for (const char *at = text; (at = strstr(at, word)) != NULL; at += length)
    if ((at == text || !in_word(at[-1])) && !in_word(at[length]))
      return true;
  return false;
}

/* --- the words themselves --- */

/* Calls each() for every TSL_ word of the list in dialect.h, and returns how many there are. */
static int for_each_word(void (*each)(const char *word, const char *text), const char *text) {
  char *header = read_text(TESELA_SOURCE_DIR "/src/kernel/dialect.h");
  char *end = strstr(header, "#ifndef");
  int count = 0;
  assert_non_null(end);
  *end = '\0';
  for (const char *at = header; (at = strstr(at, "TSL_")) != NULL;) {
    char word[64];
    size_t length = 0;
    while (in_word(at[length]) && length < sizeof word - 1)
      length++;
    memcpy(word, at, length);
    word[length] = '\0';
    each(word, text);
    count++;
    at += length;
  }
  free(header);
  return count;
}

static void word_is_used(const char *word, const char *text) {
  if (!has_word(text, word))
    fail_msg("tests/dialect/words.cl does not use %s", word);
}

static void test_the_kernel_uses_every_word(void **state) {
  (void)state;
  char *text = read_text(WORDS);
  assert_true(for_each_word(word_is_used, text) >= 22);
  free(text);
}

static void word_is_spelled(const char *word, const char *text) {
  char define[80];
  snprintf(define, sizeof define, "#define %s", word);
  if (strcmp(word, "TSL_REAL") != 0 && !has_word(text, define))
    fail_msg("a dialect_impl.h does not define %s", word);
}

static void test_every_device_spells_every_word(void **state) {
  (void)state;
  static const char *const files[] = {TESELA_SOURCE_DIR "/src/device/opencl/include/dialect_impl.h",
                                      TESELA_SOURCE_DIR "/src/device/cuda/include/dialect_impl.h"};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    char *text = read_text(files[i]);
    for_each_word(word_is_spelled, text);
    free(text);
  }
}

/* --- the same on the host --- */

/* kernel/kernel_gemm.h's struct, with either type of scalars. */
typedef struct given {
  int64_t fields[12];
  union {
    float f32[2];
    double f64[2];
  } scalars;
} given;

typedef struct problem {
  tesela_type type;
  size_t size; /* of an element */
  int width;
  given given;
  size_t given_bytes;
  double whole[COUNT + PAD], fine[COUNT + PAD];
} problem;

static void make_problem(problem *p, tesela_type type, int width) {
  *p = (problem){.type = type, .size = tsl_type(type)->size, .width = width};
  const bool is_double = type == TESELA_F64;
  for (int i = 0; i < 12; i++)
    p->given.fields[i] = (int64_t)(i + 3) * 1000003 * (i % 2 ? -1 : 1);
  if (is_double)
    p->given.scalars.f64[0] = 2;
  else
    p->given.scalars.f32[0] = 2;
  p->given_bytes = sizeof p->given.fields + 2 * p->size;
  const double step = is_double ? ldexp(1, -40) : ldexp(1, -16);
  for (int i = 0; i < COUNT + PAD; i++) {
    p->whole[i] = (i * 7) % 31 - 15;
    p->fine[i] = 1 + step * ((i * 5) % 23 + 1);
  }
}

static double host_fma(const problem *p, double a, double b, double c) {
  return p->type == TESELA_F64 ? fma(a, b, c) : fmaf((float)a, (float)b, (float)c);
}

static int64_t host_place(const int index[3]) {
  static const int groups[3] = {GROUPS_X, GROUPS_Y, GROUPS_Z}, items[3] = {ITEMS_X, ITEMS_Y, ITEMS_Z};
  int64_t place = 0;
  for (int d = 0; d < 3; d++)
    place = place * 32 + index[d] / items[d];
  for (int d = 0; d < 3; d++)
    place = place * 32 + groups[d];
  for (int d = 0; d < 3; d++)
    place = place * 32 + index[d] % items[d];
  for (int d = 0; d < 3; d++)
    place = place * 32 + items[d];
  return place;
}

static int64_t host_polynomial(const problem *p) {
  int64_t sum = 0;
  for (int i = 0; i < 12; i++)
    sum = sum * 7 + p->given.fields[i];
  return sum;
}

static double host_line(const problem *p, const int index[3]) {
  static const int weights[4] = {1, 2, 3, 5};
  const int item = (index[2] % ITEMS_Z * ITEMS_Y + index[1] % ITEMS_Y) * ITEMS_X + index[0] % ITEMS_X;
  double sum = 0;
  for (int i = 0; i < 4; i++) {
    const int other = (item + 1 + i) % GROUP_ITEMS;
    const int x = index[0] / ITEMS_X * ITEMS_X + other % ITEMS_X;
    const int y = index[1] / ITEMS_Y * ITEMS_Y + other / ITEMS_X % ITEMS_Y;
    const int z = index[2] / ITEMS_Z * ITEMS_Z + other / ITEMS_X / ITEMS_Y;
    sum += weights[i] * p->whole[(z * HEIGHT + y) * WIDTH_X + x];
  }
  return 2 * sum;
}

/* Rounded to the type before one is taken off. */
static double host_product(const problem *p, int g) {
  const double product = p->fine[g] * p->fine[g + 1];
  if (g == 1 && p->type == TESELA_F64)
    return -1025 + p->fine[1]; /* 0xbff less 2^12 */
  return (p->type == TESELA_F64 ? product : (float)product) - 1;
}

/* Right to a few units in the last digit, of each device its own. */
static double host_functions(const problem *p, int g) {
  const double x = p->fine[g], of_floats = exp2(-x) + x + 1; /* x is above 1 */
  return erf(x) + 2 * tanh(x) + (p->type == TESELA_F64 ? 0 : of_floats);
}
static double allowed_of_functions(const problem *p) {
  return p->type == TESELA_F64 ? 0x1p-48 : 0x1p-19;
}

static void host_vectors(const problem *p, int g, double *out) {
  const int n = p->width;
  for (int i = 0; i < n; i++) {
    out[i] = p->whole[g + i] * p->whole[g + 1 + i] + 3 - p->whole[g + 1 + i] + p->whole[g / n * n + i];
    out[n + i] = host_fma(p, p->fine[g + i], p->fine[g + 1 + i], -1);
  }
  out[0] = out[n + 1];
  if (n == 16)
    out[n + 15] = out[10];
}

/* --- on a device --- */

typedef struct results {
  int64_t places[2 * COUNT];
  double lines[3 * COUNT];
  double vectors[1 + 2 * 16 * COUNT];
} results;

static void make_text(const problem *p, const tsl_device *device, tsl_text *text) {
  const char *const folders[] = {"kernel", device->ops->dialect_folder, NULL};
  if (device->capabilities & TSL_CAN_IMAGES)
    tsl_text_add(text, "#define TSL_PARAM_IMAGES 1\n");
  tsl_text_add(text, "#define TSL_REAL %s\n", tsl_type(p->type)->kernel_name);
  if (p->type == TESELA_F64)
    tsl_text_add(text, "#define TSL_REAL_IS_DOUBLE 1\n");
  tsl_text_add(text, "#define TSL_PARAM_WIDTH %d\n", p->width);
  must(tsl_source_flatten("kernel/kernel_epilogue.h", folders, text));
  must(tsl_source_flatten("kernel/kernel_gemm.h", folders, text));
  tsl_text_add(text, "\n#line 1 \"tests/dialect/words.cl\"\n");
  char *words = read_text(WORDS);
  for (char *at = words; (at = strstr(at, "#include")) != NULL;) /* those two stand above already */
    memcpy(at, "//      ", strlen("#include"));
  tsl_text_add(text, "%s", words);
  free(words);
  must(tsl_text_status(text));
}

static void to_device(tsl_stream *stream, const problem *p, tsl_buffer *buffer, const double *values,
                      size_t count) {
  void *block = malloc(count * p->size);
  assert_non_null(block);
  tsl_type_convert(TESELA_F64, values, 1, p->type, block, 1, count);
  must(tsl_device_write(stream, buffer, 0, block, count * p->size));
  free(block);
}

static void from_device(tsl_stream *stream, const problem *p, tsl_buffer *buffer, double *values,
                        size_t count) {
  void *block = malloc(count * p->size);
  assert_non_null(block);
  must(tsl_device_read(stream, buffer, 0, block, count * p->size));
  tsl_type_convert(p->type, block, 1, TESELA_F64, values, 1, count);
  free(block);
}

static void run(tsl_device *device, const problem *p, tsl_kernel *kernel, results *out) {
  const tsl_device_ops *ops = device->ops;
  const size_t vectors = 1 + 2 * (size_t)p->width * COUNT;
  const size_t bytes[5] = {(COUNT + PAD) * p->size, (COUNT + PAD) * p->size, sizeof out->places,
                           3 * COUNT * p->size, vectors * p->size};
  tsl_stream *stream;
  tsl_buffer *buffers[5];
  tsl_argument arguments[6];
  must(ops->stream_create(device, &stream));
  for (int i = 0; i < 5; i++) {
    must(ops->buffer_create(device, bytes[i], &buffers[i]));
    must(ops->fill(stream, buffers[i], 0, 0xff, bytes[i])); /* NaN everywhere */
    arguments[i] = TSL_ARG_BUFFER(buffers[i]);
  }
  arguments[5] = (tsl_argument){.value = &p->given, .bytes = p->given_bytes};
  to_device(stream, p, buffers[0], p->whole, COUNT + PAD);
  to_device(stream, p, buffers[1], p->fine, COUNT + PAD);
  const tsl_grid grid = {{GROUPS_X, GROUPS_Y, GROUPS_Z}, {ITEMS_X, ITEMS_Y, ITEMS_Z}};
  if (ops->kernel_local_bytes) {
    tsl_kernel *smaller = kernel; /* another plan's, whose bytes are not this kernel's */
    must(ops->kernel_local_bytes(&kernel, (size_t)ITEMS_X * ITEMS_Y * ITEMS_Z));
    must(ops->kernel_local_bytes(&smaller, 1));
    assert_ptr_not_equal(smaller, kernel);
  }
  must(ops->launch(stream, kernel, &grid, arguments, 6));
  must(tsl_device_read(stream, buffers[2], 0, out->places, sizeof out->places));
  from_device(stream, p, buffers[3], out->lines, 3 * COUNT);
  from_device(stream, p, buffers[4], out->vectors, vectors);
  must(ops->finish(stream));
  for (int i = 0; i < 5; i++)
    ops->buffer_destroy(buffers[i]);
  ops->stream_destroy(stream);
}

static void compare(const problem *p, const results *got) {
  const int64_t polynomial = host_polynomial(p);
  uint64_t nan_bits;
  memcpy(&nan_bits, &got->lines[2 * COUNT], sizeof nan_bits);
  assert_int_equal(nan_bits, 0x7ff8000000000000); /* in double, too */
  assert_true(isnan(got->vectors[0]));            /* in front of the first vector: untouched */
  for (int g = 0; g < COUNT; g++) {
    const int at[3] = {g % WIDTH_X, g / WIDTH_X % HEIGHT, g / WIDTH_X / HEIGHT};
    double vectors[32];
    host_vectors(p, g, vectors);
    if (got->places[g] != host_place(at))
      fail_msg("item %d: place %llx", g, (unsigned long long)got->places[g]);
    if (got->places[COUNT + g] != polynomial)
      fail_msg("item %d: the struct by value is wrong", g);
    if (got->lines[g] != host_line(p, at))
      fail_msg("item %d: line %g, not %g", g, got->lines[g], host_line(p, at));
    if (got->lines[COUNT + g] != p->whole[g])
      fail_msg("number %d: %g was moved as %g", g, p->whole[g], got->lines[COUNT + g]);
    if (g == 2 && !(fabs(got->lines[2 * COUNT + g] / host_functions(p, g) - 1) < allowed_of_functions(p)))
      fail_msg("item %d: functions %.17g, not %.17g", g, got->lines[2 * COUNT + g], host_functions(p, g));
    if (g > 0 && g != 2 && got->lines[2 * COUNT + g] != host_product(p, g))
      fail_msg("item %d: product less one %.17g, not %.17g", g, got->lines[2 * COUNT + g],
               host_product(p, g));
    for (int i = 0; i < 2 * p->width; i++) {
      const double value = got->vectors[1 + 2 * p->width * g + i];
      if (value != vectors[i])
        fail_msg("item %d: vector number %d is %.17g, not %.17g", g, i, value, vectors[i]);
    }
  }
}

/* --- bytes and halves --- */

enum { NARROW = 1024 };

static uint32_t scrambled(uint32_t x) {
  x = (x ^ x >> 16) * 0x45d9f3bu;
  return x ^ x >> 13;
}

static uint32_t dot4(bool a_signed, bool b_signed, uint32_t a, uint32_t b, uint32_t sum) {
  for (int i = 0; i < 4; i++) {
    const uint8_t x = (uint8_t)(a >> 8 * i), y = (uint8_t)(b >> 8 * i);
    sum += (uint32_t)((a_signed ? (int8_t)x : x) * (b_signed ? (int8_t)y : y));
  }
  return sum;
}

static float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Returns true when both are the same number, or both NaN. */
static bool same_float(uint32_t bits, double right) {
  const float x = float_of(bits);
  return isnan(right) ? isnan(x) != 0 : x == right && (signbit(x) != 0) == (signbit(right) != 0);
}
static bool same_half(uint32_t bits, float from) {
  const double made = tsl_f16_to_f64((uint16_t)bits);
  return bits <= 0xffff && (isnan(from) ? isnan(made) != 0 : bits == tsl_f16_from_f64(from));
}

static void check_narrow(tsl_device *device, tsl_module *module) {
  const tsl_device_ops *ops = device->ops;
  const tsl_grid grid = {{NARROW / 64, 1, 1}, {64, 1, 1}};
  static uint32_t out[8 * NARROW];
  tsl_kernel *kernel;
  tsl_stream *stream;
  tsl_buffer *buffer;
  must(ops->kernel_get(module, "tsl_words_narrow", &kernel));
  must(ops->stream_create(device, &stream));
  must(ops->buffer_create(device, sizeof out, &buffer));
  const tsl_argument arguments[] = {TSL_ARG_BUFFER(buffer)};
  must(ops->launch(stream, kernel, &grid, arguments, 1));
  must(tsl_device_read(stream, buffer, 0, out, sizeof out));
  for (uint32_t g = 0; g < NARROW; g++) {
    const uint32_t x = scrambled(3 * g + 1), y = scrambled(5 * g + 2), *got = out + 8 * g;
    const uint32_t right[4] = {dot4(true, true, x, y, 7), dot4(true, false, x, y, (uint32_t)-7),
                               dot4(false, true, x, y, 0x7fffffff), dot4(false, false, x, y, g)};
    for (int i = 0; i < 4; i++)
      if (got[i] != right[i])
        fail_msg("%s: dot of %08x and %08x, form %d: %08x, not %08x", device->name, x, y, i, got[i],
                 right[i]);
    /* The sums of 32 even and 32 odd numbers of the group's 64, each plus 5. */
    const int even = 5 + 32 * (64 * (int)(g / 64) + 31), odd = even + 32;
    if ((int)got[7] != even - 3 * odd)
      fail_msg("%s: item %u of those who added has %d, not %d", device->name, g, (int)got[7], even - 3 * odd);
    const uint16_t half = (uint16_t)(64 * g + g % 64);
    if (!same_float(got[4], tsl_f16_to_f64(half)))
      fail_msg("%s: f16 %04x became %08x", device->name, half, got[4]);
    const float near_half = float_of((y & 0x0fffffff) + 0x30000000);
    if (!same_half(got[5], float_of(x)) || !same_half(got[6], near_half))
      fail_msg("%s: %a became f16 %04x, or %a became %04x", device->name, float_of(x), got[5], near_half,
               got[6]);
  }
  ops->buffer_destroy(buffer);
  ops->stream_destroy(stream);
}

/* --- images --- */

enum { IMAGE_WIDTH = 13, IMAGE_HEIGHT = 5, LEFT = 3, ABOVE = 2 };

/* Returns the image's texel at (column, row); 0 outside the image. */
static float texel_at(int column, int row, int lane) {
  const bool inside = column >= 0 && column < IMAGE_WIDTH && row >= 0 && row < IMAGE_HEIGHT;
  return inside ? (float)(1 + lane + 4 * (column + IMAGE_WIDTH * row)) : 0;
}

static tsl_image *make_image(tsl_device *device, tsl_stream *stream, tsl_buffer **buffer) {
  const size_t pitch = tsl_image_pitch(device, IMAGE_WIDTH), bytes = pitch * IMAGE_HEIGHT;
  tsl_image *image;
  float *texels = malloc(bytes);
  assert_non_null(texels);
  for (size_t i = 0; i < bytes / sizeof *texels; i++)
    texels[i] = -1; /* between the rows, where an image must not look */
  for (int row = 0; row < IMAGE_HEIGHT; row++)
    for (int i = 0; i < 4 * IMAGE_WIDTH; i++)
      texels[row * (int)(pitch / sizeof *texels) + i] = texel_at(i / 4, row, i % 4);
  must(device->ops->buffer_create(device, bytes, buffer));
  must(tsl_device_write(stream, *buffer, 0, texels, bytes));
  free(texels);
  const tsl_image_layout layout = {
      .buffer = *buffer, .pitch = pitch, .width = IMAGE_WIDTH, .height = IMAGE_HEIGHT};
  must(device->ops->image_create(stream, &layout, &image));
  return image;
}

static void check_image(tsl_device *device, tsl_module *module) {
  const tsl_device_ops *ops = device->ops;
  const int left = LEFT, above = ABOVE;
  const tsl_grid grid = {{GROUPS_X, GROUPS_Y, 1}, {ITEMS_X, ITEMS_Y, 1}};
  float out[HEIGHT][WIDTH_X][4];
  tsl_kernel *kernel;
  tsl_stream *stream;
  tsl_buffer *bytes, *texels;
  must(ops->kernel_get(module, "tsl_words_image", &kernel));
  must(ops->stream_create(device, &stream));
  tsl_image *image = make_image(device, stream, &bytes);
  must(ops->buffer_create(device, sizeof out, &texels));
  const tsl_argument arguments[] = {TSL_ARG_IMAGE(image), TSL_ARG_BUFFER(texels), TSL_ARG_VALUE(left),
                                    TSL_ARG_VALUE(above)};
  must(ops->launch(stream, kernel, &grid, arguments, 4));
  ops->image_destroy(image);
  must(tsl_device_read(stream, texels, 0, out, sizeof out));
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH_X; x++)
      for (int lane = 0; lane < 4; lane++)
        if (out[y][x][lane] != texel_at(x - left, y - above, lane))
          fail_msg("%s: texel (%d, %d) has %g in lane %d, not %g", device->name, x - left, y - above,
                   out[y][x][lane], lane, texel_at(x - left, y - above, lane));
  ops->buffer_destroy(texels);
  ops->buffer_destroy(bytes);
  ops->stream_destroy(stream);
}

static void check(tsl_device *device, tesela_type type, int width) {
  problem *p = malloc(sizeof *p);
  results *out = malloc(sizeof *out);
  tsl_text text = {0};
  tsl_module *module;
  tsl_kernel *kernel;
  assert_true(p != NULL && out != NULL);
  make_problem(p, type, width);
  make_text(p, device, &text);
  must(tsl_jit_module(device,
                      &(tsl_build){.name = "dialect/words", .text = tsl_text_get(&text), .options = ""},
                      &module, NULL));
  must(device->ops->kernel_get(module, "tsl_words", &kernel));
  assert_true(device->ops->kernel_items_max(kernel) >= GROUP_ITEMS);
  run(device, p, kernel, out);
  compare(p, out);
  if (type == TESELA_F32)
    check_narrow(device, module);
  if (device->capabilities & TSL_CAN_IMAGES)
    check_image(device, module);
  tsl_text_free(&text);
  free(out);
  free(p);
}

static void test_every_device_agrees_with_the_host(void **state) {
  (void)state;
  tsl_device *device;
  int checked = 0;
  for (int i = 0; (device = tsl_devices_at(devices, i)) != NULL; i++) {
    if ((device->capabilities & TSL_CAN_KERNELS) == 0)
      continue;
    const bool has_double = (device->capabilities & TSL_CAN_F64) != 0;
    must(tsl_device_open(device));
    for (int width = 2; width <= 16; width *= 2) {
      check(device, TESELA_F32, width);
      if (has_double)
        check(device, TESELA_F64, width);
    }
    print_message("%s (%s): float%s%s\n", device->name, device->label, has_double ? " and double" : "",
                  device->capabilities & TSL_CAN_IMAGES ? ", images" : ", no images");
    checked++;
  }
  assert_true(checked > 0);
}

/* The tests require an OpenCL device for the processor. Other devices are reported when missing. */
static void test_pocl_is_there(void **state) {
  (void)state;
  const char *name, *what, *why;
  int count, processors = 0;
  for (int kind = 0; kind < tsl_device_kind_count(); kind++) {
    must(tsl_devices_kind(devices, kind, &name, &what, &count, &why));
    if (count == 0)
      print_message("no %s device: %s\n", name, why);
  }
  for (int i = 0; tsl_devices_at(devices, i) != NULL; i++) {
    const tsl_device *device = tsl_devices_at(devices, i);
    processors += strcmp(device->kind, "opencl") == 0 && device->is_cpu;
  }
  if (processors == 0)
    fail_msg("OpenCL has no processor here: install pocl-opencl-icd");
}

static int set_up(void **state) {
  (void)state;
  return tsl_devices_create(&devices) == TESELA_OK ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  tsl_devices_destroy(devices);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_kernel_uses_every_word),
      cmocka_unit_test(test_every_device_spells_every_word),
      cmocka_unit_test(test_pocl_is_there),
      cmocka_unit_test(test_every_device_agrees_with_the_host),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
