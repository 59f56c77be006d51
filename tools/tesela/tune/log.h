/* Reads the calls of a program from its log, as problems to tune. */
#ifndef TSL_TOOL_TUNE_LOG_H
#define TSL_TOOL_TUNE_LOG_H

#include "problem/problem.h"

/* Calls with equal sizes, types and layouts. */
typedef struct tsl_logged {
  tsl_problem problem; /* alpha is 1, beta 0 or 1: other values do not change the time */
  char device[128];    /* the device that computed; "" if the log does not name it */
  int64_t calls;
  double seconds; /* seconds of all calls */
} tsl_logged;

typedef struct tsl_call_log {
  tsl_logged *items;
  int count, capacity;
  int64_t
      /* lines that are no calls, or calls that cannot be tuned: other routines, or no elements to compute */
      passed_over;
} tsl_call_log;

/* Reads the output of TESELA_LOG=calls: the library's lines, one for each call, and the tables of
 * libtesela_blas.so (`tesela run --log`). Sizes in these tables are rounded to powers of two. Problems are
 * sorted by time, the largest first. Returns TESELA_BAD_INPUT if there is no call. The caller frees the list
 * by tsl_call_log_free(), also after a failure. */
tesela_status tsl_call_log_read(const char *path, tsl_call_log *out);
void tsl_call_log_free(tsl_call_log *log);

#endif
