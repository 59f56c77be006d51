/* Shows progress on stderr. A terminal shows one line, after a second of work, which is erased at
 * the end. Other outputs get a line every ten seconds, for work that prints nothing for minutes.
 * The line also shows waits of the library (core/progress_hook.h), such as for a compiler. */
#ifndef TSL_TOOL_CLI_PROGRESS_H
#define TSL_TOOL_CLI_PROGRESS_H

#include <stdbool.h>

typedef struct tsl_progress tsl_progress;

/* Starts a thread that draws the progress line. Returns NULL, which every function accepts, if
 * stderr is no terminal and `lines` is false, or if the thread cannot be started. */
tsl_progress *tsl_progress_start(bool lines);
/* Sets the present activity (copied) and the fraction of the whole work done, 0 to 1. */
void tsl_progress_at(tsl_progress *progress, const char *what, double fraction);
/* Lets the fraction grow by `more` over the predicted `seconds`, so that one long call into the
 * library shows movement. */
void tsl_progress_creep(tsl_progress *progress, double more, double seconds);
/* Erases the line and draws no more; other threads may still call the other functions. */
void tsl_progress_stop(tsl_progress *progress);
/* Erases the line and frees the progress. */
void tsl_progress_end(tsl_progress *progress);

#endif
