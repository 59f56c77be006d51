/* A text of wisdom as its lines: what is no record stays where it is. Nothing outside src/plan includes this.
 */
#ifndef TSL_PLANNER_WISDOM_LINES_H
#define TSL_PLANNER_WISDOM_LINES_H

#include "planner/planner_wisdom.h"

typedef struct tsl_wisdom_entry {
  char *line; /* NULL: it goes */
  bool has_record;
  tsl_wisdom_record record;
} tsl_wisdom_entry;

typedef struct tsl_wisdom_lines {
  tsl_wisdom_entry *entries;
  int count, capacity;
} tsl_wisdom_lines;

/* Whether a line is empty or a comment. */
bool tsl_wisdom_means_nothing(const char *line);
/* All lines of a text, behind those that are there; free what was made after a failure, too. */
tesela_status tsl_wisdom_lines_read(const char *text, tsl_wisdom_lines *out);
/* Merges the records of a text: into `all`, counted in `merged`. `always`: they take the place of what is
 * there, faster or not. */
tesela_status tsl_wisdom_lines_merge(tsl_wisdom_lines *all, const char *text, bool always,
                                     tsl_wisdom_merged *merged);
void tsl_wisdom_lines_print(const tsl_wisdom_lines *all, tsl_text *text);
void tsl_wisdom_lines_free(tsl_wisdom_lines *all);

#endif
