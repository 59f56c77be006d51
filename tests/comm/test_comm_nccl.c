/* Products by ranks whose devices send to each other by NCCL. NCCL is a fake library
 * (false_nccl.c), and the devices are fake devices over the cpu. Results are exact, for operands in
 * buffers and in host memory. Failures are injected. A failure while ranks connect makes messages
 * pass through host memory, and is reported. A failure during a product is the same error on all
 * ranks, with the rank's number; C is unchanged, and the next product passes through host memory. */
#include "unit/unit.h"

#include "comm/cases.h"
#include "comm/comm_call.h"
#include "comm/comm_threads.h"
#include "comm/false_nccl.h"
#include "comm/gpu_transport_patch.h"
#include "comm/product.h"
#include "core/log.h"
#include "core/types.h"
#include "device/memory_pool.h"
#include "fake/fake.h"
#include "starved/starve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS_MOST = 4, PRODUCTS = 2, STEP = 29 };
static tesela_context *context;
static const tsl_links slow_ranks = {0, 2.5e9, 1e7};

/* The outcome of one rank's product. */
typedef struct outcome {
  char why[600], plan[sizeof((tesela_mpi_record *)0)->plan];
  tesela_status status;
} outcome;

typedef struct course {
  const comm_case *c;
  bool one_card;                   /* all ranks have the same one */
  tesela_fake_operation operation; /* that fails on rank 1's device in the first product, at the call `nth` */
  int nth;                         /* 0: none */
  int starve, starved;             /* the so manyth allocation of the first product fails; how many did */
  int products;                    /* one after the other, by the same ranks */
  bool counts;                     /* how often devices are asked for memory in each */
  int allocations[PRODUCTS + 1];
  outcome of[PRODUCTS][RANKS_MOST];
} course;

typedef struct calling {
  tsl_ranks *ranks;
  course *course;
  int product;
  tesela_status status;
} calling;

static void starve_now(course *o) {
  starve(o->starve, false);
}
static void starve_no_more(course *o) {
  o->starved = starve_end();
}

static void count_now(course *o) {
  o->allocations[PRODUCTS] = tesela_fake_calls(TESELA_FAKE_ALLOCATION);
}
static void count_until(course *o) {
  o->allocations[PRODUCTS] = tesela_fake_calls(TESELA_FAKE_ALLOCATION) - o->allocations[PRODUCTS];
}

/* Rank 0 does something between what all did before and what all do then. */
static void meet_and(const calling *c, void (*something)(course *o)) {
  double least;
  c->ranks->ops->least(c->ranks, 0, &least);
  if (c->ranks->rank == 0)
    something(c->course);
  c->ranks->ops->least(c->ranks, 0, &least);
}

static tesela_status multiply(void *user, const tesela_mpi_desc *desc, tesela_mpi_record *record) {
  calling *c = user;
  const bool fails = c->course->nth > 0 && c->ranks->rank == 1 && c->product == 0;
  if (fails)
    tesela_fake_fail(c->course->operation, c->course->nth);
  const bool starves = c->course->starve > 0 && c->product == 0;
  if (starves)
    meet_and(c, starve_now);
  if (c->course->counts)
    meet_and(c, count_now);
  c->status =
      tsl_ranks_gemm(c->ranks, context, desc, record, sizeof *desc, sizeof *desc->gemm, sizeof *record);
  if (starves)
    meet_and(c, starve_no_more);
  if (c->course->counts)
    meet_and(c, count_until);
  if (c->course->counts && c->ranks->rank == 0)
    c->course->allocations[c->product] = c->course->allocations[PRODUCTS];
  if (fails)
    tesela_fake_fail(c->course->operation, 0);
  return c->status;
}

static void body(tsl_ranks *ranks, void *user) {
  course *o = user;
  comm_case c = *o->c;
  char device[16];
  ranks->links = &slow_ranks;
  snprintf(device, sizeof device, "fake:%d", o->one_card ? 0 : ranks->rank);
  c.device = device;
  for (int product = 0; product < o->products; product++) {
    outcome *own = &o->of[product][ranks->rank];
    calling call = {ranks, o, product, TESELA_OK};
    tesela_mpi_record record = {.ranks = 0};
    const char *why = comm_case_run(&c, ranks->size, ranks->rank, multiply, &call, &record);
    snprintf(own->why, sizeof own->why, "%s", why ? why : "");
    snprintf(own->plan, sizeof own->plan, "%s", record.plan);
    own->status = call.status;
  }
}

static comm_case in_buffers(int number, int ranks) {
  comm_case c = comm_case_at(number, ranks);
  c.context = context;
  c.buffer_a = c.buffer_b = c.buffer_c = true;
  return c;
}

static void set(false_nccl_call fails, int nth) {
  false_nccl.fails = fails;
  false_nccl.nth = nth;
  false_nccl.failed = false_nccl.wrong = false_nccl.messages = 0;
}

static void nothing_is_left(void) {
  assert_int_equal(false_nccl.alive, 0);
  assert_int_equal(false_nccl.wrong, 0);
}

/* --- right --- */

static void all_are_right(const course *o, int product, int ranks) {
  for (int r = 0; r < ranks; r++)
    assert_string_equal(o->of[product][r].why, "");
}

static void cases_are_right(void **state) {
  static course o = {.products = 1};
  int sums = 0, panels = 0, tiled = 0;
  (void)state;
  for (int ranks = 2; ranks <= RANKS_MOST; ranks++)
    for (int number = ranks; number < comm_cases(); number += 4) {
      comm_case c = in_buffers(number, ranks);
      c.buffer_a = (number + ranks) % 5 != 0;
      c.buffer_b = (number + ranks) % 7 != 0;
      c.buffer_c = (number + number / 32) & 1;
      o.c = &c;
      set(FALSE_NCCL_NOTHING, 0);
      assert_int_equal(tsl_threads_run(ranks, body, &o), TESELA_OK);
      for (int r = 0; r < ranks; r++)
        if (o.of[0][r].why[0])
          fail_msg("case %d, rank %d of %d, buffers %d%d%d: %s", number, r, ranks, c.buffer_a, c.buffer_b,
                   c.buffer_c, o.of[0][r].why);
      const char *plan = o.of[0][0].plan, *way = strstr(plan, "; by NCCL 2.27.3: ");
      /* The plan's text names the operands that travelled. */
      assert_true(way || false_nccl.messages == 0);
      panels += way && (strstr(way, " A") || strstr(way, " B")) && false_nccl.messages > 0;
      sums += way && strstr(way, "sums") && false_nccl.messages > 0;
      tiled += way && strstr(plan, "tiles");
      nothing_is_left();
    }
  print_message("%d with panels, %d with sums, %d tile by tile\n", panels, sums, tiled);
  assert_true(panels > 30 && sums > 30 && tiled > 2);
}

/* No part of C is transferred, neither to ranks nor to host memory. Each rank owns the part of C that
 * it computes, alpha is 1 and beta is 0. */
static void c_stays(void **state) {
  static const tesela_type types[][2] = {{TESELA_F64, TESELA_F64},
                                         {TESELA_F32, TESELA_F32},
                                         {TESELA_C64, TESELA_C64},
                                         {TESELA_I8, TESELA_I32},
                                         {TESELA_BF16, TESELA_BF16}};
  static course o = {.products = PRODUCTS};
  int stay = 0, tiled = 0, added = 0;
  (void)state;
  for (int ranks = 2; ranks <= RANKS_MOST; ranks++)
    for (int i = ranks % 2; i < 48; i += 2) { /* an even number of ranks has the even ones */
      comm_case c = {.type = types[i % 5][0],
                     .type_c = types[i % 5][1],
                     .m = 96,
                     .n = 80,
                     .k = 40,
                     .a = i % 5 == 0 ? DEALT_CYCLIC : DEALT_BLOCKS,
                     .b = i % 7 == 0 ? DEALT_RECTANGLES : DEALT_BLOCKS,
                     .c = i / 4 % 3 == 1   ? DEALT_GRID
                          : i / 4 % 3 == 2 ? DEALT_CYCLIC
                                           : DEALT_BLOCKS,
                     .alpha = {i % 16 == 15 ? 2 : 1, 0},
                     .beta = {i % 16 == 14, 0},
                     .memory = i / 12 % 2 ? 12000 : 0,
                     .buffer_a = i % 3 != 0,
                     .buffer_b = true,
                     .buffer_c = i % 16 != 13,
                     .context = context};
      o.c = &c;
      set(FALSE_NCCL_NOTHING, 0);
      assert_int_equal(tsl_threads_run(ranks, body, &o), TESELA_OK);
      all_are_right(&o, 0, ranks);
      all_are_right(&o, 1, ranks);
      const bool stays = strstr(o.of[0][0].plan, "; C stays where it is made") != NULL;
      assert_true(!stays || (i % 16 < 13 && !strstr(o.of[0][0].plan, "sums")));
      stay += stays;
      tiled += stays && strstr(o.of[0][0].plan, "tiles");
      added += strstr(o.of[0][0].plan, "sums; added on the devices") != NULL;
      nothing_is_left();
    }
  print_message("%d whose C stays, %d of them tile by tile; %d added on the devices\n", stay, tiled, added);
  assert_true(stay > 20 && tiled > 0 && added > 20);
}

/* Devices keep the memory of panels and sums for the next call. */
static void takes_no_memory_twice(void **state) {
  static course o = {.products = PRODUCTS, .counts = true};
  (void)state;
  tsl_pooled_bytes_of_host = 1 << 30;
  for (int stays = 0; stays < 2; stays++) {
    comm_case c = in_buffers(32, 3);
    c.a = c.b = DEALT_BLOCKS;
    c.c = stays ? DEALT_BLOCKS : DEALT_CYCLIC;
    o.c = &c;
    set(FALSE_NCCL_NOTHING, 0);
    assert_int_equal(tsl_threads_run(3, body, &o), TESELA_OK);
    all_are_right(&o, 0, 3);
    all_are_right(&o, 1, 3);
    assert_non_null(strstr(o.of[0][0].plan, "NCCL"));
    print_message("%d allocations, then %d\n", o.allocations[0], o.allocations[1]);
    assert_int_equal(o.allocations[1], 0);
    assert_true(o.allocations[0] > 0 || stays);
    nothing_is_left();
  }
  tsl_pooled_bytes_of_host = 0;
}

/* Products that take longer than their messages and overlap the next messages: no message may
 * overwrite panels that are still multiplied. */
static void long_products(void **state) {
  static course o = {.products = 1};
  (void)state;
  for (int ranks = 2; ranks <= RANKS_MOST; ranks += 2)
    for (int i = 0; i < 2; i++) {
      comm_case c = {.type = i % 2 ? TESELA_F32 : TESELA_F64,
                     .type_c = i % 2 ? TESELA_F32 : TESELA_F64,
                     .m = 100,
                     .n = 90,
                     .k = 4000,
                     .c = i ? DEALT_CYCLIC : DEALT_BLOCKS,
                     .alpha = {1, 0},
                     .beta = {i, 0},
                     .buffer_a = true,
                     .buffer_b = true,
                     .buffer_c = true,
                     .context = context,
                     .strategy = "sequential"};
      o.c = &c;
      set(FALSE_NCCL_NOTHING, 0);
      assert_int_equal(tsl_threads_run(ranks, body, &o), TESELA_OK);
      all_are_right(&o, 0, ranks);
      assert_non_null(strstr(o.of[0][0].plan, " steps"));
      nothing_is_left();
    }
}

/* Four ranks own rows of all three matrices. A 2 x 2 grid would receive as many words as a 4 x 1
 * grid, but a part would be words of C, sent after the products. So the plan must choose 4 x 1. */
static void rows_stay_rows(void **state) {
  static course o = {.products = 1};
  (void)state;
  comm_case c = in_buffers(32, 4);
  c.a = c.b = c.c = DEALT_BLOCKS;
  c.transpose_a = c.transpose_b = c.transpose_c = false;
  c.m = c.n = c.k = 256;
  o.c = &c;
  set(FALSE_NCCL_NOTHING, 0);
  assert_int_equal(tsl_threads_run(4, body, &o), TESELA_OK);
  all_are_right(&o, 0, 4);
  if (!strstr(o.of[0][0].plan, "grid 4 x 1 x 1 of 4 ranks"))
    fail_msg("%s", o.of[0][0].plan);
  nothing_is_left();
}

/* Matrices whose blocks are short pass through host memory. */
static void short_blocks_stay(void **state) {
  static course o = {.products = 1};
  (void)state;
  const size_t least = tsl_gpu_copy_block_bytes_min;
  comm_case c = in_buffers(32, 4); /* 64 x 64 x 64 */
  o.c = &c;
  set(FALSE_NCCL_NOTHING, 0);
  tsl_gpu_copy_block_bytes_min = 1 << 20;
  assert_int_equal(tsl_threads_run(4, body, &o), TESELA_OK);
  tsl_gpu_copy_block_bytes_min = least;
  assert_string_equal(o.of[0][0].why, "");
  assert_null(strstr(o.of[0][0].plan, "NCCL"));
  assert_int_equal(false_nccl.messages, 0);
  nothing_is_left();
}

/* --- failures --- */

/* Text that a run wrote to stderr. */
static char log_text[32768];
static void run_logged(int ranks, course *o) {
  FILE *file = tmpfile();
  assert_non_null(file);
  fflush(stderr);
  setenv("TESELA_LOG", "plan", 1);
  tsl_log_reload();
  const int kept = dup(2);
  assert_true(kept >= 0 && dup2(fileno(file), 2) >= 0);
  const tesela_status status = tsl_threads_run(ranks, body, o);
  assert_true(dup2(kept, 2) >= 0);
  close(kept);
  unsetenv("TESELA_LOG");
  tsl_log_reload();
  rewind(file);
  log_text[fread(log_text, 1, sizeof log_text - 1, file)] = 0;
  fclose(file);
  assert_int_equal(status, TESELA_OK);
}

/* Fails each call that connects the ranks, on each rank in turn. */
static void ranks_that_cannot_meet(void **state) {
  static const struct {
    false_nccl_call fails;
    int calls;
    const char *says; /* after "through host memory: " */
  } failures[] = {
      {FALSE_NCCL_VERSION, 4, " have different versions of NCCL (2"},
      {FALSE_NCCL_VERSION_CALL, 4, "NCCL: ncclGetVersion: unhandled system error"},
      {FALSE_NCCL_ID, 1, "rank 0: NCCL: ncclGetUniqueId: unhandled system error: as the test wants it"},
      {FALSE_NCCL_JOIN, 4, "NCCL: ncclCommInitRankConfig: unhandled system error"},
      {FALSE_NCCL_JOIN_LATER, 4, "NCCL: messages: internal error"},
  };
  static course o = {.products = PRODUCTS};
  (void)state;
  comm_case c = in_buffers(32, 4);
  o.c = &c;
  for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
    for (int nth = 1; nth <= failures[i].calls; nth++) {
      set(failures[i].fails, nth);
      run_logged(4, &o);
      assert_int_equal(false_nccl.failed, 1);
      all_are_right(&o, 0, 4);
      all_are_right(&o, 1, 4);
      assert_null(strstr(o.of[0][0].plan, "NCCL"));
      assert_int_equal(false_nccl.messages, 0);
      const char *line = strstr(log_text, "ranks' messages pass through host memory: ");
      if (!line || !strstr(line, failures[i].says))
        fail_msg("failure %zu at call %d: the log says '%s'", i, nth, log_text);
      /* Once: the second product does not try again. */
      assert_null(strstr(line + 20, "pass through"));
      nothing_is_left();
    }
  /* One GPU for two ranks. */
  o.one_card = true;
  set(FALSE_NCCL_NOTHING, 0);
  run_logged(4, &o);
  all_are_right(&o, 0, 4);
  assert_non_null(strstr(log_text, "host memory: ranks 0 and 1 share a GPU (fake:0), but NCCL needs one"));
  o.one_card = false;
  /* Without any. */
  set(FALSE_NCCL_NOTHING, 0);
  run_logged(4, &o);
  all_are_right(&o, 0, 4);
  assert_non_null(strstr(log_text, "ranks' messages go from device to device by NCCL 2.27.3"));
  assert_null(strstr(log_text, "host memory"));
}

/* All ranks say the same: that some rank's call failed. */
static void failed_alike(const course *o, int ranks, tesela_status status, const char *says) {
  for (int r = 0; r < ranks; r++) {
    const outcome *own = &o->of[0][r];
    if (own->status != status || strncmp(own->why, "rank ", 5) != 0 || !strstr(own->why, says))
      fail_msg("rank %d says %s: %s", r, tesela_status_name(own->status), own->why);
    assert_string_equal(own->why, o->of[0][0].why);
  }
}

/* Fails each call that sends, receives or queries a message, in turn. */
static void messages_that_fail(void **state) {
  static const struct {
    false_nccl_call fails;
    const char *says;
  } failures[] = {
      {FALSE_NCCL_GROUP, "NCCL: ncclGroupStart: internal error: as the test wants it"},
      {FALSE_NCCL_SEND, "NCCL: ncclSend: unhandled system error"},
      {FALSE_NCCL_RECEIVE, "NCCL: ncclRecv: unhandled system error"},
      {FALSE_NCCL_GROUP_END, "NCCL: ncclGroupEnd: internal error"},
      {FALSE_NCCL_MESSAGE_LATER, "NCCL: messages: internal error"},
  };
  static course o = {.products = PRODUCTS};
  (void)state;
  comm_case c = in_buffers(32, 4);
  o.c = &c;
  for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
    int failed = 0;
    for (int nth = 1;; nth += nth < 5 ? 1 : 7) {
      set(failures[i].fails, nth);
      run_logged(4, &o);
      if (false_nccl.failed == 0)
        break; /* neither product has so many */
      if (o.of[0][0].status == TESELA_OK)
        continue; /* the second one's */
      failed_alike(&o, 4, TESELA_DEVICE_FAILED, failures[i].says);
      all_are_right(&o, 1, 4);
      assert_null(strstr(o.of[1][0].plan, "NCCL"));
      assert_non_null(strstr(log_text, "pass through host memory: messages between devices have failed"));
      nothing_is_left();
      failed++;
    }
    assert_true(failed > 3);
  }
}

/* Fails each operation of the device in turn: copies, events, allocations, streams. */
static void devices_that_fail(void **state) {
  static const tesela_fake_operation operations[] = {TESELA_FAKE_COPY_ON, TESELA_FAKE_EVENT,
                                                     TESELA_FAKE_ALLOCATION, TESELA_FAKE_STREAM};
  static course o = {.products = PRODUCTS};
  (void)state;
  comm_case travels = in_buffers(32, 3), stays = travels;
  stays.a = stays.b = stays.c = DEALT_BLOCKS;
  stays.transpose_a = stays.transpose_b = stays.transpose_c = stays.conjugate_a = stays.conjugate_b = false;
  stays.alpha[0] = 1;
  stays.alpha[1] = stays.beta[0] = stays.beta[1] = 0;
  stays.m = 96;
  stays.n = 80;
  stays.k = 40;
  stays.memory = 12000; /* in tiles, so that one may be stored before another one fails */
  const size_t count = sizeof operations / sizeof *operations;
  for (size_t which = 0; which < 2 * count; which++) {
    const size_t i = which % count;
    int alike = 0, lost = 0, step = 1;
    o.c = which < count ? &travels : &stays;
    for (int nth = 1;; nth += step, step = nth > 12 ? 7 + nth / 3 : 1) {
      tesela_fake_reset();
      tesela_fake_only(1);
      set(FALSE_NCCL_NOTHING, 0);
      o.operation = operations[i];
      o.nth = nth;
      run_logged(3, &o);
      if (tesela_fake_failures() == 0)
        break;
      for (int product = 0; product < PRODUCTS; product++)
        for (int r = 0; r < 3; r++) {
          const outcome *own = &o.of[product][r];
          assert_int_equal(own->status, o.of[product][0].status);
          if (own->status != TESELA_OK)
            assert_string_equal(own->why, o.of[product][0].why);
          else
            assert_string_equal(own->why, "");
          assert_true(product == 0 || own->status == TESELA_OK);
          alike += own->status != TESELA_OK;
          lost += strstr(own->why, "C is lost") != NULL;
        }
      nothing_is_left();
    }
    tesela_fake_reset();
    assert_true(alike > 0);
    assert_true(o.c != &stays || strstr(o.of[0][0].plan, "; C stays where it is made"));
    assert_true(o.c != &stays || operations[i] != TESELA_FAKE_COPY_ON || lost > 0);
    print_message("%s: %d failures, C lost by %d of them\n", tesela_fake_name(operations[i]), alike / 3,
                  lost / 3);
  }
  tesela_fake_only(-1);
  tesela_fake_reset();
}

/* Runs the products with each STEP-th allocation failing, from allocation `first` on. Counts the calls that
 * all ranks refuse, and the right results through host memory. */
static void starve_from(int first, course *o, int *refused, int *by_host) {
  o->starved = 1;
  for (o->starve = first; o->starved > 0; o->starve += STEP) {
    set(FALSE_NCCL_NOTHING, 0);
    assert_int_equal(tsl_threads_run(3, body, o), TESELA_OK);
    for (int product = 0; product < PRODUCTS; product++)
      for (int r = 0; r < 3; r++) {
        const outcome *own = &o->of[product][r];
        if (own->status != o->of[product][0].status || strcmp(own->why, o->of[product][0].why) != 0 ||
            (own->status == TESELA_OK) != (own->why[0] == 0))
          fail_msg("allocation %d, product %d: ranks 0 and %d say '%s' and '%s'", o->starve, product, r,
                   o->of[product][0].why, own->why);
        assert_true(product == 0 || own->status == TESELA_OK);
      }
    *refused += o->of[0][0].status != TESELA_OK;
    *by_host += o->of[0][0].status == TESELA_OK && !strstr(o->of[0][0].plan, "NCCL");
    nothing_is_left();
  }
}

/* Memory runs out, at one allocation after the other: a failure of all ranks, or a right result, by whichever
 * way. The ranks' threads share the count of allocations, so one sweep may miss the few that lead to host
 * memory: then other allocations fail. */
static void starved(void **state) {
  static course o = {.products = PRODUCTS};
  int refused = 0, by_host = 0;
  (void)state;
  comm_case c = in_buffers(32, 3);
  o.c = &c;
  for (int first = 1; first <= STEP && (refused <= 5 || by_host == 0); first++)
    starve_from(first, &o, &refused, &by_host);
  print_message("%d allocations: %d calls refused, %d through host memory\n", o.starve, refused, by_host);
  assert_true(refused > 5 && by_host > 0);
}

static int set_up(void **state) {
  (void)state;
  setenv("TESELA_NCCL", FALSE_NCCL_PATH, 1);
  tsl_gpu_copy_block_bytes_min = 1;
  tsl_ranks_product_cost = (tsl_ranks_product_costs){0, 1, 0.25};
  false_nccl.entered = tesela_fake_entered;
  tesela_fake_install();
  tesela_fake_inner("cpu");
  tesela_fake_cards(true);
  tesela_fake_devices(RANKS_MOST);
  return tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = 1}, &context) != TESELA_OK;
}

static int tear_down(void **state) {
  (void)state;
  tesela_context_destroy(context);
  assert_string_equal(tesela_fake_live_text(), "");
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cases_are_right),        cmocka_unit_test(c_stays),
      cmocka_unit_test(takes_no_memory_twice),  cmocka_unit_test(long_products),
      cmocka_unit_test(rows_stay_rows),         cmocka_unit_test(short_blocks_stay),
      cmocka_unit_test(ranks_that_cannot_meet), cmocka_unit_test(messages_that_fail),
      cmocka_unit_test(devices_that_fail),      cmocka_unit_test(starved)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
