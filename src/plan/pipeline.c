#include "plan/pipeline.h"

#include "core/clock.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/epilogue/strategy_epilogue.h"

typedef struct pipeline_state {
  const tsl_overlap *run;
  const tsl_device_ops *ops;
  const tsl_problem *problem;
  const tsl_pipeline_plan *cut;
  tsl_stager porter;
  tsl_transfer_path ways[TSL_OPERANDS];
  tsl_pending_readback blocks[TSL_PIPELINE_BLOCKS]; /* blocks of C in the order of computation */
  int count;                                        /* number of enqueued blocks */
  int returned;                                     /* number of blocks whose copy to the host has begun */
  tsl_overlapped_readback out;                      /* copy to the host during copies to the device */
  tsl_copy_result landed;                           /* result of the copies to the host */
} pipeline_state;

bool tsl_overlap_suits(const tsl_plan *plan) {
  const tsl_problem *problem = &plan->work.problem;
  double bytes = tsl_problem_operand_bytes(problem, TSL_OPERAND_C);
  if (!plan->cut)
    return false;
  for (int i = 0; i < TSL_OPERANDS; i++)
    bytes += tsl_problem_reads(problem, i) ? tsl_problem_operand_bytes(problem, i) : 0;
  return bytes >= plan->cut->sizes.least;
}

static tesela_status pipeline_take_memory(pipeline_state *state) {
  const tsl_overlap *run = state->run;
  for (int i = 0; i < TSL_OPERANDS; i++) {
    const tsl_transfer *transfer = &run->plan->slots->transfers[i];
    state->ways[i] = (tsl_transfer_path){.shape = tsl_problem_shape(state->problem, i), .transfer = transfer};
    if (!tsl_problem_uses(state->problem, i))
      continue;
    TSL_TRY(tsl_run_slot_staged(run->slot, i, transfer->bytes));
    state->ways[i].host = run->caller_operands->at[i].host;
    state->ways[i].buffer = run->slot->staged[i];
  }
  return tsl_run_slot_scratch(run->slot, state->cut->scratch);
}

/* Begins to copy the next block to the host if it is computed, and the block before it has left. */
static tesela_status begin_readback(pipeline_state *state) {
  bool is_computed = false;
  if (state->out.has_more || state->out.in_flight > 0 || state->returned == state->count ||
      !tsl_block_grid_is_duplex(state->run->slot->device))
    return TESELA_OK;
  tsl_pending_readback *next = &state->blocks[state->returned];
  TSL_TRY(state->ops->event_done(next->ready, &is_computed));
  if (!is_computed)
    return TESELA_OK;
  state->returned++;
  state->landed.wrote_host = true; /* assumed from here on */
  return tsl_overlapped_readback_begin(&state->out, &state->porter, &state->ways[TSL_OPERAND_C], next);
}

/* Copies a part of an operand in, by as many ranges of its lines as blocks may leave meanwhile. */
static tesela_status pipeline_copy_in(pipeline_state *state, int operand, tsl_copy_part part) {
  const bool by_rows = state->ways[operand].transfer->packed.col_stride == 1;
  int64_t *first = by_rows ? &part.row : &part.col, *lines = by_rows ? &part.rows : &part.cols;
  const int64_t end = *first + *lines, blocks = state->count - state->returned + 1,
                share = tsl_ceil_div(*lines, blocks);
  if (!tsl_problem_reads(state->problem, operand))
    return TESELA_OK;
  for (; *first < end; *first += share) {
    *lines = tsl_min(share, end - *first);
    TSL_TRY(begin_readback(state));
    TSL_TRY(tsl_staged_copy_to_device(&state->porter, &state->ways[operand], &part));
  }
  return TESELA_OK;
}

/* Copies the new panels: rows i of A, columns j of B. */
static tesela_status bring_panels(pipeline_state *state, const tsl_panel_arrivals *arrivals) {
  const tsl_copy_part at = tsl_block_grid_part(&state->cut->grid, arrivals->a - 1, arrivals->b - 1);
  const bool are_first = arrivals->a == 1 && arrivals->b == 1;
  if (are_first || arrivals->a_is_new)
    TSL_TRY(pipeline_copy_in(state, TSL_OPERAND_A, (tsl_copy_part){at.row, at.rows, 0, state->problem->k}));
  if (are_first || !arrivals->a_is_new)
    TSL_TRY(pipeline_copy_in(state, TSL_OPERAND_B, (tsl_copy_part){0, state->problem->k, at.col, at.cols}));
  return TESELA_OK;
}

static tsl_operand pipeline_operand_at(const pipeline_state *state, int operand, int64_t row, int64_t col) {
  const tsl_shape *packed = &state->ways[operand].transfer->packed;
  return (tsl_operand){.buffer = state->ways[operand].buffer,
                       .offset = row * packed->row_stride + col * packed->col_stride,
                       .row_stride = packed->row_stride,
                       .col_stride = packed->col_stride};
}

/* Enqueues a block after all enqueued copies. */
static tesela_status enqueue_block(pipeline_state *state, int i, int j) {
  tsl_staging *staging = state->run->staging;
  tsl_stream *stream = state->run->slot->stream;
  const tsl_copy_part part = tsl_block_grid_part(&state->cut->grid, i, j);
  const tsl_work *work = tsl_pipeline_plan_work(state->cut, &state->run->plan->work, i, j);
  tsl_operands used = {.a = pipeline_operand_at(state, TSL_OPERAND_A, part.row, 0),
                       .b = pipeline_operand_at(state, TSL_OPERAND_B, 0, part.col),
                       .c = pipeline_operand_at(state, TSL_OPERAND_C, part.row, part.col),
                       .bias = state->run->bias,
                       .scratch = state->run->slot->scratch};
  used.bias.offset += part.row * used.bias.row_stride + part.col * used.bias.col_stride;
  tsl_event *done;
  TSL_TRY(pipeline_copy_in(state, TSL_OPERAND_C, part));
  TSL_TRY(state->ops->event_record(staging->in, staging->arrived));
  TSL_TRY(state->ops->stream_wait(stream, staging->arrived));
  if (state->count == 0 && state->run->slot->begin)
    TSL_TRY(state->ops->event_record(stream, state->run->slot->begin));
  TSL_TRY(work->strategy->run(work, &used, stream));
  if (state->run->plan->finish)
    TSL_TRY(tsl_finish_on_device(work, state->run->plan->finish, &used, stream));
  TSL_TRY(tsl_staging_mark(staging, state->count, &done));
  TSL_TRY(state->ops->event_record(stream, done));
  state->blocks[state->count++] = (tsl_pending_readback){part, done};
  return TESELA_OK;
}

/* Copies all panels in and enqueues each block after its panels. */
static tesela_status enqueue_all(pipeline_state *state) {
  tsl_panel_arrivals arrivals = {0};
  while (tsl_block_grid_next(&state->cut->grid, state->problem, &arrivals)) {
    int i, j;
    TSL_TRY(bring_panels(state, &arrivals));
    for (int index = 0; tsl_block_grid_block(&arrivals, index, &i, &j); index++)
      TSL_TRY(enqueue_block(state, i, j));
  }
  return state->run->slot->end ? state->ops->event_record(state->run->slot->stream, state->run->slot->end)
                               : TESELA_OK;
}

/* Copies the blocks that have not left yet to the host. */
static tesela_status return_rest(pipeline_state *state, bool is_timed) {
  tsl_copy_result landed = {0};
  const tesela_status status =
      tsl_staged_copy_to_host(&state->porter, &state->ways[TSL_OPERAND_C], &state->blocks[state->returned],
                              state->count - state->returned, is_timed, &landed);
  state->landed.wrote_host |= landed.wrote_host;
  state->landed.last_ready = landed.last_ready;
  return status;
}

static tesela_status pipeline_run_all(pipeline_state *state, bool is_timed) {
  tesela_status status = TESELA_OK;
  state->porter.readback = &state->out;
  TSL_GO(enqueue_all(state));
  TSL_GO(tsl_overlapped_readback_finish(&state->out));
  if (!tsl_problem_reads(state->problem, TSL_OPERAND_C))
    tsl_transfer_path_map_pages(&state->porter, &state->ways[TSL_OPERAND_C]);
  TSL_GO(return_rest(state, is_timed));
out:
  return status != TESELA_OK && state->landed.wrote_host ? TESELA_DEVICE_FAILED : status;
}

/* Waits for all streams after a failure, since work may use the staging memory. Keeps the error message. */
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
  pipeline_state state = {.run = run,
                          .ops = run->slot->device->ops,
                          .problem = &run->plan->work.problem,
                          .cut = run->plan->cut,
                          .porter = {.staging = run->staging, .team = run->team}};
  const double first = phases ? tsl_clock() : 0;
  tesela_status status = phases ? tsl_run_slot_events(run->slot) : TESELA_OK;
  if (status == TESELA_OK)
    status = pipeline_take_memory(&state);
  const double start = phases ? tsl_clock() : 0;
  if (status == TESELA_OK)
    status = pipeline_run_all(&state, phases != NULL);
  if (status != TESELA_OK) {
    pipeline_wait_for_all(run);
    return status;
  }
  if (!phases)
    return TESELA_OK;
  const double end = tsl_clock();
  TSL_TRY(state.ops->event_seconds(run->slot->begin, run->slot->end, &phases->compute));
  const double before = state.landed.last_ready - start - phases->compute;
  phases->allocate = start - first;
  phases->copy_in = before > 0 ? before : 0;
  phases->copy_out = end - state.landed.last_ready;
  phases->total = end - start;
  return TESELA_OK;
}
