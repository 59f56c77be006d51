#ifndef TSL_CORE_PROGRESS_HOOK_H
#define TSL_CORE_PROGRESS_HOOK_H

/* Callback of the working thread: a description at the beginning of a long operation, NULL at its end. */
typedef void tsl_waiting_listener(const char *text);

/* Sets the callback for all threads; NULL, the default, disables it. */
void tsl_waiting_listen(tsl_waiting_listener *listener);
/* Reports "compiling X for Y". Costs one load if there is no callback. */
void tsl_waiting_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reports the end of the operation: calls the callback with NULL. */
void tsl_waiting_end(void);

#endif
