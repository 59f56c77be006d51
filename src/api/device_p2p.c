#include "api/device_p2p.h"

#include "api/api.h"
#include "core/status.h"
#include "strategy/epilogue/strategy_epilogue.h"

#include <stdio.h>

tesela_status tsl_api_card(tesela_context *context, const char *name, char card[TSL_API_CARD_BYTES]) {
  tsl_device *device;
  TSL_TRY(tsl_api_chosen_device(context, name, &device));
  if (!device->ops->enter || !device->ops->native_buffer || !device->ops->native_stream || !device->pci[0])
    return tsl_fail(TESELA_UNSUPPORTED, "%s has no memory from which its vendor's library sends",
                    device->name);
  snprintf(card, TSL_API_CARD_BYTES, "%.*s", TSL_API_CARD_BYTES - 1, device->pci);
  return TESELA_OK;
}

bool tsl_api_is_of(const tesela_stream *stream, const tesela_buffer *buffer) {
  return buffer->memory->device == stream->device;
}

tesela_status tsl_api_enter(const tesela_stream *stream) {
  return stream->device->ops->enter(stream->device);
}

void tsl_api_leave(const tesela_stream *stream) {
  stream->device->ops->leave(stream->device);
}

/* Enqueues one copy for each row, for devices without copies of rectangles. */
static tesela_status copy_each(const tesela_stream *stream, const tsl_copy_rect *rows) {
  for (size_t row = 0; row < rows->rows; row++)
    TSL_TRY(stream->device->ops->copy(stream->stream, rows->from, rows->from_offset + row * rows->from_pitch,
                                      rows->to, rows->to_offset + row * rows->to_pitch, rows->row_bytes));
  return TESELA_OK;
}

tesela_status tsl_api_copy_rows(tesela_stream *stream, const tsl_api_rows *rows) {
  const tsl_device_ops *ops = stream->device->ops;
  const tsl_copy_rect all = {.from = rows->from->memory,
                             .to = rows->to->memory,
                             .from_offset = rows->from_offset,
                             .from_pitch = rows->from_pitch,
                             .to_offset = rows->to_offset,
                             .to_pitch = rows->to_pitch,
                             .rows = rows->rows,
                             .row_bytes = rows->row_bytes};
  return ops->copy_rows && ops->reaches(stream->device, stream->device) ? ops->copy_rows(stream->stream, &all)
                                                                        : copy_each(stream, &all);
}

bool tsl_api_rounds(const tesela_stream *stream, tesela_type type) {
  return stream->device->capabilities & TSL_CAN_KERNELS &&
         (type == TESELA_F16 || type == TESELA_BF16 || type == TESELA_F32);
}

tesela_status tsl_api_round(tesela_stream *stream, const tsl_api_rounded_sum *r) {
  tsl_problem problem = tsl_problem_gemm(r->rows, r->cols, 1, TESELA_F32);
  problem.c.type = r->type;
  problem.alpha[0] = r->alpha;
  problem.beta[0] = r->beta;
  const tsl_operands operands = {.c = {.buffer = r->to->memory,
                                       .offset = r->to_offset,
                                       .row_stride = r->to_row_stride,
                                       .col_stride = r->to_col_stride},
                                 .sums = {.buffer = r->from->memory,
                                          .offset = r->from_offset,
                                          .row_stride = r->from_row_stride,
                                          .col_stride = r->from_col_stride}};
  return tsl_finish_round(stream->device, &problem, &operands, stream->stream);
}

/* Sums in a row of the matrix that an addition is treated as; each group of a kernel gets some rows. */
enum { LINE = 4096 };

bool tsl_api_adds(const tesela_stream *stream, tesela_type type) {
  const tsl_type_info *info = tsl_type(type);
  return info->sums == type && !info->is_integer &&
         (tsl_device_is_host(stream->device) ||
          (stream->device->capabilities & TSL_CAN_KERNELS &&
           (info->component != TESELA_F64 || stream->device->capabilities & TSL_CAN_F64)));
}

/* Adds `lines` * `length` numbers from number `first` on, as a matrix; waits if the buffer is host memory. */
static tesela_status add_lines(tesela_stream *stream, const tsl_api_adding *a, int64_t first, int64_t lines,
                               int64_t length) {
  tsl_problem problem = tsl_problem_gemm(lines, length, 1, a->type);
  problem.c.type = problem.bias.type = a->type;
  problem.bias_axis = TESELA_BIAS_ROW;
  tsl_buffer *memory = a->buffer->memory;
  tsl_operands operands = {
      .c = {.buffer = memory, .offset = a->to + first, .row_stride = length, .col_stride = 1},
      .bias = {.buffer = memory, .offset = a->from + first, .row_stride = length, .col_stride = 1}};
  if (lines == 0 || length == 0)
    return TESELA_OK;
  if (!memory->host)
    return tsl_finish_add(stream->device, &problem, &operands, stream->stream);
  const int64_t size = (int64_t)tsl_type(a->type)->size;
  operands.c.host = (char *)memory->host + operands.c.offset * size;
  operands.bias.host = (char *)memory->host + operands.bias.offset * size;
  operands.team = tsl_device_host_team(stream->device);
  TSL_TRY(stream->device->ops->finish(stream->stream));
  tsl_finish_on_host(&problem, &operands);
  return TESELA_OK;
}

tesela_status tsl_api_add(tesela_stream *stream, const tsl_api_adding *adding) {
  const int64_t lines = adding->count / LINE, whole = lines * LINE;
  TSL_TRY(add_lines(stream, adding, 0, lines, LINE));
  return add_lines(stream, adding, whole, 1, adding->count - whole);
}

tesela_status tsl_api_event_done(tesela_event *event, bool *done) {
  const tsl_device_ops *ops = event->device->ops;
  if (ops->event_done)
    return ops->event_done(event->event, done);
  double none;
  *done = true;
  return ops->event_wait ? ops->event_wait(event->event)
                         : ops->event_seconds(event->event, event->event, &none);
}
