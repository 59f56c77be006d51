/* Cancellation (pthread_cancel) of a thread that is inside of a call: it would end with locks held, and with
 * a job on its stack that others work on. So a call puts it off until it returns; then its result is whole.
 */
#ifndef TSL_BASE_CANCEL_H
#define TSL_BASE_CANCEL_H

#include <pthread.h>

static inline int tsl_cancel_put_off(void) {
  int before;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  return before;
}
static inline void tsl_cancel_as_before(const int *before) {
  int now;
  pthread_setcancelstate(*before, &now);
}

/* A declaration: from here to the end of the block its thread is not cancelled. */
#define TSL_NOT_CANCELLED                                                                                    \
  __attribute__((cleanup(tsl_cancel_as_before), unused)) const int cancel_before = tsl_cancel_put_off()

#endif
