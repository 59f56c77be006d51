/* Advice of the recorder: each kind for a product whose facts suggest it, and not without these facts. */

#include "unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/record.h"

/* A product of 512 x 512 x 512 in f64 without any fact, whose operands begin at pages. */
static tsl_recorded plain_product(void) {
  tsl_recorded recorded = {.row = {.key = {.size = {512, 512, 512},
                                           .ld = {520, 520, 520},
                                           .count = 1,
                                           .type = TESELA_F64,
                                           .sizes = 3,
                                           .layout = {'R', 'N', 'N'},
                                           .align = {12, 12, 12}},
                                   .name = "cblas_dgemm",
                                   .who = "tesela",
                                   .calls = 100,
                                   .seconds = 1,
                                   .samples = 8,
                                   .looks = 10},
                           .callers = 1,
                           .threads = 4,
                           .processors = 4};
  return recorded;
}

static void set_seen(tsl_calls_row *row, unsigned seen) {
  row->seen = seen;
}
static void transpose(tsl_calls_row *row) {
  set_seen(row, TSL_SEEN_TRANSPOSED);
}
static void make_triangular(tsl_calls_row *row) {
  set_seen(row, TSL_SEEN_B_UPPER);
}
static void make_symmetric(tsl_calls_row *row) {
  set_seen(row, TSL_SEEN_B_SYMMETRIC);
}
static void make_single(tsl_calls_row *row) {
  set_seen(row, TSL_SEEN_SINGLE);
}
static void follow(tsl_calls_row *row) {
  row->key.size[0] = row->key.size[1] = row->key.size[2] = 16;
  row->key.ld[0] = row->key.ld[1] = row->key.ld[2] = 16;
  row->followed = row->strided = 99;
  for (int i = 0; i < TSL_CALLS_OPERANDS; i++)
    row->distance[i] = (int64_t)16 * 16 * 8;
}
static void share(tsl_calls_row *row) {
  follow(row);
  row->same_b = 99;
  row->distance[1] = 0;
}
static void add_to_c(tsl_calls_row *row) {
  row->key.beta = 1;
  row->key.size[2] = 8;
  row->continued = 90;
}
static void shift_start(tsl_calls_row *row) {
  row->key.align[1] = 4;
}
static void meet_pages(tsl_calls_row *row) {
  row->key.ld[0] = 512;
}
static void call_at_once(tsl_calls_row *row) {
  row->others = 30;
}
static void stay(tsl_calls_row *row) {
  (void)row;
}

static const struct {
  tsl_advice_kind kind;
  void (*change)(tsl_calls_row *row);
} cases[] = {
    {TSL_ADVICE_TRANSPOSED, transpose},
    {TSL_ADVICE_TRIANGULAR, make_triangular},
    {TSL_ADVICE_SYMMETRIC, make_symmetric},
    {TSL_ADVICE_SINGLE, make_single},
    {TSL_ADVICE_BATCH, follow},
    {TSL_ADVICE_JOIN, share},
    {TSL_ADVICE_DEEPEN, add_to_c},
    {TSL_ADVICE_ALIGN, shift_start},
    {TSL_ADVICE_ALIGN, meet_pages},
    {TSL_ADVICE_THREADS, call_at_once},
    {TSL_ADVICE_ROUND, stay},
};

/* f32 is always a possibility for f64, unless its numbers are numbers of f32. */
static bool is_expected(size_t index, int kind) {
  const bool is_single = cases[index].kind == TSL_ADVICE_SINGLE;
  return kind == (int)cases[index].kind || (kind == TSL_ADVICE_ROUND && !is_single);
}

static void test_each_kind(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tsl_recorded recorded = plain_product();
    cases[i].change(&recorded.row);
    for (int kind = 0; kind < TSL_ADVICE_KINDS; kind++) {
      tsl_advice advice;
      if (tsl_advice_applies(&recorded, (tsl_advice_kind)kind, &advice) != is_expected(i, kind))
        fail_msg("case %zu: %s", i, tsl_advice_name((tsl_advice_kind)kind));
      if (is_expected(i, kind))
        assert_true(strlen(advice.text) > 10 && strlen(advice.text) < sizeof advice.text - 1);
    }
  }
}

/* Facts that contradict: other routines, sizes as ranges, batches, other types, and no samples. */
static void test_no_advice(void **state) {
  (void)state;
  for (int way = 0; way < 5; way++) {
    tsl_recorded recorded = plain_product();
    recorded.row.seen = TSL_SEEN_ALL;
    if (way == 0)
      strcpy(recorded.row.name, "cblas_dsyrk");
    if (way == 1)
      recorded.row.key.rounded = 1;
    if (way == 2)
      recorded.row.key.count = 7;
    if (way == 3)
      recorded.row.key.type = TESELA_F32;
    if (way == 4)
      recorded.row.samples = 0;
    for (int kind = 0; kind < TSL_ADVICE_KINDS; kind++) {
      tsl_advice advice;
      const bool is_structure = kind <= TSL_ADVICE_SYMMETRIC, is_type = kind == TSL_ADVICE_SINGLE;
      if (way == 3 ? is_type : way == 4 ? is_structure || is_type : true)
        assert_false(tsl_advice_applies(&recorded, (tsl_advice_kind)kind, &advice));
    }
  }
}

/* Threads fit: two callers with two threads on four processors. Calls that need an earlier C are no batch. */
static void test_limits(void **state) {
  (void)state;
  tsl_advice advice;
  tsl_recorded recorded = plain_product();
  recorded.row.others = 10;
  recorded.threads = 2;
  assert_false(tsl_advice_applies(&recorded, TSL_ADVICE_THREADS, &advice));
  recorded.row.others = 5; /* callers often wait for each other: one and a half with three threads fit */
  recorded.threads = 3;
  assert_false(tsl_advice_applies(&recorded, TSL_ADVICE_THREADS, &advice));
  recorded.row.others = 10;
  recorded.threads = 4;
  assert_true(tsl_advice_applies(&recorded, TSL_ADVICE_THREADS, &advice));
  recorded = plain_product();
  follow(&recorded.row);
  recorded.row.followed = recorded.row.strided = 10;
  assert_false(tsl_advice_applies(&recorded, TSL_ADVICE_BATCH, &advice));
}

/* Products that differ in alignment only have one advice; the larger saving comes first, f32 that rounds
 * last. */
static void test_list(void **state) {
  (void)state;
  tsl_recorded products[3] = {plain_product(), plain_product(), plain_product()};
  products[0].row.seen = products[1].row.seen = TSL_SEEN_TRANSPOSED;
  products[1].row.key.align[1] = 6;
  products[2].row.key.size[0] = 99;
  products[2].row.seconds = 5;
  products[2].row.seen = TSL_SEEN_SINGLE;
  const tsl_run_record record = {.products = products, .count = 3, .seconds = 10, .call_seconds = 7};
  tsl_advice_list list;
  assert_int_equal(tsl_advice_create(&record, &list), TESELA_OK);
  assert_int_equal(list.count, 3);
  assert_int_equal(list.items[0].kind, TSL_ADVICE_SINGLE);
  assert_int_equal(list.items[1].kind, TSL_ADVICE_TRANSPOSED);
  assert_int_equal(list.items[1].alike, 2);
  assert_true(fabs(tsl_advice_saved(&list.items[1]) - 1) < 1e-12);
  assert_int_equal(list.items[2].kind, TSL_ADVICE_ROUND);
  list.items[1].is_tried = true;
  list.items[1].without = 9;
  list.items[1].with = 1;
  assert_true(tsl_advice_gain(&list.items[1]) == 9);
  free(list.items);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_kind),
      cmocka_unit_test(test_no_advice),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_list),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
