/* Images as descriptions that kernels get by value: no object of the driver outlives a launch or a graph. */
#include "core/memory.h"
#include "core/status.h"
#include "device/cuda/cuda_device.h"

tesela_status tsl_cuda_image_create(tsl_stream *stream, const tsl_image_layout *layout, tsl_image **image) {
  void *block;
  (void)stream;
  *image = NULL;
  TSL_TRY(tsl_image_check(layout));
  TSL_TRY(tsl_alloc_zeroed(sizeof(tsl_image), "an image", &block));
  *image = block;
  **image = (tsl_image){.address = ((const tsl_cuda_buffer *)layout->buffer)->address + layout->offset,
                        .pitch = layout->pitch,
                        .width = (int32_t)layout->width,
                        .height = (int32_t)layout->height};
  return TESELA_OK;
}

void tsl_cuda_image_destroy(tsl_image *image) {
  tsl_free(image);
}
