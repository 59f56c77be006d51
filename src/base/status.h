/* Errors are values with a sentence: a status code is returned, and the sentence that explains it waits, per
 * thread, for tesela_last_error(). */
#ifndef TSL_BASE_STATUS_H
#define TSL_BASE_STATUS_H

#include <stdarg.h>
#include <tesela/tesela.h>

/* Sets this thread's sentence and returns `status`, so that `return tsl_fail(...)` is one line. The sentence
 * starts in lower case or with a name, ends without a full stop or newline, and says what happened, where,
 * and what would be right. At most 1023 bytes are kept. */
tesela_status tsl_fail(tesela_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/* Puts "text: " in front of this thread's sentence: a caller adds where it was to what a callee saw. */
tesela_status tsl_fail_in(tesela_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/* Keeps a compiler's log (copied) for tesela_last_log(). NULL forgets it. */
void tsl_status_keep_log(const char *log);

/* A copy of the thread's sentence and code that survives calls which may fail themselves (clean-up). */
typedef struct tsl_status_saved {
  char sentence[1024];
} tsl_status_saved;
void tsl_status_save(tsl_status_saved *saved);
void tsl_status_restore(const tsl_status_saved *saved);

/* Leaves the function at once when `call` fails. For functions that own nothing yet. */
#define TSL_TRY(call)                                                                                        \
  do {                                                                                                       \
    const tesela_status tsl_try_status = (call);                                                             \
    if (tsl_try_status != TESELA_OK)                                                                         \
      return tsl_try_status;                                                                                 \
  } while (0)

/* Goes to the function's one `out:` label when `call` fails; a variable `status` holds the code. */
#define TSL_GO(call)                                                                                         \
  do {                                                                                                       \
    status = (call);                                                                                         \
    if (status != TESELA_OK)                                                                                 \
      goto out;                                                                                              \
  } while (0)

#endif
