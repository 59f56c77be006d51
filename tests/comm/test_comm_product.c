/* Products by ranks that are threads: every layout, type and algorithm gives the exact result, and
 * the words that travelled equal the count. */
#include "unit/unit.h"

#include "comm/cases.h"
#include "comm/comm_call.h"
#include "comm/comm_threads.h"
#include "core/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct outcome {
  const comm_case *c;
  char why[64][200];
  tesela_mpi_record record[64];
  uint64_t sent[64], received[64];
  tesela_context *context;
} outcome;

typedef struct rank_user {
  tsl_ranks *ranks;
  tesela_context *context;
} rank_user;

static tesela_status multiply(void *user, const tesela_mpi_desc *desc, tesela_mpi_record *record) {
  rank_user *u = user;
  return tsl_ranks_gemm(u->ranks, u->context, desc, record, sizeof *desc, sizeof *desc->gemm, sizeof *record);
}

static void body(tsl_ranks *ranks, void *user) {
  outcome *o = user;
  /* Products as small as these are for one rank: here, messages cost nothing. */
  static const tsl_links slow_ranks = {0, 2.5e9, 1e7};
  rank_user u = {ranks, o->context};
  ranks->links = &slow_ranks;
  const char *why = comm_case_run(o->c, ranks->size, ranks->rank, multiply, &u, &o->record[ranks->rank]);
  snprintf(o->why[ranks->rank], sizeof o->why[0], "%s", why ? why : "");
  o->sent[ranks->rank] = ranks->sent;
  o->received[ranks->rank] = ranks->received;
}

static void tell(const comm_case *c, int number, int ranks) {
  print_error("case %d, %d ranks: %lld x %lld x %lld %s, layouts %d %d %d, transposes %d %d %d\n", number,
              ranks, (long long)c->m, (long long)c->n, (long long)c->k, tsl_type(c->type)->name, c->a, c->b,
              c->c, c->transpose_a, c->transpose_b, c->transpose_c);
}

/* Bytes that the record's words come to, where all elements that travel have one size. */
static void check_words(const outcome *o, int ranks) {
  if (o->c->type != TESELA_F64 && o->c->type != TESELA_F32 && o->c->type != TESELA_C64 &&
      o->c->type != TESELA_C128)
    return;
  const uint64_t size = tsl_type(o->c->type)->size;
  uint64_t most = 0, all = 0;
  for (int r = 0; r < ranks; r++) {
    most = o->received[r] > most ? o->received[r] : most;
    most = o->sent[r] > most ? o->sent[r] : most;
    all += o->received[r];
  }
  assert_int_equal(o->record[0].words_all * (int64_t)size, all);
  assert_int_equal(o->record[0].words * (int64_t)size, most);
}

static void run_ranks(int ranks) {
  static outcome o;
  int several = 0, deep = 0, tiled = 0;
  assert_int_equal(tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = 1}, &o.context),
                   TESELA_OK);
  for (int number = 0; number < comm_cases(); number++) {
    const comm_case c = comm_case_at(number, ranks);
    o.c = &c;
    assert_int_equal(tsl_threads_run(ranks, body, &o), TESELA_OK);
    for (int r = 0; r < ranks; r++)
      if (o.why[r][0]) {
        tell(&c, number, ranks);
        fail_msg("rank %d: %s", r, o.why[r]);
      }
    check_words(&o, ranks);
    several += o.record[0].ranks > 1;
    deep += o.record[0].depth > 1;
    tiled += strstr(o.record[0].plan, "tiles") != NULL;
    if (getenv("SHOW_PLANS"))
      print_message("%s\n", o.record[0].plan);
  }
  tesela_context_destroy(o.context);
  /* Enough of each kind, or the test would show nothing. */
  assert_true(ranks == 1 || several > comm_cases() / 2);
  assert_true(ranks == 1 || deep > 0);
  assert_true(tiled > 0);
}

#define RANKS(count)                                                                                         \
  static void ranks_##count(void **state) {                                                                  \
    (void)state;                                                                                             \
    run_ranks(count);                                                                                        \
  }
RANKS(1)
RANKS(2)
RANKS(3)
RANKS(4)
RANKS(6)
RANKS(7)
RANKS(8)
RANKS(9)
RANKS(12)
RANKS(16)

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ranks_1),  cmocka_unit_test(ranks_2),
                                     cmocka_unit_test(ranks_3),  cmocka_unit_test(ranks_4),
                                     cmocka_unit_test(ranks_6),  cmocka_unit_test(ranks_7),
                                     cmocka_unit_test(ranks_8),  cmocka_unit_test(ranks_9),
                                     cmocka_unit_test(ranks_12), cmocka_unit_test(ranks_16)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
