/* What a signal must not leave behind, and what it must not lose. */
#ifndef TSL_TOOL_CLI_INTERRUPT_H
#define TSL_TOOL_CLI_INTERRUPT_H

#include <stdbool.h>

/* From now on, each signal that would end the process and can be caught waits for the next call of
 * tsl_interrupt_guard(): between the two a file is made whose name is not known before. A fault of the
 * process itself (SIGSEGV) does not wait. */
void tsl_interrupt_hold(void);
/* From now on, such a signal removes this file before it ends the process; one that waited does so at once.
 * NULL: there is no file. The name is copied; a name that is too long is not guarded. */
void tsl_interrupt_guard(const char *path);
/* Guards two files. */
void tsl_interrupt_guard_two(const char *path, const char *other);
/* From now on no file is removed, and a signal that ends the process prints this text on stderr if the file
 * is there. `text` must last; NULL: nothing is printed. */
void tsl_interrupt_tell(const char *text, const char *file);

/* Prints what a measurement has found so far. */
typedef void tsl_interrupt_conclusion(void *argument);
/* From now on the first interrupt is only noted (a terminal is told so): a measurement stops after the run
 * under way and prints what it has. Where the run takes too long, another thread calls `conclusion` and ends
 * the process, one second after the interrupt at most. The second interrupt, and any other signal, ends the
 * process as usual. */
void tsl_interrupt_catch(tsl_interrupt_conclusion *conclusion, void *argument);
/* Between these calls something runs that may take long, and changes nothing that `conclusion` reads. */
void tsl_interrupt_wait_begin(void);
void tsl_interrupt_wait_end(void);
/* The caller prints its results itself from now on, and the process ends by itself. */
void tsl_interrupt_concluding(void);
/* Returns true if there was an interrupt. */
bool tsl_interrupted(void);
/* Ends the process by the signal that was noted, so that its parent sees which one it was; returns where
 * there was none. */
void tsl_interrupt_end(void);
/* A write past a size limit becomes an error with a sentence instead of a signal. */
void tsl_interrupt_setup(void);
/* Undoes that, for a program that takes the tool's place. */
void tsl_interrupt_restore(void);

#endif
