#include "device/cpu/cpu.h"

#include "core/clock.h"
#include "core/status.h"

#include <stdlib.h>

struct tsl_stream {
  tsl_device *device;
};

struct tsl_event {
  tsl_device *device;
  bool is_recorded;
  double seconds; /* tsl_clock() at the record */
};

static tesela_status cpu_device_open(tsl_device *device) {
  (void)device;
  return TESELA_OK;
}

static void cpu_device_close(tsl_device *device) {
  (void)device;
}

static tesela_status cpu_device_stream_create(tsl_device *device, tsl_stream **stream) {
  *stream = calloc(1, sizeof **stream);
  if (*stream == NULL)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no memory for a stream's record", device->name);
  (*stream)->device = device;
  return TESELA_OK;
}

static void stream_destroy(tsl_stream *stream) {
  free(stream);
}

static tesela_status cpu_device_finish(tsl_stream *stream) {
  (void)stream;
  return TESELA_OK;
}

static tesela_status cpu_device_event_create(tsl_device *device, tsl_event **event) {
  *event = calloc(1, sizeof **event);
  if (*event == NULL)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no memory for an event's record", device->name);
  (*event)->device = device;
  return TESELA_OK;
}

static void event_destroy(tsl_event *event) {
  free(event);
}

static tesela_status event_record(tsl_stream *stream, tsl_event *event) {
  (void)stream;
  event->seconds = tsl_clock();
  event->is_recorded = true;
  return TESELA_OK;
}

static tesela_status event_seconds(tsl_event *begin, tsl_event *end, double *seconds) {
  if (!begin->is_recorded || !end->is_recorded)
    return tsl_fail(TESELA_INTERNAL, "%s: the time of an event was requested before it was recorded",
                    begin->device->name);
  *seconds = end->seconds - begin->seconds;
  return TESELA_OK;
}

static const tsl_device_ops ops = {.open = cpu_device_open,
                                   .close = cpu_device_close,
                                   .stream_create = cpu_device_stream_create,
                                   .stream_destroy = stream_destroy,
                                   .finish = cpu_device_finish,
                                   .event_create = cpu_device_event_create,
                                   .event_destroy = event_destroy,
                                   .event_record = event_record,
                                   .event_seconds = event_seconds,
                                   TSL_BUFFER_OPERATIONS(TSL_SET_OPERATION, cpu)
                                       TSL_SHARED_OPERATIONS(TSL_SET_OPERATION, cpu)};

static tesela_status cpu_device_list(void (*found)(void *argument, const tsl_device *device),
                                     void *argument) {
  tsl_device device = {.ops = &ops};
  TSL_TRY(tsl_cpu_describe(&device));
  found(argument, &device);
  return TESELA_OK;
}

const tsl_device_kind tsl_device_kind_cpu = {
    .kind = "cpu", .what = "this machine's processor", .list = cpu_device_list, .single = 1};
