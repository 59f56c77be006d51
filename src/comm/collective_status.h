#ifndef TSL_COMM_COLLECTIVE_STATUS_H
#define TSL_COMM_COLLECTIVE_STATUS_H

#include "comm/comm.h"

/* Agrees on a status. Collective. After a failure all ranks return the lowest failed rank's status and its
 * message as "rank 3: ...". Takes no memory. */
tesela_status tsl_agree(tsl_ranks *ranks, tesela_status status);

/* Print format of a value that differs. */
typedef enum tsl_agreed_value_kind {
  TSL_AGREED_VALUE_NUMBER,  /* integer */
  TSL_AGREED_VALUE_REAL,    /* bits of a double */
  TSL_AGREED_VALUE_TYPE,    /* tesela_type */
  TSL_AGREED_VALUE_SWITCH,  /* 0 or 1 */
  TSL_AGREED_VALUE_WORD,    /* first eight characters of a text */
  TSL_AGREED_VALUE_VERSION, /* number like TESELA_VERSION_NUMBER */
  TSL_AGREED_VALUE_HASH     /* number without a meaning to people; not printed */
} tsl_agreed_value_kind;

/* Value that must be equal on all ranks. */
typedef struct tsl_agreed_value {
  const char *name;
  uint64_t value;
  tsl_agreed_value_kind kind;
} tsl_agreed_value;
enum { TSL_AGREED_VALUE_MAX = 80 };

/* Compares values with rank 0's, and agrees on a status; this rank's `status` comes first. Collective.
 * TESELA_BAD_CALL where values differ. */
tesela_status tsl_agree_start(tsl_ranks *ranks, tesela_status status, const tsl_agreed_value *values,
                              int count);

/* Returns a hash of the bytes. */
uint64_t tsl_agreed_value_bytes(const void *bytes, size_t count);
/* Returns the double's bits. */
uint64_t tsl_agreed_value_double(double value);
/* Returns the first eight characters, for TSL_AGREED_VALUE_WORD. */
uint64_t tsl_agreed_value_word(const char *word);

#endif
