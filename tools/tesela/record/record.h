/* The recorder: what products a program computed, by which library, and what would be faster.
 *
 *   record_run       starts the program, waits, and collects what its processes left
 *   record_read      files of core/call_table.h -> recording
 *   record_advice    what would be faster, by facts of a product; at most by how much
 *   record_trial record_replay    measures an advice on operands like the program's
 *   record_json record_text       recording -> JSON -> text
 *   record_changes   differences between two recordings */
#ifndef TSL_TOOL_RECORD_RECORD_H
#define TSL_TOOL_RECORD_RECORD_H

#include "cli/tool.h"
#include "core/call_table.h"

#include <jansson.h>

/* Calls of one routine, shape, layout and implementation in all threads and processes. */
typedef struct tsl_recorded {
  tsl_calls_row row;
  int callers;             /* threads with such calls */
  int threads, processors; /* of a call, by the settings; of the machine */
} tsl_recorded;

typedef struct tsl_recorded_process {
  int64_t process, parent;
  char program[64], library[32];
  double seconds; /* from the library's start to its end, or to the end of the run */
  bool has_ended; /* by exit() or return; false: _exit(), exec() or a signal */
  uint64_t calls, lost;
  double call_seconds;
  int callers;
} tsl_recorded_process;

/* Everything that a run left; starts as {0}. */
typedef struct tsl_run_record {
  tsl_recorded *products; /* the heaviest first */
  int count;
  tsl_recorded_process *processes;
  int process_count;
  char libraries[TSL_CALLS_LIBRARIES][TSL_CALLS_PATH]; /* paths of other BLAS libraries */
  int unreadable;                                      /* files that could not be read */
  double seconds, call_seconds;                        /* of the run; of all calls */
  uint64_t calls, lost;
} tsl_run_record;

/* Reads the files of a folder. `seconds`: of the run. `end`: its end by the monotonic clock. */
tesela_status tsl_record_read(const char *folder, double seconds, double end, tsl_run_record *out);
void tsl_run_record_free(tsl_run_record *recording);
/* Returns the seconds that shares refer to: of the run, or of the calls if threads overlapped them. */
double tsl_run_record_whole(const tsl_run_record *recording);

/* --- advice --- */

typedef enum tsl_advice_kind {
  TSL_ADVICE_TRANSPOSED, /* syrk instead of gemm */
  TSL_ADVICE_TRIANGULAR, /* trmm instead of gemm */
  TSL_ADVICE_SYMMETRIC,  /* symm instead of gemm */
  TSL_ADVICE_JOIN,       /* one larger product, as the calls share a factor */
  TSL_ADVICE_BATCH,      /* one batch */
  TSL_ADVICE_DEEPEN,     /* one product with more terms, as the calls add to one C */
  TSL_ADVICE_ALIGN,      /* another leading dimension or start */
  TSL_ADVICE_THREADS,    /* fewer threads for each call */
  TSL_ADVICE_SINGLE,     /* f32; the elements are numbers of f32 */
  TSL_ADVICE_ROUND,      /* f32, if seven digits are enough */
  TSL_ADVICE_KINDS
} tsl_advice_kind;

typedef struct tsl_advice {
  tsl_advice_kind kind;
  int product;    /* index in the recording */
  int alike;      /* products with this advice that differ in alignment or library only, this one included */
  double seconds; /* of all of these */
  double most;    /* largest possible gain; NAN: not known */
  char text[256]; /* a sentence */
  bool is_tried;
  double without, with; /* measured seconds of the work of `repeats` calls */
  int64_t repeats;
  double error; /* f32: largest error, relative to the largest element; NAN: not measured */
} tsl_advice;

typedef struct tsl_advice_list {
  tsl_advice *items; /* most seconds saved first */
  int count;
} tsl_advice_list;

const char *tsl_advice_name(tsl_advice_kind kind);
/* Returns true if the facts of a product, for which calls of a run are many or long, suggest the advice; sets
 * kind, most and text. */
bool tsl_advice_applies(const tsl_recorded *recorded, tsl_advice_kind kind, tsl_advice *out);
/* Lists the advice for products with at least a hundredth of the time. */
tesela_status tsl_advice_create(const tsl_run_record *recording, tsl_advice_list *out);
/* Returns the gain: as measured, else at most; NAN: not known. */
double tsl_advice_gain(const tsl_advice *advice);
/* Returns the seconds that the run would take less; NAN: not known. */
double tsl_advice_saved(const tsl_advice *advice);
/* Sorts by seconds saved. */
void tsl_advice_sort(const tsl_run_record *recording, tsl_advice_list *list);

/* Measures the advice for the five heaviest products. */
tesela_status tsl_record_try(const tsl_run_record *recording, tsl_advice_list *list);

/* --- reports --- */

/* Returns the object of docs/JSON.md; NULL without memory. `command`: the program with its arguments. */
json_t *tsl_record_json(const tsl_run_record *recording, const tsl_advice_list *advice, const char *command,
                        int exit_code);
/* Appends the object as text; `width`: 0 for unlimited. */
void tsl_record_text(const json_t *run, bool colour, int width, tsl_text *out);
/* Appends and returns what changed between two objects. */
json_t *tsl_record_changes(const json_t *before, const json_t *after);
void tsl_record_changes_text(const json_t *changes, bool colour, int width, tsl_text *out);

/* Runs the program of the call's words, writes the report to `path` (.html, or JSON) and a summary to stderr.
 * Ends this process as the program ended: with its exit code, or by its signal. Returns only errors. */
tesela_status tsl_record_run(const tsl_command_call *call, const char *path, bool tries, const char *locale);

#endif
