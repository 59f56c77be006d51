/* What fails on one rank: all return the same status and sentence, with the number of the lowest rank that failed, nothing hangs, and C is
 * as it was. Each fault is made on purpose; and memory runs out at each allocation in turn. */
#include "unit/unit.h"

#include "base/memory.h"
#include "comm/call.h"
#include "comm/dealt.h"
#include "comm/threads.h"
#include "starved/starve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 5, M = 30, N = 28, K = 40 };

/* One rank's call, which a fault may change. */
typedef struct rank_call {
  tsl_ranks *ranks;
  tesela_context *context;
  dealt a, b, c;
  tesela_gemm_desc gemm;
  tesela_mpi_desc desc;
  double alpha;
  bool no_desc;
} rank_call;

typedef void (*break_call)(rank_call *call);

typedef struct fault {
  const char *name;
  unsigned on; /* bit r: on rank r */
  break_call make;
  tesela_status status;
  const char *sentence; /* its beginning */
} fault;

typedef struct outcome {
  const fault *fault;
  tesela_context *context;
  int starve; /* the so manyth allocation fails; 0: none */
  int failed; /* allocations that did */
  tesela_status status[RANKS];
  char sentence[RANKS][1024];
  bool untouched[RANKS], right[RANKS];
} outcome;

static void other_m(rank_call *c) {
  c->gemm.m++;
}
static void other_alpha(rank_call *c) {
  c->alpha = 3;
}
static void other_type(rank_call *c) {
  c->gemm.c.type = TESELA_F32;
}
static void other_transpose(rank_call *c) {
  c->gemm.b.transpose = 1;
}
static void other_layout(rank_call *c) {
  c->desc.c.row_block++;
}
static void other_version(rank_call *c) {
  c->ranks->version++;
}
static void no_description(rank_call *c) {
  c->no_desc = true;
}
static void no_gemm(rank_call *c) {
  c->desc.gemm = NULL;
}
static void no_data(rank_call *c) {
  c->gemm.b.data = NULL;
}
static void negative(rank_call *c) {
  c->gemm.k = -1;
}
static void twice(rank_call *c) {
  c->a.rectangles[0].rows++;
}
static void missing(rank_call *c) {
  c->desc.a.count = 0;
}
static void outside(rank_call *c) {
  c->a.rectangles[1].col = K;
}
static void no_device(rank_call *c) {
  c->gemm.device = "opencl:77";
}
static void no_strategy(rank_call *c) {
  c->gemm.strategy = "no_such_strategy";
}
static void two_places(rank_call *c) {
  c->gemm.a.data = c;
  c->gemm.a.buffer = (tesela_buffer *)(void *)c;
}
static void packed(rank_call *c) {
  c->gemm.b.packed = (tesela_packed *)(void *)c;
}
static void pieces(rank_call *c) {
  static const tesela_pieces none;
  c->gemm.b_pieces = &none;
}
static void no_buffer(rank_call *c) {
  c->gemm.a.offset = 7;
}
static void little_memory(rank_call *c) {
  c->desc.memory = 1;
}
static void zero_block(rank_call *c) {
  c->desc.c.col_block = 0;
}
static void large_grid(rank_call *c) {
  c->desc.b.grid_rows = RANKS;
  c->desc.b.grid_cols = 2;
}
static void half_of_one(rank_call *c) {
  c->gemm.c.type = TESELA_I32;
  c->alpha = 0.5;
}
static void accuracy(rank_call *c) {
  c->gemm.accuracy = "1e-9";
}
static void measured(rank_call *c) {
  c->gemm.measure_error = 1;
}
static void other_bits(rank_call *c) {
  c->gemm.bits = "threads";
}
static void no_bits(rank_call *c) {
  c->gemm.bits = "all";
}
static void rank_twice(rank_call *c) {
  static const int same[RANKS] = {0, 1, 2, 3, 3};
  c->desc.b.ranks = same;
}
static void window_outside(rank_call *c) {
  c->desc.b.row = 7;
  c->desc.b.rows = K;
}

enum { ALL = (1 << RANKS) - 1 };
static const fault faults[] = {
    {"another m", 1 << 2, other_m, TESELA_BAD_CALL,
     "rank 2: its m is not that of rank 0 (31 here, 30 there)"},
    {"another alpha", 1 << 1 | 1 << 4, other_alpha, TESELA_BAD_CALL,
     "rank 1: its alpha is not that of rank 0"},
    {"another alpha on rank 0", 1 << 0, other_alpha, TESELA_BAD_CALL,
     "rank 1: its alpha is not that of rank 0"},
    {"another type", 1 << 3, other_type, TESELA_BAD_CALL, "rank 3: its type of C is not that of rank 0"},
    {"another transpose", 1 << 3, other_transpose, TESELA_BAD_CALL,
     "rank 3: its transpose of B is not that of rank 0"},
    {"another layout", 1 << 4, other_layout, TESELA_BAD_CALL,
     "rank 4: its layout of C is not that of rank 0"},
    {"another version", 1 << 1, other_version, TESELA_BAD_CALL,
     "rank 1: its version of libtesela_mpi is not that of rank 0"},
    {"no description", 1 << 3, no_description, TESELA_BAD_CALL, "rank 3: desc is NULL"},
    {"no description of the product", 1 << 0, no_gemm, TESELA_BAD_CALL, "rank 0: desc->gemm is NULL"},
    {"no data", 1 << 2, no_data, TESELA_BAD_CALL, "rank 2: b.data is NULL, and this rank has elements of it"},
    {"a negative size", ALL, negative, TESELA_BAD_CALL, "rank 0: a is 30 x -1"},
    {"an element twice", 1 << 3, twice, TESELA_BAD_CALL, "rank 0: a: two rectangles have element"},
    {"rectangles that are missing", 1 << 3, missing, TESELA_BAD_CALL,
     "rank 0: a: the ranks' rectangles have"},
    {"a rectangle outside", 1 << 3, outside, TESELA_BAD_CALL, "rank 3: layout of a.rectangles[1] is"},
    {"no such device", 1 << 1 | 1 << 3, no_device, TESELA_NO_DEVICE, "rank 1: "},
    {"no such strategy", 1 << 4, no_strategy, TESELA_BAD_INPUT, "rank 4: "},
    {"data and a buffer", 1 << 4, two_places, TESELA_BAD_CALL, "rank 4: a has data and a buffer"},
    {"a packed operand", 1 << 4, packed, TESELA_UNSUPPORTED, "rank 4: b is packed"},
    {"pieces", ALL, pieces, TESELA_UNSUPPORTED, "rank 0: operands in pieces are of products on one rank"},
    {"an offset without a buffer", 1 << 3, no_buffer, TESELA_BAD_CALL, "rank 3: a.offset is 7"},
    {"little memory", 1 << 3, little_memory, TESELA_OUT_OF_MEMORY, "rank 0: 1 bytes a rank are too few"},
    {"no block", ALL, zero_block, TESELA_BAD_CALL, "rank 0: layout of c has blocks of 3 x 0"},
    {"a large grid", ALL, large_grid, TESELA_BAD_CALL, "rank 0: layout of b has a grid of 5 x 2 processes"},
    {"an accuracy", ALL, accuracy, TESELA_UNSUPPORTED, "rank 0: accuracy is \"1e-9\""},
    {"a measured error", 1 << 2, measured, TESELA_UNSUPPORTED, "rank 2: measure_error is of products on one"},
    {"other bits", 1 << 2, other_bits, TESELA_BAD_CALL, "rank 2: its bits is not that of rank 0"},
    {"bits that are not there", ALL, no_bits, TESELA_BAD_CALL, "rank 0: "},
    {"a rank twice", ALL, rank_twice, TESELA_BAD_CALL, "rank 0: layout of b.ranks[4] is 3: each is another"},
    {"a window outside", ALL, window_outside, TESELA_BAD_CALL, "rank 0: layout of b: rows 7 to"},
    {"a half of whole numbers", ALL, half_of_one, TESELA_BAD_CALL, "rank 0: alpha is 0.5"},
};

static void make_call(rank_call *c, tsl_ranks *ranks, tesela_context *context) {
  const int rank = ranks->rank;
  *c = (rank_call){.ranks = ranks, .context = context, .alpha = 1};
  const bool made = dealt_make(&c->a, DEALT_RECTANGLES, RANKS, rank, M, K, TESELA_F64, 1, true) &&
                    dealt_make(&c->b, DEALT_BLOCKS, RANKS, rank, K, N, TESELA_F64, 2, true) &&
                    dealt_make(&c->c, DEALT_CYCLIC, RANKS, rank, M, N, TESELA_F64, 3, true);
  if (!made)
    abort();
  c->gemm = (tesela_gemm_desc){.m = M,
                               .n = N,
                               .k = K,
                               .a = {.data = c->a.data,
                                     .row_stride = c->a.row_stride,
                                     .col_stride = c->a.col_stride,
                                     .type = TESELA_F64},
                               .b = {.data = c->b.data,
                                     .row_stride = c->b.row_stride,
                                     .col_stride = c->b.col_stride,
                                     .type = TESELA_F64},
                               .c = {.data = c->c.data,
                                     .row_stride = c->c.row_stride,
                                     .col_stride = c->c.col_stride,
                                     .type = TESELA_F64}};
  c->desc = (tesela_mpi_desc){.a = c->a.layout, .b = c->b.layout, .c = c->c.layout};
}

/* Ranks wait for each other. */
static void meet(tsl_ranks *ranks) {
  double least;
  ranks->ops->least(ranks, 0, &least);
}

typedef struct looking {
  bool right;
} looking;

static void look(void *user, int64_t i, int64_t j, const double got[2]) {
  looking *l = user;
  double sum = 0, x[2], y[2];
  for (int64_t t = 0; t < K; t++) {
    dealt_value(1, TESELA_F64, i, t, x);
    dealt_value(2, TESELA_F64, t, j, y);
    sum += x[0] * y[0];
  }
  l->right = l->right && got[0] == sum;
}

static void body(tsl_ranks *ranks, void *user) {
  static const tsl_links slow_ranks = {0, 2.5e9, 1e7};
  outcome *o = user;
  const int rank = ranks->rank;
  rank_call c;
  ranks->links = &slow_ranks;
  make_call(&c, ranks, o->context);
  c.desc.gemm = &c.gemm;
  if (o->fault && (o->fault->on >> rank & 1) != 0)
    o->fault->make(&c);
  c.gemm.alpha = &c.alpha;
  const size_t bytes = (size_t)c.c.elements * sizeof(double);
  void *before = malloc(bytes + 1);
  if (!before)
    abort();
  memcpy(before, c.c.data, bytes);
  meet(ranks);
  if (rank == 0 && o->starve > 0)
    starve(o->starve, false);
  meet(ranks);
  o->status[rank] =
      tesela_ranks_gemm(ranks, o->context, c.no_desc ? NULL : &c.desc, NULL, sizeof c.desc, sizeof c.gemm, 0);
  meet(ranks);
  if (rank == 0 && o->starve > 0)
    o->failed = starve_end();
  meet(ranks);
  snprintf(o->sentence[rank], sizeof o->sentence[0], "%s", tesela_last_error());
  o->untouched[rank] = memcmp(before, c.c.data, bytes) == 0;
  looking l = {true};
  dealt_walk(&c.c, DEALT_CYCLIC, RANKS, rank, M, N, look, &l);
  o->right[rank] = l.right && dealt_gaps_untouched(&c.c, DEALT_CYCLIC, RANKS, rank, M, N);
  free(before);
  dealt_free(&c.a);
  dealt_free(&c.b);
  dealt_free(&c.c);
}

static void each_fault(void **state) {
  (void)state;
  tesela_context *context;
  assert_int_equal(tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = 1}, &context),
                   TESELA_OK);
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    outcome o = {.fault = &faults[i], .context = context};
    assert_int_equal(tsl_threads_run(RANKS, body, &o), TESELA_OK);
    for (int r = 0; r < RANKS; r++) {
      if (o.status[r] != faults[i].status ||
          strncmp(o.sentence[r], faults[i].sentence, strlen(faults[i].sentence)) != 0)
        fail_msg("%s: rank %d says %s: %s", faults[i].name, r, tesela_status_name(o.status[r]),
                 o.sentence[r]);
      assert_string_equal(o.sentence[r], o.sentence[0]);
      assert_true(o.untouched[r]);
    }
  }
  outcome well = {.context = context};
  assert_int_equal(tsl_threads_run(RANKS, body, &well), TESELA_OK);
  for (int r = 0; r < RANKS; r++) {
    assert_int_equal(well.status[r], TESELA_OK);
    assert_true(well.right[r]);
  }
  tesela_context_destroy(context);
}

/* Each allocation of the call fails once, whichever rank's it is. */
static void starved(void **state) {
  (void)state;
  tesela_context *context;
  int refused = 0, n = 1;
  assert_int_equal(tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = 1}, &context),
                   TESELA_OK);
  for (bool reached = true; reached; n++) {
    outcome o = {.context = context, .starve = n};
    assert_int_equal(tsl_threads_run(RANKS, body, &o), TESELA_OK);
    reached = o.failed > 0;
    for (int r = 0; r < RANKS; r++) {
      if (o.status[r] != o.status[0] || strcmp(o.sentence[r], o.sentence[0]) != 0)
        if (o.status[0] != TESELA_OK)
          fail_msg("allocation %d: ranks 0 and %d say '%s' and '%s'", n, r, o.sentence[0], o.sentence[r]);
      assert_int_equal(o.status[r], o.status[0]);
      assert_true(o.status[r] == TESELA_OK ? o.right[r] : o.untouched[r]);
      assert_true(o.status[r] == TESELA_OK || o.status[r] == TESELA_OUT_OF_MEMORY);
    }
    refused += o.status[0] != TESELA_OK;
  }
  print_message("%d allocations, %d calls refused\n", n - 2, refused);
  assert_true(refused > 40);
  tesela_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_fault), cmocka_unit_test(starved)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
