/* Products of operands that lie in pieces on several devices: any layout in any type against the same product
 * on the host, bit by bit, with gaps that stay as they were; who computes what; the same bits ten times;
 * failures of each operation at each of its calls. With a number as argument: so many layouts, of all types,
 * by whatever children the models choose, which takes compilers a while; and with names of devices behind it
 * ("cuda:0,cuda:1"), on these. */
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/log.h"
#include "core/random.h"
#include "core/status.h"
#include "device/device_open.h"
#include "device/memory_pool.h"
#include "fake/buffers.h"
#include "fake/by_hand.h"
#include "fake/fake.h"
#include "planner/subplan_choice.h"
#include "strategy/gemm/composite/several/several.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"
#include "strategy/support.h"

static tsl_devices *devices;
static tsl_device *mixed, *fakes, *three;
static const char *named; /* devices to test in place of fakes and what every machine has; NULL: none */

static int find_devices(void **state) {
  (void)state;
  if (named) {
    if (tsl_devices_create(&devices) != TESELA_OK || tsl_devices_find(devices, named, &mixed) != TESELA_OK)
      fail_msg("%s", tesela_last_error());
    assert_true(mixed->member_count > 1);
    three = fakes = mixed;
    return 0;
  }
  tesela_fake_inner("opencl:0");
  tesela_fake_hide(TSL_CAN_SHARED_MEMORY);
  tesela_fake_devices(2);
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "opencl:0,cpu", &mixed), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "fake:*", &fakes), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "fake:1,cpu,opencl:0", &three), TESELA_OK);
  return 0;
}

static int forget_devices(void **state) {
  (void)state;
  tsl_devices_destroy(devices);
  return *tesela_fake_live_text();
}

/* As if a device did a million multiply-adds a second, and the cpu twice as many. */
static double seconds_simply(const tsl_subplan_factory *self, const tsl_subplan_request *wish) {
  (void)self;
  return 1e-6 + tsl_problem_flops(wish->problem) / (wish->device->capabilities & TSL_CAN_HOST ? 4e6 : 2e6);
}
static tsl_subplan_factory simple; /* set in main() */

typedef struct drawing {
  uint64_t seed, index;
} drawing;

static int64_t below(drawing *random, int64_t end) {
  return (int64_t)(tsl_random_u64(random->seed, random->index++) % (uint64_t)end);
}

/* --- a product whose operands lie here and there --- */

enum { MOST = 30 }; /* pieces of an operand */

typedef struct scattered {
  tsl_problem problem;
  tsl_device *group;
  tsl_sharding spread;
  tsl_shard holds[TSL_OPERANDS][MOST];
  tsl_shard_buffer held[TSL_OPERANDS][MOST];
  unsigned char *whole[TSL_OPERANDS], *expected; /* dense, on the host; C from before the run */
  unsigned char *before[MOST];                   /* what C's buffers hold */
} scattered;

static size_t size_of(const scattered *s, int operand) {
  return tsl_type(tsl_problem_shape(&s->problem, operand)->type)->size;
}

static size_t bytes_of(const scattered *s, int operand) {
  const tsl_shape *shape = tsl_problem_shape(&s->problem, operand);
  return (size_t)(shape->rows * shape->cols) * size_of(s, operand);
}

static int64_t extent(const tsl_shard *hold) {
  return hold->at.rows * hold->at.cols == 0
             ? 0
             : (hold->at.rows - 1) * hold->row_stride + (hold->at.cols - 1) * hold->col_stride + 1;
}

/* Small whole numbers, whose products every type has exactly. */
static void make_numbers(scattered *s, drawing *random) {
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tsl_shape *shape = tsl_problem_shape(&s->problem, i);
    const tsl_type_info *type = tsl_type(shape->type);
    const int64_t components = shape->rows * shape->cols * (type->is_complex ? 2 : 1);
    const bool unread = i == TSL_OPERAND_C && !tsl_problem_reads(&s->problem, i);
    s->whole[i] = malloc(bytes_of(s, i) + 1);
    assert_non_null(s->whole[i]);
    memset(s->whole[i], 0xff, bytes_of(s, i)); /* NaN */
    for (int64_t e = 0; e < components && !unread; e++) {
      const double number = (double)(below(random, 5) - 2);
      tsl_type_convert(TESELA_F64, &number, 1, type->component,
                       s->whole[i] + e * (int64_t)tsl_type(type->component)->size, 1, 1);
    }
  }
}

/* Computes the expected C by the specification's strategy on the host. */
static void expect(scattered *s) {
  const tsl_strategy *strategy = tsl_strategy_specification(TSL_OP_GEMM);
  const tsl_config config = tsl_strategy_defaults(strategy);
  tsl_device *cpu;
  tsl_plan *plan;
  s->expected = malloc(bytes_of(s, TSL_OPERAND_C) + 1);
  memcpy(s->expected, s->whole[TSL_OPERAND_C], bytes_of(s, TSL_OPERAND_C));
  assert_int_equal(tsl_devices_find(devices, "cpu", &cpu), TESELA_OK);
  assert_int_equal(tsl_planner_create(&s->problem, strategy, &config, cpu, TSL_PLACE_HOST, &plan), TESELA_OK);
  const tsl_operands operands = {
      .a.host = s->whole[TSL_OPERAND_A], .b.host = s->whole[TSL_OPERAND_B], .c.host = s->expected};
  assert_int_equal(tsl_plan_run(plan, &operands, NULL), TESELA_OK);
  tsl_plan_destroy(plan);
}

/* Cuts a side in up to three; ends[0] = 0. */
static int cut_side(drawing *random, int64_t size, int64_t ends[4]) {
  int count = 0;
  ends[0] = 0;
  for (int i = 0; i < 2; i++) {
    const int64_t at = ends[count] + below(random, size - ends[count] + 1);
    if (at > ends[count] && at < size)
      ends[++count] = at;
  }
  ends[++count] = size;
  return count;
}

/* A grid of pieces, each on any member; `member` >= 0: all on that one, whole. */
static void lay(scattered *s, drawing *random, int operand, int member) {
  const tsl_shape *shape = tsl_problem_shape(&s->problem, operand);
  int64_t rows[4], cols[4];
  const bool by_rows = below(random, 2) == 0;
  const int row_count = cut_side(random, shape->rows, rows), col_count = cut_side(random, shape->cols, cols);
  s->spread.holds[operand] = s->holds[operand];
  for (int i = 0; i < (member >= 0 ? 1 : row_count); i++)
    for (int j = 0; j < (member >= 0 ? 1 : col_count); j++) {
      tsl_shard *hold = &s->holds[operand][s->spread.counts[operand]++];
      *hold = (tsl_shard){.at = {rows[i], rows[i + 1] - rows[i], cols[j], cols[j + 1] - cols[j]},
                          .member = (int)below(random, s->group->member_count)};
      if (member >= 0) {
        hold->at = (tsl_rect){0, shape->rows, 0, shape->cols};
        hold->member = member;
      }
      hold->row_stride = by_rows ? hold->at.cols + below(random, 3) : 1;
      hold->col_stride = by_rows ? 1 : hold->at.rows + below(random, 3);
    }
  if (tsl_sharding_check(&s->spread, operand, shape, "it") != TESELA_OK)
    fail_msg("%s", tesela_last_error());
}

/* Elements of a piece between the whole matrix and an image of its buffer. */
static void to_image(const scattered *s, int operand, int piece, const unsigned char *whole,
                     unsigned char *image) {
  const tsl_shard *hold = &s->holds[operand][piece];
  const int64_t size = (int64_t)size_of(s, operand), width = tsl_problem_shape(&s->problem, operand)->cols;
  for (int64_t i = 0; i < hold->at.rows; i++)
    for (int64_t j = 0; j < hold->at.cols; j++)
      memcpy(image + (s->held[operand][piece].offset + i * hold->row_stride + j * hold->col_stride) * size,
             whole + ((hold->at.row + i) * width + hold->at.col + j) * size, (size_t)size);
}

static void transfer(tsl_buffer *buffer, void *image, bool in) {
  const tsl_device_ops *ops = buffer->device->ops;
  tsl_stream *stream;
  assert_int_equal(ops->stream_create(buffer->device, &stream), TESELA_OK);
  assert_int_equal(in ? tsl_device_write(stream, buffer, 0, image, buffer->bytes)
                      : tsl_device_read(stream, buffer, 0, image, buffer->bytes),
                   TESELA_OK);
  assert_int_equal(ops->finish(stream), TESELA_OK);
  ops->stream_destroy(stream);
}

static void place(scattered *s, drawing *random, int operand) {
  for (int i = 0; i < s->spread.counts[operand]; i++) {
    tsl_device *device = s->group->members[s->holds[operand][i].member];
    tsl_shard_buffer *held = &s->held[operand][i];
    held->offset = below(random, 4);
    const size_t bytes = (size_t)(held->offset + extent(&s->holds[operand][i]) + 2) * size_of(s, operand);
    unsigned char *image = malloc(bytes);
    memset(image, 0xff, bytes);
    to_image(s, operand, i, s->whole[operand], image);
    assert_int_equal(tsl_device_open(device), TESELA_OK);
    assert_int_equal(device->ops->buffer_create(device, bytes, &held->buffer), TESELA_OK);
    transfer(held->buffer, image, true);
    if (operand == TSL_OPERAND_C)
      s->before[i] = image;
    else
      free(image);
  }
}

/* Puts C back, runs, and compares all bytes of its buffers, if it went well. */
static tesela_status run_scattered(tsl_plan *plan, scattered *s) {
  const tsl_operands operands = {.a.shards = s->held[TSL_OPERAND_A],
                                 .b.shards = s->held[TSL_OPERAND_B],
                                 .c.shards = s->held[TSL_OPERAND_C]};
  for (int i = 0; i < s->spread.counts[TSL_OPERAND_C]; i++)
    transfer(s->held[TSL_OPERAND_C][i].buffer, s->before[i], true);
  return tsl_plan_run(plan, &operands, NULL);
}

/* All bytes, but that zeros have any sign. */
static bool same(tesela_type type, const unsigned char *a, const unsigned char *b, size_t bytes) {
  const size_t size = tsl_type(type)->size;
  for (size_t at = 0; at < bytes; at += size) {
    double numbers[2];
    tsl_type_convert(type, a + at, 1, TESELA_F64, &numbers[0], 1, 1);
    tsl_type_convert(type, b + at, 1, TESELA_F64, &numbers[1], 1, 1);
    if (memcmp(a + at, b + at, size) != 0 && (numbers[0] != 0 || numbers[1] != 0))
      return false;
  }
  return true;
}

static void compare(tsl_plan *plan, scattered *s) {
  const tesela_type component = tsl_type(s->problem.c.type)->component;
  for (int i = 0; i < s->spread.counts[TSL_OPERAND_C]; i++) {
    tsl_buffer *buffer = s->held[TSL_OPERAND_C][i].buffer;
    unsigned char *image = malloc(buffer->bytes), *right = malloc(buffer->bytes);
    memcpy(right, s->before[i], buffer->bytes);
    to_image(s, TSL_OPERAND_C, i, s->expected, right);
    transfer(buffer, image, false);
    if (!same(component, image, right, buffer->bytes))
      fail_msg("piece %d of C is wrong: %s", i, plan->text);
    free(image);
    free(right);
  }
}

static void must_scattered(tsl_plan *plan, scattered *s) {
  if (run_scattered(plan, s) != TESELA_OK)
    fail_msg("%s: %s", plan->text, tesela_last_error());
  compare(plan, s);
}

static void forget(scattered *s) {
  for (int operand = 0; operand < TSL_OPERANDS; operand++) {
    for (int i = 0; i < s->spread.counts[operand]; i++) {
      tsl_buffer *buffer = s->held[operand][i].buffer;
      buffer->device->ops->buffer_destroy(buffer);
    }
    free(s->whole[operand]);
  }
  for (int i = 0; i < s->spread.counts[TSL_OPERAND_C]; i++)
    free(s->before[i]);
  free(s->expected);
}

static const tsl_types types[] = {
    {TESELA_F32, TESELA_F32, TESELA_F32},   {TESELA_F64, TESELA_F64, TESELA_F64},
    {TESELA_BF16, TESELA_BF16, TESELA_F32}, {TESELA_C64, TESELA_C64, TESELA_C64},
    {TESELA_I8, TESELA_I8, TESELA_I32},     {TESELA_F16, TESELA_F16, TESELA_F16},
    {TESELA_BF16, TESELA_BF16, TESELA_BF16}};
static int type_count = 2; /* types that the simple kernel supports */
static uint64_t layouts = 60;

/* `on_one` >= 0: all operands whole on that member. */
static void scatter(scattered *s, uint64_t seed, const tsl_types *list, tsl_device *group, int on_one) {
  drawing random = {.seed = seed};
  *s = (scattered){.group = group};
  s->problem = tsl_problem_gemm(1 + below(&random, 70), 1 + below(&random, 70),
                                seed % 17 == 16 ? 0 : 1 + below(&random, 40), TESELA_F32);
  s->problem.a.type = list->a;
  s->problem.b.type = list->b;
  s->problem.c.type = list->c;
  s->problem.alpha[0] = seed % 11 == 10 ? 0 : seed % 3 == 0 ? 1 : -2;
  s->problem.beta[0] = (double)(seed % 5 > 2 ? 2 : seed % 5 == 2);
  make_numbers(s, &random);
  expect(s);
  for (int i = 0; i < TSL_OPERANDS; i++) {
    lay(s, &random, i, on_one);
    place(s, &random, i);
  }
}

static tsl_config config_of(const scattered *s, int cut, int64_t slab) {
  tsl_config config = tsl_strategy_defaults(tsl_strategy_find(TSL_OP_GEMM, "several"));
  const int64_t size = cut == SEVERAL_ROWS ? s->problem.m : s->problem.n;
  config.value[SEVERAL_CUT] = cut;
  config.value[SEVERAL_SLAB] = slab;
  if (cut == SEVERAL_ROWS || cut == SEVERAL_COLS) {
    config.value[SEVERAL_PART] = size / 2;
    config.value[SEVERAL_PART + s->group->member_count - 1] = size - size / 2;
  }
  return config;
}

static tsl_plan *plan_of_scattered(const scattered *s, const tsl_config *config) {
  tsl_plan *plan;
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "several");
  const tsl_plan_options options = {.children = &simple, .spread = &s->spread};
  if (tsl_plan_create(&s->problem, strategy, config, s->group, TSL_PLACE_PIECES, &options, &plan) !=
      TESELA_OK)
    fail_msg("%s", tesela_last_error());
  return plan;
}

static void test_layouts(void **state) {
  (void)state;
  tsl_device *const groups[] = {mixed, fakes, three};
  for (uint64_t seed = 0; seed < layouts; seed++) {
    scattered s;
    scatter(&s, seed, &types[seed % (uint64_t)type_count], groups[seed / 7 % 3],
            seed % 8 == 7 ? (int)(seed / 8 % 2) : -1);
    const tsl_config config =
        config_of(&s, (int)(seed / 2 % 4), seed % 6 == 5 ? 0 : 700 + 300 * (int64_t)(seed % 5));
    tsl_plan *plan = plan_of_scattered(&s, &config);
    must_scattered(plan, &s);
    if (seed % 3 == 0)
      must_scattered(plan, &s); /* C is what the first run left */
    tsl_plan_destroy(plan);
    forget(&s);
  }
}

/* --- division of work --- */

/* Each element of C belongs to one device. Where every device holds a part of C, each computes its
 * part and sends no result. Operands on one device are divided among all devices, and links carry
 * the missing parts. */
static void test_shares(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 12; seed++) {
    scattered s;
    tsl_subplan_info share;
    int64_t elements = 0;
    scatter(&s, 3 * seed, &types[0], fakes, seed % 2 ? 0 : -1);
    const bool all_hold = tsl_several_all_hold(&s.spread, 2);
    const tsl_config config = config_of(&s, 0, 0);
    tsl_plan *plan = plan_of_scattered(&s, &config);
    assert_int_equal(plan->place, TSL_PLACE_PIECES);
    assert_non_null(strstr(plan->text, " place=pieces "));
    assert_true(all_hold == (strstr(plan->text, "cut=3") != NULL));
    for (int i = 0; tsl_plan_share(plan, i, &share); i++) {
      double in = 0, out = 0;
      elements += share.rows * share.cols;
      for (int l = 0; l < share.link_count; l++) {
        in += share.links[l].in_bytes;
        out += share.links[l].out_bytes;
        assert_true(share.links[l].rate > 0);
        assert_string_not_equal(share.links[l].device, share.device);
      }
      assert_true(in == share.in_bytes && out == share.out_bytes);
      if (all_hold)
        assert_true(out == 0);
      else if (seed % 2 && strcmp(share.device, "fake:0") == 0)
        assert_true(in == 0 && out == 0);
      else if (seed % 2)
        assert_true(out == (double)(4 * share.rows * share.cols));
    }
    assert_int_equal(elements, s.problem.m * s.problem.n);
    tsl_plan *parsed;
    assert_int_equal(tsl_planner_parse(devices, plan->text, &parsed), TESELA_BAD_INPUT);
    assert_non_null(strstr(tesela_last_error(), "place=pieces"));
    tsl_plan_destroy(plan);
    forget(&s);
  }
}

static void test_refusals(void **state) {
  (void)state;
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "several");
  const tsl_problem problem = tsl_problem_gemm(20, 20, 20, TESELA_F32);
  tsl_config config = tsl_strategy_defaults(strategy);
  tsl_plan *plan;
  config.value[SEVERAL_CUT] = SEVERAL_HOLDERS;
  assert_int_equal(tsl_planner_create(&problem, strategy, &config, mixed, TSL_PLACE_HOST, &plan),
                   TESELA_UNSUPPORTED);
  assert_non_null(strstr(tesela_last_error(), "cut=3 is for operands in pieces"));
  config.value[SEVERAL_PART] = 20;
  assert_non_null(strstr(tsl_strategy_refuse(strategy, &problem, &config, mixed), "it has no parts"));
  assert_non_null(strstr(tsl_plan_refuse(&problem, tsl_strategy_find(TSL_OP_GEMM, "element"),
                                         &(tsl_config){{0}}, mixed, TSL_PLACE_PIECES),
                         "not in pieces"));
}

/* --- bits and failures --- */

static void test_bits(void **state) {
  (void)state;
  tsl_device *const groups[] = {mixed, three};
  for (int g = 0; g < 2; g++) {
    scattered s;
    scatter(&s, 5, &types[0], groups[g], -1);
    float *fractions = (float *)(void *)s.whole[TSL_OPERAND_A];
    for (int64_t i = 0; i < s.problem.m * s.problem.k; i++)
      fractions[i] = 1 / (float)(i + 3);
    for (int i = 0; i < s.spread.counts[TSL_OPERAND_A]; i++) {
      tsl_buffer *buffer = s.held[TSL_OPERAND_A][i].buffer;
      unsigned char *image = calloc(1, buffer->bytes);
      to_image(&s, TSL_OPERAND_A, i, s.whole[TSL_OPERAND_A], image);
      transfer(buffer, image, true);
      free(image);
    }
    const tsl_config config = config_of(&s, SEVERAL_ROWS, 900);
    tsl_plan *plan = plan_of_scattered(&s, &config);
    unsigned char *first[MOST], *now;
    for (int run = 0; run < 10; run++) {
      assert_int_equal(run_scattered(plan, &s), TESELA_OK);
      for (int i = 0; i < s.spread.counts[TSL_OPERAND_C]; i++) {
        tsl_buffer *buffer = s.held[TSL_OPERAND_C][i].buffer;
        now = malloc(buffer->bytes);
        transfer(buffer, now, false);
        if (run == 0)
          first[i] = now;
        assert_memory_equal(now, first[i], buffer->bytes);
        if (run > 0)
          free(now);
      }
    }
    for (int i = 0; i < s.spread.counts[TSL_OPERAND_C]; i++)
      free(first[i]);
    tsl_plan_destroy(plan);
    forget(&s);
  }
}

/* Whatever fails, at whichever call: a sentence, no result that is not one, and a later run that is right. */
static void test_failures(void **state) {
  static const tesela_fake_operation operations[] = {
      TESELA_FAKE_ALLOCATION, TESELA_FAKE_LAUNCH, TESELA_FAKE_COPY_IN, TESELA_FAKE_COPY_OUT,
      TESELA_FAKE_STREAM,     TESELA_FAKE_EVENT,  TESELA_FAKE_FINISH};
  (void)state;
  for (size_t o = 0; o < sizeof operations / sizeof *operations; o++) {
    scattered s;
    bool failed = true;
    int failures = 0;
    scatter(&s, 4, &types[0], fakes, -1);
    const tsl_config config = config_of(&s, SEVERAL_COLS, 1500);
    for (int nth = 1; failed; nth += 1 + nth / 8) {
      tsl_plan *plan = plan_of_scattered(&s, &config);
      const tsl_operands operands = {.a.shards = s.held[TSL_OPERAND_A],
                                     .b.shards = s.held[TSL_OPERAND_B],
                                     .c.shards = s.held[TSL_OPERAND_C]};
      (void)tsl_pooled_buffers_destroy(fakes->members[1]);
      tesela_fake_reset();
      tesela_fake_only(1);
      tesela_fake_fail(operations[o], nth);
      const tesela_status status = tsl_plan_run(plan, &operands, NULL);
      failed = tesela_fake_failures() > 0;
      failures += failed;
      assert_true(failed == (status != TESELA_OK));
      if (failed && !strstr(tesela_last_error(), "on demand"))
        fail_msg("%s number %d: %s", tesela_fake_name(operations[o]), nth, tesela_last_error());
      if (failed && operations[o] == TESELA_FAKE_LAUNCH) {
        assert_int_equal(status, TESELA_DEVICE_FAILED);
        assert_non_null(strstr(tesela_last_error(), "the part of fake:1, without which C is lost"));
      }
      tesela_fake_reset();
      tesela_fake_only(-1);
      must_scattered(plan, &s);
      tsl_plan_destroy(plan);
    }
    assert_true(failures > 0);
    forget(&s);
  }
}

/* Devices cache a run's memory: the next run of the same or another plan allocates none, and makes
 * fewer streams. */
static void test_kept(void **state) {
  (void)state;
  scattered s;
  scatter(&s, 4, &types[0], fakes, -1);
  const tsl_config config = config_of(&s, SEVERAL_COLS, 1500);
  int streams[4]; /* including the streams of the test's own copies */
  tsl_plan *plans[2] = {plan_of_scattered(&s, &config), plan_of_scattered(&s, &config)};
  for (int i = 0; i < 2; i++)
    (void)tsl_pooled_buffers_destroy(fakes->members[i]);
  for (int run = 0; run < 4; run++) {
    tesela_fake_reset();
    must_scattered(plans[run % 2], &s);
    assert_int_equal(tesela_fake_calls(TESELA_FAKE_ALLOCATION) > 0, run == 0);
    streams[run] = tesela_fake_calls(TESELA_FAKE_STREAM);
  }
  assert_true(streams[0] > streams[2] && streams[1] == streams[0] && streams[3] == streams[2]);
  for (int i = 0; i < 2; i++) {
    tsl_plan_destroy(plans[i]);
    assert_true(tsl_pooled_buffers_destroy(fakes->members[i]));
    assert_false(tsl_pooled_buffers_destroy(fakes->members[i]));
  }
  forget(&s);
}

/* Where beta is 0, another device computes the part of a failed device, for any failing call. The
 * failed device's operands must still be readable and writable. Later runs do not try the failed
 * device again. */
static void test_replaced(void **state) {
  static const tesela_fake_operation operations[] = {TESELA_FAKE_LAUNCH,   TESELA_FAKE_COPY_IN,
                                                     TESELA_FAKE_COPY_OUT, TESELA_FAKE_COPY_ON,
                                                     TESELA_FAKE_EVENT,    TESELA_FAKE_FINISH};
  tsl_device *const groups[] = {fakes, three};
  (void)state;
  for (size_t o = 0; o < sizeof operations / sizeof *operations; o++)
    for (int g = 0; g < 4; g++) {
      const tesela_fake_operation operation = operations[o];
      scattered s;
      bool failed = true;
      int replaced = 0;
      scatter(&s, g < 2 ? 20 : 25, &types[0], groups[g % 2], -1);
      assert_true(s.problem.beta[0] == 0 && s.problem.k > 0);
      const tsl_config config = config_of(&s, g < 2 ? SEVERAL_ROWS : SEVERAL_HOLDERS, 1500);
      for (int nth = 1; failed; nth += 1 + nth / 8) {
        tsl_plan *plan = plan_of_scattered(&s, &config);
        const tsl_operands operands = {.a.shards = s.held[TSL_OPERAND_A],
                                       .b.shards = s.held[TSL_OPERAND_B],
                                       .c.shards = s.held[TSL_OPERAND_C]};
        tesela_fake_reset();
        tesela_fake_only(1);
        tesela_fake_fail(operation, nth);
        const tesela_status status = tsl_plan_run(plan, &operands, NULL);
        failed = tesela_fake_failures() > 0;
        tesela_fake_reset();
        if (status != TESELA_OK) {
          /* The failure also hit another device's copy, or no device was left. A launch concerns
           * its own device only. */
          assert_true(failed && operation != TESELA_FAKE_LAUNCH);
          assert_non_null(strstr(tesela_last_error(), "on demand"));
        } else {
          const char *note = tsl_plan_note(plan);
          compare(plan, &s);
          assert_true(failed || !note);
          replaced += note != NULL;
          if (operation == TESELA_FAKE_LAUNCH && failed) {
            assert_non_null(note);
            assert_non_null(strstr(note, "fake:1 failed, and "));
            assert_non_null(strstr(note, "on demand"));
            /* It would fail again. */
            tesela_fake_fail_from(TESELA_FAKE_LAUNCH, 1);
            must_scattered(plan, &s);
            assert_int_equal(tesela_fake_failures(), 0);
          }
        }
        tesela_fake_reset();
        must_scattered(plan, &s);
        tsl_plan_destroy(plan);
      }
      tesela_fake_only(-1);
      if (operation == TESELA_FAKE_LAUNCH || operation == TESELA_FAKE_FINISH)
        assert_true(replaced > 0);
      forget(&s);
    }
}

/* A replacement may fail too: the next device takes over. Where no device is left, the first error
 * is returned. */
static void test_replaced_again(void **state) {
  scattered s;
  (void)state;
  scatter(&s, 20, &types[0], fakes, -1);
  const tsl_config config = config_of(&s, SEVERAL_ROWS, 1500);
  tsl_plan *plan = plan_of_scattered(&s, &config);
  tesela_fake_reset();
  tesela_fake_only(1);
  tesela_fake_fail_from(TESELA_FAKE_LAUNCH, 1);
  must_scattered(plan, &s);
  assert_non_null(strstr(tsl_plan_note(plan), "fake:1 failed, and fake:0 computed its part"));
  tesela_fake_only(-1);
  assert_int_equal(run_scattered(plan, &s), TESELA_DEVICE_FAILED); /* both fail now */
  assert_non_null(strstr(tesela_last_error(), "the part of fake:0, without which C is lost: "));
  tesela_fake_reset();
  tesela_fake_only(0);
  /* fails one of fake:0's two parts, before any other device has worked */
  tesela_fake_fail(TESELA_FAKE_LAUNCH, 1);
  (void)run_scattered(plan, &s);
  tesela_fake_reset();
  tesela_fake_only(-1);
  must_scattered(plan, &s);
  tsl_plan_destroy(plan);
  forget(&s);
}

/* --- a factor that stays --- */

/* Makes residue_int8, which prepares its factors. The integer products that residue_int8 itself
 * makes as its children get any strategy. */
static tesela_status make_residues(const tsl_subplan_factory *self, const tsl_subplan_request *wish,
                                   tsl_subplan **child) {
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "residue_int8");
  const tsl_config config = tsl_strategy_defaults(strategy);
  tsl_plan *plan;
  if (wish->problem->c.type == TESELA_I32) {
    tsl_subplan_factory any = tsl_subplans_by_models();
    any.on_trial = true;
    return any.make(&any, wish, child);
  }
  TSL_TRY(tsl_plan_create(wish->problem, strategy, &config, wish->device, TSL_PLACE_DEVICE,
                          &(tsl_plan_options){.children = self}, &plan));
  *child = plan;
  return TESELA_OK;
}

/* Runs the plan with a log and returns the number of tiles that prepared a factor. The log marks
 * tiles that reused a prepared factor. */
static int prepared_in(tsl_plan *plan, scattered *s) {
  char line[400];
  FILE *file = tmpfile();
  const int usual = dup(STDERR_FILENO);
  int prepared = 0;
  assert_true(file && usual >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
  setenv("TESELA_LOG", "calls", 1);
  tsl_log_reload();
  const tesela_status status = run_scattered(plan, s);
  unsetenv("TESELA_LOG");
  tsl_log_reload();
  dup2(usual, STDERR_FILENO);
  close(usual);
  assert_int_equal(status, TESELA_OK);
  compare(plan, s);
  rewind(file);
  while (fgets(line, sizeof line, file)) {
    int tiles, as_before;
    const char *said = strstr(line, " computed ");
    if (said && sscanf(said, " computed %d tiles, %d with A as prepared", &tiles, &as_before) == 2)
      prepared += tiles - as_before;
  }
  fclose(file);
  return prepared;
}

static void hold(scattered *s, int operand, int member, tsl_rect rect) {
  s->spread.holds[operand] = s->holds[operand];
  s->holds[operand][s->spread.counts[operand]++] =
      (tsl_shard){.at = rect, .member = member, .row_stride = rect.cols, .col_stride = 1};
}

/* Distributes C by equal rows. A is distributed so too and B by columns, or both are on the first
 * device. Then the second device's part of A comes to one buffer, in two blocks. */
static void scatter_for_stays(scattered *s, bool on_first) {
  enum { SIDE = 64, COLS = 96, TERMS = 40 };
  drawing random = {.seed = 3};
  *s = (scattered){.group = fakes, .problem = tsl_problem_gemm(SIDE, COLS, TERMS, TESELA_F32)};
  make_numbers(s, &random);
  expect(s);
  for (int i = 0; i < 2; i++) {
    hold(s, TSL_OPERAND_A, on_first ? 0 : i, (tsl_rect){32 * i, 32, 0, TERMS});
    hold(s, TSL_OPERAND_B, on_first ? 0 : i, (tsl_rect){0, TERMS, 48 * i, 48});
    hold(s, TSL_OPERAND_C, on_first ? 1 : i, (tsl_rect){32 * i, 32, 0, COLS});
  }
  for (int i = 0; i < TSL_OPERANDS; i++)
    place(s, &random, i);
}

/* Other numbers of A, in the same buffers. */
static void change_a(scattered *s) {
  float *numbers = (float *)(void *)s->whole[TSL_OPERAND_A];
  for (int64_t i = 0; i < s->problem.m * s->problem.k; i++)
    numbers[i] = (float)((i + (int64_t)numbers[i] + 2) % 5 - 2);
  free(s->expected);
  memset(s->whole[TSL_OPERAND_C], 0xff, bytes_of(s, TSL_OPERAND_C));
  expect(s);
  for (int i = 0; i < s->spread.counts[TSL_OPERAND_A]; i++) {
    tsl_buffer *buffer = s->held[TSL_OPERAND_A][i].buffer;
    unsigned char *image = calloc(1, buffer->bytes);
    to_image(s, TSL_OPERAND_A, i, s->whole[TSL_OPERAND_A], image);
    transfer(buffer, image, true);
    free(image);
  }
}

/* All tiles of a block but the first one have A as that prepared it, and never that of another block, or of
 * another run. */
static void test_stays(void **state) {
  (void)state;
  simple.make = make_residues;
  for (int on_first = 0; on_first < 2; on_first++) {
    scattered s;
    scatter_for_stays(&s, on_first);
    const tsl_config config = config_of(&s, SEVERAL_HOLDERS, 40 * 4 * 16);
    tsl_plan *plan = plan_of_scattered(&s, &config);
    for (int run = 0; run < 3; run++) {
      assert_int_equal(prepared_in(plan, &s), 2); /* there are two blocks */
      change_a(&s);
    }
    tsl_plan_destroy(plan);
    forget(&s);
  }
  simple.make = make_simple;
}

/* The device that replaces a failed device prepares A itself. In the next run, so does a device
 * whose launch failed. */
static void test_stays_where_one_fails(void **state) {
  (void)state;
  scattered s;
  bool failed = true;
  int replaced = 0;
  simple.make = make_residues;
  scatter_for_stays(&s, false);
  const tsl_config config = config_of(&s, SEVERAL_HOLDERS, 40 * 4 * 16);
  for (int nth = 1; failed; nth += 1 + nth / 3) {
    tsl_plan *plan = plan_of_scattered(&s, &config);
    tesela_fake_reset();
    tesela_fake_only(1);
    tesela_fake_fail(TESELA_FAKE_LAUNCH, nth);
    must_scattered(plan, &s);
    failed = tesela_fake_failures() > 0;
    assert_true(failed == (tsl_plan_note(plan) != NULL));
    replaced += failed;
    tesela_fake_reset();
    tesela_fake_only(-1);
    change_a(&s);
    assert_int_equal(prepared_in(plan, &s), 2);
    tsl_plan_destroy(plan);
  }
  assert_true(replaced > 5);
  forget(&s);
  simple.make = make_simple;
}

/* --- the view of a program --- */

/* Operands in buffers on one device, that several are named for. */
static void test_on_one(void **state) {
  (void)state;
  tesela_context *context;
  tesela_buffer *one;
  tesela_plan *plan;
  float numbers[64 * 64], c[64 * 64];
  const char *group = named ? named : "opencl:0,cpu", *first = named ? mixed->members[0]->name : "opencl:0";
  assert_int_equal(tesela_context_create(NULL, &context), TESELA_OK);
  buffers_for(context, first, &one, 3 * 4096);
  for (int i = 0; i < 4096; i++)
    numbers[i] = (float)(i % 5 - 2);
  assert_int_equal(tesela_buffer_write(one, 0, numbers, sizeof numbers), TESELA_OK);
  const tesela_gemm_desc desc = {.m = 64,
                                 .n = 64,
                                 .k = 64,
                                 .a = {.buffer = one},
                                 .b = {.buffer = one, .transpose = 1},
                                 .c = {.buffer = one, .offset = 4096},
                                 .options.device = group,
                                 .options.strategy = "several cut=1 part1=30 part2=34 slab=3000"};
  if (tesela_plan_create(context, &desc, &plan) != TESELA_OK ||
      tesela_plan_run(plan, &(tesela_operands){.a = &desc.a, .b = &desc.b, .c = &desc.c}, NULL) != TESELA_OK)
    fail_msg("%s", tesela_last_error());
  assert_int_equal(tesela_buffer_read(one, 4096 * 4, c, sizeof c), TESELA_OK);
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++) {
      float sum = 0;
      for (int l = 0; l < 64; l++)
        sum += numbers[i * 64 + l] * numbers[j * 64 + l];
      assert_true(c[i * 64 + j] == sum);
    }
  tesela_plan_destroy(plan);
  tesela_buffer_destroy(one);
  tesela_context_destroy(context);
}

int main(int count, char **arguments) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_layouts),
      cmocka_unit_test(test_shares),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_bits),
      cmocka_unit_test(test_failures),
      cmocka_unit_test(test_kept),
      cmocka_unit_test(test_replaced),
      cmocka_unit_test(test_replaced_again),
      cmocka_unit_test(test_on_one),
      cmocka_unit_test(test_stays),
      cmocka_unit_test(test_stays_where_one_fails),
  };
  const struct CMUnitTest real[] = {cmocka_unit_test(test_layouts), cmocka_unit_test(test_bits),
                                    cmocka_unit_test(test_on_one)};
  simple = tsl_subplans_by_models();
  simple.make = make_simple;
  simple.seconds = seconds_simply;
  named = count > 2 ? arguments[2] : NULL;
  if (count > 1) {
    layouts = strtoull(arguments[1], NULL, 10);
    type_count = sizeof types / sizeof *types;
    simple.make = tsl_subplans_by_models().make;
  }
  if (named) /* what needs no device that fails */
    return cmocka_run_group_tests(real, find_devices, forget_devices);
  tesela_fake_install();
  return cmocka_run_group_tests(tests, find_devices, forget_devices);
}
