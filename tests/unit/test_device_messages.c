/* Sums that a device scales and rounds, to types of two bytes or f32, with any strides, or adds to
 * C. They have the same bits as on the host, and no memory outside the matrix is written. */
#include "unit/unit.h"

#include "api/device_p2p.h"
#include "core/random.h"
#include "core/types.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static float as_float(tesela_type type, const void *from, int64_t index) {
  float number;
  tsl_type_convert(type, (const char *)from + index * (int64_t)tsl_type(type)->size, 1, TESELA_F32, &number,
                   1, 1);
  return number;
}

static void rounds(tesela_type type, double alpha, double beta) {
  enum { ROWS = 37, COLS = 1100, FROM = 60000, TO = 90000 };
  static const struct {
    int64_t from_row, from_col, to_row, to_col;
  } ways[] = {{COLS, 1, COLS, 1}, {COLS + 3, 1, 2 * COLS, 2}, {1, ROWS, 1, ROWS + 5}, {COLS, 1, 1, ROWS}};
  tesela_context *context;
  tesela_buffer *from, *to;
  tesela_stream *stream;
  float *sums = malloc(FROM * sizeof *sums);
  const size_t size = tsl_type(type)->size;
  unsigned char *expected = malloc(TO * size), *got = malloc(TO * size);
  assert_int_equal(tesela_context_create(&(tesela_context_desc){.device = "opencl:0"}, &context), TESELA_OK);
  assert_int_equal(tesela_buffer_create(context, "opencl:0", FROM * 4, &from), TESELA_OK);
  assert_int_equal(tesela_buffer_create(context, "opencl:0", TO * size, &to), TESELA_OK);
  assert_int_equal(tesela_stream_create(context, "opencl:0", &stream), TESELA_OK);
  assert_true(tsl_api_rounds(stream, type));
  assert_false(tsl_api_rounds(stream, TESELA_F64));
  for (int i = 0; i < FROM; i++)
    sums[i] = (float)((double)(int64_t)(tsl_random_u64(5, (uint64_t)i) >> 20) / 1e9 - 8000);
  assert_int_equal(tesela_buffer_write(from, 0, sums, FROM * 4), TESELA_OK);
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
    const tsl_api_rounded_sum r = {from,
                                   to,
                                   type,
                                   alpha,
                                   beta,
                                   ROWS,
                                   COLS,
                                   11,
                                   ways[w].from_row,
                                   ways[w].from_col,
                                   7,
                                   ways[w].to_row,
                                   ways[w].to_col};
    memset(expected, beta != 0 ? 0x3f : 0xff, TO * size); /* NaN is not read */
    assert_int_equal(tesela_buffer_write(to, 0, expected, TO * size), TESELA_OK);
    for (int64_t i = 0; i < ROWS; i++)
      for (int64_t j = 0; j < COLS; j++) {
        const int64_t at = r.to_offset + i * r.to_row_stride + j * r.to_col_stride;
        const float sum = (float)alpha * sums[r.from_offset + i * r.from_row_stride + j * r.from_col_stride];
        const float scaled = beta != 0 ? fmaf((float)beta, as_float(type, expected, at), sum) : sum;
        tsl_type_convert(TESELA_F32, &scaled, 1, type, expected + (size_t)at * size, 1, 1);
      }
    if (tsl_api_round(stream, &r) != TESELA_OK)
      fail_msg("%s", tesela_last_error());
    assert_int_equal(tesela_stream_wait(stream), TESELA_OK);
    assert_int_equal(tesela_buffer_read(to, 0, got, TO * size), TESELA_OK);
    assert_memory_equal(got, expected, TO * size);
  }
  tesela_stream_destroy(stream);
  tesela_buffer_destroy(from);
  tesela_buffer_destroy(to);
  tesela_context_destroy(context);
  free(sums);
  free(expected);
  free(got);
}

static void to_bf16(void **state) {
  (void)state;
  rounds(TESELA_BF16, 1, 0);
  rounds(TESELA_BF16, -1.7, 0.3);
}

static void to_f16(void **state) {
  (void)state;
  rounds(TESELA_F16, 1, 0);
  rounds(TESELA_F16, 1, -2);
}

/* Both arrays are of one buffer, with something before, between and behind them. */
static void adds(tesela_type type, const char *device) {
  enum { COUNT = 3 * 4096 + 77, TO = 5, FROM = COUNT + 19, ALL = 2 * COUNT + 50 };
  const tsl_type_info *info = tsl_type(type);
  const size_t part = tsl_type(info->component)->size, bytes = ALL * info->size;
  tesela_context *context;
  tesela_buffer *buffer;
  tesela_stream *stream;
  unsigned char *expected = malloc(bytes), *got = malloc(bytes);
  assert_int_equal(tesela_context_create(&(tesela_context_desc){.device = device}, &context), TESELA_OK);
  assert_int_equal(tesela_buffer_create(context, device, bytes, &buffer), TESELA_OK);
  assert_int_equal(tesela_stream_create(context, device, &stream), TESELA_OK);
  assert_true(tsl_api_adds(stream, type));
  assert_false(tsl_api_adds(stream, TESELA_I32));
  assert_false(tsl_api_adds(stream, TESELA_BF16));
  for (size_t i = 0; i < bytes / part; i++) {
    const double number = (double)(int64_t)(tsl_random_u64(6, (uint64_t)i) >> 20) / 1e9 - 8000;
    tsl_type_convert(TESELA_F64, &number, 1, info->component, expected + i * part, 1, 1);
  }
  assert_int_equal(tesela_buffer_write(buffer, 0, expected, bytes), TESELA_OK);
  for (size_t i = 0; i < COUNT * info->size / part; i++) {
    unsigned char *to = expected + TO * info->size + i * part;
    const unsigned char *from = expected + FROM * info->size + i * part;
    if (part == 8)
      *(double *)(void *)to += *(const double *)(const void *)from;
    else
      *(float *)(void *)to += *(const float *)(const void *)from;
  }
  const tsl_api_adding a = {buffer, type, TO, FROM, COUNT};
  if (tsl_api_add(stream, &a) != TESELA_OK)
    fail_msg("%s", tesela_last_error());
  assert_int_equal(tesela_stream_wait(stream), TESELA_OK);
  assert_int_equal(tesela_buffer_read(buffer, 0, got, bytes), TESELA_OK);
  assert_memory_equal(got, expected, bytes);
  tesela_stream_destroy(stream);
  tesela_buffer_destroy(buffer);
  tesela_context_destroy(context);
  free(expected);
  free(got);
}

static void sums(void **state) {
  static const tesela_type types[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_C128};
  (void)state;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    adds(types[i], "opencl:0");
    adds(types[i], "cpu");
  }
}

static void to_f32(void **state) {
  (void)state;
  rounds(TESELA_F32, 0.3, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(to_bf16), cmocka_unit_test(to_f16),
                                     cmocka_unit_test(to_f32), cmocka_unit_test(sums)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
