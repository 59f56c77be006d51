/* Ends a benchmark that cannot go on. BENCH_NAME must be defined before. */
#ifndef TSL_BENCH_STOP_H
#define TSL_BENCH_STOP_H

#include <stdio.h>
#include <stdlib.h>
#include <tesela/tesela.h>

static inline _Noreturn void stop(const char *what, const char *why) {
  fprintf(stderr, "%s: %s: %s\n", BENCH_NAME, what, why);
  exit(1);
}

/* Ends the program with `why`, the message about the argument `text`; does nothing if `why` is
 * NULL. */
static inline void stop_if_wrong(const char *text, const char *why) {
  if (why)
    stop(text, why);
}

static inline void must(tesela_status status, const char *what) {
  if (status != TESELA_OK)
    stop(what, tesela_last_error());
}

#endif
