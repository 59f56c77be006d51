#ifndef TSL_COMM_TRANSPORT_NAME_H
#define TSL_COMM_TRANSPORT_NAME_H

#include <stddef.h>

/* Describes the transport between ranks on hosts like this one in a line, truncated to `size`. */
void tsl_transfer_path_name(char *out, size_t size);

#endif
