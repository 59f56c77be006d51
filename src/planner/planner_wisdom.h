/* Wisdom: earlier measurements, stored as text, so that the planner need not predict. The word is FFTW's
 * (Frigo, Johnson 1998). One record a line:
 *
 *   gemm tile_local version=1 tile=16 key=NVIDIA_H200/sm_90/580.65 units=132 m=1024 n=1024 k=1024
 *       types=f32,f32,f32 layout=rrr beta=0 seconds=0.0021 spread=0.004 date=2026-03-01T12:00:00Z
 *
 * (one line in the file). It has the plan: operation, strategy, its version, every parameter. It has the
 * device: its key, and the number of used units (threads of the cpu, compute units of others). It has the
 * class of the problem with its sizes, and the seconds of a run with operands on the device. `layout` has a
 * letter for each of A, B and C. r means contiguous rows, c contiguous columns, g anything else, - a missing
 * operand. Empty lines and lines that start with # are kept and ignored.
 *
 * The identity of a record is device, units, class, sizes, strategy and version. Of two records with one
 * identity the faster is kept. The newer is kept if their difference is noise, and if both have one config,
 * since that is the same plan measured again.
 *
 * Two files: the library's records (planner/wisdom.txt, embedded), and the user's own, at TESELA_WISDOM or
 * under XDG_DATA_HOME, which count more. A record is used only on its device and for its strategy version;
 * other records stay in the file and are ignored. Any number of processes may write the user's file at once,
 * and be killed meanwhile. Each locks it, merges its records with the file's, and renames a new file over it.
 */
#ifndef TSL_PLANNER_PLANNER_WISDOM_H
#define TSL_PLANNER_PLANNER_WISDOM_H

#include "strategy/strategy.h"

/* Class of problems that one config serves, and their sizes. */
typedef struct tsl_wisdom_class {
  tsl_op op;
  tesela_type types[TSL_OPERANDS];
  char layout[TSL_OPERANDS + 1]; /* layout letters, such as "rrr"; see above */
  bool beta;                     /* true: C is read, too */
  bool in_place;
  /* Structure and triangle of each operand. */
  tesela_structure structures[TSL_OPERANDS];
  /* Stored triangle of each operand, as in a shape. */
  tesela_triangle triangles[TSL_OPERANDS];
  int64_t m, n, k;
  /* Required accuracy: the config is the fastest that guarantees it. A record without a requirement
   * serves all problems for which its config guarantees enough. */
  tsl_accuracy_kind accuracy;
  int precision;
  double number;
} tsl_wisdom_class;

tsl_wisdom_class tsl_wisdom_class_of(const tsl_problem *problem);

enum { TSL_WISDOM_NAME = 48, TSL_WISDOM_DATE = 24 };

typedef struct tsl_wisdom_record {
  char key[sizeof((tsl_device *)0)->key]; /* key of the device */
  int64_t units;
  tsl_wisdom_class problem;
  char name[TSL_WISDOM_NAME];   /* name of the strategy */
  const tsl_strategy *strategy; /* NULL: this library has no strategy of that name */
  int64_t version;
  tsl_config config; /* valid if stale is "" */
  /* median seconds of a run with operands on the device; interquartile range divided by the median */
  double seconds, spread;
  char date[TSL_WISDOM_DATE]; /* UTC, ISO 8601: the order of texts is the order of times */
  char stale[192];            /* reason why no device can use it; "": usable */
} tsl_wisdom_record;

/* Returns the units of a device that a plan uses: threads, else compute units. */
int64_t tsl_wisdom_units(const tsl_device *device);
/* Returns the record of a measurement that has just ended. */
tsl_wisdom_record tsl_wisdom_record_of(const tsl_problem *problem, const tsl_strategy *strategy,
                                       const tsl_config *config, const tsl_device *device, double seconds,
                                       double spread);
/* Appends the record's line, without a newline. The record must not be stale. */
void tsl_wisdom_print(const tsl_wisdom_record *record, tsl_text *text);
/* Parses a line. TESELA_BAD_INPUT: something is missing or wrong. An unknown strategy, another version,
 * or unknown parameters make the record stale, which is no failure. */
tesela_status tsl_wisdom_parse(const char *line, tsl_wisdom_record *record);
/* Returns why the record's speed is impossible for its device; NULL: possible. The message has the
 * record's rate and the device's. Arithmetic and memory are checked, with a margin for higher clocks
 * and for matrix units, which the peak excludes. A device without a known peak refuses nothing. */
const char *tsl_wisdom_refuse(const tsl_wisdom_record *record, const tsl_device *device);
bool tsl_wisdom_is_for(const tsl_wisdom_record *record, const tsl_device *device);
/* Returns true if two records have one identity. */
bool tsl_wisdom_same(const tsl_wisdom_record *record, const tsl_wisdom_record *other);
/* Returns true if `fresh` replaces `old`, a record of the same identity. */
bool tsl_wisdom_supersedes(const tsl_wisdom_record *old, const tsl_wisdom_record *fresh);

/* --- files --- */

/* Writes the path of the user's file. TESELA_UNSUPPORTED: TESELA_WISDOM is "none". TESELA_IO_FAILED:
 * none of TESELA_WISDOM, XDG_DATA_HOME and HOME is set. */
tesela_status tsl_wisdom_path(tsl_text *path);
/* Reads a file that the user names explicitly, of any owner, at most 64 MiB. TESELA_IO_FAILED:
 * unreadable, or a FIFO or device. TESELA_BAD_INPUT: not a text. If `optional` a missing file is empty. */
tesela_status tsl_wisdom_read(const char *path, bool optional, tsl_text *text);
/* Reads the user's own file, which must be trusted (base/safe_open.h), since it determines what runs. A
 * missing file is empty. */
tesela_status tsl_wisdom_read_own(const char *path, tsl_text *text);
/* Returns the library's records, a static text. */
const char *tsl_wisdom_shipped(void);

/* Line of a wisdom text: its record, or the error (then record is NULL). Empty lines and comments are
 * skipped. `number` counts from 1. */
typedef struct tsl_wisdom_line {
  const char *text;
  int number;
  const tsl_wisdom_record *record;
  const char *wrong;
} tsl_wisdom_line;

/* Calls each() for every line. Stops at the first failure and returns it. */
tesela_status tsl_wisdom_each(const char *text,
                              tesela_status (*each)(void *argument, const tsl_wisdom_line *line),
                              void *argument);

/* Counts of a merge. */
typedef struct tsl_wisdom_merged {
  int added, replaced, kept; /* kept: the existing record is as good or better */
  int unreadable;            /* lines that are no records and were dropped */
} tsl_wisdom_merged;

/* Merges the records of a text into another text, as tsl_wisdom_merge() does with a file. Appends the
 * result to out. */
tesela_status tsl_wisdom_merge_texts(const char *existing, const char *text, tsl_text *out,
                                     tsl_wisdom_merged *merged);
/* Merges the records of a text into another text, replacing records of the same identity. */
tesela_status tsl_wisdom_update_texts(const char *existing, const char *text, tsl_text *out);

/* Merges the records of a text into the user's file, completely or not at all; waits for other writers.
 * A missing file is created with its folders; an existing one must be trusted. */
tesela_status tsl_wisdom_merge(const char *path, const char *text, tsl_wisdom_merged *merged);
/* Merges newly measured records into the user's file; each replaces a record of the same identity,
 * faster or not. Otherwise a time that a busier machine cannot reach would stay for ever. Strategies
 * measured in quiet and in busy hours would then compete. */
tesela_status tsl_wisdom_update(const char *path, const char *text, tsl_wisdom_merged *merged);
/* Removes the lines for which is_removed() returns true. *count is their number. */
tesela_status tsl_wisdom_forget(const char *path,
                                bool (*is_removed)(const void *argument, const tsl_wisdom_line *line),
                                const void *argument, int *count);

/* --- lookups of the planner --- */

typedef struct tsl_wisdom tsl_wisdom;

/* Source of a prediction. X(NAME, name) */
#define TSL_BASIS_LIST(X) X(MODEL, "model") X(NEAR, "near wisdom") X(EXACT, "wisdom")
typedef enum tsl_basis {
#define TSL_BASIS_MEMBER(name, text) TSL_BASIS_##name,
  TSL_BASIS_LIST(TSL_BASIS_MEMBER)
#undef TSL_BASIS_MEMBER
} tsl_basis;
const char *tsl_basis_name(tsl_basis basis);

/* Opens the library's and the user's records, as TESELA_WISDOM selects. The result is constant, for any
 * number of threads; free it with tsl_wisdom_close(). Unreadable files are only logged (topic plan);
 * fails only if memory runs out. */
tesela_status tsl_wisdom_open(tsl_wisdom **wisdom);
/* Opens wisdom as tsl_wisdom_open() does. Also returns the user's records in text, and in *shipped the
 * library's records, or "". */
tesela_status tsl_wisdom_open_texts(tsl_wisdom **wisdom, tsl_text *text, const char **shipped);
/* Creates wisdom from the texts of the library's and the user's records. */
tesela_status tsl_wisdom_from(const char *shipped, const char *state, tsl_wisdom **wisdom);
void tsl_wisdom_close(tsl_wisdom *wisdom);

typedef struct tsl_wisdom_hit {
  tsl_basis basis;
  tsl_config config;
  double seconds; /* exact record: as measured; near record: scaled by the strategy's model */
  const tsl_wisdom_record *record;
  bool own; /* true: the user's record, measured on this machine */
  /* distance of the sizes: 0 for equal sizes, else the sum of the differences of their binary logarithms */
  double distance;
} tsl_wisdom_hit;

/* Finds the best record for a problem, a device and a strategy: one of equal sizes, else the nearest by
 * logarithms. No size of a near record differs by more than a factor of two or in divisibility (by 16,
 * by 4, by neither). Skipped are configs that the strategy refuses, or that differ from `fixed` where a
 * bit of `value` is set. Takes microseconds. wisdom NULL means no records. */
bool tsl_wisdom_find(const tsl_wisdom *wisdom, const tsl_problem *problem, const tsl_device *device,
                     const tsl_strategy *strategy, const tsl_config *fixed, unsigned fixed_bits,
                     tsl_wisdom_hit *hit);
/* Returns true if any strategy has a record for the device that may answer for this problem. */
bool tsl_wisdom_is_near(const tsl_wisdom *wisdom, const tsl_problem *problem, const tsl_device *device);
/* Returns true if the user's records have this operation for another device. */
bool tsl_wisdom_has_others(const tsl_wisdom *wisdom, tsl_op op, const tsl_device *device);
/* Returns the number of records. *of_device is the number for this device. */
int tsl_wisdom_count(const tsl_wisdom *wisdom, const tsl_device *device, int *of_device);

#endif
