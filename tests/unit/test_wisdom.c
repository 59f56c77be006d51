/* Wisdom: records, the search for a problem's records, and their use by the planner.
 * test_wisdom_file.c tests files. */
#include "unit/unit.h"

#include "core/status.h"
#include "planner/planner.h"
#include "scratch.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "unit/mock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* mock:0, and mock:1, which differs in its key only; mock:2 has mock:0's key and fewer units; groups of
 * mock:3 have 64 work-items at most. */
static tesela_status list_mock(void (*found)(void *argument, const tsl_device *device), void *argument) {
  tsl_device device = mock_device;
  found(argument, &device);
  snprintf(device.key, sizeof device.key, "mock/2");
  found(argument, &device);
  snprintf(device.key, sizeof device.key, "mock/1");
  device.compute_units = 50;
  found(argument, &device);
  device.compute_units = 100;
  device.group_items_max = 64;
  found(argument, &device);
  return TESELA_OK;
}

static const tsl_device_kind mock = {.kind = "mock", .what = "mock devices", .list = list_mock};

static tsl_devices *devices;
static const tsl_strategy *tile_local;

static int set_up(void **state) {
  (void)state;
  tsl_device_kind_add(&mock);
  tile_local = tsl_strategy_find(TSL_OP_GEMM, "tile_local");
  return tsl_devices_create(&devices) != TESELA_OK || !tile_local;
}

static int tear_down(void **state) {
  (void)state;
  tsl_devices_destroy(devices);
  return 0;
}

static tsl_device *device_at(const char *name) {
  tsl_device *device;
  assert_int_equal(tsl_devices_find(devices, name, &device), TESELA_OK);
  return device;
}

static tsl_wisdom_record parsed(const char *line) {
  tsl_wisdom_record record;
  if (tsl_wisdom_parse(line, &record) != TESELA_OK)
    fail_msg("'%s': %s", line, tesela_last_error());
  return record;
}

/* --- records --- */

static void expect_round_trip(const tsl_problem *problem, const tsl_strategy *strategy) {
  tsl_text text = {0}, again = {0};
  tsl_config config = tsl_strategy_defaults(strategy);
  const tsl_wisdom_record made =
      tsl_wisdom_record_of(problem, strategy, &config, device_at("mock:0"), 1.25e-3, 0.01);
  tsl_wisdom_print(&made, &text);
  const tsl_wisdom_record read = parsed(tsl_text_get(&text));
  assert_string_equal(read.stale, "");
  assert_true(tsl_wisdom_same(&made, &read));
  assert_ptr_equal(read.strategy, strategy);
  assert_memory_equal(&read.config, &config, sizeof config);
  assert_true(read.seconds == 1.25e-3 && read.spread == 0.01);
  tsl_wisdom_print(&read, &again);
  assert_string_equal(tsl_text_get(&text), tsl_text_get(&again));
  tsl_text_free(&text);
  tsl_text_free(&again);
}

/* Records of every strategy, to find a parameter with the name of one of the record's own keys. */
static void records_read_back(void **state) {
  (void)state;
  for (int i = 0; tsl_strategy_at(i); i++) {
    const tsl_strategy *strategy = tsl_strategy_at(i);
    tsl_problem problem = tsl_problem_of(strategy->op, 300, 200, 100, TESELA_F32);
    expect_round_trip(&problem, strategy);
  }
  tsl_problem in_place = tsl_problem_transpose(64, 64, TESELA_C64);
  in_place.in_place = true;
  in_place.a = in_place.c;
  expect_round_trip(&in_place, tsl_strategy_find(TSL_OP_TRANSPOSE, "element"));
}

/* A record of one structure does not apply to another structure, nor to general matrices. */
static void records_have_structures(void **state) {
  (void)state;
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "sequential");
  const tsl_config config = tsl_strategy_defaults(strategy);
  const tsl_problem general = tsl_problem_gemm(64, 64, 64, TESELA_C128);
  tsl_wisdom_record made[3];
  tsl_problem problem = general;
  for (int i = 0; i < 3; i++) {
    tsl_shape *const shapes[] = {&problem.a, &problem.b, &problem.c};
    problem = general;
    shapes[i]->structure = TESELA_HERMITIAN;
    shapes[i]->triangle = TESELA_UPPER;
    expect_round_trip(&problem, strategy);
    made[i] = tsl_wisdom_record_of(&problem, strategy, &config, device_at("mock:0"), 1, 0);
    for (int j = 0; j < i; j++)
      assert_false(tsl_wisdom_same(&made[i], &made[j]));
  }
  const tsl_wisdom_record plain =
      tsl_wisdom_record_of(&general, strategy, &config, device_at("mock:0"), 1, 0);
  assert_false(tsl_wisdom_same(&made[0], &plain));
  problem = general;
  problem.b.structure = TESELA_TRIANGULAR;
  problem.b.triangle = TESELA_LOWER;
  problem.in_place = true;
  expect_round_trip(&problem, strategy);
}

static void layouts_have_letters(void **state) {
  (void)state;
  tsl_problem problem = tsl_problem_gemm(30, 20, 10, TESELA_F32);
  assert_string_equal(tsl_wisdom_class_of(&problem).layout, "rrr");
  problem.a.row_stride = 1;
  problem.a.col_stride = 30;
  problem.b.col_stride = 2;
  problem.b.row_stride = 40;
  problem.c.row_stride = 100;
  assert_string_equal(tsl_wisdom_class_of(&problem).layout, "cgr");
  tsl_problem dot = tsl_problem_dot(100, TESELA_F32);
  assert_string_equal(tsl_wisdom_class_of(&dot).layout, "rrr");
  dot.b.row_stride = 3;
  assert_string_equal(tsl_wisdom_class_of(&dot).layout, "rgr");
  const tsl_problem transpose = tsl_problem_transpose(30, 20, TESELA_F32);
  assert_string_equal(tsl_wisdom_class_of(&transpose).layout, "r-r");
}

#define RECORD(plan, rest)                                                                                   \
  "gemm " plan " key=mock/1 units=100 m=1024 n=1024 k=1024 types=f32,f32,f32 layout=rrr beta=0 " rest
#define MEASURED "seconds=0.001 spread=0.01 date=2026-01-02T00:00:00Z"

static const struct {
  const char *line, *names;
} wrong_lines[] = {
    {"gemm", "starts with an operation and a strategy"},
    {"gemm tile_local more version=1", "starts with an operation and a strategy"},
    {"conv tile_local version=1", "\"conv\" is no operation"},
    {"gemm tile_local version=1 key=a key=b", "\"key\" is given twice"},
    {RECORD("tile_local tile=16", MEASURED), "version= is missing"},
    {RECORD("tile_local version=x", MEASURED), "version=x"},
    {RECORD("tile_local version=1 tile=16", "seconds=0 spread=0 date=2026"), "seconds=0 is not a positive"},
    {RECORD("tile_local version=1 tile=16", "seconds=1e-300 spread=0 date=2026"), "less than a nanosecond"},
    {RECORD("tile_local version=1 tile=16", "seconds=2e-9 spread=0 date=2026"), "nothing runs that fast"},
    {RECORD("tile_local version=1 tile=16", "seconds=nan spread=0 date=2026"), "seconds=nan"},
    {RECORD("tile_local version=1 tile=16", "seconds=1 spread=-1 date=2026"), "spread=-1"},
    {RECORD("tile_local version=1 tile=16", "seconds=1 spread=0"), "date= is missing"},
    {RECORD("tile_local version=1 tile=16", "seconds=1 spread=0 date=2026-01-02T00:00:00.000000Z"),
     "date= is longer"},
    {"gemm tile_local version=1 key=a units=1 m=0 n=1 k=1", "m=0 is not a whole number from 1"},
    {"gemm tile_local version=1 key=a units=1 m=1 n=1 k=1 types=f32,f32", "has 2 types"},
    {"gemm tile_local version=1 key=a units=1 m=1 n=1 k=1 types=f32,f32,f99", "\"f99\""},
    {"gemm tile_local version=1 key=a units=1 m=1 n=1 k=1 types=f32,f32,f32 layout=rrx", "layout=rrx"},
    {"gemm tile_local version=1 key=a units=1 m=1 n=1 k=1 types=f32,f32,f32 layout=rrr beta=2", "beta=2"},
    {RECORD("sequential version=1", "a_is=symmetric " MEASURED), "a_is=symmetric is neither a structure"},
    {RECORD("sequential version=1", "c_is=unit_lower " MEASURED), "its problem: C is unit triangular"},
    {"gemm sequential version=1 key=a units=1 m=2 n=2 k=3 types=f32,f32,f32 layout=rrr beta=0 "
     "a_is=unit_lower",
     "must be square"},
};

static void wrong_lines_are_named(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof wrong_lines / sizeof *wrong_lines; i++) {
    tsl_wisdom_record record;
    assert_int_equal(tsl_wisdom_parse(wrong_lines[i].line, &record), TESELA_BAD_INPUT);
    if (!strstr(tesela_last_error(), wrong_lines[i].names))
      fail_msg("'%s' does not name %s", tesela_last_error(), wrong_lines[i].names);
  }
}

static void what_changed_since_is_stale(void **state) {
  (void)state;
  static const struct {
    const char *line, *says;
  } lines[] = {
      {RECORD("gone version=1", MEASURED), "no strategy gemm gone"},
      {RECORD("tile_local version=0 tile=16", MEASURED), "version 0 of tile_local is retired"},
      {RECORD("tile_local version=99 tile=16", MEASURED), "this library has version"},
      {RECORD("tile_local version=1 tile=170", MEASURED), "tile=170 is not one of"},
      {RECORD("tile_local version=1", MEASURED), "other parameters"},
      {RECORD("tile_local version=1 tile=16 width=4", MEASURED), "other parameters"},
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    const tsl_wisdom_record record = parsed(lines[i].line);
    if (!strstr(record.stale, lines[i].says))
      fail_msg("'%s' does not say %s", record.stale, lines[i].says);
  }
}

/* Values that have names were numbers in older texts: such a line names the same config, and is printed with
 * the names. */
static void numbers_are_read_for_names(void **state) {
  (void)state;
  static const char rest[] =
      " vector=16 tile_m=32 tile_n=32 micro_m=4 micro_n=4 tile_k=8 stages=1 slices=1 split=1";
  static const char *const forms[] = {"local", "packed", "packed_serial", "local_async"};
  for (int i = 0; i < 4; i++) {
    char old[512], new[512], word[32];
    snprintf(old, sizeof old, RECORD("register_tile version=1 form=%d%s", MEASURED), i + 1, rest);
    snprintf(new, sizeof new, RECORD("register_tile version=1 form=%s%s", MEASURED), forms[i], rest);
    snprintf(word, sizeof word, " form=%s ", forms[i]);
    const tsl_wisdom_record number = parsed(old), name = parsed(new);
    assert_string_equal(number.stale, "");
    assert_string_equal(name.stale, "");
    assert_memory_equal(&number.config, &name.config, sizeof number.config);
    tsl_text text = {0};
    tsl_wisdom_print(&number, &text);
    assert_non_null(strstr(tsl_text_get(&text), word));
    tsl_text_free(&text);
  }
  const tsl_wisdom_record unknown =
      parsed(RECORD("register_tile version=1 form=neither vector=16", MEASURED));
  assert_non_null(
      strstr(unknown.stale, "form=neither is not one of local, packed, packed_serial, local_async"));
}

/* Two records of one identity: which one stays, in whatever order they come. */
static void the_better_measured_stays(void **state) {
  (void)state;
  static const struct {
    const char *loses, *wins;
  } pairs[] = {
      /* beyond the noise: the faster, old or new */
      {"tile=8 seconds=0.002 date=2026-02-01T00:00:00Z", "tile=16 seconds=0.001 date=2026-01-01T00:00:00Z"},
      {"tile=8 seconds=0.002 date=2026-01-01T00:00:00Z", "tile=16 seconds=0.001 date=2026-02-01T00:00:00Z"},
      /* within it: the newer */
      {"tile=8 seconds=0.00100 date=2026-01-01T00:00:00Z",
       "tile=16 seconds=0.00101 date=2026-02-01T00:00:00Z"},
      /* the same plan again: the newer */
      {"tile=8 seconds=0.001 date=2026-01-01T00:00:00Z", "tile=8 seconds=0.002 date=2026-02-01T00:00:00Z"},
      /* at the same time: the faster */
      {"tile=8 seconds=0.00101 date=2026-01-01T00:00:00Z", "tile=16 seconds=0.001 date=2026-01-01T00:00:00Z"},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    tsl_wisdom_record both[2];
    for (int j = 0; j < 2; j++) {
      char line[512];
      snprintf(
          line, sizeof line,
          "gemm tile_local version=%d key=a units=1 m=9 n=9 k=9 types=f32,f32,f32 layout=rrr spread=0.01 %s",
          tile_local->version, j ? pairs[i].wins : pairs[i].loses);
      both[j] = parsed(line);
    }
    assert_true(tsl_wisdom_same(&both[0], &both[1]));
    if (!tsl_wisdom_supersedes(&both[0], &both[1]) || tsl_wisdom_supersedes(&both[1], &both[0]))
      fail_msg("pair %zu", i);
  }
}

/* --- finding --- */

typedef struct question {
  const char *device;
  tsl_problem problem;
  tsl_config fixed;
  unsigned given;
} question;

static question ask(const char *device, int64_t m, int64_t n, int64_t k) {
  return (question){.device = device, .problem = tsl_problem_gemm(m, n, k, TESELA_F32)};
}

/* The tile that is found and on what grounds; 0: none. */
static int64_t find(const tsl_wisdom *wisdom, const question *what, tsl_basis *basis, double *seconds) {
  tsl_wisdom_hit hit;
  if (!tsl_wisdom_find(wisdom, &what->problem, device_at(what->device), tile_local, &what->fixed, what->given,
                       &hit))
    return 0;
  *basis = hit.basis;
  *seconds = hit.seconds;
  return hit.config.value[0];
}

static tsl_wisdom *wisdom_of(const char *shipped, const char *state) {
  tsl_wisdom *wisdom;
  assert_int_equal(tsl_wisdom_from(shipped, state, &wisdom), TESELA_OK);
  return wisdom;
}

#define TILE(tile, m, n, k, seconds)                                                                         \
  "gemm tile_local version=1 tile=" #tile " key=mock/1 units=100 m=" #m " n=" #n " k=" #k                    \
  " types=f32,f32,f32 layout=rrr beta=0 seconds=" #seconds " spread=0.01 date=2026-01-01T00:00:00Z\n"

static void expect(const tsl_wisdom *wisdom, question what, int64_t tile, tsl_basis basis, double seconds) {
  tsl_basis found_basis = TSL_BASIS_MODEL;
  double found_seconds = 0;
  assert_int_equal(find(wisdom, &what, &found_basis, &found_seconds), tile);
  if (!tile)
    return;
  assert_int_equal(found_basis, basis);
  assert_true(fabs(found_seconds - seconds) < 1e-9 * seconds);
}

static void the_same_sizes_are_found_exactly(void **state) {
  (void)state;
  tsl_wisdom *wisdom = wisdom_of("", TILE(8, 1024, 1024, 1024, 0.5) TILE(16, 2048, 1024, 1024, 0.7)
                                         TILE(32, 1000, 1000, 1000, 0.25));
  expect(wisdom, ask("mock:0", 1024, 1024, 1024), 8, TSL_BASIS_EXACT, 0.5);
  expect(wisdom, ask("mock:0", 2048, 1024, 1024), 16, TSL_BASIS_EXACT, 0.7);
  expect(wisdom, ask("mock:0", 1000, 1000, 1000), 32, TSL_BASIS_EXACT, 0.25);
  tsl_wisdom_close(wisdom);
}

/* A record's seconds at other sizes, as the model of tile_local says. */
static double scaled(double seconds, int tile, const tsl_problem *from, const question *target) {
  const tsl_config config = {{tile}};
  const tsl_device *device = device_at(target->device);
  return seconds * tile_local->score(&target->problem, &config, device) /
         tile_local->score(from, &config, device);
}

static void near_sizes_are_scaled(void **state) {
  (void)state;
  tsl_wisdom *wisdom = wisdom_of("", TILE(8, 1024, 1024, 1024, 0.5) TILE(16, 4096, 1024, 1024, 2)
                                         TILE(32, 1000, 1000, 1000, 0.25));
  const tsl_problem small = tsl_problem_gemm(1024, 1024, 1024, TESELA_F32),
                    wide = tsl_problem_gemm(4096, 1024, 1024, TESELA_F32),
                    odd = tsl_problem_gemm(1000, 1000, 1000, TESELA_F32);
  question what = ask("mock:0", 1536, 1024, 1024);
  assert_true(fabs(scaled(0.5, 8, &small, &what) - 0.75) < 0.1);
  expect(wisdom, what, 8, TSL_BASIS_NEAR, scaled(0.5, 8, &small, &what));
  what = ask("mock:0", 2560, 1024, 1024);
  expect(wisdom, what, 16, TSL_BASIS_NEAR, scaled(2, 16, &wide, &what)); /* 4096 is nearer */
  what = ask("mock:0", 2048, 2048, 512);
  expect(wisdom, what, 8, TSL_BASIS_NEAR, scaled(0.5, 8, &small, &what));
  expect(wisdom, ask("mock:0", 2048, 2048, 256), 0, TSL_BASIS_MODEL, 0); /* one size too far */
  what = ask("mock:0", 1028, 1000, 1000);
  expect(wisdom, what, 32, TSL_BASIS_NEAR, scaled(0.25, 32, &odd, &what));
  expect(wisdom, ask("mock:0", 1023, 1024, 1024), 0, TSL_BASIS_MODEL, 0); /* of another divisibility */
  expect(wisdom, ask("mock:0", 8192 + 16, 1024, 1024), 0, TSL_BASIS_MODEL, 0);
  tsl_wisdom_close(wisdom);
}

static void other_classes_and_devices_are_foreign(void **state) {
  (void)state;
  tsl_wisdom *wisdom = wisdom_of(TILE(8, 1024, 1024, 1024, 0.5), "");
  int of_device;
  question what = ask("mock:0", 1024, 1024, 1024);
  expect(wisdom, what, 8, TSL_BASIS_EXACT, 0.5);
  what.device = "mock:1";
  expect(wisdom, what, 0, TSL_BASIS_MODEL, 0);
  what.device = "mock:2";
  expect(wisdom, what, 0, TSL_BASIS_MODEL, 0);
  assert_int_equal(tsl_wisdom_count(wisdom, device_at("mock:2"), &of_device), 1);
  assert_int_equal(of_device, 0);
  tsl_wisdom_count(wisdom, device_at("mock:0"), &of_device);
  assert_int_equal(of_device, 1);
  what = ask("mock:0", 1024, 1024, 1024);
  what.problem.beta[0] = 0.5;
  expect(wisdom, what, 0, TSL_BASIS_MODEL, 0);
  what = ask("mock:0", 1024, 1024, 1024);
  what.problem.alpha[0] = 0;
  expect(wisdom, what, 0, TSL_BASIS_MODEL, 0);
  what.problem.alpha[0] = -2; /* any other factor is the same work */
  expect(wisdom, what, 8, TSL_BASIS_EXACT, 0.5);
  what.problem = tsl_problem_gemm(1024, 1024, 1024, TESELA_F64);
  expect(wisdom, what, 0, TSL_BASIS_MODEL, 0);
  what.problem = tsl_problem_gemm(1024, 1024, 1024, TESELA_F32);
  what.problem.b.row_stride = 1;
  what.problem.b.col_stride = 1024;
  expect(wisdom, what, 0, TSL_BASIS_MODEL, 0);
  tsl_wisdom_close(wisdom);
}

static void what_is_refused_or_not_asked_for_is_passed_over(void **state) {
  (void)state;
  tsl_wisdom *wisdom =
      wisdom_of("", TILE(16, 1024, 1024, 1024, 0.5) TILE(8, 1024, 1024, 2048, 1.5) "nonsense\n" RECORD(
                        "tile_local version=99 tile=16", MEASURED) "\n");
  int of_device;
  assert_int_equal(tsl_wisdom_count(wisdom, device_at("mock:0"), &of_device), 2);
  /* Groups of 256 do not fit mock:3: the farther record serves. */
  const tsl_problem deep = tsl_problem_gemm(1024, 1024, 2048, TESELA_F32);
  question what = ask("mock:3", 1024, 1024, 1024);
  expect(wisdom, what, 8, TSL_BASIS_NEAR, scaled(1.5, 8, &deep, &what));
  what = ask("mock:0", 1024, 1024, 1024);
  what.given = 1;
  what.fixed.value[0] = 8;
  expect(wisdom, what, 8, TSL_BASIS_NEAR, scaled(1.5, 8, &deep, &what));
  what.fixed.value[0] = 32;
  expect(wisdom, what, 0, TSL_BASIS_MODEL, 0);
  tsl_wisdom_close(wisdom);
}

static void the_users_records_count_more(void **state) {
  (void)state;
  tsl_wisdom *wisdom = wisdom_of(TILE(16, 1024, 1024, 1024, 0.5), TILE(8, 1024, 1024, 1024, 0.6));
  expect(wisdom, ask("mock:0", 1024, 1024, 1024), 8, TSL_BASIS_EXACT, 0.6);
  tsl_wisdom_close(wisdom);
  expect(NULL, ask("mock:0", 1024, 1024, 1024), 0, TSL_BASIS_MODEL, 0);
}

/* --- the planner --- */

static const tsl_candidate *candidate_of(const tsl_candidate *list, int count, const char *strategy) {
  for (int i = 0; i < count; i++)
    if (strcmp(list[i].strategy->name, strategy) == 0)
      return &list[i];
  fail_msg("%s is not listed", strategy);
  return NULL;
}

/* The slowest of the model's answers becomes the first choice once it was measured to be the fastest. */
static void the_planner_takes_what_was_measured(void **state) {
  (void)state;
  tsl_wisdom *wisdom = wisdom_of("", TILE(8, 1024, 1024, 1024, 5e-5));
  const tsl_problem problem = tsl_problem_gemm(1024, 1024, 1024, TESELA_F32),
                    near = tsl_problem_gemm(1024, 1024, 2048, TESELA_F32),
                    far = tsl_problem_gemm(64, 64, 64, TESELA_F32);
  tsl_choice choice = {.devices = devices, .device = "mock:0", .place = TSL_PLACE_DEVICE};
  tsl_candidate *list;
  int count;
  assert_int_equal(tsl_planner_list(&problem, &choice, &list, &count), TESELA_OK);
  const tsl_candidate *by_model = candidate_of(list, count, "tile_local");
  assert_int_equal(by_model->basis, TSL_BASIS_MODEL);
  assert_int_not_equal(by_model->config.value[0], 8);
  free(list);

  choice.wisdom = wisdom;
  assert_int_equal(tsl_planner_list(&problem, &choice, &list, &count), TESELA_OK);
  assert_string_equal(list[0].strategy->name, "tile_local");
  assert_int_equal(list[0].config.value[0], 8);
  assert_int_equal(list[0].basis, TSL_BASIS_EXACT);
  assert_true(fabs(list[0].seconds / 5e-5 - 1) < 1e-3);
  assert_int_equal(candidate_of(list, count, "element")->basis, TSL_BASIS_MODEL);
  free(list);
  assert_int_equal(tsl_planner_list(&near, &choice, &list, &count), TESELA_OK);
  assert_int_equal(list[0].basis, TSL_BASIS_NEAR);
  assert_true(list[0].seconds > 7.5e-5 && list[0].seconds < 12.5e-5);
  free(list);
  assert_int_equal(tsl_planner_list(&far, &choice, &list, &count), TESELA_OK);
  assert_int_equal(candidate_of(list, count, "tile_local")->basis, TSL_BASIS_MODEL);
  free(list);

  choice.strategy = "tile_local tile=16"; /* the caller's word counts more */
  assert_int_equal(tsl_planner_list(&problem, &choice, &list, &count), TESELA_OK);
  assert_int_equal(list[0].config.value[0], 16);
  assert_int_equal(list[0].basis, TSL_BASIS_MODEL);
  free(list);
  tsl_wisdom_close(wisdom);
}

/* The models' favourite was measured, and took longer than the second is promised to: promises are put off as
 * much. */
static void promises_do_not_beat_what_was_measured(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(1024, 1024, 1024, TESELA_F32);
  tsl_choice choice = {.devices = devices, .device = "mock:0", .place = TSL_PLACE_DEVICE};
  tsl_candidate *list;
  tsl_text line = {0};
  int count;
  assert_int_equal(tsl_planner_list(&problem, &choice, &list, &count), TESELA_OK);
  const tsl_candidate first = list[0], second = list[1];
  const tsl_wisdom_record record = tsl_wisdom_record_of(&problem, first.strategy, &first.config,
                                                        device_at("mock:0"), 2 * second.seconds, 0);
  free(list);
  tsl_wisdom_print(&record, &line);
  tsl_wisdom *wisdom = wisdom_of("", tsl_text_get(&line));
  choice.wisdom = wisdom;
  assert_int_equal(tsl_planner_list(&problem, &choice, &list, &count), TESELA_OK);
  assert_ptr_equal(list[0].strategy, first.strategy);
  assert_int_equal(list[0].basis, TSL_BASIS_EXACT);
  assert_true(fabs(list[0].seconds / record.seconds - 1) < 1e-3); /* a measurement is in little doubt */
  assert_ptr_equal(list[1].strategy, second.strategy);
  const double promised = second.seconds / first.seconds; /* and a promise in more */
  assert_true(list[1].seconds / list[0].seconds > 1.05 * promised &&
              list[1].seconds / list[0].seconds < 1.15 * promised);
  assert_true(list[0].doubt < 0.05 && list[1].doubt > 0.4);
  free(list);
  tsl_wisdom_close(wisdom);
  tsl_text_free(&line);
}

/* A record faster than the device can be is ignored. */
static void rates_have_a_limit(void **state) {
  (void)state;
  const double fair = 2.0 * 1024 * 1024 * 1024 / mock_device.peak_f32;
  static const struct {
    double of_peak;
    bool believed;
  } rows[] = {{1, true}, {0.26, true}, {0.24, false}, {0.01, false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char line[512];
    snprintf(line, sizeof line, RECORD("tile_local version=%d tile=8", "seconds=%.9g spread=0 date=2026"),
             tile_local->version, rows[i].of_peak * fair);
    tsl_wisdom *wisdom = wisdom_of(i % 2 ? line : "", i % 2 ? "" : line);
    const tsl_problem problem = tsl_problem_gemm(1024, 1024, 1024, TESELA_F32);
    const tsl_config none = tsl_strategy_defaults(tile_local);
    tsl_wisdom_hit hit;
    const tsl_wisdom_record record = parsed(line);
    assert_int_equal(tsl_wisdom_find(wisdom, &problem, device_at("mock:0"), tile_local, &none, 0, &hit),
                     rows[i].believed);
    assert_int_equal(tsl_wisdom_refuse(&record, device_at("mock:0")) == NULL, rows[i].believed);
    tsl_wisdom_close(wisdom);
  }
}

/* --- the API --- */

static void expect_plan(tesela_context *context, const char *strategy, bool so) {
  const tesela_gemm_desc desc = {.m = 64, .n = 64, .k = 64};
  tesela_plan *plan;
  assert_int_equal(tesela_plan_create(context, &desc, &plan), TESELA_OK);
  assert_int_equal(strncmp(tesela_plan_describe(plan), strategy, strlen(strategy)) == 0, so);
  tesela_plan_destroy(plan);
}

/* A context reads the user's file when it plans for the first time, and not again. */
static void a_context_reads_it_once(void **state) {
  (void)state;
  const tesela_context_desc on_cpu = {.device = "cpu"};
  const tsl_problem problem = tsl_problem_gemm(64, 64, 64, TESELA_F32);
  const tsl_strategy *slowest = tsl_strategy_find(TSL_OP_GEMM, "sequential");
  const tsl_config config = tsl_strategy_defaults(slowest);
  /* As fast as is believed, and faster than any strategy is. */
  const double seconds = tsl_problem_flops(&problem) / (3.5 * device_at("cpu")->peak_f32);
  const tsl_wisdom_record record =
      tsl_wisdom_record_of(&problem, slowest, &config, device_at("cpu"), seconds, 0);
  tesela_context *before, *after;
  tsl_text line = {0};
  scratch folder;
  scratch_create(&folder);
  setenv("TESELA_WISDOM", scratch_path(&folder, "wisdom"), 1);
  tsl_wisdom_print(&record, &line);
  assert_int_equal(tesela_context_create(&on_cpu, &before), TESELA_OK);
  expect_plan(before, "gemm sequential ", false);
  scratch_write(&folder, "wisdom", tsl_text_get(&line));
  assert_int_equal(tesela_context_create(&on_cpu, &after), TESELA_OK);
  expect_plan(after, "gemm sequential ", true);
  expect_plan(before, "gemm sequential ", false);
  tesela_context_destroy(before);
  tesela_context_destroy(after);
  setenv("TESELA_WISDOM", "none", 1);
  tsl_text_free(&line);
  scratch_remove(&folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(records_read_back),
      cmocka_unit_test(records_have_structures),
      cmocka_unit_test(layouts_have_letters),
      cmocka_unit_test(wrong_lines_are_named),
      cmocka_unit_test(what_changed_since_is_stale),
      cmocka_unit_test(numbers_are_read_for_names),
      cmocka_unit_test(the_better_measured_stays),
      cmocka_unit_test(the_same_sizes_are_found_exactly),
      cmocka_unit_test(near_sizes_are_scaled),
      cmocka_unit_test(other_classes_and_devices_are_foreign),
      cmocka_unit_test(what_is_refused_or_not_asked_for_is_passed_over),
      cmocka_unit_test(the_users_records_count_more),
      cmocka_unit_test(the_planner_takes_what_was_measured),
      cmocka_unit_test(promises_do_not_beat_what_was_measured),
      cmocka_unit_test(rates_have_a_limit),
      cmocka_unit_test(a_context_reads_it_once),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
