/* Memory in which a rank multiplies: host memory, or the memory of one device. The device holds the
 * operands, or the caller chose it.
 *
 * Messages use host memory, unless they go from device to device (comm/gpu_transport.h). An operand
 * in a buffer has a host copy, made before the first message. The computed elements of C go back to
 * the buffer at the end of the call. A product's panels and sums stay on the device. */
#ifndef TSL_COMM_RANK_MEMORY_H
#define TSL_COMM_RANK_MEMORY_H

#include "comm/layout.h"

#include "base/types.h"

#include <stdbool.h>

/* Maximum length of the name of a single device, including the terminating 0. */
#define TSL_PLACE_NAME 64

/* Place of a rank's products. Empty name: host memory, by tesela_gemm() with the caller's choice. */
typedef struct tsl_rank_place {
  char device[TSL_PLACE_NAME];
} tsl_rank_place;

/* Finds the place from the operands' buffers (NULL: host memory), their names, and the caller's
 * device (NULL: none). Buffers over host memory count as host memory. TESELA_BAD_CALL if buffers
 * are on several devices. */
tesela_status tsl_place_find(const tesela_buffer *const *buffers, const char *const *names, int count,
                             const char *device, tsl_rank_place *out);
static inline bool tsl_place_is_device(const tsl_rank_place *place) {
  return place->device[0] != 0;
}

/* Memory of an operand, and its host copy if it is on a device. */
typedef struct tsl_host_copy {
  const tesela_buffer *buffer; /* NULL: the operand is in host memory */
  int64_t at;                  /* index of element (0, 0) in the buffer */
  void *memory;                /* memory of the copy; NULL: none */
  /* address of element (0, 0), even if this rank does not own it; NULL: on the device only */
  void *data;
} tsl_host_copy;

/* Finds an operand's memory without a copy. TESELA_BAD_CALL if the buffer is too short for this
 * rank's part of the layout. The caller frees *out even after a failure. */
tesela_status tsl_host_copy_create(const tesela_matrix *matrix, const char *name, const tsl_type_info *type,
                                   const tsl_rank_layout *layout, int rank, tsl_host_copy *out);
/* Makes the host copy of this rank's elements in a buffer, if it is missing and needed. Fills it if
 * `reads`. TESELA_OUT_OF_MEMORY. */
tesela_status tsl_host_copy_update(tsl_host_copy *mirror, const tsl_type_info *type,
                                   const tsl_rank_layout *layout, int rank, bool reads);
/* Writes the operand's elements, and nothing between them, from the copy back to the buffer. */
tesela_status tsl_host_copy_store(const tsl_host_copy *mirror, const tsl_type_info *type,
                                  const tsl_rank_layout *layout, int rank);
void tsl_host_copy_free(tsl_host_copy *mirror);

#endif
