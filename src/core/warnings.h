/* Warnings about problems that do not stop a call, such as a folder that other users may write to. Stores
 * each message once for the program; the library prints nothing. One list for the process; thread-safe. */
#ifndef TSL_CORE_WARNINGS_H
#define TSL_CORE_WARNINGS_H

#include "core/log.h"

enum { TSL_NOTICES_MAX = 16, TSL_NOTICE_BYTES = 512 };

/* Stores and logs a new message. If TSL_NOTICES_MAX are stored, only logs it. */
void tsl_notice(tsl_log_topic topic, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Copies message `index`, from 0; false: past the last. *logged is true if the log has shown it. */
bool tsl_notice_at(int index, char sentence[TSL_NOTICE_BYTES], bool *logged);

#endif
