#include "device/group.h"

#include "core/status.h"
#include "device/device_open.h"

#include <stdio.h>
#include <string.h>

/* Opens all members; fails only if no member opens. Work for a closed member fails later. */
static tesela_status group_open(tsl_device *group) {
  tesela_status status = TESELA_OK;
  int opened = 0;
  for (int i = 0; i < group->member_count; i++) {
    const tesela_status one = tsl_device_open(group->members[i]);
    opened += one == TESELA_OK;
    status = one == TESELA_OK ? status : one;
  }
  return opened > 0 ? TESELA_OK : status;
}

static void group_close(tsl_device *group) {
  (void)group;
}

static tesela_status group_fail_unsupported(const tsl_device *group, const char *what) {
  return tsl_fail(TESELA_UNSUPPORTED, "%s: %s one device, and these are several", group->name, what);
}

static tesela_status group_buffer_create(tsl_device *group, size_t bytes, tsl_buffer **buffer) {
  (void)bytes;
  *buffer = NULL;
  return group_fail_unsupported(group, "a buffer is on");
}

static tesela_status group_stream_create(tsl_device *group, tsl_stream **stream) {
  *stream = NULL;
  return group_fail_unsupported(group, "a stream is of");
}

static tesela_status group_event_create(tsl_device *group, tsl_event **event) {
  *event = NULL;
  return group_fail_unsupported(group, "an event is of");
}

static const tsl_device_ops ops = {.open = group_open,
                                   .close = group_close,
                                   .buffer_create = group_buffer_create,
                                   .stream_create = group_stream_create,
                                   .event_create = group_event_create};

void tsl_group_describe(tsl_device *group) {
  size_t length = 0;
  group->ops = &ops;
  group->capabilities = TSL_CAN_SEVERAL;
  group->allocation_max = UINT64_MAX;
  for (int i = 0; i < group->member_count; i++) {
    const tsl_device *member = group->members[i];
    group->capabilities |= member->capabilities & (TSL_CAN_F64 | TSL_CAN_F16);
    group->compute_units += member->compute_units;
    group->peak_f32 += member->peak_f32;
    group->peak_f64 += member->peak_f64;
    group->bandwidth += member->bandwidth;
    const int added = snprintf(group->key + length, sizeof group->key - length, "%s%.*s", i ? "+" : "",
                               (int)(sizeof group->key / (size_t)group->member_count - 2), member->key);
    length += added > 0 && (size_t)added < sizeof group->key - length ? (size_t)added : 0;
  }
  snprintf(group->label, sizeof group->label, "%d devices together", group->member_count);
  snprintf(group->platform, sizeof group->platform, "tesela");
}

void tsl_group_name(tsl_device *group) {
  size_t length = 0;
  for (int i = 0; i < group->member_count && length < sizeof group->name; i++)
    length += (size_t)snprintf(group->name + length, sizeof group->name - length, "%s%s", i ? "," : "",
                               group->members[i]->name);
}

bool tsl_group_is(const tsl_device *group, const tsl_device *other) {
  return group->member_count == other->member_count &&
         memcmp(group->members, other->members, sizeof *group->members * (size_t)group->member_count) == 0;
}

static tesela_status group_list(void (*found)(void *argument, const tsl_device *device), void *argument) {
  (void)found;
  (void)argument;
  return tsl_fail(TESELA_NO_DEVICE, "several devices are named, not found");
}

const tsl_device_kind tsl_device_kind_several = {
    .kind = "several", .what = "devices together", .list = group_list};
