/* Handles signals: removes temporary files, and prints results measured so far, before the process
 * ends. */
#ifndef TSL_TOOL_CLI_INTERRUPT_H
#define TSL_TOOL_CLI_INTERRUPT_H

#include <stdbool.h>

/* Holds back each catchable signal that would end the process until the next call of
 * tsl_interrupt_guard(). Between the two calls a file is made whose name is not yet known. A fault
 * of the process itself (SIGSEGV) is not held back. */
void tsl_interrupt_hold(void);
/* Makes such a signal remove this file before it ends the process. A signal that was held back acts
 * at once. NULL: no file. The name is copied; a name that is too long is not guarded. */
void tsl_interrupt_guard(const char *path);
/* Guards two files. */
void tsl_interrupt_guard_two(const char *path, const char *other);
/* Stops the removal of files. A signal that ends the process prints this text on stderr if `file`
 * exists. `text` must stay valid; NULL: nothing is printed. */
void tsl_interrupt_tell(const char *text, const char *file);

/* Prints the results of an unfinished measurement. */
typedef void tsl_interrupt_conclusion(void *argument);
/* Makes the first interrupt only set a flag (a terminal shows a notice). The measurement stops
 * after the present run and prints its results. If the run takes too long, another thread calls
 * `conclusion` and ends the process within one second of the interrupt. The second interrupt, and
 * any other signal, ends the process as usual. */
void tsl_interrupt_catch(tsl_interrupt_conclusion *conclusion, void *argument);
/* Enclose a run that may take long and that changes nothing that `conclusion` reads. */
void tsl_interrupt_wait_begin(void);
void tsl_interrupt_wait_end(void);
/* Tells the handler that the caller prints its results from now on; the process then ends by
 * itself. */
void tsl_interrupt_concluding(void);
/* Returns true if there was an interrupt. */
bool tsl_interrupted(void);
/* Ends the process by the signal that was noted, so that the parent sees which signal it was.
 * Returns if there was none. */
void tsl_interrupt_end(void);
/* Makes a write past a size limit an error with a message instead of a signal (SIGXFSZ). */
void tsl_interrupt_setup(void);
/* Undoes tsl_interrupt_setup(), for a program that replaces the tool (exec). */
void tsl_interrupt_restore(void);

#endif
