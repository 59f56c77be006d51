/* Where a rank multiplies: in host memory, or in the memory of one device, in which its operands lie or on
 * which the caller wants its products.
 *
 * Messages are made of host memory, unless they go from device to device (comm/gpu_transport.h). What lies in
 * a buffer has a copy there (its mirror), made before anything travels; of C, what the call computed goes
 * back at its end. Panels and sums of a product stay on the device. */
#ifndef TSL_COMM_RANK_MEMORY_H
#define TSL_COMM_RANK_MEMORY_H

#include "comm/layout.h"

#include "base/types.h"

#include <stdbool.h>

/* The longest name of a device that means one, and its end. */
#define TSL_PLACE_NAME 64

/* An empty name: host memory, by tesela_gemm() as the caller has it. */
typedef struct tsl_rank_place {
  char device[TSL_PLACE_NAME];
} tsl_rank_place;

/* Of operands in `count` buffers (NULL: in host memory) with names, and the device that the caller names for
 * products (NULL: none). Buffers over host memory are host memory. TESELA_BAD_CALL where these are on several
 * devices. */
tesela_status tsl_place_find(const tesela_buffer *const *buffers, const char *const *names, int count,
                             const char *device, tsl_rank_place *out);
static inline bool tsl_place_is_device(const tsl_rank_place *place) {
  return place->device[0] != 0;
}

/* The memory of an operand, and its copy for this rank's host threads where it lies on a device. */
typedef struct tsl_host_copy {
  const tesela_buffer *buffer; /* NULL: the operand is in host memory */
  int64_t at;                  /* its element (0, 0) in the buffer */
  void *memory;                /* of the copy; NULL: none is needed */
  void *data;                  /* where element (0, 0) is, or would be; NULL: on the device alone */
} tsl_host_copy;

/* Finds an operand's memory: of one in host memory, `data`; of one in a buffer, where it is there.
 * TESELA_BAD_CALL where the buffer ends sooner than what the layout says this rank has in it. Free it in any
 * case. */
tesela_status tsl_host_copy_create(const tesela_matrix *matrix, const char *name, const tsl_type_info *type,
                                   const tsl_rank_layout *layout, int rank, tsl_host_copy *out);
/* Makes the copy of what this rank has in a buffer, with the elements' values where it `reads`; nothing where
 * there is no need. TESELA_OUT_OF_MEMORY. */
tesela_status tsl_host_copy_update(tsl_host_copy *mirror, const tsl_type_info *type,
                                   const tsl_rank_layout *layout, int rank, bool reads);
/* Writes the operand's elements, and nothing else, from the copy back to the buffer. */
tesela_status tsl_host_copy_store(const tsl_host_copy *mirror, const tsl_type_info *type,
                                  const tsl_rank_layout *layout, int rank);
void tsl_host_copy_free(tsl_host_copy *mirror);

#endif
