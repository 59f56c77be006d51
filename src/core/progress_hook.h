#ifndef TSL_CORE_PROGRESS_HOOK_H
#define TSL_CORE_PROGRESS_HOOK_H

/* Callback of the working thread: a description at the beginning of a long operation, NULL at its end. */
typedef void tsl_long_operation_callback(const char *text);

/* Sets the callback for all threads; NULL, the default, disables it. */
void tsl_long_operation_set_callback(tsl_long_operation_callback *callback);
/* Reports "compiling X for Y". Costs one load if there is no callback. */
void tsl_long_operation_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reports the end of the operation: calls the callback with NULL. */
void tsl_long_operation_end(void);

#endif
