/* Structs of callers that were built with another version of the header: an older one has fewer fields at the
 * end, a newer one more. Calls take descriptions and give records of any size; inside, all have this
 * version's. */
#ifndef TSL_API_STRUCT_ABI_H
#define TSL_API_STRUCT_ABI_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Copies a caller's `size` bytes into this version's struct, whose other fields become 0. `least` is the size
 * in the first version. TESELA_BAD_CALL where there are fewer, TESELA_UNSUPPORTED where what this version
 * does not know is not 0. */
tesela_status tsl_api_struct_import(const char *name, const void *argument, size_t size, size_t least,
                                    void *state, size_t own_size);
/* The other way: as much as the caller has room for; what this version does not know becomes 0. */
void tsl_api_struct_export(void *argument, size_t size, const void *state, size_t own_size);

/* Where `desc` has not this version's size, lets it point to a copy in `own`. `last` is its last field in the
 * first version. Returns on failure. */
#define TSL_API_STRUCT_IMPORT(desc, size, own, type, last)                                                   \
  do {                                                                                                       \
    if ((desc) && (size) != sizeof(type)) {                                                                  \
      TSL_TRY(tsl_api_struct_import(#desc, desc, size, offsetof(type, last) + sizeof((own).last), &(own),    \
                                    sizeof(type)));                                                          \
      (desc) = &(own);                                                                                       \
    }                                                                                                        \
  } while (0)

/* Whether the record is filled: where a run came to its end, and when what it came to is wrong. */
static inline bool tsl_api_struct_size_valid(tesela_status status) {
  return status == TESELA_OK || status == TESELA_WRONG_RESULT;
}
/* A caller's record, or `record_in` in its place where it has not this version's size; and what was filled in
 * goes to the caller. */
static inline tesela_record *tsl_api_record(tesela_record *record, size_t size, tesela_record *record_in) {
  return record && size != sizeof *record_in ? record_in : record;
}
static inline tesela_status tsl_api_recorded(tesela_status status, tesela_record *record, size_t size,
                                             const tesela_record *record_in) {
  if (record && size != sizeof *record_in && tsl_api_struct_size_valid(status))
    tsl_api_struct_export(record, size, record_in, sizeof *record_in);
  return status;
}

#endif
