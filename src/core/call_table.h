/* Table of products: counts, seconds and facts of each routine, shape and layout. TESELA_RECORD names a
 * folder for its files, one a thread; `tesela run --report` reads these. A file is mapped, so its counts
 * outlive _exit(), exec() and signals. A process that forked writes files of its own. Without the variable
 * the table is kept in memory for TESELA_LOG=calls. A thread writes its own block: a call takes no lock. */
#ifndef TSL_CORE_CALL_TABLE_H
#define TSL_CORE_CALL_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <tesela/tesela.h>

enum {
  TSL_CALLS_ROWS = 512,    /* rows of a block: a power of two; the last is for calls without a free row */
  TSL_CALLS_EXACT = 320,   /* used rows from which new sizes are rounded up to powers of two */
  TSL_CALLS_ROUNDED = 400, /* used rows from which a routine has a row for all other calls */
  TSL_CALLS_SIZES = 3,
  TSL_CALLS_OPERANDS = 3, /* A, B and C */
  TSL_CALLS_ALIGNED = 12, /* largest logarithm of an alignment */
  TSL_CALLS_WHO = 48,
  TSL_CALLS_LIBRARIES = 4,
  TSL_CALLS_PATH = 256
};

/* Properties that sampled elements of the factors had. */
enum {
  TSL_SEEN_A_SYMMETRIC = 1,
  TSL_SEEN_B_SYMMETRIC = 2,
  TSL_SEEN_A_LOWER = 4,
  TSL_SEEN_A_UPPER = 8,
  TSL_SEEN_B_LOWER = 16,
  TSL_SEEN_B_UPPER = 32,
  TSL_SEEN_TRANSPOSED = 64, /* op(B) is the transpose of op(A) */
  TSL_SEEN_SINGLE = 128,    /* each element is a number of f32 */
  TSL_SEEN_ALL = 255
};

/* Distinguishes rows; members that a routine lacks are 0. */
typedef struct tsl_calls_key {
  uint64_t name, who; /* address of the routine's name; hash of the row's `who` */
  int64_t size[TSL_CALLS_SIZES], ld[TSL_CALLS_OPERANDS];
  int64_t count;                    /* products of a batch; 1: no batch */
  int32_t type;                     /* tesela_type */
  int8_t sizes;                     /* used numbers of `size` */
  int8_t rounded;                   /* nonzero: the sizes are powers of two, and a row has a range of sizes */
  int8_t beta;                      /* 0, 1, or 2 for another number */
  char layout[8];                   /* order R, C or S (strided); op of A and B; uplo; side; diag */
  int8_t align[TSL_CALLS_OPERANDS]; /* logarithms of alignments in bytes */
  int8_t same;                      /* nonzero: A and B are in the same memory */
  int8_t unused[5];
} tsl_calls_key;

typedef struct tsl_calls_row {
  tsl_calls_key key;
  char name[32], who[TSL_CALLS_WHO], why[64];
  int64_t least[TSL_CALLS_SIZES], most[TSL_CALLS_SIZES];
  uint64_t calls;
  double seconds, fastest, flops;
  /* Calls directly after a call of this row on the same thread, if their factors are no earlier results. Of
   * these, calls at the same distances as the last call, and with the same A or B. */
  uint64_t followed, strided, same_a, same_b;
  int64_t distance[TSL_CALLS_OPERANDS]; /* bytes between operands of strided calls */
  uint64_t continued;                   /* calls that add to the C of the thread's call before */
  uint64_t looks, others;               /* looks at other threads; threads then inside a call, summed */
  uint32_t samples, seen;               /* calls with sampled operands; properties of all of these */
} tsl_calls_row;

/* Start of a file; the rows follow. */
typedef struct tsl_calls_file {
  char magic[8];                   /* TSL_CALLS_MAGIC */
  int64_t process, parent, number; /* ids of processes; the block's number in its process */
  double started, ended;           /* by the monotonic clock; ended is 0 if the process called no exit() */
  int32_t processors, threads;     /* of the machine; of a call, by the settings */
  atomic_int is_inside;            /* the thread is inside a call */
  int32_t used;                    /* rows in use */
  uint64_t lost;                   /* calls that found no block */
  char program[64], library[32];   /* of the process; the file that counts */
  char libraries[TSL_CALLS_LIBRARIES][TSL_CALLS_PATH]; /* paths of other BLAS libraries */
} tsl_calls_file;

#define TSL_CALLS_MAGIC "tslcall1"
#define TSL_CALLS_SUFFIX ".calls"
/* Bytes before the rows. */
enum { TSL_CALLS_HEAD = 4096 };
_Static_assert(sizeof(tsl_calls_file) <= TSL_CALLS_HEAD, "the rows begin on a page");
enum { TSL_CALLS_BYTES = TSL_CALLS_HEAD + TSL_CALLS_ROWS * (int)sizeof(tsl_calls_row) };

/* A finished call. */
typedef struct tsl_called {
  tsl_calls_key key;            /* without name and who */
  const char *name, *who, *why; /* name is static; why may be NULL */
  double seconds, flops;
  const void *data[TSL_CALLS_OPERANDS]; /* NULL: not known */
  int64_t c_bytes;
  unsigned (*sample)(const void *argument); /* returns the properties of the operands; NULL: not sampled */
  const void *argument;
} tsl_called;

extern atomic_bool tsl_calls_kept; /* true: calls are counted */
/* Returns true if calls are counted; costs one load. */
static inline bool tsl_calls_are_kept(void) {
  return atomic_load_explicit(&tsl_calls_kept, memory_order_relaxed);
}

/* Nesting depth of counted calls; inner calls are not the program's. */
extern _Thread_local int tsl_calls_depth __attribute__((tls_model("initial-exec")));

/* Starts counting into memory if nothing counts yet. A constructor starts it where TESELA_RECORD is set. */
void tsl_calls_start(bool in_memory);
/* Begins a call. Returns its time in ticks, or 0 inside another call; tsl_calls_end() follows in either case.
 */
double tsl_calls_begin(void);
/* Ends a call that began at `started`. Returns its seconds; 0: not counted. */
double tsl_calls_end(double started);
/* Returns memory of the calling thread, in which its call is described; NULL: there is none. */
tsl_called *tsl_calls_description(void);
/* Counts a finished call. */
void tsl_calls_add(const tsl_called *called);
/* Sets the threads of later calls, for the report. */
void tsl_calls_set_threads(int threads);
/* Adds the path of another BLAS to the files' lists, once. */
void tsl_calls_note_library(const char *path);
/* Calls visit() for each row of the process. Other threads may be counting meanwhile. */
void tsl_calls_each(void (*visit)(const tsl_calls_row *row, void *argument), void *argument);

/* Sets "tesela host_packed cpu" from the text of a plan; NULL or another text: nothing. */
void tsl_calls_plan_name(const char *plan, char who[TSL_CALLS_WHO]);
/* Returns the logarithm of an address's alignment: below 16 bytes exactly, else of 16, 64 or 4096 bytes. */
int tsl_calls_alignment(const void *data);
/* Returns the smallest power of two that is at least `size`; 0 for 0. */
int64_t tsl_calls_round_size(int64_t size);

#endif
