/* The background thread of a front end, for work that takes too long for a call: planning, compiling, races.
 * It starts with the first step and ends when no step is left. The process's end waits until a driver or
 * compiler has finished, because its library is unloaded with the process. */
#ifndef TSL_INTERPOSE_BACKGROUND_H
#define TSL_INTERPOSE_BACKGROUND_H

#include <stdbool.h>

/* Does one job of the front end's own queue; one step for each tsl_background_add(). */
typedef void tsl_background_step(void);

/* Returns true if the process's end waits for the thread; else callers do the work themselves. */
bool tsl_background_exit_waits(void);

/* Requests a step. Returns false if there is no thread, or if the process ends. Every call of a process
 * passes the same function. */
bool tsl_background_add(tsl_background_step *step);

/* Registers the wait at the process's end again, before the handlers of libraries that were just loaded. */
void tsl_background_watch_end(void);

/* Resets the state in the child of a fork, which has no background thread. Afterwards there is no thread if
 * `forever`. */
void tsl_background_forget(bool forever);

#endif
