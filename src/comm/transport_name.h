/* Which way panels travel between ranks, for who explains it without ranks. */
#ifndef TSL_COMM_TRANSPORT_NAME_H
#define TSL_COMM_TRANSPORT_NAME_H

#include <stddef.h>

/* Of ranks on hosts like this one: a line of text, cut to `size`. */
void tsl_transfer_path_name(char *out, size_t size);

#endif
