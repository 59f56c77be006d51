/* Failures on one rank: all ranks return the same status and message, with the number of the lowest
 * rank that failed. Nothing hangs, and C is unchanged. Each fault is injected; memory runs out at
 * each allocation in turn. */
#include "unit/unit.h"

#include "comm/comm_call.h"
#include "comm/comm_threads.h"
#include "comm/dealt.h"
#include "comm/overlap.h"
#include "core/memory.h"
#include "core/random.h"
#include "starved/starve.h"

#include <math.h>
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
  double alpha[2], beta[2];
  bool no_desc;
  double many[M * N];
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
  c->alpha[0] = 3;
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
  c->gemm.options.device = "opencl:77";
}
static void no_strategy(rank_call *c) {
  c->gemm.options.strategy = "no_such_strategy";
}
static void two_places(rank_call *c) {
  c->gemm.a.data = c;
  c->gemm.a.buffer = (tesela_buffer *)(void *)c;
}
static void packed(rank_call *c) {
  c->gemm.b.packed = (tesela_packed *)(void *)c;
}
static void pieces(rank_call *c) {
  static const tesela_shards none;
  c->gemm.b.shards = &none;
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
  c->alpha[0] = 0.5;
}
static void accuracy(rank_call *c) {
  c->gemm.options.accuracy = "1e-9";
}
static void measured(rank_call *c) {
  c->gemm.options.measure_error = 1;
}
static void other_bits(rank_call *c) {
  c->gemm.options.reproducibility = "threads";
}
static void no_bits(rank_call *c) {
  c->gemm.options.reproducibility = "all";
}
static void rank_twice(rank_call *c) {
  static const int same[RANKS] = {0, 1, 2, 3, 3};
  c->desc.b.ranks = same;
}
static void window_outside(rank_call *c) {
  c->desc.b.row = 7;
  c->desc.b.rows = K;
}

static void other_beta(rank_call *c) {
  c->beta[0] = 0.25;
}
/* All ranks multiply complex numbers; rank 4 has another imaginary part. */
static void other_imaginary_beta(rank_call *c) {
  c->gemm.a.type = c->gemm.b.type = c->gemm.c.type = TESELA_C128;
  c->beta[1] = c->ranks->rank == 4 ? -1.5 : 0;
}
static void c_is_b(rank_call *c) {
  c->gemm.c.data = c->b.data;
}
static void c_begins_within_a(rank_call *c) {
  c->gemm.c.data = (double *)c->a.data + 3;
}
static void c_on_itself(rank_call *c) {
  c->gemm.c.row_stride = c->gemm.c.col_stride = 1;
}
/* Rank 1 has all of C, in three rectangles, of which the second begins in the first one's memory. */
static void rectangles_overlap(rank_call *c) {
  c->desc.c = (tesela_layout){.kind = TESELA_LAYOUT_RECTANGLES, .rectangles = c->c.rectangles};
  if (c->ranks->rank != 1)
    return;
  c->c.rectangles[0] = (tesela_rectangle){0, 0, M / 2, 4, 0, 4, 1};
  c->c.rectangles[1] = (tesela_rectangle){M / 2, 0, M - M / 2, 4, M / 2 * 4 - 1, 4, 1};
  c->c.rectangles[2] = (tesela_rectangle){0, 4, M, N - 4, M * 4, N - 4, 1};
  c->desc.c.count = 3;
  c->gemm.c.data = c->many;
}
static void far_apart(rank_call *c) {
  c->gemm.b.row_stride = INT64_MAX / 16;
}

enum { ALL = (1 << RANKS) - 1 };
static const fault faults[] = {
    {"another m", 1 << 2, other_m, TESELA_BAD_CALL, "rank 2: m is 31, but 30 on rank 0"},
    {"another alpha", 1 << 1 | 1 << 4, other_alpha, TESELA_BAD_CALL, "rank 1: alpha is 3, but 1 on rank 0"},
    {"another alpha on rank 0", 1 << 0, other_alpha, TESELA_BAD_CALL, "rank 1: alpha is 1, but 3 on rank 0"},
    {"another type", 1 << 3, other_type, TESELA_BAD_CALL, "rank 3: type of C is f32, but f64 on rank 0"},
    {"another beta", 1 << 2, other_beta, TESELA_BAD_CALL, "rank 2: beta is 0.25, but 0 on rank 0"},
    {"another imaginary part of beta", ALL, other_imaginary_beta, TESELA_BAD_CALL,
     "rank 4: imaginary part of beta is -1.5, but 0 on rank 0"},
    {"another transpose", 1 << 3, other_transpose, TESELA_BAD_CALL,
     "rank 3: transpose of B is set, but not set on rank 0"},
    {"another layout", 1 << 4, other_layout, TESELA_BAD_CALL,
     "rank 4: layout of C (row_block) is 4, but 3 on rank 0"},
    {"another version", 1 << 1, other_version, TESELA_BAD_CALL, "rank 1: version of libtesela_mpi is "},
    {"no description", 1 << 3, no_description, TESELA_BAD_CALL, "rank 3: desc is NULL"},
    {"no description of the product", 1 << 0, no_gemm, TESELA_BAD_CALL, "rank 0: desc->gemm is NULL"},
    {"no data", 1 << 2, no_data, TESELA_BAD_CALL,
     "rank 2: b.data is NULL, but this rank holds elements of it"},
    {"a negative size", ALL, negative, TESELA_BAD_CALL, "rank 0: a is 30 x -1"},
    {"an element twice", 1 << 3, twice, TESELA_BAD_CALL, "rank 0: a: two rectangles contain element"},
    {"rectangles that are missing", 1 << 3, missing, TESELA_BAD_CALL,
     "rank 0: a: the ranks' rectangles have"},
    {"a rectangle outside", 1 << 3, outside, TESELA_BAD_CALL, "rank 3: layout of a.rectangles[1] is"},
    {"no such device", 1 << 1 | 1 << 3, no_device, TESELA_NO_DEVICE, "rank 1: "},
    {"no such strategy", 1 << 4, no_strategy, TESELA_BAD_INPUT, "rank 4: "},
    {"data and a buffer", 1 << 4, two_places, TESELA_BAD_CALL, "rank 4: a has both data and a buffer"},
    {"a packed operand", 1 << 4, packed, TESELA_UNSUPPORTED, "rank 4: b is packed"},
    {"pieces", ALL, pieces, TESELA_UNSUPPORTED,
     "rank 0: b is in shards, which are only supported on one rank"},
    {"an offset without a buffer", 1 << 3, no_buffer, TESELA_BAD_CALL, "rank 3: a.offset is 7"},
    {"little memory", 1 << 3, little_memory, TESELA_OUT_OF_MEMORY, "rank 0: 1 bytes a rank are too few"},
    {"no block", ALL, zero_block, TESELA_BAD_CALL, "rank 0: layout of c has blocks of 3 x 0"},
    {"a large grid", ALL, large_grid, TESELA_BAD_CALL, "rank 0: layout of b has a grid of 5 x 2 processes"},
    {"an accuracy", ALL, accuracy, TESELA_UNSUPPORTED, "rank 0: accuracy is \"1e-9\""},
    {"a measured error", 1 << 2, measured, TESELA_UNSUPPORTED,
     "rank 2: measure_error is only supported on one rank"},
    {"other bits", 1 << 2, other_bits, TESELA_BAD_CALL, "rank 2: bits is \"threads\", but \"any\" on rank 0"},
    {"bits that are not there", ALL, no_bits, TESELA_BAD_CALL, "rank 0: "},
    {"C in B's memory", 1 << 3, c_is_b, TESELA_BAD_CALL, "rank 3: c overlaps b"},
    {"C in A's memory, from another element on", 1 << 2 | 1 << 3, c_begins_within_a, TESELA_BAD_CALL,
     "rank 2: c overlaps a: in-place results are not supported on ranks"},
    {"C's elements in each other's memory", 1 << 4, c_on_itself, TESELA_BAD_CALL, "rank 4: elements of c ("},
    {"rectangles in each other's memory", ALL, rectangles_overlap, TESELA_BAD_CALL,
     "rank 1: rectangles 0 and 1 of c overlap in memory"},
    {"elements beyond all memory", 1 << 3, far_apart, TESELA_BAD_CALL, "rank 3: b: "},
    {"a rank twice", ALL, rank_twice, TESELA_BAD_CALL,
     "rank 0: layout of b.ranks[4] is 3: ranks must be distinct"},
    {"a window outside", ALL, window_outside, TESELA_BAD_CALL, "rank 0: layout of b: rows 7 to"},
    {"a half of whole numbers", ALL, half_of_one, TESELA_BAD_CALL, "rank 0: alpha is 0.5"},
};

static void make_call(rank_call *c, tsl_ranks *ranks, tesela_context *context) {
  const int rank = ranks->rank;
  *c = (rank_call){.ranks = ranks, .context = context, .alpha = {1, 0}};
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
  c.gemm.alpha = c.alpha;
  c.gemm.beta = c.beta;
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
      tsl_ranks_gemm(ranks, o->context, c.no_desc ? NULL : &c.desc, NULL, sizeof c.desc, sizeof c.gemm, 0);
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

/* Calls without requirements on accuracy and bits take them from the environment. */
static void from_the_environment(void **state) {
  (void)state;
  tesela_context *context;
  assert_int_equal(tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = 1}, &context),
                   TESELA_OK);
  static const struct {
    const char *variable, *value;
    tesela_status status;
    const char *sentence;
  } rows[] = {{"TESELA_ACCURACY", "1e-9", TESELA_UNSUPPORTED, "rank 0: TESELA_ACCURACY is \"1e-9\""},
              {"TESELA_ACCURACY", "default", TESELA_OK, ""},
              {"TESELA_BITS", "threads", TESELA_OK, ""},
              {"TESELA_BITS", "nonsense", TESELA_BAD_CALL, "rank 0: "}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    outcome o = {.context = context};
    setenv(rows[i].variable, rows[i].value, 1);
    assert_int_equal(tsl_threads_run(RANKS, body, &o), TESELA_OK);
    unsetenv(rows[i].variable);
    for (int r = 0; r < RANKS; r++) {
      assert_int_equal(o.status[r], rows[i].status);
      assert_true(rows[i].status == TESELA_OK ||
                  strncmp(o.sentence[r], rows[i].sentence, strlen(rows[i].sentence)) == 0);
    }
  }
  tesela_context_destroy(context);
}

/* --- C = beta C --- */

typedef struct scaled {
  int64_t k;
  double alpha, beta, error, bound; /* the error's share of beta C, and the record's */
} scaled;

static void scale(tsl_ranks *ranks, void *user) {
  enum { SIZE = 6 };
  scaled *s = user;
  float a[SIZE * SIZE] = {0}, b[SIZE * SIZE] = {0}, c[SIZE * SIZE];
  for (int i = 0; i < SIZE * SIZE; i++)
    c[i] = 0.3F;
  const tesela_gemm_desc gemm = {.m = SIZE,
                                 .n = SIZE,
                                 .k = s->k,
                                 .a = {.data = a},
                                 .b = {.data = b},
                                 .c = {.data = c},
                                 .alpha = &s->alpha,
                                 .beta = &s->beta};
  const tesela_mpi_desc desc = {.gemm = &gemm};
  tesela_mpi_record record = {.ranks = 0};
  if (tsl_ranks_gemm(ranks, NULL, &desc, &record, sizeof desc, sizeof gemm, sizeof record) != TESELA_OK)
    abort();
  if (ranks->rank != 0)
    return;
  const double right = s->beta * (double)0.3F;
  s->error = s->beta == 0 ? c[0] : fabs((c[0] - right) / right);
  s->bound = record.error_bound;
}

/* Where nothing is multiplied, beta C is rounded all the same; 0 C and 1 C are exact. */
static void scaling_has_a_bound(void **state) {
  static scaled rows[] = {{.k = 0, .alpha = 1, .beta = 1.1}, {.k = 4, .alpha = 0, .beta = 1.1},
                          {.k = 0, .alpha = 1, .beta = 0},   {.k = 0, .alpha = 1, .beta = 1},
                          {.k = 0, .alpha = 1, .beta = 0.7}, {.k = 4, .alpha = 0, .beta = -2.3}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const bool is_exact = rows[i].beta == 0 || rows[i].beta == 1;
    assert_int_equal(tsl_threads_run(3, scale, &rows[i]), TESELA_OK);
    assert_true(rows[i].error <= rows[i].bound && rows[i].bound < 4e-7);
    assert_true(is_exact == (rows[i].bound == 0));
  }
}

/* --- where elements lie, against a map of all bytes --- */

enum { BYTES = 4096, RECTANGLES = 3 };

typedef struct laid {
  tsl_rank_part part;
  tesela_rectangle rectangles[RECTANGLES];
  int64_t count, cols;
} laid;

static int64_t draw(uint64_t seed, uint64_t *data, int64_t from, int64_t end) {
  return from + (int64_t)(tsl_random_u64(seed, (*data)++) % (uint64_t)(end - from + 1));
}

/* Rectangles, one below the other in the matrix and anywhere in memory. */
static void make_laid(laid *out, char *memory, uint64_t seed, uint64_t *address) {
  int64_t rows = 0;
  tsl_bare_rectangle corners[RECTANGLES];
  const tsl_bare_rectangle *all = corners;
  *out = (laid){.count = draw(seed, address, 1, RECTANGLES), .cols = draw(seed, address, 1, 6)};
  const bool alike = draw(seed, address, 0, 1) == 1; /* as blocks of one array are */
  for (int64_t i = 0; i < out->count; i++) {
    tesela_rectangle *r = &out->rectangles[i];
    *r = (tesela_rectangle){rows, 0, draw(seed, address, 1, 6), out->cols, 0, 0, 0};
    r->offset = draw(seed, address, 0, 60);
    r->row_stride = draw(seed, address, -24, 24);
    r->col_stride = draw(seed, address, -3, 12);
    r->row_stride += r->row_stride == 0 && r->col_stride == 0;
    if (alike && i > 0) {
      r->row_stride = out->rectangles[0].row_stride;
      r->col_stride = out->rectangles[0].col_stride;
    }
    corners[i] = (tsl_bare_rectangle){r->row, r->col, r->rows, r->cols};
    rows += r->rows;
  }
  tesela_rectangle given[RECTANGLES];
  memcpy(given, out->rectangles, sizeof given);
  for (int64_t i = 0; i < out->count; i++) {
    given[i].row_stride = given[i].row_stride == 0 ? TESELA_STRIDE_ZERO : given[i].row_stride;
    given[i].col_stride = given[i].col_stride == 0 ? TESELA_STRIDE_ZERO : given[i].col_stride;
  }
  const tesela_layout layout = {.kind = TESELA_LAYOUT_RECTANGLES, .rectangles = given, .count = out->count};
  out->part.type = tsl_type(draw(seed, address, 0, 1) == 1 ? TESELA_F32 : TESELA_F64);
  out->part.mirror.data = memory + BYTES / 2 + 4 * draw(seed, address, -1, 1);
  assert_int_equal(
      tsl_layout_make(&layout, "c", 1, 0, rows, out->cols, 0, 0, &all, &out->count, &out->part.layout),
      TESELA_OK);
}

/* Adds 1 to each byte of each element; returns whether one had a byte already. */
static bool mark(const laid *l, const char *memory, unsigned char map[BYTES]) {
  const int64_t size = (int64_t)l->part.type->size, base = (const char *)l->part.mirror.data - memory;
  bool found = false;
  for (int64_t i = 0; i < l->count; i++) {
    const tesela_rectangle *r = &l->rectangles[i];
    for (int64_t row = 0; row < r->rows; row++)
      for (int64_t col = 0; col < r->cols; col++)
        for (int64_t b = 0; b < size; b++) {
          const int64_t at = base + (r->offset + row * r->row_stride + col * r->col_stride) * size + b;
          found = found || map[at] != 0;
          map[at] = 1;
        }
  }
  return found;
}

static bool meets(const laid *operand, const char *memory, const unsigned char map[BYTES]) {
  unsigned char own[BYTES] = {0};
  bool found = false;
  mark(operand, memory, own);
  for (int i = 0; i < BYTES; i++)
    found = found || (own[i] && map[i]);
  return found;
}

static void overlaps_are_exact(void **state) {
  enum { CASES = 20000 };
  static char memory[BYTES];
  int alone = 0, apart = 0, between = 0;
  (void)state;
  for (uint64_t number = 0; number < CASES; number++) {
    uint64_t at = 0;
    laid result, operand;
    unsigned char map[BYTES] = {0};
    make_laid(&result, memory, number, &at);
    make_laid(&operand, memory, number, &at);
    const bool overlaps = mark(&result, memory, map);
    if ((tsl_overlap_check_result(&result.part, "c", 0) != TESELA_OK) != overlaps)
      fail_msg("case %d: elements of the result %s", (int)number, overlaps ? "overlap" : "do not overlap");
    const bool shared = meets(&operand, memory, map);
    if ((tsl_overlap_check_operand(&result.part, "c", &operand.part, "a", 0) != TESELA_OK) != shared)
      fail_msg("case %d: result and operand %s", (int)number, shared ? "overlap" : "do not overlap");
    alone += !overlaps;
    apart += !shared;
    between += !overlaps && !shared;
    tsl_layout_free(&result.part.layout);
    tsl_layout_free(&operand.part.layout);
  }
  assert_true(alone > CASES / 20 && alone < CASES * 3 / 4);
  assert_true(apart > CASES / 20 && apart < CASES * 3 / 4 && between > CASES / 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_fault), cmocka_unit_test(starved), cmocka_unit_test(overlaps_are_exact),
      cmocka_unit_test(from_the_environment), cmocka_unit_test(scaling_has_a_bound)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
