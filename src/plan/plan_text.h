/* A plan's text, for plan.c; what it looks like is in plan/plan.h. */
#ifndef TSL_PLAN_PLAN_TEXT_H
#define TSL_PLAN_PLAN_TEXT_H

#include "plan/plan.h"

/* A plan as its text says it; the problem's keys stand behind these, and the parameters' behind the version. */
typedef struct tsl_plan_said {
  const tsl_strategy *strategy;
  tsl_config config;
  tsl_problem problem;
  tsl_place place;
  tsl_device *device;
} tsl_plan_said;

void tsl_plan_print(const tsl_plan *plan, tsl_text *text);
/* TESELA_BAD_INPUT or TESELA_NO_DEVICE, naming the word that is wrong. */
tesela_status tsl_plan_read(tsl_devices *devices, const tsl_record *record, tsl_plan_said *out);

#endif
