/* Name of the transport between ranks, for explanations without ranks. */
#ifndef TSL_COMM_TRANSPORT_NAME_H
#define TSL_COMM_TRANSPORT_NAME_H

#include <stddef.h>

/* Writes one line about the transport between ranks on hosts like this one; truncates it to `size`. */
void tsl_transfer_path_name(char *out, size_t size);

#endif
