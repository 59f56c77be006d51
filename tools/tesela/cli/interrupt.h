/* What a signal must not leave behind, and what it must not lose. */
#ifndef TSL_TOOL_CLI_INTERRUPT_H
#define TSL_TOOL_CLI_INTERRUPT_H

#include <stdbool.h>

/* From now on, an interrupt, a hang-up or a request to end waits for the next call of tsl_interrupt_guard(): between the
 * two a file is made whose name is not known before. */
void tsl_interrupt_hold(void);
/* From now on, an interrupt, a hang-up or a request to end removes this file before it ends the process; one that waited
 * does so at once. NULL: there is none. The name is copied; a name that is too long is not guarded. */
void tsl_interrupt_guard(const char *path);
/* The same of two files. */
void tsl_interrupt_guard_two(const char *path, const char *other);
/* From now on no file is removed, and what ends the process is answered with this text on stderr: a constant, or one that
 * lasts. NULL: with nothing. */
void tsl_interrupt_tell(const char *text);
/* From now on the first interrupt is only noted (a terminal is told so): a measurement stops after the run under way and
 * prints what it has. The second one, and any other signal, ends the process as usual. */
void tsl_interrupt_catch(void);
/* Whether there was one. */
bool tsl_interrupted(void);
/* Ends the process by the signal that was noted, so that its parent sees which one it was; returns where there was none. */
void tsl_interrupt_end(void);
/* A write past a size limit becomes an error with a sentence instead of a signal. */
void tsl_interrupt_setup(void);

#endif
