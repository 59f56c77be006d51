#include "comm/cases.h"

#include "core/random.h"
#include "core/types.h"

#include <stdio.h>
#include <string.h>

enum { SEED_A = 11, SEED_B = 22, SEED_C = 33 };

/* Types of A and B, and of C. */
static const tesela_type types[][2] = {{TESELA_F64, TESELA_F64},   {TESELA_F32, TESELA_F32},
                                       {TESELA_C128, TESELA_C128}, {TESELA_C64, TESELA_C64},
                                       {TESELA_I8, TESELA_I32},    {TESELA_BF16, TESELA_BF16},
                                       {TESELA_F16, TESELA_F16},   {TESELA_U8, TESELA_I32}};
/* Shapes that cut one, two and three dimensions, are thin, odd or empty. */
static const int64_t shapes[][3] = {{37, 41, 29}, {97, 5, 7},  {6, 83, 11}, {9, 7, 211},
                                    {64, 64, 64}, {1, 53, 47}, {61, 1, 3},  {2, 2, 2},
                                    {0, 7, 5},    {8, 0, 3},   {7, 9, 0},   {1, 1, 130}};

int comm_cases(void) {
  return 96;
}

static int pick(uint64_t *bits, int count) {
  const int picked = (int)(*bits % (uint64_t)count);
  *bits = tsl_random_u64(*bits, 1);
  return picked;
}

comm_case comm_case_at(int number, int ranks) {
  uint64_t bits = tsl_random_u64(77, (uint64_t)(number * 64 + ranks));
  comm_case c = {.alpha = {1, 0}, .beta = {0, 0}};
  /* Types, shapes and layouts of A and C follow from the case's number, so that every combination
   * occurs. */
  const int type = number % 8;
  c.type = types[type][0];
  c.type_c = types[type][1];
  memcpy(&c.m, shapes[(number / 8 + number) % 12], sizeof shapes[0]);
  c.a = (dealt_kind)((number / 8) % DEALT_KINDS);
  c.c = (dealt_kind)((number / 3) % DEALT_KINDS);
  c.b = (dealt_kind)pick(&bits, DEALT_KINDS);
  c.transpose_a = pick(&bits, 2);
  c.transpose_b = pick(&bits, 2);
  c.transpose_c = pick(&bits, 4) == 0;
  c.conjugate_a = pick(&bits, 3) == 0;
  c.conjugate_b = pick(&bits, 3) == 0;
  static const double factors[][2] = {{1, 0}, {2, 1}, {-1, 0}, {0, 0}, {1, -1}};
  memcpy(c.alpha, factors[pick(&bits, 12) % 5], sizeof c.alpha);
  memcpy(c.beta, factors[pick(&bits, 5)], sizeof c.beta);
  /* Some have so little memory that blocks are made tile by tile. */
  c.memory = pick(&bits, 4) == 0 ? 12000 : 0;
  return c;
}

/* Element (i, j) of an operand as it takes part. */
static void operand(uint64_t seed, tesela_type type, bool transpose, bool conjugate, int64_t i, int64_t j,
                    double value[2]) {
  dealt_value(seed, type, transpose ? j : i, transpose ? i : j, value);
  value[1] = conjugate ? -value[1] : value[1];
}

static void times(const double x[2], const double y[2], double out[2]) {
  const double real = x[0] * y[0] - x[1] * y[1], imaginary = x[0] * y[1] + x[1] * y[0];
  out[0] = real;
  out[1] = imaginary;
}

typedef struct looking {
  const comm_case *c;
  char *why;
  size_t size;
  int64_t seen;
} looking;

/* Compares element (i, j) of the stored C with the expected value. */
static void look(void *user, int64_t i, int64_t j, const double got[2]) {
  looking *l = user;
  const comm_case *c = l->c;
  const int64_t row = c->transpose_c ? j : i, col = c->transpose_c ? i : j;
  const bool is_complex = tsl_type(c->type_c)->is_complex;
  const double alpha[2] = {c->alpha[0], is_complex ? c->alpha[1] : 0},
               beta[2] = {c->beta[0], is_complex ? c->beta[1] : 0};
  double sum[2] = {0, 0}, before[2], x[2], y[2], term[2];
  for (int64_t t = 0; t < c->k; t++) {
    operand(SEED_A, c->type, c->transpose_a, c->conjugate_a, row, t, x);
    operand(SEED_B, c->type, c->transpose_b, c->conjugate_b, t, col, y);
    times(x, y, term);
    sum[0] += term[0];
    sum[1] += term[1];
  }
  times(alpha, sum, sum);
  dealt_value(SEED_C, c->type_c, i, j, before);
  times(beta, before, before);
  sum[0] += before[0];
  sum[1] += before[1];
  unsigned char rounded[16];
  tsl_type_store(c->type_c, rounded, sum);
  tsl_type_load(c->type_c, rounded, sum);
  l->seen++;
  if ((got[0] != sum[0] || got[1] != sum[1]) && !l->why[0])
    snprintf(l->why, l->size, "C(%lld, %lld) is %g%+gi and should be %g%+gi", (long long)i, (long long)j,
             got[0], got[1], sum[0], sum[1]);
}

enum { BEFORE = 3 }; /* elements of a buffer before an operand's */

/* Copies a rank's part of a matrix to a buffer. Returns false where the buffer cannot be made. */
static bool lay(const comm_case *c, const dealt *d, bool in_buffer, tesela_buffer **buffer) {
  const size_t size = tsl_type(d->type)->size, bytes = (size_t)d->elements * size;
  *buffer = NULL;
  return !in_buffer ||
         (tesela_buffer_create(c->context, c->device, bytes + BEFORE * size, buffer) == TESELA_OK &&
          tesela_buffer_write(*buffer, BEFORE * size, d->data, bytes) == TESELA_OK);
}

/* And back. */
static bool fetch(const dealt *d, tesela_buffer *buffer) {
  const size_t size = tsl_type(d->type)->size;
  return !buffer ||
         tesela_buffer_read(buffer, BEFORE * size, d->data, (size_t)d->elements * size) == TESELA_OK;
}

static void turn(bool transpose, int64_t *rows, int64_t *cols) {
  const int64_t r = *rows;
  if (transpose) {
    *rows = *cols;
    *cols = r;
  }
}

/* Returns the stride to put into a description: 0 (the default) for a stride of 1 next to a larger
 * one. */
static int64_t said(int64_t stride, int64_t other) {
  return stride == 1 && other > 1 ? 0 : stride;
}

const char *comm_case_run(const comm_case *c, int ranks, int rank, comm_multiply multiply, void *user,
                          tesela_mpi_record *record) {
  static _Thread_local char why[1200];
  const bool reads_c = c->beta[0] != 0 || (c->beta[1] != 0 && tsl_type(c->type_c)->is_complex);
  int64_t a_rows = c->m, a_cols = c->k, b_rows = c->k, b_cols = c->n, c_rows = c->m, c_cols = c->n;
  turn(c->transpose_a, &a_rows, &a_cols);
  turn(c->transpose_b, &b_rows, &b_cols);
  turn(c->transpose_c, &c_rows, &c_cols);
  dealt a, b, out;
  bool made = dealt_make(&a, c->a, ranks, rank, a_rows, a_cols, c->type, SEED_A, true);
  made = dealt_make(&b, c->b, ranks, rank, b_rows, b_cols, c->type, SEED_B, true) && made;
  made = dealt_make(&out, c->c, ranks, rank, c_rows, c_cols, c->type_c, SEED_C, reads_c) && made;
  tesela_buffer *buffers[3] = {NULL, NULL, NULL};
  made = made && lay(c, &a, c->buffer_a, &buffers[0]) && lay(c, &b, c->buffer_b, &buffers[1]) &&
         lay(c, &out, c->buffer_c, &buffers[2]);
  const tesela_gemm_desc gemm = {.m = c->m,
                                 .n = c->n,
                                 .k = c->k,
                                 .a = {.data = c->buffer_a ? NULL : a.data,
                                       .buffer = buffers[0],
                                       .offset = c->buffer_a ? BEFORE : 0,
                                       .row_stride = said(a.row_stride, a.col_stride),
                                       .col_stride = said(a.col_stride, a.row_stride),
                                       .transpose = c->transpose_a,
                                       .type = c->type,
                                       .conjugate = c->conjugate_a},
                                 .b = {.data = c->buffer_b ? NULL : b.data,
                                       .buffer = buffers[1],
                                       .offset = c->buffer_b ? BEFORE : 0,
                                       .row_stride = b.row_stride,
                                       .col_stride = b.col_stride,
                                       .transpose = c->transpose_b,
                                       .type = c->type,
                                       .conjugate = c->conjugate_b},
                                 .c = {.data = c->buffer_c ? NULL : out.data,
                                       .buffer = buffers[2],
                                       .offset = c->buffer_c ? BEFORE : 0,
                                       .row_stride = said(out.row_stride, out.col_stride),
                                       .col_stride = said(out.col_stride, out.row_stride),
                                       .transpose = c->transpose_c,
                                       .type = c->type_c},
                                 .alpha = c->alpha,
                                 .beta = c->beta,
                                 .options.device = c->device,
                                 .options.strategy = c->strategy};
  const tesela_mpi_desc desc = {
      .gemm = &gemm, .a = a.layout, .b = b.layout, .c = out.layout, .memory = c->memory};
  why[0] = 0;
  if (!made || multiply(user, &desc, record) != TESELA_OK || !fetch(&out, buffers[2])) {
    snprintf(why, sizeof why, "%s", made ? tesela_last_error() : "out of memory");
  } else {
    looking l = {c, why, sizeof why, 0};
    dealt_walk(&out, c->c, ranks, rank, c_rows, c_cols, look, &l);
    if (!why[0] && !dealt_gaps_untouched(&out, c->c, ranks, rank, c_rows, c_cols))
      snprintf(why, sizeof why, "elements beside C were written");
  }
  for (int i = 0; i < 3; i++)
    tesela_buffer_destroy(buffers[i]);
  dealt_free(&a);
  dealt_free(&b);
  dealt_free(&out);
  return why[0] ? why : NULL;
}
