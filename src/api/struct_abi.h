/* Public structs: copies for callers built with another version of the header, whose structs lack members at
 * the end, and a result as an operand. */
#ifndef TSL_API_STRUCT_ABI_H
#define TSL_API_STRUCT_ABI_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Copies a caller's `size` bytes and zeroes other members. TESELA_BAD_CALL: size is below `least`, the first
 * version's. TESELA_UNSUPPORTED: a member unknown to this version is not 0. */
tesela_status tsl_api_struct_import(const char *name, const void *argument, size_t size, size_t least,
                                    void *own_struct, size_t own_size);
/* Copies to the caller's `size` bytes. Members unknown to this version become 0. */
void tsl_api_struct_export(void *argument, size_t size, const void *own_struct, size_t own_size);

/* Makes `desc` point to the converted copy `own` if its size differs. `last` is the last member in the first
 * version. Returns from the function on failure. */
#define TSL_API_STRUCT_IMPORT(desc, size, own, type, last)                                                   \
  do {                                                                                                       \
    if ((desc) && (size) != sizeof(type)) {                                                                  \
      TSL_TRY(tsl_api_struct_import(#desc, desc, size, offsetof(type, last) + sizeof((own).last), &(own),    \
                                    sizeof(type)));                                                          \
      (desc) = &(own);                                                                                       \
    }                                                                                                        \
  } while (0)

/* Returns true if the record is filled: after success, and after a wrong result. */
static inline bool tsl_api_struct_size_valid(tesela_status status) {
  return status == TESELA_OK || status == TESELA_WRONG_RESULT;
}
/* Returns the caller's record, or `full_record` if the caller's size is not this version's. */
static inline tesela_record *tsl_api_record(tesela_record *record, size_t size, tesela_record *full_record) {
  return record && size != sizeof *full_record ? full_record : record;
}
/* Copies full_record to the caller's record if tsl_api_record() returned full_record. Returns status. */
static inline tesela_status tsl_api_recorded(tesela_status status, tesela_record *record, size_t size,
                                             const tesela_record *full_record) {
  if (record && size != sizeof *full_record && tsl_api_struct_size_valid(status))
    tsl_api_struct_export(record, size, full_record, sizeof *full_record);
  return status;
}

/* Returns a result as an operand. */
static inline tesela_matrix tsl_api_as_matrix(const tesela_result *result) {
  return (tesela_matrix){.data = result->data,
                         .buffer = result->buffer,
                         .offset = result->offset,
                         .row_stride = result->row_stride,
                         .col_stride = result->col_stride,
                         .transpose = result->transpose,
                         .type = result->type,
                         .shards = result->shards};
}

#endif
