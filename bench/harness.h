/* The harness of benchmark programs: options, means, sides that run by turns, and JSON. A program states its
 * sides, its cases, and its question in one line. harness.c needs only the public header of tesela. */
#ifndef TSL_BENCH_HARNESS_H
#define TSL_BENCH_HARNESS_H

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/tesela.h>

#define COUNT_OF(array) (int)(sizeof(array) / sizeof *(array))

/* --- ending, memory, time --- */

/* Prints "bench_name: what: why" and ends the program. */
_Noreturn void bench_stop(const char *what, const char *why);
/* Ends the program with tesela's last message unless the status is TESELA_OK. */
void bench_must(tesela_status status, const char *what);
/* Returns zeroed memory at a page's start; free() releases it. Ends the program without memory. */
void *bench_allocate(size_t count, size_t size);
/* Return seconds by the wall clock, and the processor seconds of this process. */
double bench_clock(void);
double bench_processor_clock(void);
/* Returns a number from low to high, and the numbers that follow are others. */
int64_t bench_draw(uint64_t *state, int64_t low, int64_t high);

/* --- options --- */

typedef enum bench_kind {
  BENCH_FLAG,   /* bool, no value */
  BENCH_COUNT,  /* int */
  BENCH_NUMBER, /* double */
  BENCH_TEXT,   /* const char * */
  BENCH_CALL,   /* take(value) */
  BENCH_PAIR    /* take_pair(value, next value) */
} bench_kind;

typedef struct bench_option {
  const char *name; /* without its "--"; NULL ends the list */
  bench_kind kind;
  void *value;
  void (*take)(const char *value);
  void (*take_pair)(const char *first, const char *second);
} bench_option;

#define OPTION_FLAG(text, variable)                                                                          \
  { .name = text, .kind = BENCH_FLAG, .value = &(variable) }
#define OPTION_COUNT(text, variable)                                                                         \
  { .name = text, .kind = BENCH_COUNT, .value = &(variable) }
#define OPTION_NUMBER(text, variable)                                                                        \
  { .name = text, .kind = BENCH_NUMBER, .value = &(variable) }
#define OPTION_TEXT(text, variable)                                                                          \
  { .name = text, .kind = BENCH_TEXT, .value = &(variable) }
#define OPTION_CALL(text, function)                                                                          \
  { .name = text, .kind = BENCH_CALL, .take = function }
#define OPTION_PAIR(text, function)                                                                          \
  { .name = text, .kind = BENCH_PAIR, .take_pair = function }
#define OPTIONS_END                                                                                          \
  { .name = NULL }

/* Reads "--name value" wherever it stands and passes all other words except "--" to take_word() in their
 * order. `name` is the program's, for messages. */
void bench_read(int argc, char **argv, const char *name, const bench_option *options,
                void (*take_word)(char *word));
/* The words of the command line that are no options and no cases, such as libraries. */
enum { BENCH_WORDS = 16 };
extern char *bench_words[BENCH_WORDS];
extern int bench_word_count;
void bench_take_word(char *word);
/* Copies the next word of a list separated by one of `separators` and returns true; false at its end. */
bool bench_next_word(const char **list, const char *separators, char *word, size_t size);
/* Returns true if a list separated by commas or blanks has the word; an empty list has every word. */
bool bench_has_word(const char *list, const char *word);

/* --- means --- */

/* Ratios of one side's rates to another's. */
typedef struct bench_mean {
  double logs, least;
  int count;
  char where[64]; /* row of the least ratio */
} bench_mean;

/* Adds a ratio; does nothing if it is not finite. */
void bench_mean_add(bench_mean *mean, double ratio, const char *where);
double bench_mean_value(const bench_mean *mean);
/* Prints "name over other: geometric mean 1.000 of 9 rows, lowest 0.900 (row)"; nothing without rows. */
void bench_mean_print(const bench_mean *mean, const char *name, const char *other);
double bench_median(const double *values, int count);

/* --- sides by turns --- */

/* One participant of a comparison. Either run() makes the calls and returns their seconds, or call() makes
 * one call and the wall clock counts. */
typedef struct bench_side bench_side;
struct bench_side {
  const char *name;
  double (*run)(bench_side *side, int calls);
  void (*call)(bench_side *side);
  void *state;
  char why[200]; /* the reason why it has no time; "": it runs */
  int calls;     /* calls in a sample; 0: by bench_turns.sample_seconds */
  double *samples, spent;
  int count, capacity, turns;         /* samples, room for samples, and turns that were taken */
  double least, median, mean, spread; /* seconds of a call, and quartile distance over median; NAN: none */
};

typedef struct bench_turns {
  int rounds_min, rounds_max;
  double seconds;        /* a side with rounds_min turns ends after this time */
  double sample_seconds; /* minimum time of a sample */
  double turn_seconds;   /* a turn takes samples for so long, at least one */
  int calls_max;         /* 0: no limit */
  bool is_paired;        /* all sides have as many samples, so that samples of a round can be compared */
  void (*before)(bench_side *side); /* runs before each turn, not timed; or NULL */
  void (*before_round)(void);       /* runs before each round; or NULL */
} bench_turns;

/* Runs the sides by turns, in another order each round, and sets least, median, mean and spread. */
void bench_race(bench_side *sides, int count, const bench_turns *turns);
/* Returns the median over the rounds of other / side, or (`is_difference`) of side - other. */
double bench_paired(const bench_side *side, const bench_side *other, bool is_difference);
void bench_sides_free(bench_side *sides, int count);
/* Sets the reason why the side has no time. */
void bench_refuse(bench_side *side, const char *why);

/* Prints a number in a column; a dash if it is not finite. */
void bench_print_number(double value, int width, int digits);

/* --- JSON (report.c) --- */

/* Writes the date and time in UTC to `text`, which is returned; returns the commit of the build, or "". */
const char *bench_date(char *text, size_t size);
const char *bench_revision(void);
/* Opens the file and writes the first keys: version, revision, command, date and machine. All others do
 * nothing without an open file. The path may be NULL. */
void json_begin(const char *path, const char *command);
void json_text(const char *key, const char *text);
void json_number(const char *key, double value); /* null if it is not finite */
void json_integer(const char *key, int64_t value);
void json_open(const char *key, char bracket); /* `key` NULL: an element of a list */
void json_close(char bracket);
/* Writes "flops_per_second" of all sides by their least time, "mean" by their mean time, and "spread". */
void json_rates(const bench_side *sides, int count, double flops);
void json_end(void);

#endif
