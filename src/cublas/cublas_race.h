/* Races on the program's own calls: tesela and cuBLAS compute calls of a kind by turns, between events in the
 * call's stream. The host's time to queue a call counts, too. Nothing is computed twice, no memory is taken,
 * and no call waits. */
#ifndef TSL_CUBLAS_CUBLAS_RACE_H
#define TSL_CUBLAS_CUBLAS_RACE_H

#include "cublas/cublas_queue.h"

typedef enum tsl_cublas_side { TSL_CUBLAS_TESELA, TSL_CUBLAS_PEER, TSL_CUBLAS_SIDES } tsl_cublas_side;

enum { TSL_CUBLAS_ROUNDS = 6 };
typedef struct tsl_cublas_race {
  int samples;                                        /* calls that were timed */
  tsl_cublas_stream *stream;                          /* stream of the call that is being timed */
  double queued_at;                                   /* begin of that call on the host */
  bool was_idle[TSL_CUBLAS_SIDES][TSL_CUBLAS_ROUNDS]; /* the stream had no work before the call */
  double host[TSL_CUBLAS_SIDES][TSL_CUBLAS_ROUNDS];   /* seconds to queue a call */
  tesela_event *begin[TSL_CUBLAS_SIDES][TSL_CUBLAS_ROUNDS], *end[TSL_CUBLAS_SIDES][TSL_CUBLAS_ROUNDS];
} tsl_cublas_race;

typedef enum tsl_cublas_verdict {
  TSL_CUBLAS_GO_ON, /* more calls must be timed */
  TSL_CUBLAS_WON,   /* tesela is faster */
  TSL_CUBLAS_LOST,
  TSL_CUBLAS_BROKEN /* times cannot be read */
} tsl_cublas_verdict;

/* Functions of one race never run at the same time. */

/* Creates the events. */
bool tsl_cublas_race_begin(tsl_cublas_race *race, const tsl_cublas_device *device);
/* Begins to time a call; *side must compute it. Returns false if it cannot be timed. */
bool tsl_cublas_race_start(tsl_cublas_race *race, tsl_cublas_stream *stream, tsl_cublas_side *side);
/* Ends the timing of a call. Returns false after a failure. */
bool tsl_cublas_race_end(tsl_cublas_race *race);
/* Returns true if it is time to compare. */
bool tsl_cublas_race_is_due(const tsl_cublas_race *race);
/* Compares the times (cublas_race_rule.h), which are written to `text`. Waits for the timed calls. At the end
 * of the race frees the events, and sets *suits_graphs. */
tsl_cublas_verdict tsl_cublas_race_compare(tsl_cublas_race *race, bool *suits_graphs, char *text,
                                           size_t text_bytes);

#endif
