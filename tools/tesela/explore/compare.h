/* Compares two result files row by row. */
#ifndef TSL_TOOL_EXPLORE_COMPARE_H
#define TSL_TOOL_EXPLORE_COMPARE_H

#include "problem/problem.h"

#include <jansson.h>

/* Outcomes of a row. X(NAME, name) */
#define TSL_OUTCOME_LIST(X)                                                                                  \
  X(UNDECIDED, undecided) X(BETTER, better) X(WORSE, worse) X(MISSING, missing) X(ADDED, new)

typedef enum tsl_outcome {
#define TSL_OUTCOME_MEMBER(name, text) TSL_OUTCOME_##name,
  TSL_OUTCOME_LIST(TSL_OUTCOME_MEMBER)
#undef TSL_OUTCOME_MEMBER
      TSL_OUTCOME_COUNT
} tsl_outcome;
const char *tsl_outcome_name(tsl_outcome outcome);

/* A row of a result file. Texts belong to the file's JSON. */
typedef struct tsl_compare_entry {
  const char *strategy, *config, *device, *type, *result, *why;
  int64_t m, n, k;
  /* quartiles and median in seconds; NaN if the result is not right */
  double seconds, first_quartile, third_quartile;
  int samples;
  bool right;
  const char *partner, *agreement;          /* "": no partner, as in older files */
  double measured_factor, predicted_factor; /* over the partner; NaN: unknown */
} tsl_compare_entry;

typedef struct tsl_compare_file {
  const char *path;
  json_t *json;
  const char *op, *command;
  tsl_compare_entry *entries;
  int count;
} tsl_compare_file;

/* A row of both files, or of one: the other entry is NULL. */
typedef struct tsl_compare_row {
  const tsl_compare_entry *before, *after;
  tsl_outcome outcome;
  double speedup; /* old median over new median; NaN if one is missing */
} tsl_compare_row;

/* Reads a result file. Returns TESELA_BAD_INPUT with the file and the fault. The caller closes it
 * by tsl_compare_close(), also after a failure. */
tesela_status tsl_compare_open(const char *path, tsl_compare_file *out);
void tsl_compare_close(tsl_compare_file *file);

/* Returns TESELA_BAD_INPUT if the files are not comparable: operations, devices or the state of the
 * caches differ. */
tesela_status tsl_compare_check(const tsl_compare_file *before, const tsl_compare_file *after);

/* Pairs the rows, in the new file's order with missing rows last; the caller frees *rows by free().
 * A row is better or worse if the relative change exceeds `floor` and the interquartile intervals
 * do not overlap. */
tesela_status tsl_compare_rows(const tsl_compare_file *before, const tsl_compare_file *after, double floor,
                               tsl_compare_row **rows, int *count);

#endif
