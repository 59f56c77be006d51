#include "plan/pipeline.h"

#include "base/clock.h"
#include "base/status.h"
#include "strategy/strategy_epilogue.h"

typedef struct pipeline_running {
  const tsl_overlap *run;
  const tsl_device_ops *ops;
  const tsl_problem *problem;
  const tsl_pipeline_plan *cut;
  tsl_stager porter;
  tsl_transfer_path ways[TSL_OPERANDS];
  tsl_pending_readback blocks[TSL_PIPELINE_BLOCKS]; /* blocks of C in the order of their computation */
  int count;                                        /* number of enqueued blocks */
  tsl_copy_result landed;
} pipeline_running;

static double pipeline_bytes_of(const tsl_problem *problem, int operand) {
  const tsl_shape *shape = tsl_problem_shape(problem, operand);
  return (double)shape->rows * (double)shape->cols * (double)tsl_type(shape->type)->size;
}

bool tsl_overlap_suits(const tsl_plan *plan) {
  const tsl_problem *problem = &plan->work.problem;
  double bytes = pipeline_bytes_of(problem, TSL_OPERAND_C);
  if (!plan->cut)
    return false;
  for (int i = 0; i < TSL_OPERANDS; i++)
    bytes += tsl_problem_reads(problem, i) ? pipeline_bytes_of(problem, i) : 0;
  return bytes >= plan->cut->sizes.least;
}

static const tsl_operand *pipeline_given_of(const tsl_operands *operands, int operand) {
  return operand == TSL_OPERAND_A ? &operands->a : operand == TSL_OPERAND_B ? &operands->b : &operands->c;
}

static tesela_status pipeline_take_memory(pipeline_running *job) {
  const tsl_overlap *run = job->run;
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tsl_transfer *transfer = &run->plan->slots->transfers[i];
    job->ways[i] = (tsl_transfer_path){.shape = tsl_problem_shape(job->problem, i), .transfer = transfer};
    if (!tsl_problem_uses(job->problem, i))
      continue;
    TSL_TRY(tsl_run_slot_staged(run->slot, i, transfer->bytes));
    job->ways[i].host = pipeline_given_of(run->given, i)->host;
    job->ways[i].buffer = run->slot->staged[i];
  }
  return tsl_run_slot_scratch(run->slot, job->cut->scratch);
}

/* --- copies in --- */

static tesela_status pipeline_bring(pipeline_running *job, int operand, tsl_copy_chunk part) {
  return tsl_problem_reads(job->problem, operand) ? tsl_part_in(&job->porter, &job->ways[operand], &part)
                                                  : TESELA_OK;
}

/* Copies the panels that have just arrived: rows i of A, columns j of B. */
static tesela_status bring_panels(pipeline_running *job, const tsl_panel_arrivals *arrivals) {
  const tsl_copy_chunk at = tsl_block_grid_part(&job->cut->grain, arrivals->a - 1, arrivals->b - 1);
  const bool are_first = arrivals->a == 1 && arrivals->b == 1;
  if (are_first || arrivals->a_is_new)
    TSL_TRY(pipeline_bring(job, TSL_OPERAND_A, (tsl_copy_chunk){at.row, at.rows, 0, job->problem->k}));
  if (are_first || !arrivals->a_is_new)
    TSL_TRY(pipeline_bring(job, TSL_OPERAND_B, (tsl_copy_chunk){0, job->problem->k, at.col, at.cols}));
  return TESELA_OK;
}

/* --- computing --- */

static tsl_operand pipeline_operand_at(const pipeline_running *job, int operand, int64_t row, int64_t col) {
  const tsl_shape *packed = &job->ways[operand].transfer->packed;
  return (tsl_operand){.buffer = job->ways[operand].buffer,
                       .offset = row * packed->row_stride + col * packed->col_stride,
                       .row_stride = packed->row_stride,
                       .col_stride = packed->col_stride};
}

/* Enqueues a block after all copies that have been enqueued. */
static tesela_status enqueue_block(pipeline_running *job, int i, int j) {
  tsl_staging *staging = job->run->staging;
  tsl_stream *stream = job->run->slot->stream;
  const tsl_copy_chunk part = tsl_block_grid_part(&job->cut->grain, i, j);
  const tsl_work *work = tsl_pipeline_plan_work(job->cut, &job->run->plan->work, i, j);
  tsl_operands used = {.a = pipeline_operand_at(job, TSL_OPERAND_A, part.row, 0),
                       .b = pipeline_operand_at(job, TSL_OPERAND_B, 0, part.col),
                       .c = pipeline_operand_at(job, TSL_OPERAND_C, part.row, part.col),
                       .bias = job->run->bias,
                       .scratch = job->run->slot->scratch};
  used.bias.offset += part.row * used.bias.row_stride + part.col * used.bias.col_stride;
  tsl_event *done;
  TSL_TRY(pipeline_bring(job, TSL_OPERAND_C, part));
  TSL_TRY(job->ops->event_record(staging->in, staging->arrived));
  TSL_TRY(job->ops->stream_wait(stream, staging->arrived));
  if (job->count == 0 && job->run->slot->begin)
    TSL_TRY(job->ops->event_record(stream, job->run->slot->begin));
  TSL_TRY(work->strategy->run(work, &used, stream));
  if (job->run->plan->finish)
    TSL_TRY(tsl_finish_on_device(work, job->run->plan->finish, &used, stream));
  TSL_TRY(tsl_staging_mark(staging, job->count, &done));
  TSL_TRY(job->ops->event_record(stream, done));
  job->blocks[job->count++] = (tsl_pending_readback){part, done};
  return TESELA_OK;
}

static tesela_status enqueue_all(pipeline_running *job) {
  tsl_panel_arrivals arrivals = {0};
  while (tsl_block_grid_next(&job->cut->grain, job->problem, &arrivals)) {
    int i, j;
    TSL_TRY(bring_panels(job, &arrivals));
    for (int index = 0; tsl_block_grid_block(&arrivals, index, &i, &j); index++)
      TSL_TRY(enqueue_block(job, i, j));
  }
  return job->run->slot->end ? job->ops->event_record(job->run->slot->stream, job->run->slot->end)
                             : TESELA_OK;
}

/* --- the run --- */

static tesela_status pipeline_run_all(pipeline_running *job, bool is_timed) {
  TSL_TRY(enqueue_all(job));
  if (!tsl_problem_reads(job->problem, TSL_OPERAND_C))
    tsl_transfer_path_provide(&job->porter, &job->ways[TSL_OPERAND_C]);
  const tesela_status status =
      tsl_parts_out(&job->porter, &job->ways[TSL_OPERAND_C], job->blocks, job->count, is_timed, &job->landed);
  return status != TESELA_OK && job->landed.any ? TESELA_DEVICE_FAILED : status;
}

/* Waits for all streams, since work may be pending on the staging memory. Keeps the earlier message. */
static void pipeline_wait_for_all(const tsl_overlap *run) {
  const tsl_device_ops *ops = run->slot->device->ops;
  tsl_status_saved saved;
  tsl_status_save(&saved);
  (void)ops->finish(run->staging->in);
  (void)ops->finish(run->slot->stream);
  (void)ops->finish(run->staging->out);
  tsl_status_restore(&saved);
}

tesela_status tsl_overlap_run(const tsl_overlap *run, tsl_phases *phases) {
  pipeline_running job = {.run = run,
                          .ops = run->slot->device->ops,
                          .problem = &run->plan->work.problem,
                          .cut = run->plan->cut,
                          .porter = {.staging = run->staging, .team = run->team}};
  const double first = phases ? tsl_clock() : 0;
  tesela_status status = phases ? tsl_run_slot_events(run->slot) : TESELA_OK;
  if (status == TESELA_OK)
    status = pipeline_take_memory(&job);
  const double start = phases ? tsl_clock() : 0;
  if (status == TESELA_OK)
    status = pipeline_run_all(&job, phases != NULL);
  if (status != TESELA_OK) {
    pipeline_wait_for_all(run);
    return status;
  }
  if (!phases)
    return TESELA_OK;
  const double end = tsl_clock();
  TSL_TRY(job.ops->event_seconds(run->slot->begin, run->slot->end, &phases->compute));
  const double before = job.landed.last_ready - start - phases->compute;
  phases->allocate = start - first;
  phases->copy_in = before > 0 ? before : 0;
  phases->copy_out = end - job.landed.last_ready;
  phases->total = end - start;
  return TESELA_OK;
}
