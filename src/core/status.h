/* Errors: the code is returned; the message is stored for each thread, for tesela_last_error(). */
#ifndef TSL_CORE_STATUS_H
#define TSL_CORE_STATUS_H

#include <stdarg.h>
#include <tesela/tesela.h>

/* Sets this thread's message, at most 1023 bytes, and returns `status`. A message starts in lower case or
 * with a name, without a full stop. It tells what happened, where, and what would be right. */
tesela_status tsl_fail(tesela_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/* Prefixes this thread's message with "text: ". Returns `status`. */
tesela_status tsl_fail_in(tesela_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/* Stores a copy of a compiler's log for tesela_last_log(). NULL clears it. */
void tsl_status_keep_log(const char *log);

/* Message that clean-up calls may overwrite. */
typedef struct tsl_status_saved {
  char sentence[1024];
} tsl_status_saved;
/* Copies this thread's message. */
void tsl_status_save(tsl_status_saved *saved);
void tsl_status_restore(const tsl_status_saved *saved);

/* Returns from a function that owns nothing if `call` fails. */
#define TSL_TRY(call)                                                                                        \
  do {                                                                                                       \
    const tesela_status tsl_try_status = (call);                                                             \
    if (tsl_try_status != TESELA_OK)                                                                         \
      return tsl_try_status;                                                                                 \
  } while (0)

/* Jumps to the function's label `out:` if `call` fails. A variable `status` holds the code. */
#define TSL_GO(call)                                                                                         \
  do {                                                                                                       \
    status = (call);                                                                                         \
    if (status != TESELA_OK)                                                                                 \
      goto out;                                                                                              \
  } while (0)

#endif
