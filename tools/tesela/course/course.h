/* The teaching documents behind tesela as data: experiments, published figures, questions. */
#ifndef TSL_TOOL_COURSE_COURSE_H
#define TSL_TOOL_COURSE_COURSE_H

#include "problem/problem.h"

enum {
  TSL_COURSE_ROWS_MAX = 6,
  TSL_COURSE_TABLES_MAX = 3,
  TSL_COURSE_QUESTIONS = 3,
  TSL_COURSE_PUBLISHED_MAX = 4,
  TSL_COURSE_COMMANDS_MAX = 5
};

/* Places of a column. X(NAME, title) */
#define TSL_COURSE_PLACE_LIST(X) X(CPU, "CPU") X(GPU, "GPU")

typedef enum tsl_course_place {
#define TSL_COURSE_PLACE_MEMBER(name, title) TSL_COURSE_##name,
  TSL_COURSE_PLACE_LIST(TSL_COURSE_PLACE_MEMBER)
#undef TSL_COURSE_PLACE_MEMBER
      TSL_COURSE_PLACES
} tsl_course_place;

/* Units of a table. X(NAME, title) */
#define TSL_COURSE_UNIT_LIST(X) X(MFLOPS, "MFLOP/s") X(MILLISECONDS, "ms")

typedef enum tsl_course_unit {
#define TSL_COURSE_UNIT_MEMBER(name, title) TSL_COURSE_##name,
  TSL_COURSE_UNIT_LIST(TSL_COURSE_UNIT_MEMBER)
#undef TSL_COURSE_UNIT_MEMBER
      TSL_COURSE_UNITS
} tsl_course_unit;

typedef struct tsl_course_row {
  const char *name;                           /* the document's name; NULL ends the rows */
  const char *strategy;                       /* as in explore --strategies */
  double published[TSL_COURSE_PUBLISHED_MAX]; /* in the table's unit; 0: no figure */
  bool cpu_only;                              /* the document has N/A for the GPU */
} tsl_course_row;

typedef struct tsl_course_table {
  const char *title; /* NULL ends the tables */
  tsl_op op;
  const char *type, *size, *quick_size; /* quick_size: for --quick */
  tsl_course_unit unit;
  bool speedups; /* a second table has the speed-up of each row over the first */
  tsl_course_row rows[TSL_COURSE_ROWS_MAX];
} tsl_course_table;

/* A column with published figures. */
typedef struct tsl_course_published {
  const char *title; /* the machine; NULL ends the columns */
  tsl_course_place place;
  int baseline; /* column of the first row's figure, for speed-ups */
} tsl_course_published;

typedef struct tsl_course_cell {
  int table, row;
} tsl_course_cell;

/* A question. Its answer claims that row `fast` is at least `min` and at most `max` times as fast as
 * `slow`; max 0: no maximum. */
typedef struct tsl_course_question {
  const char *question, *answer;
  tsl_course_cell fast, slow;
  double min, max;
} tsl_course_question;

/* A command of the document's other exercises. */
typedef struct tsl_course_command {
  const char *line; /* NULL ends the commands */
  const char *what;
} tsl_course_command;

typedef struct tsl_course_document {
  const char *name, *language, *subject;
  const char *kind; /* the device kind of its kernels: "opencl" or "cuda" */
  tsl_course_published published[TSL_COURSE_PUBLISHED_MAX];
  tsl_course_table tables[TSL_COURSE_TABLES_MAX];
  tsl_course_question questions[TSL_COURSE_QUESTIONS];
  tsl_course_command commands[TSL_COURSE_COMMANDS_MAX];
} tsl_course_document;

/* Returns document `index`; NULL past the end. */
const tsl_course_document *tsl_course_at(int index);
/* Returns the number of rows. */
int tsl_course_rows(const tsl_course_table *table);

#endif
