/* Wisdom text as lines; lines that are no records keep their positions. Private to src/planner. */
#ifndef TSL_PLANNER_WISDOM_LINES_H
#define TSL_PLANNER_WISDOM_LINES_H

#include "planner/planner_wisdom.h"

typedef struct tsl_wisdom_entry {
  char *line; /* NULL: removed */
  bool has_record;
  tsl_wisdom_record record;
} tsl_wisdom_entry;

typedef struct tsl_wisdom_lines {
  tsl_wisdom_entry *entries;
  int count, capacity;
} tsl_wisdom_lines;

/* Returns true if a line is empty or a comment. */
bool tsl_wisdom_means_nothing(const char *line);
/* Appends all lines of a text. Free with tsl_wisdom_lines_free(), also after a failure. */
tesela_status tsl_wisdom_lines_read(const char *text, tsl_wisdom_lines *out);
/* Merges a text's records into `all`, counted in `merged`. `always` replaces records, faster or not. */
tesela_status tsl_wisdom_lines_merge(tsl_wisdom_lines *all, const char *text, bool always,
                                     tsl_wisdom_merged *merged);
void tsl_wisdom_lines_print(const tsl_wisdom_lines *all, tsl_text *text);
void tsl_wisdom_lines_free(tsl_wisdom_lines *all);

#endif
