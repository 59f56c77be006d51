#ifndef TSL_TOOL_LAB_LAB_WHY_H
#define TSL_TOOL_LAB_LAB_WHY_H

#include "explain/cost_report.h"
#include "lab/lab.h"
#include "tune/race_entry.h"

/* Compares a measured kernel with the measured rung that it began as, by the rule of docs/JSON_COUNTS.md.
 * Fills the report's members from `partner` on; without counts of both, nothing. */
void tsl_lab_explain(const tsl_problem *problem, const tsl_device *device, const tsl_race_entry *kernel,
                     const tsl_race_entry *rung, tsl_lab_report *report);

#endif
