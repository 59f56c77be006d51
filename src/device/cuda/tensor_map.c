/* Tensor maps: matrices as the tensor memory accelerator of sm_90 and newer is told of them. */
#include "base/status.h"
#include "device/cuda/cuda_device.h"

#include <string.h>

tesela_status tsl_cuda_tensor_map(const tsl_tensor *tensor, tsl_tensor_map *map) {
  const tsl_cuda_buffer *buffer = (const tsl_cuda_buffer *)tensor->buffer;
  tsl_device *device = tensor->buffer->device;
  const int type = tensor->element == 1   ? TSL_CU_TENSOR_U8
                   : tensor->element == 2 ? TSL_CU_TENSOR_U16
                                          : TSL_CU_TENSOR_U32;
  uint64_t sizes[3], pitches[2];
  const unsigned box[3] = {(unsigned)tensor->box[0], (unsigned)tensor->box[1], 1}, steps[3] = {1, 1, 1};
  for (int d = 0; d < 3; d++)
    sizes[d] = (uint64_t)tensor->size[d];
  for (int d = 0; d < 2; d++)
    pitches[d] = (uint64_t)tensor->pitch[d];
  memset(map, 0, sizeof *map);
  TSL_TRY(tsl_cuda_enter(device)); /* the driver looks for a context, though it asks nothing of the device */
  const int code = tsl_cuda.tensor_map(map, type, 3, buffer->address + tensor->offset, sizes, pitches, box,
                                       steps, 0, TSL_CU_TENSOR_SWIZZLE_128, TSL_CU_TENSOR_FETCH_128, 0);
  tsl_cuda_leave_quietly();
  if (code == TSL_CU_SUCCESS)
    return TESELA_OK;
  return tsl_cuda_fail(device, "cuTensorMapEncodeTiled", code,
                       " (a matrix whose place or pitch the device's copies do not take)");
}
