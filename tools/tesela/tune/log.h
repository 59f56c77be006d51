/* The calls of a program, read from its log, as problems to tune. */
#ifndef TSL_TOOL_TUNE_LOG_H
#define TSL_TOOL_TUNE_LOG_H

#include "strategy/problem.h"

/* Calls with the same sizes, types and layouts. */
typedef struct tsl_logged {
  tsl_problem problem; /* alpha is 1, beta 0 or 1: what else they were changes no time */
  char device[128];    /* the one that computed; "" where the log does not say */
  int64_t calls;
  double seconds; /* of all of them */
} tsl_logged;

typedef struct tsl_call_log {
  tsl_logged *items;
  int count, capacity;
  int64_t
      passed_over; /* lines that are no calls, or of what is not tuned: other routines, nothing to compute */
} tsl_call_log;

/* Reads what TESELA_LOG=calls wrote: the library's lines, one a call, and the tables of libtesela_blas.so
 * (`tesela run
 * --log`), whose sizes are powers of two. The most time comes first. TESELA_BAD_INPUT where there is no call
 * in it. Free the list with tsl_call_log_free(), after a failure as well. */
tesela_status tsl_call_log_read(const char *path, tsl_call_log *out);
void tsl_call_log_free(tsl_call_log *log);

#endif
