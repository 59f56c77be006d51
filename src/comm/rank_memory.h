/* Memory in which a rank multiplies: the host's, or a device's that holds the operands or that the caller
 * chose. An operand in a buffer has a host copy for messages, unless they go from device to device. The
 * computed elements of C go back to the buffer at the end of the call. */
#ifndef TSL_COMM_RANK_MEMORY_H
#define TSL_COMM_RANK_MEMORY_H

#include "comm/layout.h"

#include "core/types.h"

#include <stdbool.h>

#define TSL_RANK_DEVICE_BYTES 64

/* Device on which a rank multiplies. Empty name: host memory, by tesela_gemm() with the caller's choice. */
typedef struct tsl_rank_device {
  char device[TSL_RANK_DEVICE_BYTES];
} tsl_rank_device;

/* Finds the place from buffers (NULL: host memory), their names, and the caller's device (NULL: none).
 * Buffers over host memory count as host memory. TESELA_BAD_CALL if buffers are on several devices. */
tesela_status tsl_rank_device_find(const tesela_buffer *const *buffers, const char *const *names, int count,
                                   const char *device, tsl_rank_device *out);
static inline bool tsl_multiplies_on_device(const tsl_rank_device *rank_device) {
  return rank_device->device[0] != 0;
}

typedef struct tsl_host_copy {
  const tesela_buffer *buffer; /* NULL: in host memory */
  int64_t at;                  /* buffer's index of element (0, 0) */
  void *memory;                /* the copy; NULL: none */
  void *data;                  /* element (0, 0), owned or not; NULL: on the device only */
} tsl_host_copy;

/* Finds an operand's memory. TESELA_BAD_CALL: the buffer is too short. Free *out, even after a failure. */
tesela_status tsl_host_copy_create(const tesela_matrix *matrix, const char *name, const tsl_type_info *type,
                                   const tsl_rank_layout *layout, int rank, tsl_host_copy *out);
/* Makes the host copy if it is missing and needed; fills it if `reads`. TESELA_OUT_OF_MEMORY. */
tesela_status tsl_host_copy_update(tsl_host_copy *mirror, const tsl_type_info *type,
                                   const tsl_rank_layout *layout, int rank, bool reads);
/* Writes the operand's elements, and nothing between them, back to the buffer. */
tesela_status tsl_host_copy_store(const tsl_host_copy *mirror, const tsl_type_info *type,
                                  const tsl_rank_layout *layout, int rank);
void tsl_host_copy_free(tsl_host_copy *mirror);

#endif
