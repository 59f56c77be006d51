#ifndef TSL_PLAN_PLAN_TEXT_H
#define TSL_PLAN_PLAN_TEXT_H

#include "device/devices.h"
#include "strategy/strategy.h"

typedef enum tsl_memory_place {
  TSL_PLACE_HOST,   /* host memory, copied or shared if the plan runs on another device */
  TSL_PLACE_DEVICE, /* buffers of the plan's device */
  TSL_PLACE_PIECES  /* shards on members of the plan's group device (problem/sharding.h) */
} tsl_memory_place;

/* Keys after operation and strategy; the strategy's parameters follow `version`. X(name, meaning) */
#define TSL_PLAN_KEY_LIST(X)                                                                                 \
  X(version, "version of the strategy; the strategy's parameters follow, each with its value")               \
  X(device, "device that runs the plan")                                                                     \
  X(place, "place of the operands: host, device (buffers), or pieces (on several devices; not as text)")
/* Returns key `index`: these, then the problem's; NULL past the last. */
const tsl_text_key *tsl_plan_key(int index);
typedef struct tsl_plan_said {
  const tsl_strategy *strategy;
  tsl_config config;
  tsl_problem problem;
  tsl_memory_place place;
  tsl_device *device;
} tsl_plan_said;

/* Appends a plan's text. */
void tsl_plan_print(const tsl_work *work, tsl_memory_place place, tsl_text *text);
/* Parses a plan's text. TESELA_BAD_INPUT or TESELA_NO_DEVICE name the wrong word. */
tesela_status tsl_plan_read(tsl_devices *devices, const tsl_record *record, tsl_plan_said *out);

#endif
