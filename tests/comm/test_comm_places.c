/* Products by ranks that multiply on an OpenCL device, of operands in its buffers, in host memory,
 * or both. Results are exact, and bytes around an operand in a buffer are unchanged. Also: the
 * buffers that are refused, and transposes between buffers. */
#include "unit/unit.h"

#include "comm/cases.h"
#include "comm/comm_call.h"
#include "comm/comm_threads.h"
#include "core/types.h"
#include "opencl.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MOST = 6 };
static tesela_context *context;

typedef struct outcome {
  const comm_case *c;
  char why[RANKS_MOST][400];
  tesela_mpi_record record[RANKS_MOST];
} outcome;

static tesela_status multiply(void *ranks, const tesela_mpi_desc *desc, tesela_mpi_record *record) {
  return tsl_ranks_gemm(ranks, context, desc, record, sizeof *desc, sizeof *desc->gemm, sizeof *record);
}

static void body(tsl_ranks *ranks, void *user) {
  outcome *o = user;
  static const tsl_links slow_ranks = {0, 2.5e9, 1e7};
  ranks->links = &slow_ranks;
  const char *why = comm_case_run(o->c, ranks->size, ranks->rank, multiply, ranks, &o->record[ranks->rank]);
  snprintf(o->why[ranks->rank], sizeof o->why[0], "%s", why ? why : "");
}

/* Multiplies cases in f32 and f64, with each subset of the operands in buffers. One strategy, whose
 * kernels compile quickly. */
static void cases_are_right(void **state) {
  static outcome o;
  int several = 0, tiled = 0;
  (void)state;
  for (int ranks = 1; ranks <= RANKS_MOST; ranks += ranks < 4 ? 1 : 2)
    for (int number = 0; number < comm_cases(); number++) {
      comm_case c = comm_case_at(number, ranks);
      c.context = context;
      c.device = "opencl:0";
      c.strategy = "element";
      c.buffer_a = (number + ranks) / 8 & 1;
      c.buffer_b = (number + ranks) / 8 & 2;
      c.buffer_c = (number + number / 32) & 1;
      if (c.type != TESELA_F32 && c.type != TESELA_F64)
        continue;
      o.c = &c;
      assert_int_equal(tsl_threads_run(ranks, body, &o), TESELA_OK);
      for (int r = 0; r < ranks; r++)
        if (o.why[r][0])
          fail_msg("case %d, rank %d of %d, buffers %d%d%d: %s", number, r, ranks, c.buffer_a, c.buffer_b,
                   c.buffer_c, o.why[r]);
      several += o.record[0].ranks > 1;
      tiled += strstr(o.record[0].plan, "tiles") != NULL;
    }
  assert_true(several > 20 && tiled > 2);
}

/* Where relaxed arithmetic flushes small numbers to 0, the records of all ranks' products report
 * it. Other records do not. */
static void flushing_is_told(void **state) {
  static const char *const strategies[] = {"element", "element relaxed=1"};
  static outcome o;
  (void)state;
  for (int relaxed = 0; relaxed < 2; relaxed++) {
    int told = 0;
    for (int number = 0; number < comm_cases(); number++) {
      comm_case c = comm_case_at(number, 3);
      if (c.type != TESELA_F32)
        continue;
      c.device = "opencl:0";
      c.strategy = strategies[relaxed];
      o.c = &c;
      assert_int_equal(tsl_threads_run(3, body, &o), TESELA_OK);
      for (int r = 0; r < 3; r++) {
        assert_string_equal(o.why[r], "");
        assert_true(o.record[r].flushed_below == o.record[0].flushed_below);
      }
      assert_true(o.record[0].flushed_below < 1e-36);
      told += o.record[0].flushed_below >= FLT_MIN;
    }
    assert_true(relaxed ? told > 3 : told == 0);
  }
}

/* --- refusals --- */

enum { SIZE = 8 };
typedef struct refusal {
  const char *device;     /* that the description names */
  const char *buffers[3]; /* devices of A's, B's and C's; NULL: host memory */
  int64_t short_by;       /* elements that A's lacks */
  const char *shares;     /* "a" or "b": C lies in the same buffer */
  tesela_status status, got[2];
  const char *says;
  char said[2][300];
  bool kept[2];
} refusal;

static void refuse(tsl_ranks *ranks, void *user) {
  refusal *r = user;
  double host[SIZE * SIZE / 2] = {0}, result[SIZE * SIZE / 2], after[SIZE * SIZE / 2];
  tesela_buffer *buffers[3] = {NULL, NULL, NULL};
  for (int i = 0; i < 3; i++)
    if (r->buffers[i] &&
        (tesela_buffer_create(context, r->buffers[i],
                              sizeof host - (i == 0 ? (size_t)r->short_by * sizeof *host : 0),
                              &buffers[i]) != TESELA_OK))
      abort();
  for (int i = 0; i < SIZE * SIZE / 2; i++)
    host[i] = 7;
  if (buffers[2] && tesela_buffer_write(buffers[2], 0, host, sizeof host) != TESELA_OK)
    abort();
  tesela_buffer *buffer_c = r->shares ? buffers[r->shares[0] - 'a'] : buffers[2];
  const tesela_gemm_desc gemm = {
      .m = SIZE,
      .n = SIZE,
      .k = SIZE,
      .a = {.data = buffers[0] ? NULL : host, .buffer = buffers[0], .type = TESELA_F64},
      .b = {.data = buffers[1] ? NULL : host, .buffer = buffers[1], .type = TESELA_F64},
      .c = {.data = buffer_c    ? NULL
                    : r->shares ? host
                                : result,
            .buffer = buffer_c,
            .type = TESELA_F64},
      .options.device = r->device};
  const tesela_mpi_desc desc = {.gemm = &gemm};
  r->got[ranks->rank] =
      tsl_ranks_gemm(ranks, context, &desc, NULL, sizeof desc, sizeof gemm, sizeof(tesela_mpi_record));
  snprintf(r->said[ranks->rank], sizeof r->said[0], "%s", tesela_last_error());
  if (!buffers[2] || tesela_buffer_read(buffers[2], 0, after, sizeof after) != TESELA_OK)
    memcpy(after, host, sizeof after);
  r->kept[ranks->rank] = memcmp(after, host, sizeof after) == 0 && host[0] == 7;
  for (int i = 0; i < 3; i++)
    tesela_buffer_destroy(buffers[i]);
}

static void wrong_buffers_are_refused(void **state) {
  static refusal refusals[] = {
      {.device = "cpu",
       .buffers = {"opencl:0", NULL, "opencl:0"},
       .status = TESELA_BAD_CALL,
       .says = "device is cpu, but a.buffer is on opencl:0"},
      {.device = "cuda",
       .buffers = {NULL, NULL, "opencl:0"},
       .status = TESELA_BAD_CALL,
       .says = "device is cuda, but c.buffer is on opencl:0"},
      {.buffers = {"opencl:0", NULL, "opencl:0"},
       .short_by = 1,
       .status = TESELA_BAD_CALL,
       .says = "a reaches from element 0 to element 31 of a buffer of 31 elements"},
      {.buffers = {"cpu", NULL, "cpu"},
       .short_by = 9,
       .status = TESELA_BAD_CALL,
       .says = "a reaches from element 0 to element 31 of a buffer of 23 elements"},
      {.buffers = {"opencl:0", NULL, NULL},
       .shares = "a",
       .status = TESELA_BAD_CALL,
       .says = "c overlaps a: in-place results are not supported on ranks"},
      {.buffers = {"opencl:0", "cpu", NULL},
       .shares = "b",
       .status = TESELA_BAD_CALL,
       .says = "c overlaps b"},
      {.shares = "a", .status = TESELA_BAD_CALL, .says = "c overlaps a"},
      {.device = "opencl:99", .buffers = {NULL, NULL, NULL}, .status = TESELA_NO_DEVICE, .says = "opencl:99"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    refusal *r = &refusals[i];
    assert_int_equal(tsl_threads_run(2, refuse, r), TESELA_OK);
    for (int rank = 0; rank < 2; rank++) {
      if (r->got[rank] != r->status || !strstr(r->said[rank], r->says) || !strstr(r->said[rank], "rank 0: "))
        fail_msg("refusal %zu, rank %d: %d, \"%s\"", i, rank, (int)r->got[rank], r->said[rank]);
      assert_true(r->kept[rank]);
    }
  }
}

/* --- transposes --- */

typedef struct turned {
  bool right[2];
  tesela_status status[2];
} turned;

/* A rank owns 3 of 6 rows of A and 2 of 4 rows of B. Each row in a buffer is followed by a gap,
 * which must stay unchanged. */
static void transpose(tsl_ranks *ranks, void *user) {
  enum { ROWS = 6, COLS = 4, OWN_A = ROWS / 2, OWN_B = COLS / 2, LEAD_A = COLS + 1, LEAD_B = ROWS + 2 };
  turned *t = user;
  float a[OWN_A * LEAD_A], b[OWN_B * LEAD_B];
  tesela_buffer *in = NULL, *out = NULL;
  for (int i = 0; i < OWN_A * LEAD_A; i++)
    a[i] = (float)((ranks->rank * OWN_A + i / LEAD_A) * COLS + i % LEAD_A);
  for (int i = 0; i < OWN_B * LEAD_B; i++)
    b[i] = -1;
  if (tesela_buffer_create(context, "opencl:0", sizeof a, &in) != TESELA_OK ||
      tesela_buffer_create(context, "opencl:0", sizeof b, &out) != TESELA_OK ||
      tesela_buffer_write(in, 0, a, sizeof a) != TESELA_OK ||
      tesela_buffer_write(out, 0, b, sizeof b) != TESELA_OK)
    abort();
  const tesela_mpi_transpose_desc desc = {.rows = ROWS,
                                          .cols = COLS,
                                          .a = {.buffer = in, .row_stride = LEAD_A, .col_stride = 1},
                                          .b = {.buffer = out, .row_stride = LEAD_B, .col_stride = 1}};
  t->status[ranks->rank] = tsl_ranks_transpose(ranks, context, &desc, NULL, sizeof desc, 0);
  bool right = tesela_buffer_read(out, 0, b, sizeof b) == TESELA_OK;
  for (int i = 0; i < OWN_B; i++)
    for (int j = 0; j < LEAD_B; j++)
      right = right && b[i * LEAD_B + j] == (j < ROWS ? (float)(j * COLS + ranks->rank * OWN_B + i) : -1);
  t->right[ranks->rank] = right;
  tesela_buffer_destroy(in);
  tesela_buffer_destroy(out);
}

static void transposes_are_right(void **state) {
  turned t = {{false, false}, {TESELA_OK, TESELA_OK}};
  (void)state;
  assert_int_equal(tsl_threads_run(2, transpose, &t), TESELA_OK);
  for (int rank = 0; rank < 2; rank++) {
    assert_int_equal(t.status[rank], TESELA_OK);
    assert_true(t.right[rank]);
  }
}

static int set_up(void **state) {
  (void)state;
  return tesela_context_create(&(tesela_context_desc){.device = "cpu", .threads = 1}, &context) != TESELA_OK;
}
static int tear_down(void **state) {
  (void)state;
  tesela_context_destroy(context);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cases_are_right), cmocka_unit_test(flushing_is_told),
                                     cmocka_unit_test(wrong_buffers_are_refused),
                                     cmocka_unit_test(transposes_are_right)};
  return opencl_is_missing() ? OPENCL_SKIPPED : cmocka_run_group_tests(tests, set_up, tear_down);
}
