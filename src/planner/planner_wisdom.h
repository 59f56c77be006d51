/* Wisdom: what was measured before, kept as text, so that the planner need not guess again (the word is
 * FFTW's: Frigo, Johnson 1998). One record a line:
 *
 *   gemm tile_local version=1 tile=16 key=NVIDIA_H200/sm_90/580.65 units=132 m=1024 n=1024 k=1024
 *       types=f32,f32,f32 layout=rrr beta=0 seconds=0.0021 spread=0.004 date=2026-03-01T12:00:00Z
 *
 * (one line in the file): the plan (operation, strategy, its version, every parameter), the device (its key
 * and how many units of it are used: threads of the cpu, compute units of others), the class of the problem
 * and its sizes, and what a run took there with its operands on the device. `layout` has a letter for each of
 * A, B and C: r for rows without gaps between their elements, c for columns, g for anything else, - for an
 * operand that is not there. Empty lines and lines that start with # are kept and mean nothing.
 *
 * Records are identified by device, units, class, sizes, strategy and version. Of two with one identity, the
 * faster stays; the newer where their difference is within the noise, and where both are of one config, since
 * that is the same plan measured again.
 *
 * Two files: the records that the library comes with (planner/wisdom.txt, embedded) and the user's own, at
 * TESELA_WISDOM or under XDG_DATA_HOME, which count more. A record is used only on the device and for the
 * strategy version that it names; others stay in the file and are ignored. Any number of processes may write
 * the user's file at once, and be killed while they do: each takes a lock, merges what it has with what is
 * there, and renames a new file over it. */
#ifndef TSL_PLANNER_PLANNER_WISDOM_H
#define TSL_PLANNER_PLANNER_WISDOM_H

#include "strategy/strategy.h"

/* What problems have in common that one config serves, and their sizes. */
typedef struct tsl_wisdom_class {
  tsl_op op;
  tesela_type types[TSL_OPERANDS];
  char layout[TSL_OPERANDS + 1]; /* "rrr", see above */
  bool beta;                     /* C is read, too */
  bool in_place;
  /* Of each operand, as in a shape. */
  tesela_structure structures[TSL_OPERANDS];
  tesela_triangle triangles[TSL_OPERANDS];
  int64_t m, n, k;
  /* What was asked of accuracy: the config is the best of those that guarantee it. What was measured without
   * an ask serves all who ask, where its config guarantees enough. */
  tsl_accuracy_kind accuracy;
  int precision;
  double number;
} tsl_wisdom_class;

tsl_wisdom_class tsl_wisdom_class_of(const tsl_problem *problem);

enum { TSL_WISDOM_NAME = 48, TSL_WISDOM_DATE = 24 };

typedef struct tsl_wisdom_record {
  char key[sizeof((tsl_device *)0)->key]; /* the device's */
  int64_t units;
  tsl_wisdom_class problem;
  char name[TSL_WISDOM_NAME];   /* the strategy's */
  const tsl_strategy *strategy; /* NULL: this library has none of that name */
  int64_t version;
  tsl_config config;      /* where the record is not stale */
  double seconds, spread; /* median of a run, operands on the device; interquartile range over the median */
  char date[TSL_WISDOM_DATE]; /* UTC, ISO 8601: comparing texts compares times */
  char stale[192];            /* why no device takes it; "" where it is good */
} tsl_wisdom_record;

/* How many units of a device a plan uses: its threads, or else its compute units. */
int64_t tsl_wisdom_units(const tsl_device *device);
/* A record of a measurement that ended now. */
tsl_wisdom_record tsl_wisdom_record_of(const tsl_problem *problem, const tsl_strategy *strategy,
                                       const tsl_config *config, const tsl_device *device, double seconds,
                                       double spread);
/* Appends the line, without its end. The record is not stale. */
void tsl_wisdom_print(const tsl_wisdom_record *record, tsl_text *text);
/* Reads a line. TESELA_BAD_INPUT says what is missing or wrong. A strategy that this library does not have,
 * another version of one, and parameters that it does not have make the record stale, which is no failure. */
tesela_status tsl_wisdom_parse(const char *line, tsl_wisdom_record *record);
/* Whether a record tells what its device cannot do: NULL, or a sentence with the record's rate and the
 * device's. The device is the record's. Arithmetic and memory count, with room for clocks that are higher
 * than the device tells and for matrix units that its peak leaves out; a device without a known peak refuses
 * nothing. */
const char *tsl_wisdom_refuse(const tsl_wisdom_record *record, const tsl_device *device);
bool tsl_wisdom_is_for(const tsl_wisdom_record *record, const tsl_device *device);
/* Whether both have one identity; and then whether the second takes the first one's place. */
bool tsl_wisdom_same(const tsl_wisdom_record *record, const tsl_wisdom_record *other);
bool tsl_wisdom_supersedes(const tsl_wisdom_record *old, const tsl_wisdom_record *fresh);

/* --- files --- */

/* The path of the user's file. TESELA_UNSUPPORTED where TESELA_WISDOM is "none", TESELA_IO_FAILED where
 * neither it nor XDG_DATA_HOME nor HOME is set. */
tesela_status tsl_wisdom_path(tsl_text *path);
/* The text of a file that somebody named for this purpose, whoever wrote it. TESELA_IO_FAILED with the
 * reason: FIFOs and devices are not waited for, and 64 MiB are the most; TESELA_BAD_INPUT for what is no
 * text. A file that is not there is empty where `optional`. */
tesela_status tsl_wisdom_read(const char *path, bool optional, tsl_text *text);
/* The same of the user's own file, which decides what runs without being asked about: it must be trusted
 * (base/safe_open.h). One that is not there is empty. */
tesela_status tsl_wisdom_read_own(const char *path, tsl_text *text);
/* What the library comes with. */
const char *tsl_wisdom_shipped(void);

/* A line of a text: its record, or what is wrong with it (then record is NULL). Lines that mean nothing are
 * passed over. `number` counts from 1. */
typedef struct tsl_wisdom_line {
  const char *text;
  int number;
  const tsl_wisdom_record *record;
  const char *wrong;
} tsl_wisdom_line;

/* Calls each() for the lines; stops at the first failure, which it returns. */
tesela_status tsl_wisdom_each(const char *text,
                              tesela_status (*each)(void *argument, const tsl_wisdom_line *line),
                              void *argument);

/* What a merge did with the lines that it was given. */
typedef struct tsl_wisdom_merged {
  int added, replaced, kept; /* kept: what was there is as good or better */
  int unreadable;            /* left out */
} tsl_wisdom_merged;

/* Merges the records of a text into the lines of another, as below, without a file. */
tesela_status tsl_wisdom_merge_texts(const char *there, const char *text, tsl_text *out,
                                     tsl_wisdom_merged *merged);
tesela_status tsl_wisdom_update_texts(const char *there, const char *text, tsl_text *out);

/* Merges the records of a text into the user's file, which is made, with its folders, where it is not there,
 * and must be trusted where it is. Whole or not at all; waits for other writers. */
tesela_status tsl_wisdom_merge(const char *path, const char *text, tsl_wisdom_merged *merged);
/* The same for records that were measured against what the file holds, on this machine as it is: they take
 * the place of those of one identity, faster or not. Else a time that a busier machine cannot reach stays for
 * good, and one strategy's quiet hour is compared with another's busy one. */
tesela_status tsl_wisdom_update(const char *path, const char *text, tsl_wisdom_merged *merged);
/* Removes the lines for which goes() says so; `count` of them. */
tesela_status tsl_wisdom_forget(const char *path,
                                bool (*goes)(const void *argument, const tsl_wisdom_line *line),
                                const void *argument, int *count);

/* --- what the planner asks --- */

typedef struct tsl_wisdom tsl_wisdom;

/* What a prediction rests on. X(NAME, name) */
#define TSL_BASIS_LIST(X) X(MODEL, "model") X(NEAR, "near wisdom") X(EXACT, "wisdom")
typedef enum tsl_basis {
#define TSL_BASIS_MEMBER(name, text) TSL_BASIS_##name,
  TSL_BASIS_LIST(TSL_BASIS_MEMBER)
#undef TSL_BASIS_MEMBER
} tsl_basis;
const char *tsl_basis_name(tsl_basis basis);

/* The library's records and the user's, as TESELA_WISDOM says; constant afterwards, for any number of
 * threads. What cannot be read is a line in the log (plan); fails for lack of memory only. */
tesela_status tsl_wisdom_open(tsl_wisdom **wisdom);
/* The same, and the user's records as text; *shipped are the library's, "" where TESELA_WISDOM says so. */
tesela_status tsl_wisdom_open_texts(tsl_wisdom **wisdom, tsl_text *text, const char **shipped);
/* The same from texts. */
tesela_status tsl_wisdom_from(const char *shipped, const char *state, tsl_wisdom **wisdom);
void tsl_wisdom_close(tsl_wisdom *wisdom);

typedef struct tsl_wisdom_hit {
  tsl_basis basis;
  tsl_config config;
  double seconds; /* exact: as measured; near: scaled as the strategy's model grows */
  const tsl_wisdom_record *record;
  bool own;        /* the user's: measured here, as far as anybody knows */
  double distance; /* of the sizes: 0 the same, else the sum of their logarithms' differences, in factors of
                      two */
} tsl_wisdom_hit;

/* The record that tells most of a problem on a device with a strategy: one of its very sizes, else the
 * nearest by the logarithms of the sizes, none of which is off by more than a factor of two or of another
 * divisibility (by 16, by 4, by neither). Left out are configs that the strategy refuses now, and those that
 * differ from `fixed` where a bit of `value` is set. Takes microseconds. wisdom may be NULL: nothing is
 * known. */
bool tsl_wisdom_find(const tsl_wisdom *wisdom, const tsl_problem *problem, const tsl_device *device,
                     const tsl_strategy *strategy, const tsl_config *fixed, unsigned value,
                     tsl_wisdom_hit *hit);
/* Whether there is a record for the device, of any strategy, that a question about this problem may be
 * answered by. */
bool tsl_wisdom_is_near(const tsl_wisdom *wisdom, const tsl_problem *problem, const tsl_device *device);
/* Whether the user's records have some of this operation for another device than this one. */
bool tsl_wisdom_has_others(const tsl_wisdom *wisdom, tsl_op op, const tsl_device *device);
/* How many records there are, and how many of them are for this device. */
int tsl_wisdom_count(const tsl_wisdom *wisdom, const tsl_device *device, int *of_device);

#endif
