/* The kind "fake": one device that wraps another one, which it has in a list of devices of its own. */
#include "fake/fake_internal.h"

#include "core/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Link of the fake device: slow enough that the planner counts its copies. */
#define LINK_BANDWIDTH 10e9

static void describe(fake_device *self, unsigned hidden, tsl_device *device) {
  *device = *self->inner;
  device->ops = &self->ops;
  device->impl = self;
  device->capabilities &= ~hidden;
  if ((device->capabilities & TSL_CAN_SHARED_MEMORY) == 0)
    device->host_alignment = 0;
  if ((hidden & TSL_CAN_SHARED_MEMORY) != 0 && device->link_bandwidth == 0)
    device->link_bandwidth = LINK_BANDWIDTH;
  snprintf(device->label, sizeof device->label, "fake over %.100s", self->inner->label);
  snprintf(device->key, sizeof device->key, "fake/%.150s", self->inner->key);
}

static void forget(tsl_device *device) {
  fake_device *self = device->impl;
  tsl_devices_destroy(self->inner_devices);
  free(self);
}

static tesela_status list_one(const char *inner, unsigned hidden, tsl_device *device) {
  if (strncmp(inner, fake_kind.kind, strlen(fake_kind.kind)) == 0)
    return tsl_fail(TESELA_BAD_CALL, "the fake device cannot wrap itself");
  fake_device *self = calloc(1, sizeof *self);
  if (self == NULL)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for the fake device");
  tesela_status status = tsl_devices_create(&self->inner_devices);
  if (status == TESELA_OK)
    status = tsl_devices_find(self->inner_devices, inner, &self->inner);
  if (status != TESELA_OK) {
    tsl_devices_destroy(self->inner_devices);
    free(self);
    return status;
  }
  self->hides_host = (hidden & TSL_CAN_HOST) != 0;
  self->ops = fake_ops(self->inner, hidden);
  describe(self, hidden, device);
  return TESELA_OK;
}

static tesela_status list(void (*found)(void *argument, const tsl_device *device), void *argument) {
  const char *inner;
  unsigned hidden;
  int count;
  TSL_TRY(fake_settings(&inner, &hidden, &count));
  for (int i = 0; i < count; i++) {
    tsl_device device;
    TSL_TRY(list_one(inner, hidden, &device));
    if (fake_has_cards())
      snprintf(device.pci, sizeof device.pci, "fake:%u", (unsigned char)i);
    found(argument, &device);
  }
  return TESELA_OK;
}

const tsl_device_kind fake_kind = {
    .kind = "fake", .what = "devices that fail on demand, for tests", .list = list, .forget = forget};
