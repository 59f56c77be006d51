/* What a signal must not leave behind. */
#ifndef TSL_TOOL_INTERRUPT_H
#define TSL_TOOL_INTERRUPT_H

/* From now on, an interrupt, a hang-up or a request to end removes this file before it ends the process. NULL: no
 * more. The name is copied; a name that is too long is not guarded. */
void tsl_interrupt_guard(const char *path);
/* A write past a size limit becomes an error with a sentence instead of a signal. */
void tsl_interrupt_setup(void);

#endif
