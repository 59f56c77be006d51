#include "api/queue.h"

#include "api/api.h"
#include "core/status.h"

static const int operand_of[TSL_QUEUE_OPERANDS] = {TSL_OPERAND_A, TSL_OPERAND_B, TSL_OPERAND_C,
                                                   TSL_OPERAND_BIAS};

/* Its memory seems to reach every address, so that checks of extents pass. */
tesela_buffer *tsl_queue_anchor(tesela_context *context, const char *device) {
  enum { BYTES = 256 };
  tesela_buffer *anchor = NULL;
  if (tesela_buffer_create(context, device, BYTES, &anchor) == TESELA_OK)
    anchor->memory->bytes = SIZE_MAX;
  return anchor;
}

tesela_status tsl_queue_plan(tesela_context *context, tesela_operation operation, const void *desc,
                             size_t desc_size, int64_t count, tesela_plan **plan) {
  tsl_request request;
  tsl_api_description own;
  *plan = NULL;
  TSL_TRY(tsl_api_description_request(context, operation, desc, desc_size, &own, &request));
  return tsl_api_create(context, &request, count, plan);
}

/* Fills the operands of the first product. TESELA_UNSUPPORTED: an address is between two elements. */
static tesela_status count_from_anchor(const tsl_problem *problem, tsl_buffer *memory, uintptr_t anchor,
                                       const tsl_queue_operands *from, tsl_operands *out) {
  for (int i = 0; i < TSL_QUEUE_OPERANDS; i++) {
    const int operand = operand_of[i];
    if (!from->at[i] || !tsl_problem_has_operand(problem, operand))
      continue;
    const int64_t size = (int64_t)tsl_type(tsl_problem_shape(problem, operand)->type)->size,
                  distance = (int64_t)((uintptr_t)from->at[i] - anchor);
    if (distance % size != 0)
      return tsl_fail(TESELA_UNSUPPORTED, "%p is not a multiple of the %d bytes of an element", from->at[i],
                      (int)size);
    out->at[operand].buffer = memory;
    out->at[operand].offset = distance / size;
    out->at[operand].batch_step = from->step[i];
  }
  return TESELA_OK;
}

tesela_status tsl_queue_run(const tesela_plan *plan, const tesela_stream *stream, const tesela_buffer *anchor,
                            const tsl_queue_operands *operands, const tesela_buffer *workspace) {
  TSL_NOT_CANCELLED;
  const tsl_problem *problem = &plan->plan->work.problem;
  const uintptr_t start = (uintptr_t)tesela_buffer_memory(anchor).native;
  tsl_operands first = {.a = {.host = NULL}};
  TSL_TRY(count_from_anchor(problem, anchor->memory, start, operands, &first));
  const int64_t runs = tsl_problem_batch(problem) > 1 ? 1 : operands->count;
  for (int64_t i = 0; i < runs; i++) {
    TSL_TRY(tsl_plan_enqueue(plan->plan, &first, stream->stream, workspace ? workspace->memory : NULL));
    for (int j = 0; j < TSL_QUEUE_OPERANDS; j++)
      first.at[operand_of[j]].offset += operands->step[j];
  }
  return TESELA_OK;
}
