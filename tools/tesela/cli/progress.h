/* A progress line on stderr: on a terminal only after a second of work, and wiped at the end; elsewhere, for
 * work that prints nothing for minutes, a line each ten seconds. What the library waits for meanwhile
 * (base/progress_hook.h: a compiler) is said on it. */
#ifndef TSL_TOOL_CLI_PROGRESS_H
#define TSL_TOOL_CLI_PROGRESS_H

#include <stdbool.h>

typedef struct tsl_progress tsl_progress;

/* Starts watching; a thread of its own draws. NULL, which every call takes, where stderr is no terminal and
 * no lines are wanted there, or the thread cannot be had. */
tsl_progress *tsl_progress_start(bool lines);
/* What is being done now (copied) and how far the whole work is, 0 to 1. */
void tsl_progress_at(tsl_progress *progress, const char *what, double fraction);
/* Within the present step: the fraction creeps on by `more` over the predicted time, so that one long call
 * into the library shows movement. */
void tsl_progress_creep(tsl_progress *progress, double more, double seconds);
/* Wipes the line and draws none any more; the other calls may go on in another thread. */
void tsl_progress_stop(tsl_progress *progress);
/* Wipes the line and frees. */
void tsl_progress_end(tsl_progress *progress);

#endif
