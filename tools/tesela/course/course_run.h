/* Measures a document's experiments with explore's race, and checks the answers of its questions. */
#ifndef TSL_TOOL_COURSE_COURSE_RUN_H
#define TSL_TOOL_COURSE_COURSE_RUN_H

#include "course/course.h"
#include "explore/options.h"

typedef struct tsl_course_run {
  const tsl_course_document *document;
  tsl_exploration tables[TSL_COURSE_TABLES_MAX]; /* point_count 0: not measured yet */
  int table_count;
  bool has_place[TSL_COURSE_PLACES];
  tsl_progress *progress; /* of the table that is measured now */
} tsl_course_run;

/* Sets the devices and strategies of every table. `options.devices` may restrict the devices. */
tesela_status tsl_course_prepare(const tsl_course_document *document, const tsl_explore_options *options,
                                 bool quick, tsl_devices *devices, tsl_course_run *run);
/* Measures all tables; an interrupt ends it early. */
tesela_status tsl_course_measure(tsl_course_run *run, tsl_devices *devices);
/* Returns true if an interrupt ended the measurement early. */
bool tsl_course_is_cut_short(const tsl_course_run *run);
/* Returns true if at least one row has a time. */
bool tsl_course_has_times(const tsl_course_run *run);
void tsl_course_free(tsl_course_run *run);

/* Returns the point of a row at a place: the fastest one with a time, else one with a reason. NULL:
 * no device of the place, or not measured yet. */
const tsl_point *tsl_course_point(const tsl_course_run *run, tsl_course_cell cell, tsl_course_place place);
/* Returns a point's value in the table's unit; NaN without a time. */
double tsl_course_value(const tsl_course_table *table, const tsl_point *point);

/* Verdicts on an answer. X(NAME, name) */
#define TSL_COURSE_VERDICT_LIST(X)                                                                           \
  X(HOLDS, "holds") X(CONTRADICTED, "contradicted") X(NOISY, "undecided") X(UNCHECKED, "not checked")

typedef enum tsl_course_verdict {
#define TSL_COURSE_VERDICT_MEMBER(name, text) TSL_COURSE_##name,
  TSL_COURSE_VERDICT_LIST(TSL_COURSE_VERDICT_MEMBER)
#undef TSL_COURSE_VERDICT_MEMBER
} tsl_course_verdict;
const char *tsl_course_verdict_name(tsl_course_verdict verdict);

typedef struct tsl_course_check {
  tsl_course_verdict verdict;
  const tsl_point *fast, *slow; /* NULL: see tsl_course_point() */
  double factor, low, high;     /* measured, and by the quartiles; NaN if unchecked */
} tsl_course_check;

/* Compares an answer with the measurement at a place: it holds, or is contradicted, if all factors between
 * the quartiles say so. A row that is N/A there is taken from the CPU. */
tsl_course_check tsl_course_check_answer(const tsl_course_run *run, const tsl_course_question *question,
                                         tsl_course_place place);

#endif
