/* Runs a product: reads rows, multiplies, writes rows. */
#include "core/clock.h"
#include "core/memory.h"
#include "core/status.h"
#include "product/product.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The alignment of buffers: devices that share host memory use whole pages without a copy. */
enum { PAGE = 4096 };

static tesela_status run_take(uint64_t rows, uint64_t row_bytes, const char *what, void **memory,
                              char **data) {
  size_t bytes;
  if (!tsl_size_mul(rows, row_bytes, &bytes) || !tsl_size_add(bytes, 2 * PAGE, &bytes))
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s has more bytes than 64 bits count", what);
  bytes -= bytes % PAGE;
  TSL_TRY(tsl_alloc(bytes, what, memory));
  const uintptr_t start = (uintptr_t)*memory, aligned = (start + PAGE - 1) / PAGE * PAGE;
  *data = (char *)*memory + (aligned - start);
  return TESELA_OK;
}

static tesela_status take_feed(const tsl_product *product, tsl_matrix_source *feed) {
  if (!feed->reader || (feed == &product->c0 && !feed->held))
    return TESELA_OK;
  const uint64_t row_bytes = (uint64_t)feed->cols * tsl_type(feed->as)->size;
  const int64_t rows =
      feed->held || feed->across || feed->rows < product->panel ? feed->rows : product->panel;
  if (feed->across && !feed->held)
    return run_take((uint64_t)rows, (uint64_t)product->panel * tsl_type(feed->as)->size, feed->path,
                    &feed->memory, &feed->data);
  return run_take((uint64_t)rows, row_bytes, feed->path, &feed->memory, &feed->data);
}

static tesela_status run_allocate(tsl_product *product) {
  const double start = tsl_clock();
  const uint64_t c_row = (uint64_t)product->n * tsl_type(product->type)->size;
  TSL_TRY(take_feed(product, &product->a));
  TSL_TRY(take_feed(product, &product->b));
  TSL_TRY(take_feed(product, &product->c0));
  TSL_TRY(take_feed(product, &product->bias));
  TSL_TRY(take_feed(product, &product->scales[0]));
  TSL_TRY(take_feed(product, &product->scales[1]));
  TSL_TRY(take_feed(product, &product->expected));
  TSL_TRY(run_take((uint64_t)product->panel, c_row, "the product", &product->c_memory, &product->c));
  if (tsl_product_keeps_before(product))
    TSL_TRY(
        run_take((uint64_t)product->panel, c_row, "a copy of C0", &product->before_memory, &product->before));
  TSL_TRY(tsl_alloc((size_t)product->request.repeat * sizeof *product->samples, "the times of all repeats",
                    (void **)&product->samples));
  product->seconds[TSL_STAGE_ALLOCATE] += tsl_clock() - start;
  return TESELA_OK;
}

/* Fractions of a panel's work at which its stages start, for the progress line. */
static const double at_multiply = 0.2, at_verify = 0.7, at_write = 0.9;

static void run_show(tsl_product *product, const char *what, int64_t first, int64_t rows, double share) {
  tsl_progress_at(product->progress, what, ((double)first + share * (double)rows) / (double)(product->m + 1));
}

static tesela_status run_read_rows(tsl_product *product, tsl_matrix_source *feed, int64_t rows, void *dst) {
  const double start = tsl_clock();
  const tesela_status status = tsl_reader_rows(feed->reader, rows, feed->as, dst, feed->cols, 1);
  product->seconds[TSL_STAGE_READ] += tsl_clock() - start;
  return status == TESELA_IO_FAILED ? TESELA_BAD_INPUT : status;
}

/* Reads columns of a file, with all rows, into a dense row-major array. */
static tesela_status run_read_columns(tsl_product *product, tsl_matrix_source *feed, int64_t first,
                                      int64_t cols, void *dst) {
  const double start = tsl_clock();
  const tesela_status status = tsl_reader_columns(feed->reader, first, cols, feed->as, dst, cols, 1);
  product->seconds[TSL_STAGE_READ] += tsl_clock() - start;
  return status == TESELA_IO_FAILED ? TESELA_BAD_INPUT : status;
}

/* Reads a text file once in advance if it is compared by panels: the printed precision of all its
 * numbers must be known first. */
static tesela_status look_at_expected(tsl_product *product) {
  tsl_matrix_source *feed = &product->expected;
  void *column;
  if (!feed->reader || !feed->text || feed->held || product->panel == product->m || feed->cols == 0)
    return TESELA_OK;
  TSL_TRY(
      tsl_alloc((size_t)feed->rows * tsl_type(feed->as)->size, "a column of the expected result", &column));
  const tesela_status status = run_read_columns(product, feed, 0, 1, column);
  tsl_free(column);
  return status;
}

static tesela_status read_held(tsl_product *product) {
  enum { FEEDS = 7 };
  tsl_matrix_source *const feeds[FEEDS] = {&product->b,       &product->a,         &product->c0,
                                           &product->bias,    &product->scales[0], &product->scales[1],
                                           &product->expected};
  run_show(product, "reading", 0, 0, 0);
  for (int i = 0; i < FEEDS; i++)
    if (feeds[i]->held)
      TSL_TRY(run_read_rows(product, feeds[i], feeds[i]->rows, feeds[i]->data));
  TSL_TRY(tsl_product_check_diagonal(product));
  return look_at_expected(product);
}

/* One panel: rows [first, first + rows) of C. */
typedef struct panel {
  int64_t first, rows;
  tesela_plan *plan;
  char *a, *expected;
  size_t bytes; /* bytes of C's panel */
} panel;

/* Reads a file's rows of this panel, unless the file is held. */
static tesela_status run_rows_of(tsl_product *product, tsl_matrix_source *feed, const panel *part,
                                 char **rows) {
  const uint64_t item = tsl_type(feed->as)->size;
  *rows = NULL;
  if (!feed->reader)
    return TESELA_OK;
  *rows = feed->data;
  if (!feed->held)
    return feed->across ? run_read_columns(product, feed, part->first, part->rows, feed->data)
                        : run_read_rows(product, feed, part->rows, feed->data);
  *rows += (uint64_t)part->first * item * (feed->across ? 1 : (uint64_t)feed->cols);
  return TESELA_OK;
}

static tesela_status read_panel(tsl_product *product, panel *part) {
  run_show(product, "reading", part->first, part->rows, 0);
  TSL_TRY(run_rows_of(product, &product->a, part, &part->a));
  TSL_TRY(run_rows_of(product, &product->expected, part, &part->expected));
  if (product->request.in_place) {
    product->before = product->a.data;
    memcpy(product->c, product->before, part->bytes);
  }
  if (!product->c0.reader)
    return TESELA_OK;
  if (product->c0.held) {
    char *rows;
    TSL_TRY(run_rows_of(product, &product->c0, part, &rows));
    memcpy(product->c, rows, part->bytes);
  } else
    TSL_TRY(run_read_rows(product, &product->c0, part->rows, product->c));
  if (product->before)
    memcpy(product->before, product->c, part->bytes);
  return TESELA_OK;
}

/* Advances the progress line by the predicted time, since one library call reports no progress. */
static void show_multiplying(tsl_product *product, const panel *part, int64_t repeat) {
  const double step = (at_verify - at_multiply) / (double)product->request.repeat;
  const double share = at_multiply + step * (double)repeat;
  static const char *const doing[TSL_OP_COUNT] = {[TSL_OP_GEMM] = "multiplying",
                                                  [TSL_OP_DOT] = "adding",
                                                  [TSL_OP_TRANSPOSE] = "transposing",
                                                  [TSL_OP_SOLVE] = "solving"};
  run_show(product, doing[product->request.op], part->first, part->rows, share);
  tsl_progress_creep(product->progress, step * (double)part->rows / (double)(product->m + 1),
                     tesela_plan_seconds(part->plan));
}

static int compare_doubles(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

double tsl_product_median(double *samples, int64_t count) {
  qsort(samples, (size_t)count, sizeof *samples, compare_doubles);
  return (samples[(count - 1) / 2] + samples[count / 2]) / 2;
}

/* Runs the panel's plan once. */
static tesela_status run_run_once(const tsl_product *product, const panel *part, tesela_record *record) {
  const tesela_matrix a = {.data = part->a}, b = {.data = tsl_product_second(product, part->a)};
  const tesela_vector x = {.data = part->a}, y = {.data = product->b.data};
  const tesela_epilogue last = tsl_product_finish_at(product, part->first);
  const tesela_result c = {.data = product->c};
  const tesela_scalar sum = {.data = product->c};
  switch (product->request.op) {
  case TSL_OP_DOT:
    return tesela_plan_run(part->plan, &(tesela_operands){.x = &x, .y = &y, .result = &sum}, record);
  case TSL_OP_TRANSPOSE:
    return tesela_plan_run(part->plan, &(tesela_operands){.a = &a, .c = &c}, record);
  case TSL_OP_SOLVE:
    return tesela_plan_run(part->plan, &(tesela_operands){.a = &a, .b = &b, .c = &c}, record);
  default:
    return tesela_plan_run(part->plan, &(tesela_operands){.a = &a, .b = &b, .c = &c, .epilogue = &last},
                           record);
  }
}

static tesela_status run_multiply(tsl_product *product, const panel *part) {
  const int64_t repeats = product->request.repeat;
  double copy_in = 0, copy_out = 0;
  for (int64_t i = 0; i < repeats; i++) {
    tesela_record record;
    show_multiplying(product, part, i);
    if (i > 0 && product->before)
      memcpy(product->c, product->before, part->bytes);
    TSL_TRY(
        tsl_product_measured(product, run_run_once(product, part, &record), &record, part->rows, product->n));
    product->samples[i] = record.seconds_compute;
    product->seconds[TSL_STAGE_ALLOCATE] += record.seconds_allocate;
    copy_in += record.seconds_copy_in / (double)repeats;
    copy_out += record.seconds_copy_out / (double)repeats;
  }
  product->seconds[TSL_STAGE_COPY_IN] += copy_in;
  product->seconds[TSL_STAGE_COMPUTE] += tsl_product_median(product->samples, repeats);
  product->seconds[TSL_STAGE_COPY_OUT] += copy_out;
  product->fastest += product->samples[0];
  return TESELA_OK;
}

static tesela_status run_compare(tsl_product *product, const panel *part) {
  (void)tsl_product_compare(product,
                            &(tsl_compared){.factors = {.a = part->a,
                                                        .b = tsl_product_second(product, part->a),
                                                        .at = tsl_product_layout(product, part->rows)},
                                            .c = product->c,
                                            .before = product->before,
                                            .last = tsl_product_finish_at(product, part->first),
                                            .expected = part->expected,
                                            .row = part->first,
                                            .rows = part->rows,
                                            .cols = product->n,
                                            .guaranteed = tsl_plan_facts_bound(product->facts)},
                            0);
  return tsl_product_tell_difference(product, part->first + part->rows == product->m);
}

static tesela_status run_verify(tsl_product *product, const panel *part) {
  const double start = tsl_clock();
  tesela_status status = TESELA_OK;
  if (!product->request.verify && !product->expected.reader) {
    tsl_product_mirror(product);
    return TESELA_OK;
  }
  run_show(product, "verifying", part->first, part->rows, at_verify);
  if (product->request.verify)
    TSL_GO(
        tsl_product_judge(product, &(tsl_product_verdict){.plan = part->plan,
                                                          .a = part->a,
                                                          .b = tsl_product_second(product, part->a),
                                                          .before = product->before,
                                                          .last = tsl_product_finish_at(product, part->first),
                                                          .c = product->c,
                                                          .row = part->first}));
  tsl_product_mirror(product);
  if (product->expected.reader)
    TSL_GO(run_compare(product, part));
out:
  product->seconds[TSL_STAGE_VERIFY] += tsl_clock() - start;
  return status;
}

static tesela_status write_panel(tsl_product *product, const panel *part) {
  const double start = tsl_clock();
  if (!product->writer)
    return TESELA_OK;
  run_show(product, "writing", part->first, part->rows, at_write);
  TSL_TRY(tsl_writer_rows(product->writer, part->rows, product->c, product->n, 1));
  product->seconds[TSL_STAGE_WRITE] += tsl_clock() - start;
  return TESELA_OK;
}

static tesela_status run_run_panel(tsl_product *product, int64_t first) {
  const int64_t remaining = product->m - first;
  panel part = {.first = first, .rows = remaining < product->panel ? remaining : product->panel};
  part.plan = part.rows < product->panel ? product->last_plan : product->plan;
  part.bytes = (size_t)(part.rows * product->n) * tsl_type(product->type)->size;
  TSL_TRY(read_panel(product, &part));
  TSL_TRY(run_multiply(product, &part));
  TSL_TRY(run_verify(product, &part));
  return write_panel(product, &part);
}

static tesela_status run_commit(tsl_product *product) {
  const double start = tsl_clock();
  if (!product->writer)
    return TESELA_OK;
  const tesela_status status = tsl_writer_commit(product->writer);
  product->seconds[TSL_STAGE_WRITE] += tsl_clock() - start;
  return status;
}

static void free_block(void **block) {
  tsl_free(*block);
  *block = NULL;
}

/* Frees all memory of the work, on the device and on the host; keeps the result of a dot product. */
static void run_free_all(tsl_product *product) {
  const double start = tsl_clock();
  tsl_matrix_source *const feeds[] = {&product->a,       &product->b,         &product->c0,
                                      &product->bias,    &product->scales[0], &product->scales[1],
                                      &product->expected};
  if (product->request.op == TSL_OP_DOT)
    tsl_type_load(product->type, product->c, product->result);
  tesela_plan_destroy(product->plan);
  tesela_plan_destroy(product->last_plan);
  product->plan = product->last_plan = NULL;
  for (size_t i = 0; i < sizeof feeds / sizeof *feeds; i++)
    free_block(&feeds[i]->memory);
  free_block(&product->c_memory);
  free_block(&product->before_memory);
  product->seconds[TSL_STAGE_FREE] = tsl_clock() - start;
}

tesela_status tsl_product_run(tsl_product *product) {
  product->verdict.right = true;
  TSL_TRY(run_allocate(product));
  TSL_TRY(read_held(product));
  tesela_status status = TESELA_OK;
  for (int64_t first = 0; status == TESELA_OK && (first == 0 || first < product->m);
       first += product->panel > 0 ? product->panel : 1)
    status = run_run_panel(product, first);
  if (status == TESELA_OK)
    status = run_commit(product);
  if (status == TESELA_OK || status == TESELA_WRONG_RESULT)
    run_free_all(product);
  product->total = tsl_clock() - product->started;
  return status;
}
