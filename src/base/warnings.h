/* What a user should know though the call goes on: a folder that is not used because others may write to it,
 * a file that is not what it should be. The library prints nothing; it keeps each sentence once, for a
 * program that has a user to tell, and for the log. The tool prints them on stderr at its end. State of the
 * process; any number of threads. */
#ifndef TSL_BASE_WARNINGS_H
#define TSL_BASE_WARNINGS_H

#include "base/log.h"

enum { TSL_NOTICES_MOST = 16, TSL_NOTICE_BYTES = 512 };

/* Keeps a sentence, and logs it under the topic: the first time that it is said. More than TSL_NOTICES_MOST
 * are only logged. */
void tsl_notice(tsl_log_topic topic, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Copies sentence `index`, counted from 0, and says whether the log told it already; false past the last. */
bool tsl_notice_at(int index, char sentence[TSL_NOTICE_BYTES], bool *logged);

#endif
