/* Runs the work by blocks: multiplies the pieces read ahead and passes blocks to the writing
 * thread. */
#include "cli/interrupt.h"
#include "core/clock.h"
#include "core/memory.h"
#include "product/block_work.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Allocates two slots, each for the largest piece. */
static tesela_status take_pieces(const tsl_product *product, const tsl_matrix_source *feed,
                                 tsl_block_slot *slots, bool is_a) {
  const tsl_block_size *size = &product->blocks->size;
  const int64_t length = is_a ? size->rows : size->cols,
                depth = product->request.op == TSL_OP_GEMM ? size->depth : size->cols;
  for (int i = 0; i < TSL_BLOCK_SLOTS && feed->reader; i++) {
    slots[i].last_step = -1;
    TSL_TRY(tsl_alloc((size_t)(length * depth) * tsl_type(feed->as)->size, feed->path, &slots[i].data));
  }
  return TESELA_OK;
}

static tesela_status block_allocate(tsl_block_work *work) {
  tsl_product *product = work->product;
  const tsl_block_size *size = &product->blocks->size;
  const double start = tsl_clock();
  TSL_TRY(take_pieces(product, &product->a, work->a, true));
  TSL_TRY(take_pieces(product, &product->b, work->b, false));
  for (int i = 0; i < TSL_BLOCK_SLOTS; i++)
    TSL_TRY(tsl_alloc((size_t)(size->rows * size->cols) * tsl_type(product->type)->size,
                      "blocks of the result", &work->c[i]));
  if (tsl_blocks_keep_c(product))
    TSL_TRY(tsl_alloc((size_t)(size->rows * size->cols) * tsl_type(product->type)->size, "a copy of a block",
                      &work->before));
  TSL_TRY(tsl_block_expect_start(work));
  TSL_TRY(tsl_alloc((size_t)product->request.repeat * sizeof *product->samples, "the times of all repeats",
                    (void **)&product->samples));
  product->seconds[TSL_STAGE_ALLOCATE] += tsl_clock() - start;
  return TESELA_OK;
}

static void block_free_all(tsl_block_work *work) {
  const double start = tsl_clock();
  for (int i = 0; i < TSL_BLOCK_SLOTS; i++) {
    tsl_free(work->a[i].data);
    tsl_free(work->b[i].data);
    tsl_free(work->c[i]);
  }
  tsl_free(work->before);
  tsl_block_expect_end(work);
  work->product->seconds[TSL_STAGE_FREE] += tsl_clock() - start;
}

/* --- progress: multiply-adds, or elements, of what this run has to do --- */

static double block_work_of(const tsl_block_step *step) {
  return (double)step->c.rows * (double)step->c.cols * fmax(1, (double)step->depth);
}

static double work_left(const tsl_product *product) {
  tsl_block_step step;
  double all = 0;
  for (bool more = tsl_blocks_first(product, &step); more; more = tsl_blocks_next(product, &step))
    all += block_work_of(&step);
  return all;
}

static void block_show(tsl_product *product, const tsl_block_step *step, double done, double all,
                       const tesela_plan *plan) {
  char what[64];
  snprintf(what, sizeof what, "%s block %lld of %lld",
           product->request.op == TSL_OP_GEMM ? "multiplying" : "transposing",
           (long long)(product->blocks->resumed + step->ordinal + 1), (long long)product->blocks->count);
  tsl_progress_at(product->progress, what, done / all);
  tsl_progress_creep(product->progress, block_work_of(step) / all,
                     tesela_plan_seconds(plan) * (double)product->request.repeat);
}

/* --- steps --- */

static tesela_status run_plan(tsl_product *product, const tsl_block_step *step, tesela_plan *plan,
                              const void *a, const void *b, void *c, tesela_record *record) {
  const tesela_matrix left = {.data = tsl_writable(a)}, right = {.data = tsl_writable(b)};
  const tesela_result result = {.data = c};
  const tesela_status status =
      product->request.op == TSL_OP_GEMM
          ? tesela_plan_run(plan, &(tesela_operands){.a = &left, .b = &right, .c = &result}, record)
          : tesela_plan_run(plan, &(tesela_operands){.a = &left, .c = &result}, record);
  return tsl_product_measured(product, status, record, step->c.rows, step->c.cols);
}

/* Runs a step's plan as often as --repeat requests, on pieces that are read once. `before`: C
 * before the step; NULL if it is not read. */
static tesela_status run_often(tsl_product *product, const tsl_block_step *step, tesela_plan *plan,
                               const void *a, const void *b, const void *before, void *c) {
  const int64_t repeats = product->request.repeat;
  for (int64_t i = 0; i < repeats; i++) {
    tesela_record record;
    if (i > 0 && before)
      memcpy(c, before, (size_t)(step->c.rows * step->c.cols) * tsl_type(product->type)->size);
    TSL_TRY(run_plan(product, step, plan, a, b, c, &record));
    product->samples[i] = record.seconds_compute;
    product->seconds[TSL_STAGE_ALLOCATE] += record.seconds_allocate;
    product->seconds[TSL_STAGE_COPY_IN] += record.seconds_copy_in / (double)repeats;
    product->seconds[TSL_STAGE_COPY_OUT] += record.seconds_copy_out / (double)repeats;
  }
  product->seconds[TSL_STAGE_COMPUTE] += tsl_product_median(product->samples, repeats);
  product->fastest += product->samples[0];
  return TESELA_OK;
}

/* Waits for a count and adds the time to the stage: no computing hid it. */
static bool block_await(tsl_block_work *work, const int64_t *count, int64_t least, tsl_stage stage) {
  const double start = tsl_clock();
  const bool go_on = tsl_block_await(work, count, least);
  work->product->seconds[stage] += tsl_clock() - start;
  return go_on;
}

/* Returns true if a step reads C. */
static bool reads_c(const tsl_product *product, const tsl_block_step *step) {
  const double *beta = product->request.beta;
  return product->request.op == TSL_OP_GEMM && (!step->is_first || beta[0] != 0 || beta[1] != 0);
}

/* Runs and verifies one step, with a copy of C before it. */
static tesela_status run_judged(tsl_block_work *work, const tsl_block_step *step, tesela_plan *plan,
                                const void *a, const void *b, void *c) {
  tsl_product *product = work->product;
  const bool reads = reads_c(product, step);
  if (reads && work->before)
    memcpy(work->before, c, (size_t)(step->c.rows * step->c.cols) * tsl_type(product->type)->size);
  TSL_TRY(run_often(product, step, plan, a, b, reads ? work->before : NULL, c));
  const double start = tsl_clock();
  if (product->request.verify)
    TSL_TRY(tsl_product_judge(product, &(tsl_product_verdict){.plan = plan,
                                                              .a = a,
                                                              .b = b,
                                                              .before = reads ? work->before : NULL,
                                                              .c = c,
                                                              .row = step->c.row,
                                                              .col = step->c.col,
                                                              .is_part = !step->is_last}));
  product->seconds[TSL_STAGE_VERIFY] += tsl_clock() - start;
  return TESELA_OK;
}

/* Runs one step; returns false if all threads are to end. */
static bool do_step(tsl_block_work *work, const tsl_block_step *step, int64_t index, double done,
                    double all) {
  tsl_product *product = work->product;
  tesela_plan *plan = NULL;
  if (!block_await(work, &work->read, index + 1, TSL_STAGE_READ) ||
      !block_await(work, &work->written, step->ordinal - TSL_BLOCK_SLOTS + 1, TSL_STAGE_WRITE))
    return false;
  tesela_status status = tsl_blocks_plan_of(product, step, &plan);
  if (status == TESELA_OK) {
    block_show(product, step, done, all, plan);
    status = run_judged(work, step, plan, work->pieces[index % TSL_BLOCK_SLOTS].a,
                        work->pieces[index % TSL_BLOCK_SLOTS].b, work->c[step->ordinal % TSL_BLOCK_SLOTS]);
  }
  if (status != TESELA_OK) {
    tsl_block_end(work, status);
    return false;
  }
  tsl_block_advance(work, &work->computed);
  if (step->is_last)
    tsl_block_advance(work, &work->blocks_done);
  return true;
}

static void do_steps(tsl_block_work *work) {
  tsl_product *product = work->product;
  const double all = work_left(product);
  double done = 0;
  tsl_block_step step;
  int64_t index = 0;
  for (bool more = tsl_blocks_first(product, &step); more; more = tsl_blocks_next(product, &step), index++) {
    if (!do_step(work, &step, index, done, all))
      return;
    done += block_work_of(&step);
    product->blocks->computed = done;
  }
  tsl_progress_at(product->progress, "writing", 1);
  if (block_await(work, &work->written, tsl_blocks_left(product->blocks), TSL_STAGE_WRITE))
    tsl_block_end(work, TESELA_OK);
}

/* Runs all steps, with a reading thread and a writing thread. */
static tesela_status run_threads(tsl_block_work *work) {
  pthread_t reader, writer;
  const bool has_reader = pthread_create(&reader, NULL, tsl_block_read_ahead, work) == 0;
  const bool has_writer = has_reader && pthread_create(&writer, NULL, tsl_block_write_behind, work) == 0;
  if (has_writer)
    do_steps(work);
  else
    tsl_block_end(work, tsl_fail(TESELA_OUT_OF_MEMORY, "there is no thread to be had for reading ahead"));
  if (has_reader)
    pthread_join(reader, NULL);
  if (has_writer)
    pthread_join(writer, NULL);
  if (work->status != TESELA_OK)
    tsl_status_restore(&work->sentence);
  return work->status;
}

static tesela_status block_commit(tsl_product *product) {
  const double start = tsl_clock();
  TSL_TRY(tsl_blocks_check_inputs(product));
  if (!product->blocks->part)
    return TESELA_OK;
  const tesela_status status = tsl_resumable_commit(product->blocks->part);
  product->seconds[TSL_STAGE_WRITE] += tsl_clock() - start;
  return status;
}

/* Adds to the message that finished blocks are kept and how to resume. */
static tesela_status tell_rest(const tsl_product *product, tesela_status status) {
  const tsl_resumable *part = product->blocks->part;
  tsl_status_saved saved;
  if (status == TESELA_OK || !part || tsl_resumable_finished_blocks(part) == 0)
    return status;
  tsl_status_save(&saved);
  if (!tsl_resumable_keeps_its_names(part))
    return tsl_fail(status, "%s; no blocks of it are kept", saved.sentence);
  (void)tsl_resumable_record_written(product->blocks->part);
  const bool same = tsl_blocks_check_inputs(product) == TESELA_OK;
  return tsl_fail(status, "%s; %lld of %lld blocks of %s are kept, %s", saved.sentence,
                  (long long)tsl_resumable_finished_blocks(part), (long long)product->blocks->count,
                  product->request.output,
                  same ? "and --resume goes on with them" : "which are of the inputs as they were");
}

tesela_status tsl_blocks_run(tsl_product *product) {
  tsl_block_work work = {.product = product,
                         .files = PTHREAD_MUTEX_INITIALIZER,
                         .lock = PTHREAD_MUTEX_INITIALIZER,
                         .changed = PTHREAD_COND_INITIALIZER};
  product->verdict.right = true;
  tesela_status status = block_allocate(&work);
  if (status == TESELA_OK)
    status = tsl_block_expect_resumed(&work);
  if (status == TESELA_OK && product->blocks->resumed < product->blocks->count)
    status = run_threads(&work);
  block_free_all(&work);
  if (status == TESELA_OK)
    status = block_commit(product);
  product->total = tsl_clock() - product->started;
  return tell_rest(product, status);
}
