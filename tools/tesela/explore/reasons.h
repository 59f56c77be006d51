/* Counts of measured points, and comparisons with their partners: the facts behind "why". */
#ifndef TSL_TOOL_EXPLORE_REASONS_H
#define TSL_TOOL_EXPLORE_REASONS_H

#include "cli/report.h"
#include "explain/cost_report.h"
#include "explore/explore.h"

/* Reports of the points of one type and size that have a time and counts, in the points' order. */
typedef struct tsl_reasons {
  tsl_problem problem;
  const tsl_point **points;
  tsl_cost_report *reports; /* of the points, in the same order, with the measured seconds */
  int count;
  bool is_sweep; /* configs of one strategy: the fastest one on a device is the partner of the others */
} tsl_reasons;

/* Counts the points of a type and a size. Free with tsl_reasons_free(). */
tesela_status tsl_reasons_make(const tsl_exploration *all, int type, int size, tsl_reasons *out);
void tsl_reasons_free(tsl_reasons *reasons);
/* Returns the index of a point; -1: it has no time or no counts. */
int tsl_reasons_find(const tsl_reasons *reasons, const tsl_point *point);
/* Compares report `index` with its partner's. */
tsl_cost_comparison tsl_reasons_compare(const tsl_reasons *reasons, int index);
/* Fills a table: rate, measured and predicted factor over the partner, and the reason. */
void tsl_reasons_table(const tsl_exploration *all, const tsl_reasons *reasons, tsl_table *table);
/* Returns `account` and the comparison of docs/JSON.md as an object; an empty one for index -1. */
json_t *tsl_reasons_json(const tsl_reasons *reasons, int index);

/* Sentence on when reasons are given. */
extern const char tsl_reasons_rule[];

#endif
