/* Kinds of calls: calls that differ only in addresses. Each is decided once for the process. */
#ifndef TSL_CUBLAS_CUBLAS_KINDS_H
#define TSL_CUBLAS_CUBLAS_KINDS_H

#include "cublas/cublas_race.h"
#include "cublas/cublas_thread.h"

typedef enum tsl_cublas_state {
  TSL_CUBLAS_NEW,       /* tesela's plan is being made; cuBLAS computes */
  TSL_CUBLAS_RACING,    /* both compute by turns, and calls are timed */
  TSL_CUBLAS_COMPARING, /* the times are being read; cuBLAS computes */
  TSL_CUBLAS_OURS,
  TSL_CUBLAS_THEIRS
} tsl_cublas_state;

typedef struct tsl_cublas_kind {
  tsl_cublas_key key;
  uint64_t hash;
  atomic_int state; /* tsl_cublas_state */
  const tsl_cublas_device *device;
  tesela_plan *plan;
  size_t workspace;   /* bytes that a run needs */
  bool is_for_graphs; /* tesela also computes calls that are recorded */
  atomic_flag timing; /* set while a call is timed: protects the race */
  tsl_cublas_race race;
  struct tsl_cublas_kind *next; /* in its chain */
} tsl_cublas_kind;

/* Returns the kind of a call, which the background prepares from the third call on; NULL: not yet, or too
 * many kinds. If tesela computes every call, the first call prepares it, unless a graph is being recorded. */
tsl_cublas_kind *tsl_cublas_kind_find(tsl_cublas_thread *thread, const tsl_cublas_key *key,
                                      const void *stream);

/* Returns true if the kind's calls are timed or tesela's now. */
bool tsl_cublas_kind_takes_calls(const tsl_cublas_kind *kind);
/* Lets the background go on with plans that waited for races. For calls of kinds that have no plan yet. */
void tsl_cublas_kinds_resume(void);

/* Begins to time a call of a racing kind. Returns false if it is not timed: another call is, or a plan is
 * being made. cuBLAS computes it then. */
bool tsl_cublas_kind_start(tsl_cublas_kind *kind, tsl_cublas_stream *stream, tsl_cublas_side *side);
/* Ends the timing of a call. The race ends if the call failed. */
void tsl_cublas_kind_end(tsl_cublas_kind *kind, bool is_good);

#endif
