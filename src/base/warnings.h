/* Warnings about problems that do not stop a call, such as a folder that other users may write to, or a
 * file with wrong content. The library prints nothing. It stores each message once, for the program and
 * for the log; the tool prints them on stderr at its end. One list for the process; thread-safe. */
#ifndef TSL_BASE_WARNINGS_H
#define TSL_BASE_WARNINGS_H

#include "base/log.h"

enum { TSL_NOTICES_MOST = 16, TSL_NOTICE_BYTES = 512 };

/* Stores a message and logs it under the topic, if it is new. If TSL_NOTICES_MOST messages are stored,
 * it is only logged. */
void tsl_notice(tsl_log_topic topic, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Copies message `index`, from 0; *logged is true if the log has shown it. Returns false past the last
 * message. */
bool tsl_notice_at(int index, char sentence[TSL_NOTICE_BYTES], bool *logged);

#endif
