/* Two files of results, row against row. */
#ifndef TSL_TOOL_EXPLORE_COMPARE_H
#define TSL_TOOL_EXPLORE_COMPARE_H

#include "strategy/problem.h"

#include <jansson.h>

/* How a row came out. X(NAME, name) */
#define TSL_OUTCOME_LIST(X)                                                                                  \
  X(UNDECIDED, undecided) X(BETTER, better) X(WORSE, worse) X(MISSING, missing) X(ADDED, new)

typedef enum tsl_outcome {
#define TSL_OUTCOME_MEMBER(name, text) TSL_OUTCOME_##name,
  TSL_OUTCOME_LIST(TSL_OUTCOME_MEMBER)
#undef TSL_OUTCOME_MEMBER
      TSL_OUTCOME_COUNT
} tsl_outcome;
const char *tsl_outcome_name(tsl_outcome outcome);

/* A row of a file; texts are its JSON's. */
typedef struct tsl_compare_entry {
  const char *strategy, *config, *device, *type, *result, *why;
  int64_t m, n, k;
  double seconds, first_quartile, third_quartile; /* NaN where it is not right */
  int samples;
  bool right;
} tsl_compare_entry;

typedef struct tsl_compare_file {
  const char *path;
  json_t *json;
  const char *op, *command;
  tsl_compare_entry *entries;
  int count;
} tsl_compare_file;

/* A row of both files, or of one: the other is NULL. */
typedef struct tsl_compare_row {
  const tsl_compare_entry *before, *after;
  tsl_outcome outcome;
  double speedup; /* old median over new; NaN where one is missing */
} tsl_compare_row;

/* TESELA_BAD_INPUT names the file and what is wrong with it. Free with tsl_compare_close(), also after a
 * failure. */
tesela_status tsl_compare_open(const char *path, tsl_compare_file *out);
void tsl_compare_close(tsl_compare_file *file);

/* TESELA_BAD_INPUT where the files should not be compared: operations, devices or the caches' state differ.
 */
tesela_status tsl_compare_check(const tsl_compare_file *before, const tsl_compare_file *after);

/* The rows, in the new file's order, missing ones last; from malloc(). A change counts when it is larger than
 * `floor` and the intervals between the quartiles do not overlap. */
tesela_status tsl_compare_rows(const tsl_compare_file *before, const tsl_compare_file *after, double floor,
                               tsl_compare_row **rows, int *count);

#endif
