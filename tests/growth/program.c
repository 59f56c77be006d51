/* program older|same|newer: calls every function that takes a struct. Built with one version of the header
 * and run with another version of the library. The argument is the library's version relative to the
 * header. Each record is followed by a pattern that must not be written. Prints errors and exits with 1 if
 * there are any. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/tesela.h>

enum { FENCE = 64, PATTERN = 0x5a };

static int failures;

static void expect(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "%s; the last error: %s\n", what, tesela_last_error());
    failures++;
  }
}

/* Records and descriptions of devices, with a fence behind them. */
#define FENCED(type)                                                                                         \
  struct {                                                                                                   \
    type filled;                                                                                             \
    unsigned char fence[FENCE];                                                                              \
  }
#define RESET(fenced) memset(&(fenced), PATTERN, sizeof(fenced))
#define CHECK(fenced, what) expect(is_whole((fenced).fence), what ": bytes behind the record were written")

static int is_whole(const unsigned char *fence) {
  int whole = 1;
  for (int i = 0; i < FENCE; i++)
    whole &= fence[i] == PATTERN;
  return whole;
}

static const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
static float c[8];

static int is_product(const float *src) {
  return src[0] == 19 && src[1] == 22 && src[2] == 43 && src[3] == 50;
}

static void multiply(tesela_context *context) {
  FENCED(tesela_record) record;
  const tesela_gemm_desc desc = {
      .m = 2, .n = 2, .k = 2, .a = {.data = a}, .b = {.data = b}, .c = {.data = c}, .options.device = "cpu"};
  const tesela_batch batch = {.count = 2, .c_stride = 4};
  tesela_plan *plan = NULL;
  RESET(record);
  expect(tesela_gemm(context, &desc, &record.filled) == TESELA_OK && is_product(c), "tesela_gemm");
  expect(record.filled.plan && record.filled.seconds > 0 && record.filled.error_bound > 0, "its record");
  CHECK(record, "tesela_gemm");
  RESET(record);
  memset(c, 0, sizeof c);
  expect(tesela_gemm_batched(context, &desc, &batch, &record.filled) == TESELA_OK && is_product(c) &&
             is_product(c + 4),
         "tesela_gemm_batched");
  CHECK(record, "tesela_gemm_batched");
  RESET(record);
  memset(c, 0, sizeof c);
  expect(tesela_plan_create(context, &desc, &plan) == TESELA_OK, "tesela_plan_create");
  expect(tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c},
                         &record.filled) == TESELA_OK &&
             is_product(c),
         "tesela_plan_run");
  CHECK(record, "tesela_plan_run");
  FENCED(tesela_plan_info) info;
  RESET(info);
  tesela_plan_info_sized(plan, &info.filled, sizeof info.filled);
  expect(strstr(info.filled.text, "gemm ") && info.filled.seconds > 0, "its plan's facts");
  CHECK(info, "tesela_plan_info_sized");
  tesela_plan_destroy(plan);
}

static void dot(tesela_context *context) {
  FENCED(tesela_record) record;
  float sum = 0;
  const tesela_dot_desc desc = {
      .n = 4, .x = {.data = a}, .y = {.data = b}, .result = {.data = &sum}, .options.device = "cpu"};
  tesela_plan *plan = NULL;
  RESET(record);
  expect(tesela_dot(context, &desc, &record.filled) == TESELA_OK && sum == 70, "tesela_dot");
  CHECK(record, "tesela_dot");
  RESET(record);
  sum = 0;
  expect(tesela_plan_create_dot(context, &desc, &plan) == TESELA_OK, "tesela_plan_create_dot");
  expect(tesela_plan_run(plan, &(tesela_operands){.x = &desc.x, .y = &desc.y, .result = &desc.result},
                         &record.filled) == TESELA_OK &&
             sum == 70,
         "the plan of a dot");
  CHECK(record, "the plan of a dot");
  tesela_plan_destroy(plan);
}

static void transpose(tesela_context *context) {
  FENCED(tesela_record) record;
  const tesela_transpose_desc desc = {
      .rows = 2, .cols = 2, .a = {.data = a}, .b = {.data = c}, .options.device = "cpu"};
  tesela_plan *plan = NULL;
  RESET(record);
  expect(tesela_transpose(context, &desc, &record.filled) == TESELA_OK && c[1] == 3 && c[2] == 2,
         "tesela_transpose");
  CHECK(record, "tesela_transpose");
  RESET(record);
  memset(c, 0, sizeof c);
  expect(tesela_plan_create_transpose(context, &desc, &plan) == TESELA_OK, "tesela_plan_create_transpose");
  expect(tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .c = &desc.b}, &record.filled) == TESELA_OK &&
             c[1] == 3 && c[2] == 2,
         "the plan of a transpose");
  CHECK(record, "the plan of a transpose");
  tesela_plan_destroy(plan);
}

static void describe(tesela_context *context) {
  FENCED(tesela_device) device;
  RESET(device);
  expect(tesela_device_info(context, 0, &device.filled) == TESELA_OK &&
             strcmp(device.filled.name, "cpu") == 0 && device.filled.compute_units > 0,
         "tesela_device_info");
  CHECK(device, "tesela_device_info");
}

/* Makes a description with a non-zero field after the fields of this header, which only the later
 * library knows. */
static void say_more(tesela_context *context, int is_newer) {
  struct {
    tesela_gemm_desc desc;
    double more;
  } longer = {
      {.m = 2, .n = 2, .k = 2, .a = {.data = a}, .b = {.data = b}, .c = {.data = c}, .options.device = "cpu"},
      0};
  expect(tesela_call_sized(context, TESELA_GEMM, &longer.desc, NULL, sizeof longer, 0) == TESELA_OK,
         "a longer description whose end is 0");
  longer.more = 1;
  expect(tesela_call_sized(context, TESELA_GEMM, &longer.desc, NULL, sizeof longer, 0) ==
             (is_newer ? TESELA_OK : TESELA_UNSUPPORTED),
         "a longer description whose end is not 0");
}

int main(int count, char **words) {
  const char *library = count == 2 ? words[1] : "";
  tesela_context *context = NULL;
  const tesela_context_desc desc = {.threads = 1};
  expect(tesela_context_create(&desc, &context) == TESELA_OK, "tesela_context_create");
  if (!context)
    return 1;
  multiply(context);
  dot(context);
  transpose(context);
  describe(context);
#ifdef TESELA_TEST_GROWN /* the header has a field more: an older library takes it where it is 0 */
  tesela_gemm_desc later = {.m = 2, .n = 2, .k = 2, .a = {.data = a}, .b = {.data = b}, .c = {.data = c}};
  later.of_a_later_version[2] = 1;
  expect(tesela_gemm(context, &later, NULL) ==
             (strcmp(library, "older") == 0 ? TESELA_UNSUPPORTED : TESELA_OK),
         "a field of a later version");
#else
  say_more(context, strcmp(library, "newer") == 0);
#endif
  tesela_context_destroy(context);
  return failures > 0;
}
