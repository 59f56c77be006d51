/* What a plan says of itself as one line of text. */
#ifndef TSL_PLAN_PLAN_TEXT_H
#define TSL_PLAN_PLAN_TEXT_H

#include "device/devices.h"
#include "strategy/strategy.h"

/* Where a plan's operands are when it runs. */
typedef enum tsl_text_place {
  TSL_PLACE_HOST,   /* all in host memory: copied, or shared, when the device is another */
  TSL_PLACE_DEVICE, /* all in buffers of the plan's device */
  TSL_PLACE_PIECES  /* in pieces, in buffers of members of the plan's device (strategy/sharding.h) */
} tsl_text_place;

/* What a plan's text says, "key=value ..." behind operation and strategy, beside the strategy's parameters
 * and in front of the problem's keys. X(name, what it says) */
#define TSL_PLAN_KEY_LIST(X)                                                                                 \
  X(version, "the strategy's version; its parameters follow, each with its value")                           \
  X(device, "where it runs")                                                                                 \
  X(place, "where operands are when it runs: host, device for buffers there, or pieces for buffers on "      \
           "several, which a text does not tell")
/* These keys, then the problem's; NULL behind the last. */
const tsl_text_key *tsl_plan_key(int index);
/* A plan as its text says it; the problem's keys stand behind these, and the parameters' behind the version.
 */
typedef struct tsl_plan_said {
  const tsl_strategy *strategy;
  tsl_config config;
  tsl_problem problem;
  tsl_text_place place;
  tsl_device *device;
} tsl_plan_said;

void tsl_plan_print(const tsl_work *work, tsl_text_place place, tsl_text *text);
/* TESELA_BAD_INPUT or TESELA_NO_DEVICE, naming the word that is wrong. */
tesela_status tsl_plan_read(tsl_devices *devices, const tsl_record *record, tsl_plan_said *out);

#endif
