/* Ranks that come to one result: whatever fails on one of them, all return the same status and the same
 * sentence. */
#ifndef TSL_COMM_COLLECTIVE_STATUS_H
#define TSL_COMM_COLLECTIVE_STATUS_H

#include "comm/comm.h"

/* Called by all ranks, each with what it came to. Where all are well, TESELA_OK; else the status of the
 * lowest rank that is not, and its sentence as "rank 3: ...". Takes no memory. */
tesela_status tsl_agree(tsl_ranks *ranks, tesela_status status);

/* How a value is printed where two ranks differ in it. */
typedef enum tsl_agreed_value_kind {
  TSL_AGREED_VALUE_NUMBER,  /* a whole number */
  TSL_AGREED_VALUE_REAL,    /* the bits of a double */
  TSL_AGREED_VALUE_TYPE,    /* a tesela_type */
  TSL_AGREED_VALUE_SWITCH,  /* 0 or 1 */
  TSL_AGREED_VALUE_WORD,    /* the first eight characters of a text */
  TSL_AGREED_VALUE_VERSION, /* as TESELA_VERSION_NUMBER */
  TSL_AGREED_VALUE_HASH     /* a number that people cannot read */
} tsl_agreed_value_kind;

/* A value that all ranks must have alike, with the name of what it stands for. */
typedef struct tsl_agreed_value {
  const char *name;
  uint64_t value;
  tsl_agreed_value_kind kind;
} tsl_agreed_value;
/* TESELA_BAD_CALL on a rank that says another thing than rank 0, naming it. All ranks call it, and
 * tsl_agree() afterwards. */
enum { TSL_AGREED_VALUE_MAX = 80 };
tesela_status tsl_agree_said(tsl_ranks *ranks, const tsl_agreed_value *said, int count);

/* Both: what each rank came to so far, and that all say alike. */
tesela_status tsl_agree_start(tsl_ranks *ranks, tesela_status status, const tsl_agreed_value *said,
                              int count);

/* A number that stands for bytes, for values that are longer than one. */
uint64_t tsl_agreed_value_bytes(const void *bytes, size_t count);
uint64_t tsl_agreed_value_double(double value);
/* The first eight characters of a text, as TSL_AGREED_VALUE_WORD has them. */
uint64_t tsl_agreed_value_word(const char *word);

#endif
