#include "api/api.h"
#include "api/batch_common.h"

#include "core/floats.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/status.h"

#include <string.h>

/* Sets *stream to new_stream, or frees new_stream after a failure. Returns status. */
static tesela_status return_stream(tesela_status status, tesela_stream *new_stream, tesela_stream **stream) {
  if (status == TESELA_OK)
    *stream = new_stream;
  else
    tsl_free(new_stream);
  return status;
}

static tesela_status stream_make(tsl_device *device, tesela_stream **stream) {
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof **stream, "a stream", &block));
  *stream = block;
  (*stream)->device = device;
  return TESELA_OK;
}

static tesela_status stream_check(const tesela_context *context, tesela_stream **stream) {
  if (!context || !stream)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !context ? "context" : "stream");
  *stream = NULL;
  return TESELA_OK;
}

tesela_status tesela_stream_create(tesela_context *context, const char *device, tesela_stream **stream) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  tsl_device *chosen;
  tesela_stream *new_object;
  TSL_TRY(stream_check(context, stream));
  TSL_TRY(tsl_api_chosen_device(context, device, &chosen));
  TSL_TRY(stream_make(chosen, &new_object));
  return return_stream(chosen->ops->stream_create(chosen, &new_object->stream), new_object, stream);
}

tesela_status tesela_stream_wrap(tesela_context *context, const char *device, void *native,
                                 tesela_stream **stream) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  tsl_device *chosen;
  tesela_stream *new_object;
  TSL_TRY(stream_check(context, stream));
  if (!device)
    return tsl_fail(TESELA_BAD_CALL,
                    "device is NULL: a handle does not tell whether it is CUDA's or OpenCL's");
  TSL_TRY(tsl_api_chosen_device(context, device, &chosen));
  if (!chosen->ops->stream_adopt)
    return tsl_fail(TESELA_UNSUPPORTED, "%s cannot wrap existing queues: use tesela_stream_create()",
                    chosen->name);
  TSL_TRY(stream_make(chosen, &new_object));
  return return_stream(chosen->ops->stream_adopt(chosen, native, &new_object->stream), new_object, stream);
}

void *tesela_stream_native(const tesela_stream *stream) {
  return stream && stream->device->ops->native_stream ? stream->device->ops->native_stream(stream->stream)
                                                      : NULL;
}

tesela_status tesela_stream_reserve(tesela_stream *stream, size_t bytes) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  tsl_buffer *larger;
  if (!stream)
    return tsl_fail(TESELA_BAD_CALL, "stream is NULL");
  const tsl_device_ops *ops = stream->device->ops;
  if (bytes <= (stream->workspace ? stream->workspace->bytes : 0))
    return TESELA_OK;
  TSL_TRY(ops->buffer_create(stream->device, bytes, &larger));
  if (stream->workspace) {
    const tesela_status status = ops->finish(stream->stream);
    if (status != TESELA_OK) {
      ops->buffer_destroy(larger);
      return status;
    }
    ops->buffer_destroy(stream->workspace);
  }
  stream->workspace = larger;
  return TESELA_OK;
}

tesela_status tesela_stream_wait(tesela_stream *stream) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  if (!stream)
    return tsl_fail(TESELA_BAD_CALL, "stream is NULL");
  return stream->device->ops->finish(stream->stream);
}

void tesela_stream_destroy(tesela_stream *stream) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  if (!stream)
    return;
  const tsl_device_ops *ops = stream->device->ops;
  if (stream->workspace) { /* queued work may use the workspace */
    tsl_status_saved saved;
    tsl_status_save(&saved);
    (void)ops->finish(stream->stream);
    tsl_status_restore(&saved);
    ops->buffer_destroy(stream->workspace);
  }
  ops->stream_destroy(stream->stream);
  tsl_free(stream);
}

tesela_status tesela_event_create(tesela_stream *stream, tesela_event **event) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  void *block;
  if (!stream || !event)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !stream ? "stream" : "event");
  *event = NULL;
  TSL_TRY(tsl_alloc_zeroed(sizeof **event, "an event", &block));
  tesela_event *new_object = block;
  new_object->device = stream->device;
  const tesela_status status = new_object->device->ops->event_create(new_object->device, &new_object->event);
  if (status != TESELA_OK) {
    tsl_free(new_object);
    return status;
  }
  *event = new_object;
  return TESELA_OK;
}

tesela_status tesela_event_record(tesela_event *event, tesela_stream *stream) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  if (!event || !stream)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !event ? "event" : "stream");
  if (event->device != stream->device)
    return tsl_fail(TESELA_BAD_CALL, "the event is of %s, and the stream of %s", event->device->name,
                    stream->device->name);
  TSL_TRY(stream->device->ops->event_record(stream->stream, event->event));
  event->is_recorded = true;
  return TESELA_OK;
}

tesela_status tesela_event_seconds(tesela_event *begin, tesela_event *end, double *seconds) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  if (!begin || !end || !seconds)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !begin ? "begin" : !end ? "end" : "seconds");
  *seconds = 0;
  if (begin->device != end->device)
    return tsl_fail(TESELA_BAD_CALL, "begin is of %s, and end of %s", begin->device->name, end->device->name);
  if (!begin->is_recorded || !end->is_recorded)
    return tsl_fail(TESELA_BAD_CALL, "%s was not recorded", begin->is_recorded ? "end" : "begin");
  return begin->device->ops->event_seconds(begin->event, end->event, seconds);
}

void tesela_event_destroy(tesela_event *event) {
  TSL_NOT_CANCELLED;
  TSL_DEFAULT_FLOATS;
  if (!event)
    return;
  event->device->ops->event_destroy(event->event);
  tsl_free(event);
}

static tesela_status check_plan(const tesela_plan *plan, const tesela_stream *stream) {
  if (!plan || !stream)
    return tsl_fail(TESELA_BAD_CALL, "%s is NULL", !plan ? "plan" : "stream");
  const tsl_work *work = &plan->plan->work;
  if (plan->plan->spread)
    return tsl_fail(
        TESELA_UNSUPPORTED,
        "the plan is for operands in pieces, whose runs have streams of their own on each device");
  if (stream->device != work->device)
    return tsl_fail(TESELA_BAD_CALL, "the stream is of %s, and the plan runs on %s%s", stream->device->name,
                    work->device->name,
                    strcmp(stream->device->name, work->device->name) == 0 ? " of another context" : "");
  if (!tsl_device_is_host(work->device) && plan->plan->place != TSL_PLACE_DEVICE)
    return tsl_fail(TESELA_BAD_CALL,
                    "the plan is for host memory: queued runs on %s need operands in buffers",
                    work->device->name);
  if (plan->has_own_checks)
    return tsl_fail(
        TESELA_UNSUPPORTED,
        "the plan measures the error or verifies the result of each run, which queued runs cannot do");
  return TESELA_OK;
}

/* Returns the caller's workspace, or the stream's. Refuses a workspace that is too small. */
static tesela_status find_workspace(const tesela_plan *plan, const tesela_stream *stream,
                                    const tesela_buffer *buffer, tsl_buffer **workspace) {
  *workspace = buffer ? buffer->memory : stream->workspace;
  if (plan->workspace == 0)
    return TESELA_OK;
  if (buffer && buffer->memory->device != stream->device)
    return tsl_fail(TESELA_BAD_CALL, "workspace is on %s, and the plan runs on %s",
                    buffer->memory->device->name, stream->device->name);
  const size_t bytes = *workspace ? (*workspace)->bytes : 0;
  if (bytes >= plan->workspace)
    return TESELA_OK;
  return tsl_fail(TESELA_BAD_CALL, "the plan needs a workspace of %zu bytes, and %s %zu%s", plan->workspace,
                  buffer ? "the workspace has" : "the stream reserved", bytes,
                  buffer ? "" : ": tesela_stream_reserve(), or a workspace");
}

/* Queues the products of a batch. The last product is as far from the first as any. */
static tesela_status enqueue_batch(tesela_plan *plan, const tesela_stream *stream,
                                   const tesela_operands *operands, tsl_buffer *workspace) {
  const tsl_problem *problem = &plan->plan->work.problem;
  tesela_epilogue epilogue = operands->epilogue ? *operands->epilogue : (tesela_epilogue){.bias_axis = 0};
  epilogue.bias_axis = problem->bias_axis;
  epilogue.scaling_a = problem->scaling_a;
  epilogue.scaling_b = problem->scaling_b;
  tesela_gemm_desc first = tsl_api_desc_of(operands);
  first.epilogue = &epilogue;
  const tsl_products products = {.plan = plan, .desc = &first, .batch = &plan->batch, .group = -1};
  tsl_operands each;
  TSL_TRY(tsl_products_gather(&products, plan->batch.count - 1, &each));
  if (tsl_products_run_together(&products)) {
    TSL_TRY(tsl_products_gather_all(&products, &each));
    return tsl_plan_enqueue(plan->plan, &each, stream->stream, workspace);
  }
  for (int64_t i = 0; i < plan->batch.count; i++) {
    TSL_TRY(tsl_products_gather(&products, i, &each));
    TSL_TRY(tsl_plan_enqueue(plan->plan, &each, stream->stream, workspace));
  }
  return TESELA_OK;
}

tesela_status tesela_plan_enqueue_sized(tesela_plan *plan, tesela_stream *stream,
                                        const tesela_operands *operands, tesela_buffer *workspace,
                                        size_t operands_size) {
  TSL_NOT_CANCELLED;
  tsl_api_operands matrices;
  tesela_operands copy;
  tsl_operands checked;
  tsl_buffer *memory;
  if (!operands)
    return tsl_fail(TESELA_BAD_CALL, "operands is NULL");
  TSL_API_STRUCT_IMPORT(operands, operands_size, copy, tesela_operands, c);
  TSL_TRY(check_plan(plan, stream));
  TSL_TRY(tsl_api_as_operands(operands, plan->plan->work.problem.op, &matrices));
  TSL_TRY(find_workspace(plan, stream, workspace, &memory));
  if (tsl_log_wants(TSL_LOG_CALLS))
    tsl_log(TSL_LOG_CALLS, "%s: queued", plan->plan->text);
  if (plan->batch.count > 1)
    return enqueue_batch(plan, stream, operands, memory);
  TSL_TRY(tsl_api_gather(plan, "", matrices.given, &checked));
  return tsl_plan_enqueue(plan->plan, &checked, stream->stream, memory);
}
