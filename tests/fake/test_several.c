/* Products that several devices compute together: names of groups, shares, judged products. The devices
 * are the cpu and OpenCL, or two devices that fail on demand. Also failures of each operation at each of
 * its calls, threads, and equal bits in each run. */
#include "unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>

#include "core/status.h"
#include "fake/by_hand.h"
#include "fake/fake.h"
#include "judge/check.h"
#include "plan/plan.h"
#include "planner/subplan_choice.h"
#include "strategy/gemm/composite/several/several.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

static tsl_devices *devices;
static tsl_device *mixed, *fakes; /* "opencl:0,cpu"; "fake:*" */

static int find_devices(void **state) {
  (void)state;
  tesela_fake_inner("opencl:0");
  tesela_fake_hide(TSL_CAN_SHARED_MEMORY);
  tesela_fake_devices(2);
  assert_int_equal(setenv("TESELA_STAGING", "slot=4096 block=800 least=1", 1), 0);
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "opencl:0,cpu", &mixed), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "fake:*", &fakes), TESELA_OK);
  return 0;
}

static int forget_devices(void **state) {
  (void)state;
  tsl_devices_destroy(devices);
  return *tesela_fake_live_text();
}

/* --- names --- */

static void refused(const char *name, tesela_status status, const char *words) {
  tsl_device *found;
  assert_int_equal(tsl_devices_find(devices, name, &found), status);
  assert_null(found);
  if (!strstr(tesela_last_error(), words))
    fail_msg("%s: %s", name, tesela_last_error());
}

static void test_names(void **state) {
  (void)state;
  tsl_device *one, *again;
  assert_string_equal(mixed->name, "opencl:0,cpu");
  assert_string_equal(fakes->name, "fake:0,fake:1");
  assert_int_equal(mixed->capabilities & (TSL_CAN_SEVERAL | TSL_CAN_HOST), TSL_CAN_SEVERAL);
  assert_int_equal(tsl_devices_find(devices, "opencl,cpu", &again), TESELA_OK);
  assert_ptr_equal(again, mixed);
  assert_int_equal(tsl_devices_find(devices, "fake:0,fake:1", &again), TESELA_OK);
  assert_ptr_equal(again, fakes);
  assert_int_equal(tsl_devices_find(devices, "cpu:*", &again), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "cpu", &one), TESELA_OK);
  assert_ptr_equal(again, one);
  for (int i = 0; (one = tsl_devices_at(devices, i)); i++)
    assert_false(one->capabilities & TSL_CAN_SEVERAL);
  refused("opencl:0,opencl:0", TESELA_BAD_CALL, "names opencl:0 twice");
  refused("opencl:*,opencl:0", TESELA_BAD_CALL, "names opencl:0 twice");
  refused("cpu,", TESELA_BAD_CALL, "comma");
  refused(",cpu", TESELA_BAD_CALL, "comma");
  refused(",", TESELA_BAD_CALL, "comma");
  refused("cpu,nobody", TESELA_BAD_CALL, "\"nobody\" is no device's name");
  refused("nobody:*", TESELA_BAD_CALL, "\"nobody\" is no device's name");
  refused("cpu,auto", TESELA_BAD_CALL, "auto");
  refused("cpu,fake:7", TESELA_NO_DEVICE, "fake:7");
  assert_int_equal(tsl_device_name_check("opencl:0,cpu"), TESELA_OK);
  assert_int_equal(tsl_device_name_check("cuda:*"), TESELA_OK);
  assert_int_equal(tsl_device_name_check("cpu,,cpu"), TESELA_BAD_CALL);
}

/* A group refuses operations that it lacks, with a sentence. */
static void test_no_memory(void **state) {
  (void)state;
  tsl_buffer *buffer;
  tsl_stream *stream;
  tsl_event *event;
  assert_int_equal(mixed->ops->buffer_create(mixed, 8, &buffer), TESELA_UNSUPPORTED);
  assert_int_equal(mixed->ops->stream_create(mixed, &stream), TESELA_UNSUPPORTED);
  assert_int_equal(mixed->ops->event_create(mixed, &event), TESELA_UNSUPPORTED);
  assert_non_null(strstr(tesela_last_error(), "these are several"));
}

/* --- shares --- */

static void test_shares(void **state) {
  (void)state;
  static const int64_t sizes[] = {1, 2, 3, 17, 100, 255, 1000, 4097, 100003};
  static const double rates[][4] = {
      {1, 1, 1, 1}, {1, 0, 0, 0}, {3, 1, 0, 2}, {1e-9, 5, 7, 1e-3}, {0, 0, 0, 2}};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
      int64_t lines[4], sum = 0;
      tsl_several_distribute_lines(sizes[s], rates[r], 4, lines);
      for (int i = 0; i < 4; i++) {
        assert_true(lines[i] >= 0 && (rates[r][i] > 0 || lines[i] == 0));
        sum += lines[i];
      }
      assert_int_equal(sum, sizes[s]);
    }
  int64_t lines[2];
  tsl_several_distribute_lines(8192, (const double[]){3, 1}, 2, lines);
  assert_int_equal(lines[0], 6144);
  const tsl_problem tall = tsl_problem_gemm(9000, 10, 500, TESELA_F32),
                    wide = tsl_problem_gemm(10, 9000, 500, TESELA_F32),
                    column = tsl_problem_gemm(900, 1, 500, TESELA_F32);
  assert_int_equal(tsl_several_side(&tall, 2), SEVERAL_ROWS);
  assert_int_equal(tsl_several_side(&wide, 2), SEVERAL_COLS);
  assert_int_equal(tsl_several_side(&column, 2), SEVERAL_ROWS);
}

/* --- results --- */

/* As if a device did a million multiply-adds a second, and the cpu twice as many. */
static double seconds_simply(const tsl_subplan_factory *self, const tsl_subplan_request *wish) {
  (void)self;
  return tsl_problem_flops(wish->problem) / (wish->device->capabilities & TSL_CAN_HOST ? 4e6 : 2e6);
}

/* As if a million bytes a second travelled, and nothing else took time. */
static double seconds_of_links(const tsl_subplan_factory *self, const tsl_subplan_request *wish) {
  const tsl_problem *p = wish->problem;
  (void)self;
  return (double)(p->m * p->k + p->k * p->n + p->m * p->n) * 4 / 1e6;
}

static tsl_subplan_factory simple, links; /* set in main() */

static tsl_config config_of(int cut, int64_t number, int64_t two) {
  tsl_config config = tsl_strategy_defaults(tsl_strategy_find(TSL_OP_GEMM, "several"));
  config.value[SEVERAL_CUT] = cut;
  config.value[SEVERAL_PART] = number;
  config.value[SEVERAL_PART + 1] = two;
  return config;
}

/* Halves, whatever models think of the devices: both work. */
static int judged(tsl_device *device, tsl_case *what, int cut) {
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "several");
  const int64_t size = cut == SEVERAL_ROWS   ? what->problem.m
                       : cut == SEVERAL_COLS ? what->problem.n
                                             : what->problem.k;
  const tsl_config config = config_of(cut, size / 2, size - size / 2);
  tsl_case_report report;
  what->children = &simple;
  assert_int_equal(tsl_check_case(strategy, &config, device, what, &report), TESELA_OK);
  if (report.result == TSL_CASE_WRONG || report.result == TSL_CASE_FAILED)
    fail_msg("%s: %s", report.plan, report.why);
  return report.result == TSL_CASE_RIGHT;
}

static void test_cases(void **state) {
  (void)state;
  static const tesela_type types[] = {TESELA_F32, TESELA_F64, TESELA_C64, TESELA_I8};
  static const int cuts[] = {SEVERAL_ROWS, SEVERAL_COLS, SEVERAL_TERMS};
  int right = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    tsl_case what;
    for (int i = (int)t; tsl_case_standard(TSL_OP_GEMM, i, types[t], &what); i += 5)
      right += judged(i % 2 ? mixed : fakes, &what, cuts[i / 2 % 3]);
    for (uint64_t i = 0; i < 4; i++) {
      tsl_case_random(TSL_OP_GEMM, 5, i, types[t], &what);
      right += judged(i % 2 ? mixed : fakes, &what, cuts[(i + t) % 3]);
    }
  }
  assert_true(right > 30);
}

/* --- one product, by hand --- */

static tsl_plan *plan_of(const product *p, tsl_device *device, int cut) {
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "several");
  const tsl_config config = cut == SEVERAL_ROWS   ? config_of(cut, 20, M - 20)
                            : cut == SEVERAL_COLS ? config_of(cut, 30, N - 30)
                                                  : config_of(cut, 10, K - 10);
  tsl_plan *plan;
  if (tsl_plan_create(&p->problem, strategy, &config, device, TSL_PLACE_HOST,
                      &(tsl_plan_options){.children = &simple}, &plan) != TESELA_OK)
    fail_msg("%s", tesela_last_error());
  return plan;
}

/* The text tells the shares, and is read back; shares are the parts. */
static void test_text(void **state) {
  (void)state;
  product p;
  tsl_plan *again;
  tsl_subplan_info share;
  fill(&p, 0);
  tsl_plan *plan = plan_of(&p, mixed, SEVERAL_ROWS);
  assert_non_null(strstr(plan->text, "gemm several version=1 cut=1 part1=20 part2=25 device=opencl:0,cpu "));
  assert_true(tsl_plan_share(plan, 1, &share));
  assert_string_equal(share.device, "cpu");
  assert_int_equal(share.row, 20);
  assert_int_equal(share.rows, 25);
  assert_int_equal(share.cols, N);
  assert_true(share.in_bytes == 0);
  assert_false(tsl_plan_share(plan, 2, &share));
  tsl_plan_destroy(plan);
  plan = plan_of(&p, fakes, SEVERAL_COLS);
  assert_true(tsl_plan_share(plan, 0, &share));
  assert_true(share.in_bytes == 4.0 * (M * K + K * 30) && share.out_bytes == 4.0 * M * 30);
  tsl_plan_destroy(plan);
  plan = plan_of(&p, fakes, SEVERAL_TERMS);
  assert_true(tsl_plan_share(plan, 1, &share));
  assert_true(share.row == 0 && share.rows == M && share.cols == N && share.depth == K - 10);
  assert_true(share.in_bytes == 4.0 * (M + N) * (K - 10) && share.out_bytes == 4.0 * M * N);
  tsl_plan_destroy(plan);
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "several");
  const tsl_config terms = config_of(SEVERAL_TERMS, 10, K - 10);
  tsl_problem other = p.problem;
  assert_null(tsl_strategy_refuse(strategy, &other, &terms, mixed));
  other.c.type = TESELA_BF16, other.a.type = other.b.type = TESELA_BF16;
  assert_non_null(strstr(tsl_strategy_refuse(strategy, &other, &terms, mixed), "are not cut"));
  const tsl_config wrong = config_of(SEVERAL_ROWS, 20, M - 21), none = config_of(0, 20, M - 20);
  assert_non_null(strstr(tsl_strategy_refuse(strategy, &p.problem, &wrong, mixed), "do not make up"));
  assert_non_null(strstr(tsl_strategy_refuse(strategy, &p.problem, &none, mixed), "need cut="));
  tsl_config far = none;
  far.value[SEVERAL_CUT] = SEVERAL_ROWS;
  far.value[SEVERAL_PART] = 0;
  far.value[SEVERAL_PART + 4] = 20;
  assert_non_null(strstr(tsl_strategy_refuse(strategy, &p.problem, &far, mixed), "has no device"));
  assert_int_equal(tsl_planner_create(&p.problem, strategy, &none, mixed, TSL_PLACE_DEVICE, &plan),
                   TESELA_UNSUPPORTED);
  const tsl_config idle = config_of(SEVERAL_ROWS, 0, M);
  assert_int_equal(tsl_planner_create(&p.problem, strategy, &idle, mixed, TSL_PLACE_HOST, &plan), TESELA_OK);
  assert_non_null(strstr(plan->text, "gemm several version=1 cut=1 part2=45 device=opencl:0,cpu "));
  if (tsl_planner_parse(devices, plan->text, &again) != TESELA_OK)
    fail_msg("%s", tesela_last_error());
  assert_string_equal(again->text, plan->text);
  must_run(again, &p);
  tsl_plan_destroy(plan);
  tsl_plan_destroy(again);
}

/* The default division gives each line to one device. */
static void test_alone(void **state) {
  (void)state;
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "several");
  const tsl_config config = tsl_strategy_defaults(strategy);
  tsl_device *both[] = {mixed, fakes};
  for (int i = 0; i < 2; i++) {
    product p;
    tsl_plan *plan;
    tsl_subplan_info share;
    int64_t lines = 0;
    fill(&p, -1);
    assert_int_equal(tsl_plan_create(&p.problem, strategy, &config, both[i], TSL_PLACE_HOST,
                                     &(tsl_plan_options){.children = &simple}, &plan),
                     TESELA_OK);
    for (int s = 0; tsl_plan_share(plan, s, &share); s++) {
      lines += share.rows * share.cols;
      assert_int_equal(share.cols, i == 1 ? 35 : 23 + 24 * s);
    }
    assert_int_equal(lines, M * N);
    must_run(plan, &p);
    tsl_plan_destroy(plan);
  }
}

/* A C that is small against its factors is divided along k, on devices to which operands must
 * travel. */
static void test_deep(void **state) {
  (void)state;
  enum { SIDE = 8, TERMS = 5000 };
  static float a[SIDE * TERMS], b[TERMS * SIDE], c[SIDE * SIDE];
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "several");
  const tsl_config config = tsl_strategy_defaults(strategy);
  tsl_problem deep = tsl_problem_gemm(SIDE, SIDE, TERMS, TESELA_F32);
  const tsl_operands operands = {.a.host = a, .b.host = b, .c.host = c};
  tsl_plan *plan;
  tsl_subplan_info share;
  int64_t terms = 0;
  deep.beta[0] = 3;
  for (int i = 0; i < SIDE * TERMS; i++)
    a[i] = (float)(i % 5 - 2), b[i] = (float)(i % 3 - 1);
  for (int i = 0; i < SIDE * SIDE; i++)
    c[i] = (float)i;
  assert_int_equal(tsl_plan_create(&deep, strategy, &config, fakes, TSL_PLACE_HOST,
                                   &(tsl_plan_options){.children = &links}, &plan),
                   TESELA_OK);
  assert_non_null(strstr(plan->text, "cut=4 part1="));
  for (int s = 0; tsl_plan_share(plan, s, &share); s++)
    terms += share.depth;
  assert_int_equal(terms, TERMS);
  assert_int_equal(tsl_plan_run(plan, &operands, NULL), TESELA_OK);
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) {
      double sum = 3.0 * (i * SIDE + j);
      for (int l = 0; l < TERMS; l++)
        sum += (double)a[i * TERMS + l] * (double)b[l * SIDE + j];
      assert_true((double)c[i * SIDE + j] == sum);
    }
  tsl_plan_destroy(plan);
  /* Where nothing travels, lines; and where bytes of C are as many. */
  tsl_device *processor;
  assert_int_equal(tsl_devices_find(devices, "opencl:0,cpu", &processor), TESELA_OK);
  assert_int_equal(tsl_plan_create(&deep, strategy, &config, processor, TSL_PLACE_HOST,
                                   &(tsl_plan_options){.children = &links}, &plan),
                   TESELA_OK);
  assert_non_null(strstr(plan->text, "cut=1 part1="));
  tsl_plan_destroy(plan);
  const tsl_problem square = tsl_problem_gemm(64, 64, 64, TESELA_F32);
  assert_false(tsl_several_is_deep(&square));
}

/* --- predictions --- */

/* As if 55 GB/s travelled to each device, in a host without other devices. */
static double seconds_of_a_link(const tsl_subplan_factory *self, const tsl_subplan_request *wish) {
  (void)self;
  return tsl_problem_bytes(wish->problem) / 55e9;
}

/* Returns the predicted seconds on 1, 2 and 4 devices, times 1000. */
static void predict(const tsl_work *work, const tsl_subplan_factory *factory, double rate, double out[3]) {
  for (int i = 0; i < 3; i++)
    out[i] = 1e3 * tsl_several_predict(work, factory, 1 << i, rate);
}

/* H200s measured 21.8 and 28.6 ms on two and four by terms, and 31.3 and 72.1 by rows: the copies of the
 * host's threads limit all devices together. */
static double expected_nine_ms(const tsl_subplan *child) {
  (void)child;
  return 0.009;
}

static void test_host_copies(void **state) {
  (void)state;
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "several");
  const tsl_config halves = config_of(SEVERAL_TERMS, 500000, 500000);
  tsl_subplan_info share;
  tsl_plan *plan;
  static const double measured[][2] = {{31.3, 72.1}, {21.8, 28.6}};
  tsl_subplan_factory factory = links;
  factory.seconds = seconds_of_a_link;
  for (int terms = 0; terms < 2; terms++) {
    double ms[3];
    tsl_device processors = *mixed;
    tsl_work work = {.problem = tsl_problem_gemm(256, 256, 1000000, TESELA_F32), .device = fakes};
    work.config.value[SEVERAL_CUT] = terms ? SEVERAL_TERMS : SEVERAL_ROWS;
    predict(&work, &factory, 0, ms);
    for (int i = 0; i < 2; i++)
      if (fabs(ms[i + 1] / measured[terms][i] - 1) > 0.2)
        fail_msg("%s on %d: %g ms, measured %g", terms ? "terms" : "rows", 2 << i, ms[i + 1],
                 measured[terms][i]);
    processors.members[0] = mixed->members[1]; /* nothing is copied */
    work.device = &processors;
    assert_true(tsl_several_predict(&work, &factory, 4, 0) < 0.024);
  }
  /* Each of two parts is expected to take as long as the host's copies of both: 2.05 GB. */
  const tsl_problem deep = tsl_problem_gemm(256, 256, 1000000, TESELA_F32);
  factory.expected = expected_nine_ms;
  assert_int_equal(tsl_plan_create(&deep, strategy, &halves, fakes, TSL_PLACE_HOST,
                                   &(tsl_plan_options){.children = &factory}, &plan),
                   TESELA_OK);
  assert_true(tsl_plan_share(plan, 1, &share));
  assert_true(share.seconds > 0.02 && share.seconds < 0.03);
  tsl_plan_destroy(plan);
}

/* An H200 as far as models see it. */
static tsl_device h200(void) {
  tsl_device device = *fakes->members[0];
  snprintf(device.label, sizeof device.label, "NVIDIA-H200");
  snprintf(device.key, sizeof device.key, "NVIDIA-H200/sm_90/cuda13.0/580.159.04");
  device.capabilities = 3195070;
  device.compute_units = 132;
  device.clock_mhz = 1980;
  device.warp = 32;
  device.architecture = 90;
  device.is_cpu = 0;
  device.memory_bytes = device.memory_limit = device.allocation_max = 150109880320;
  device.local_bytes = 49152;
  device.local_bytes_inside = 232448;
  device.cache_bytes = 62914560;
  device.peak_f32 = 66.9e12;
  device.peak_f64 = 33.45e12;
  device.bandwidth = 4.814e12;
  device.launch_seconds = 4e-6;
  device.group_items_max = 1024;
  for (int i = 0; i < 3; i++) {
    device.group_size_max[i] = i < 2 ? 1024 : 64;
    device.group_count_max[i] = i == 0 ? INT32_MAX : 65535;
  }
  device.vector_f32 = device.vector_f64 = 1;
  return device;
}

/* Operands in parts on one, two and four H200s with links of 374 GB/s, as measured (docs/lab/several.md). The
 * model of one device is off by up to a fifth; how times scale is nearer. */
static void test_scaling(void **state) {
  (void)state;
  static const struct {
    tesela_type type;
    int64_t side;
    double ms[3];
  } rows[] = {{TESELA_F32, 16384, {41.7, 21.2, 11.6}},
              {TESELA_F64, 16384, {88.6, 46.9, 24.2}},
              {TESELA_BF16, 32768, {91.8, 46.2, 22}}};
  static const double tolerance[] = {0.2, 0.05, 0.1};
  tsl_device device = h200(), group = {.members = {&device, &device}, .member_count = 2};
  const tsl_subplan_factory factory = tsl_subplans_by_models();
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    const tsl_sharding somewhere = {{NULL}, {0}};
    const tsl_work work = {.problem =
                               tsl_problem_gemm(rows[r].side, rows[r].side, rows[r].side, rows[r].type),
                           .device = &group,
                           .sharding = &somewhere};
    double ms[3];
    predict(&work, &factory, 374e9, ms);
    for (int i = 0; i < 3; i++) {
      const double model = i ? ms[0] / rows[r].ms[0] : 1, error = ms[i] / model / rows[r].ms[i] - 1;
      if (!(fabs(error) < tolerance[i]))
        fail_msg("%s on %d: %g ms, measured %g", tsl_type(rows[r].type)->name, 1 << i, ms[i] / model,
                 rows[r].ms[i]);
    }
  }
}

/* --- failures --- */

/* Whatever fails on one device, at whichever call: the other one does its part, and the plan tells. */
static void fail_at(tesela_fake_operation operation, int cut, int member, double beta, bool lasts,
                    int *failures) {
  char words[64];
  snprintf(words, sizeof words, "fake:%d failed, and fake:%d computed its part", member, 1 - member);
  bool failed = true;
  *failures = 0;
  for (int nth = 1; failed; nth++) {
    product p;
    fill(&p, beta);
    find_devices(NULL);
    tsl_plan *plan = plan_of(&p, fakes, cut);
    tesela_fake_reset();
    tesela_fake_only(member);
    (lasts ? tesela_fake_fail_from : tesela_fake_fail)(operation, nth);
    const tesela_status status = run(plan, &p);
    failed = tesela_fake_failures() > 0;
    *failures += failed;
    if (status != TESELA_OK)
      fail_msg("%s number %d: %s", tesela_fake_name(operation), nth, tesela_last_error());
    assert_memory_equal(p.c, p.expected, sizeof p.c);
    if (!failed)
      assert_null(tsl_plan_note(plan));
    if (operation == TESELA_FAKE_LAUNCH && failed) {
      assert_non_null(strstr(tsl_plan_note(plan), words));
      assert_non_null(strstr(tsl_plan_note(plan), "on demand"));
      must_run(plan, &p); /* by the other one, while it still fails */
    }
    tesela_fake_reset();
    tesela_fake_only(-1);
    must_run(plan, &p);
    tsl_plan_destroy(plan);
    forget_devices(NULL);
    if (*tesela_fake_live_text())
      fail_msg("%s number %d left %s", tesela_fake_name(operation), nth, tesela_fake_live_text());
  }
}

static void test_failures(void **state) {
  static const tesela_fake_operation operations[] = {
      TESELA_FAKE_ALLOCATION, TESELA_FAKE_PINNED, TESELA_FAKE_LAUNCH, TESELA_FAKE_COPY_IN,
      TESELA_FAKE_COPY_OUT,   TESELA_FAKE_STREAM, TESELA_FAKE_EVENT,  TESELA_FAKE_FINISH};
  int failures;
  (void)state;
  tsl_devices_destroy(devices);
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    fail_at(operations[i], SEVERAL_ROWS, 1, i % 2 ? 0 : -1, i % 3 == 0, &failures);
    assert_true(failures > 0 || operations[i] == TESELA_FAKE_FINISH);
  }
  fail_at(TESELA_FAKE_COPY_OUT, SEVERAL_ROWS, 1, 2, true,
          &failures); /* when C was half written, and is needed */
  /* With parts of the terms, the first member holds C, the other its own sums. Each fails in turn. */
  for (int member = 0; member < 2; member++)
    for (size_t i = 0; i < 2; i++) {
      fail_at(i ? TESELA_FAKE_COPY_OUT : TESELA_FAKE_LAUNCH, SEVERAL_TERMS, member, 2, i == 1, &failures);
      assert_true(failures > 0);
    }
  find_devices(NULL);
}

/* Where all fail there is no result, and the sentence is a device's. */
static void test_all_fail(void **state) {
  (void)state;
  product p;
  fill(&p, 0);
  tsl_plan *plan = plan_of(&p, fakes, SEVERAL_ROWS);
  tesela_fake_reset();
  tesela_fake_fail_from(TESELA_FAKE_LAUNCH, 1);
  assert_int_equal(run(plan, &p), TESELA_DEVICE_FAILED);
  assert_non_null(strstr(tesela_last_error(), "on demand"));
  tesela_fake_reset();
  must_run(plan, &p);
  tsl_plan_destroy(plan);
}

/* A device that does not open gets no part, unless it was given one by name. */
static void test_closed(void **state) {
  product p;
  tsl_plan *plan;
  tsl_subplan_info share;
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "several");
  const tsl_config any = tsl_strategy_defaults(strategy), said = config_of(SEVERAL_ROWS, 20, M - 20);
  forget_devices(state);
  find_devices(state);
  fill(&p, -1);
  tesela_fake_reset();
  tesela_fake_only(1);
  tesela_fake_fail_from(TESELA_FAKE_OPEN, 1);
  assert_int_equal(tsl_plan_create(&p.problem, strategy, &said, fakes, TSL_PLACE_HOST,
                                   &(tsl_plan_options){.children = &simple}, &plan),
                   TESELA_DEVICE_FAILED);
  assert_non_null(strstr(tesela_last_error(), "the part of fake:1"));
  if (tsl_plan_create(&p.problem, strategy, &any, fakes, TSL_PLACE_HOST,
                      &(tsl_plan_options){.children = &simple}, &plan) != TESELA_OK)
    fail_msg("%s", tesela_last_error());
  assert_true(tsl_plan_share(plan, 0, &share) && !tsl_plan_share(plan, 1, &share));
  assert_string_equal(share.device, "fake:0");
  must_run(plan, &p);
  tsl_plan_destroy(plan);
  tesela_fake_only(-1);
  tesela_fake_fail_from(TESELA_FAKE_OPEN, 1);
  forget_devices(state);
  find_devices(state);
  assert_int_equal(tsl_plan_create(&p.problem, strategy, &any, fakes, TSL_PLACE_HOST,
                                   &(tsl_plan_options){.children = &simple}, &plan),
                   TESELA_DEVICE_FAILED);
  assert_non_null(strstr(tesela_last_error(), "on demand"));
  tesela_fake_reset();
}

/* The public call returns the product, and the record's note names the devices. */
static void test_note(void **state) {
  (void)state;
  static const float a[30 * 8] = {1, 2, 3}, b[8 * 20] = {1, 2, 3};
  float c[30 * 20];
  tesela_context *context;
  const tesela_gemm_desc desc = {.m = 30,
                                 .n = 20,
                                 .k = 8,
                                 .a = {.data = a},
                                 .b = {.data = b},
                                 .c = {.data = c},
                                 .options.device = "fake:*",
                                 .options.strategy = "several cut=1 part1=10 part2=20"};
  setenv("TESELA_SELFTEST", "0", 1); /* its launches would fail before */
  for (int fails = 0; fails < 2; fails++) {
    tesela_record record = {.note = "something"};
    assert_int_equal(tesela_context_create(NULL, &context), TESELA_OK);
    tesela_fake_reset();
    tesela_fake_only(1);
    if (fails)
      tesela_fake_fail_from(TESELA_FAKE_LAUNCH, 1);
    if (tesela_gemm(context, &desc, &record) != TESELA_OK)
      fail_msg("%s", tesela_last_error());
    tesela_fake_reset();
    assert_true(c[0] == 1 && c[1] == 2 && c[20] == 0);
    if (fails) {
      assert_non_null(record.note);
      assert_non_null(
          strstr(record.note, "fake:1 failed, and fake:0 computed its part of the product again"));
    } else
      assert_null(record.note);
    tesela_context_destroy(context);
  }
  unsetenv("TESELA_SELFTEST");
}

/* --- threads, and the same bits --- */

static void test_threads(void **state) {
  (void)state;
  product p;
  tsl_device *both[] = {mixed, fakes};
  fill(&p, -1);
  for (int d = 0; d < 4; d++) {
    tsl_plan *plan = plan_of(&p, both[d % 2], d < 2 ? SEVERAL_COLS : SEVERAL_TERMS);
    must_in_threads(plan);
    tsl_plan_destroy(plan);
  }
}

static void test_bits(void **state) {
  (void)state;
  product p;
  float first[M * (N + GAP)];
  static const int cuts[] = {SEVERAL_ROWS, SEVERAL_TERMS};
  fill(&p, 0.3);
  for (int i = 0; i < M * K; i++)
    p.a[i] = 1 / (float)(i + 3);
  for (int cut = 0; cut < 2; cut++) {
    tsl_plan *plan = plan_of(&p, mixed, cuts[cut]);
    for (int i = 0; i < 10; i++) {
      assert_int_equal(run(plan, &p), TESELA_OK);
      if (i == 0)
        memcpy(first, p.c, sizeof first);
      assert_memory_equal(first, p.c, sizeof first);
    }
    tsl_plan_destroy(plan);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),    cmocka_unit_test(test_no_memory),   cmocka_unit_test(test_shares),
      cmocka_unit_test(test_cases),    cmocka_unit_test(test_text),        cmocka_unit_test(test_alone),
      cmocka_unit_test(test_failures), cmocka_unit_test(test_all_fail),    cmocka_unit_test(test_closed),
      cmocka_unit_test(test_note),     cmocka_unit_test(test_deep),        cmocka_unit_test(test_threads),
      cmocka_unit_test(test_bits),     cmocka_unit_test(test_host_copies), cmocka_unit_test(test_scaling),
  };
  simple = tsl_subplans_by_models();
  simple.make = make_simple;
  simple.seconds = seconds_simply;
  links = simple;
  links.seconds = seconds_of_links;
  tesela_fake_install();
  return cmocka_run_group_tests(tests, find_devices, forget_devices);
}
