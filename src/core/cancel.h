/* Delays pthread_cancel() until a call returns: inside it, locks are held and its stack is in use. */
#ifndef TSL_CORE_CANCEL_H
#define TSL_CORE_CANCEL_H

#include <pthread.h>

/* Disables cancellation of the calling thread. Returns its previous cancel state. */
static inline int tsl_cancel_disable(void) {
  int before;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  return before;
}
/* Restores the cancel state that tsl_cancel_disable() returned. */
static inline void tsl_cancel_restore(const int *before) {
  int now;
  pthread_setcancelstate(*before, &now);
}

/* Declaration: the calling thread is not cancelled until the end of the block. */
#define TSL_NOT_CANCELLED                                                                                    \
  __attribute__((cleanup(tsl_cancel_restore), unused)) const int cancel_before = tsl_cancel_disable()

#endif
