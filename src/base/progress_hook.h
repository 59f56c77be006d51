/* What the process is busy with where that may take long, for a tool that shows it to a person who waits. */
#ifndef TSL_BASE_PROGRESS_HOOK_H
#define TSL_BASE_PROGRESS_HOOK_H

/* Called with a few words, or with NULL when it is over, by the thread that works. */
typedef void tsl_waiting_listener(const char *what);

/* From now on this one is told, in all threads; NULL: nobody, which is how a process starts. */
void tsl_waiting_listen(tsl_waiting_listener *listener);
/* "compiling X for Y". Costs one load where nobody listens. */
void tsl_waiting_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));
void tsl_waiting_end(void);

#endif
