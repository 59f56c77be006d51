/* Which way panels travel between ranks, for who explains it without ranks. */
#ifndef TSL_COMM_WAY_H
#define TSL_COMM_WAY_H

#include <stddef.h>

/* Of ranks on hosts like this one: a line of text, cut to `size`. */
void tsl_transfer_path_name(char *out, size_t size);

#endif
