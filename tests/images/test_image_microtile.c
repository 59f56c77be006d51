/* How image_microtile gets B into images: where it lies, packed, in parts where an image is too small, and by
 * columns. The fake device over opencl:0 counts images and launches; its limits are made smaller for the
 * parts. */
#include "core/status.h"
#include "fake/fake.h"
#include "judge/check.h"
#include "planner/subplan_choice.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"
#include "unit/calls.h"

#include <stdlib.h>
#include <string.h>

static tsl_devices *devices;
static tsl_device *device;
static const tsl_strategy *strategy;
static tsl_device limits; /* as the device has them */

/* --- counting --- */

/* A matrix of ones in a buffer of its own. */
static tsl_operand ones(tsl_stream *stream, const tsl_shape *shape) {
  const size_t count = (size_t)tsl_shape_extent(shape), bytes = count * sizeof(float);
  float *host = malloc(bytes);
  tsl_operand operand = {.offset = tsl_shape_below(shape)};
  assert_non_null(host);
  for (size_t i = 0; i < count; i++)
    host[i] = 1;
  must(device->ops->buffer_create(device, bytes, &operand.buffer));
  must(tsl_device_write(stream, operand.buffer, 0, host, bytes));
  free(host);
  return operand;
}

typedef struct counts {
  int images, launches;
} counts;

/* One product of ones, on operands that lie on the device as the problem says. */
static counts count(const tsl_problem *problem) {
  const tsl_config config = tsl_strategy_defaults(strategy);
  const size_t bytes = (size_t)tsl_shape_extent(&problem->c) * sizeof(float);
  tsl_plan *plan;
  tsl_stream *stream;
  float *c = malloc(bytes);
  assert_non_null(c);
  must(tsl_planner_create(problem, strategy, &config, device, TSL_PLACE_DEVICE, &plan));
  must(device->ops->stream_create(device, &stream));
  const tsl_operands operands = {
      .a = ones(stream, &problem->a), .b = ones(stream, &problem->b), .c = ones(stream, &problem->c)};
  must(device->ops->finish(stream));
  tesela_fake_reset();
  must(tsl_plan_run(plan, &operands, NULL));
  const counts made = {tesela_fake_calls(TESELA_FAKE_IMAGE), tesela_fake_calls(TESELA_FAKE_LAUNCH)};
  assert_int_equal(tesela_fake_live(TESELA_FAKE_LIVE_IMAGE), 0);
  must(tsl_device_read(stream, operands.c.buffer, 0, c, bytes));
  for (int64_t i = 0; i < problem->m; i++)
    for (int64_t j = 0; j < problem->n; j++)
      assert_true(c[operands.c.offset + i * problem->c.row_stride + j * problem->c.col_stride] ==
                  (float)problem->k);
  device->ops->buffer_destroy(operands.a.buffer);
  device->ops->buffer_destroy(operands.b.buffer);
  device->ops->buffer_destroy(operands.c.buffer);
  device->ops->stream_destroy(stream);
  tsl_plan_destroy(plan);
  free(c);
  return made;
}

static void expect_images(const tsl_problem *problem, int images, int launches) {
  const counts made = count(problem);
  if (made.images != images || made.launches != launches)
    fail_msg("%lld x %lld x %lld: %d images and %d launches, not %d and %d", (long long)problem->m,
             (long long)problem->n, (long long)problem->k, made.images, made.launches, images, launches);
}

static tsl_problem square(int64_t size) {
  return tsl_problem_gemm(size, size, size, TESELA_F32);
}

static void by_columns(tsl_shape *shape) {
  shape->row_stride = 1;
  shape->col_stride = shape->rows;
}

/* --- tests --- */

/* 256 floats are a pitch that every device takes; rows that are not whole texels are packed. */
static void b_is_read_where_it_lies(void **state) {
  (void)state;
  tsl_problem problem = square(256);
  expect_images(&problem, 1, 1);
  problem = square(255);
  expect_images(&problem, 1, 2);
  problem = square(256);
  by_columns(&problem.b);
  expect_images(&problem, 1, 2);
  by_columns(&problem.a); /* both: the transposes' product, and no packing */
  expect_images(&problem, 1, 1);
  by_columns(&problem.c);
  expect_images(&problem, 1, 1);
}

static void nothing_of_b_is_read(void **state) {
  (void)state;
  tsl_problem problem = tsl_problem_gemm(7, 9, 0, TESELA_F32);
  expect_images(&problem, 1, 1);
}

/* 1100 columns are one part of 1024 and one of 76; 150 rows are shares of 50, in steps of 64. */
static void what_is_too_large_comes_in_parts(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(3, 1100, 150, TESELA_F32);
  device->image_width_max = 300;
  device->image_height_max = 100;
  expect_images(&problem, 6, 12);
  *device = limits;
  expect_images(&problem, 1, device->image_pitch_alignment == 0 ? 1 : 2);
}

/* Every layout and scalar of the check's own lists, on images too small for most of B. */
static void parts_are_right(void **state) {
  (void)state;
  tsl_case what;
  const tsl_config config = tsl_strategy_defaults(strategy);
  device->image_width_max = 256;
  device->image_height_max = 64;
  int images = 0;
  for (uint64_t i = 0; i < 120; i++) {
    tsl_case_report report = {0};
    tsl_case_random(TSL_OP_GEMM, 5, i, TESELA_F32, &what);
    tesela_fake_reset();
    must(tsl_check_case(strategy, &config, device, &what, &report));
    if (report.result != TSL_CASE_RIGHT)
      fail_msg("%s: %s", report.plan, report.why);
    images += tesela_fake_calls(TESELA_FAKE_IMAGE);
  }
  *device = limits;
  assert_true(images > 2 * 120); /* two runs each, and more than an image for some */
}

static void refusals_say_why(void **state) {
  (void)state;
  const tsl_config config = tsl_strategy_defaults(strategy);
  const tsl_problem twice = tsl_problem_gemm(8, 8, 8, TESELA_F64), once = square(8);
  assert_string_equal(tsl_strategy_refuse(strategy, &twice, &config, device),
                      "takes f32, not f64: texels of images are f32");
  device->image_height_max = 10;
  const char *why = tsl_strategy_refuse(strategy, &once, &config, device);
  assert_non_null(why);
  assert_non_null(strstr(why, "images of 256 x 64 texels"));
  *device = limits;
  device->capabilities &= ~(unsigned)TSL_CAN_IMAGES;
  assert_non_null(strstr(tsl_strategy_refuse(strategy, &once, &config, device), "images"));
  *device = limits;
  assert_null(tsl_strategy_refuse(strategy, &once, &config, device));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(b_is_read_where_it_lies),
      cmocka_unit_test(nothing_of_b_is_read),
      cmocka_unit_test(what_is_too_large_comes_in_parts),
      cmocka_unit_test(parts_are_right),
      cmocka_unit_test(refusals_say_why),
  };
  tesela_fake_inner("opencl:0");
  tesela_fake_install();
  strategy = tsl_strategy_find(TSL_OP_GEMM, "image_microtile");
  if (!strategy || tsl_devices_create(&devices) != TESELA_OK ||
      tsl_devices_find(devices, "fake:0", &device) != TESELA_OK) {
    print_error("no fake device over opencl:0: %s\n", tesela_last_error());
    return 1;
  }
  limits = *device;
  if (!(device->capabilities & TSL_CAN_IMAGES)) {
    print_message("skipped: %s has no images\n", device->label);
    tsl_devices_destroy(devices);
    return 77;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  tsl_devices_destroy(devices);
  return failed;
}
