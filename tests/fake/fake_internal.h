/* Declarations that the files of the fake device share. */
#ifndef TESELA_TESTS_FAKE_INTERNAL_H
#define TESELA_TESTS_FAKE_INTERNAL_H

#include "device/devices.h"
#include "fake/fake.h"

/* device->impl. The table of functions is the device's own: members that the inner device lacks are missing
 * here, too. */
typedef struct fake_device {
  tsl_device_ops ops;
  tsl_devices *inner_devices;
  tsl_device *inner;
  bool hides_host;
} fake_device;

/* fake_demand.c: counts a call, and fails it when it was chosen. */
tesela_status fake_demand(const tsl_device *device, tesela_fake_operation operation);
/* Returns true when a failure of the operation is armed and not yet used. */
bool fake_is_armed(tesela_fake_operation operation);
/* Returns true when a failing copy to the host copies half of its bytes first
 * (tesela_fake_fail_as). */
bool fake_fails_halfway(void);
void fake_count_wrap(void);
void fake_count_torn(void);
void fake_count_live(tesela_fake_object object, int change);
/* The settings for list(). BAD_CALL with a sentence when the environment's are malformed. */
tesela_status fake_settings(const char **inner, unsigned *hidden, int *count);

/* fake_ops.c: everything of the vtable; members are NULL where `inner` has none or the capability is hidden.
 */
tsl_device_ops fake_ops(const tsl_device *inner, unsigned hidden);

/* Returns true when events use a clock of their own, and stores its seconds in `now`. */
bool fake_has_clock(double *now);

/* Returns true when the devices are cards (tesela_fake_cards). */
bool fake_has_cards(void);

/* Returns true when callers may ask whether events are complete (tesela_fake_polls). */
bool fake_has_polls(void);

extern const tsl_device_kind fake_kind;

#endif
