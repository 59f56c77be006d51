/* Wisdom: measurements stored as text instead of predictions. The word is FFTW's (Frigo, Johnson 1998). One
 * record a line:
 *
 *   gemm tile_local version=1 tile=16 key=NVIDIA_H200/sm_90/580.65 units=132 m=1024 n=1024 k=1024
 *       types=f32,f32,f32 layout=rrr beta=0 seconds=0.0021 spread=0.004 date=2026-03-01T12:00:00Z
 *
 * (one line in the file): the plan with every parameter; the device's key and used units (threads of the cpu,
 * else compute units); the problem's class and sizes; the seconds with operands on the device. `layout` has a
 * letter for each of A, B and C: r contiguous rows, c contiguous columns, g anything else, - no operand.
 * Empty lines and lines that start with # are kept and ignored.
 *
 * A record's identity is device, units, class, sizes, strategy and version. Of two equal identities the
 * faster is kept; the newer if the difference is noise, or if both have one config: it was measured again.
 *
 * The user's file, at TESELA_WISDOM or under XDG_DATA_HOME, counts more than the library's
 * (planner/wisdom.txt, embedded). Records of other devices or strategy versions are kept and ignored. Any
 * number of processes may write the user's file, each under a lock, and be killed. */
#ifndef TSL_PLANNER_PLANNER_WISDOM_H
#define TSL_PLANNER_PLANNER_WISDOM_H

#include "strategy/strategy.h"

/* Class of problems that one config serves, and their sizes. */
typedef struct tsl_wisdom_class {
  tsl_op op;
  tesela_type types[TSL_OPERANDS];
  char layout[TSL_OPERANDS + 1]; /* letter by operand, as above: "rrr" */
  bool beta;                     /* beta is not 0: C is read, too */
  bool in_place;
  tesela_structure structures[TSL_OPERANDS];
  /* stored triangles, as in a shape */
  tesela_triangle triangles[TSL_OPERANDS];
  int64_t m, n, k;
  /* Required accuracy. A record without it serves all problems for which its config guarantees enough. */
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
  /* Median seconds with operands on the device; interquartile range over median. */
  double seconds, spread;
  char date[TSL_WISDOM_DATE]; /* UTC, ISO 8601: sorts by time */
  char stale[192];            /* why no device can use it; "": usable */
} tsl_wisdom_record;

/* Returns a device's used units: threads, else compute units. */
int64_t tsl_wisdom_units(const tsl_device *device);
/* Returns the record of a measurement that has just ended. */
tsl_wisdom_record tsl_wisdom_record_of(const tsl_problem *problem, const tsl_strategy *strategy,
                                       const tsl_config *config, const tsl_device *device, double seconds,
                                       double spread);
/* Appends a record's line, without a newline. It must not be stale. */
void tsl_wisdom_print(const tsl_wisdom_record *record, tsl_text *text);
/* Parses a line; TESELA_BAD_INPUT if wrong. Unknown strategies, versions or parameters only make it stale. */
tesela_status tsl_wisdom_parse(const char *line, tsl_wisdom_record *record);
/* Returns why the record's arithmetic or memory rate is impossible on its device; NULL: possible. Allows for
 * higher clocks and for matrix units, which the peak excludes. An unknown peak refuses nothing. */
const char *tsl_wisdom_refuse(const tsl_wisdom_record *record, const tsl_device *device);
/* Returns true if key and units are the device's. */
bool tsl_wisdom_is_for(const tsl_wisdom_record *record, const tsl_device *device);
/* Returns true if two records have one identity. */
bool tsl_wisdom_same(const tsl_wisdom_record *record, const tsl_wisdom_record *other);
/* Returns true if `fresh` replaces `old`, a record of equal identity. */
bool tsl_wisdom_supersedes(const tsl_wisdom_record *old, const tsl_wisdom_record *fresh);

/* Appends the path of the user's file. TESELA_UNSUPPORTED: TESELA_WISDOM is "none". TESELA_IO_FAILED: none of
 * TESELA_WISDOM, XDG_DATA_HOME and HOME is set. */
tesela_status tsl_wisdom_path(tsl_text *path);
/* Reads a file that the user names, of any owner, at most 64 MiB. TESELA_IO_FAILED: unreadable, or a FIFO or
 * device. TESELA_BAD_INPUT: not a text. If `optional`, a missing file is empty. */
tesela_status tsl_wisdom_read(const char *path, bool optional, tsl_text *text);
/* Reads the user's file, which must be trusted (core/safe_open.h): it decides what runs. Missing: empty. */
tesela_status tsl_wisdom_read_own(const char *path, tsl_text *text);
/* Returns the library's records, a static text. */
const char *tsl_wisdom_shipped(void);

/* Line of a wisdom text, from 1, without empty ones and comments: its record, or NULL and the error. */
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

typedef struct tsl_wisdom_merged {
  int added, replaced, kept; /* kept: the existing record is as good */
  int unreadable;            /* dropped lines that are no records */
} tsl_wisdom_merged;

/* Merges a text's records into another text, appended to out, like tsl_wisdom_merge(). */
tesela_status tsl_wisdom_merge_texts(const char *existing, const char *text, tsl_text *out,
                                     tsl_wisdom_merged *merged);
/* Merges records into another text like tsl_wisdom_update(), appended to out. */
tesela_status tsl_wisdom_update_texts(const char *existing, const char *text, tsl_text *out);

/* Merges records into the user's file atomically and waits for other writers. Creates a missing file. */
tesela_status tsl_wisdom_merge(const char *path, const char *text, tsl_wisdom_merged *merged);
/* Merges newly measured records, which replace records of equal identity even if slower: the time of a quiet
 * machine may be out of reach later. */
tesela_status tsl_wisdom_update(const char *path, const char *text, tsl_wisdom_merged *merged);
/* Removes the lines for which is_removed() returns true; *count is their number. */
tesela_status tsl_wisdom_forget(const char *path,
                                bool (*is_removed)(const void *argument, const tsl_wisdom_line *line),
                                const void *argument, int *count);

typedef struct tsl_wisdom tsl_wisdom;

/* Source of a prediction. X(NAME, name) */
#define TSL_BASIS_LIST(X) X(MODEL, "model") X(NEAR, "near wisdom") X(EXACT, "wisdom")
typedef enum tsl_basis {
#define TSL_BASIS_MEMBER(name, text) TSL_BASIS_##name,
  TSL_BASIS_LIST(TSL_BASIS_MEMBER)
#undef TSL_BASIS_MEMBER
} tsl_basis;
const char *tsl_basis_name(tsl_basis basis);

/* Opens the library's and the user's records, as TESELA_WISDOM selects, constant and thread-safe. Free with
 * tsl_wisdom_close(). Unreadable files are only logged (topic plan); fails only without memory. */
tesela_status tsl_wisdom_open(tsl_wisdom **wisdom);
/* Opens as tsl_wisdom_open(); also gets the user's records in text, and in *shipped the library's, or "". */
tesela_status tsl_wisdom_open_texts(tsl_wisdom **wisdom, tsl_text *text, const char **shipped);
/* Creates wisdom from the library's and the user's records. */
tesela_status tsl_wisdom_from(const char *shipped, const char *user_text, tsl_wisdom **wisdom);
void tsl_wisdom_close(tsl_wisdom *wisdom);

typedef struct tsl_wisdom_hit {
  tsl_basis basis;
  tsl_config config;
  double seconds; /* exact record: as measured; near record: scaled by the model */
  const tsl_wisdom_record *record;
  bool own; /* the user's record, measured on this machine */
  /* Sum of the sizes' differences of binary logarithms; 0: equal sizes. */
  double distance;
} tsl_wisdom_hit;

/* Finds a strategy's best record for a problem on a device: of equal sizes, else the nearest by logarithms.
 * Near sizes are within a factor of two and of equal divisibility (by 16, by 4, by neither). Skips configs
 * that the strategy refuses, or that differ from `fixed` in a parameter of fixed_bits. wisdom may be NULL. */
bool tsl_wisdom_find(const tsl_wisdom *wisdom, const tsl_problem *problem, const tsl_device *device,
                     const tsl_strategy *strategy, const tsl_config *fixed, unsigned fixed_bits,
                     tsl_wisdom_hit *hit);
/* Returns true if any strategy has a record for the device that may answer for this problem. */
bool tsl_wisdom_is_near(const tsl_wisdom *wisdom, const tsl_problem *problem, const tsl_device *device);
/* Returns true if the user's records have this operation for another device. */
bool tsl_wisdom_has_others(const tsl_wisdom *wisdom, tsl_op op, const tsl_device *device);
/* Returns the number of records; *of_device: for this device. */
int tsl_wisdom_count(const tsl_wisdom *wisdom, const tsl_device *device, int *of_device);

#endif
