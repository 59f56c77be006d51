/* Modes of verification of whole results (docs/VERIFY.md). */
#ifndef TSL_PROBLEM_VERIFY_MODE_H
#define TSL_PROBLEM_VERIFY_MODE_H

#include <tesela/tesela.h>

/* X(NAME, word) */
#define TSL_VERIFY_LIST(X)                                                                                   \
  X(NONE, "none")                                                                                            \
  X(ALL, "all")                                                                                              \
  X(MEMORY, "memory")                                                                                        \
  X(REPAIR, "repair")

typedef enum tsl_verify_mode {
#define TSL_VERIFY_MEMBER(name, word) TSL_VERIFY_##name,
  TSL_VERIFY_LIST(TSL_VERIFY_MEMBER)
#undef TSL_VERIFY_MEMBER
} tsl_verify_mode;

/* Reads a word of TSL_VERIFY_LIST; "" is "none". TESELA_BAD_CALL: any other word. */
tesela_status tsl_verify_parse(const char *word, tsl_verify_mode *mode);

#endif
