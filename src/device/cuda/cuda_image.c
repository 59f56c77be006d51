/* Texture objects over pitch-linear memory. A destroyed image may still be read until its stream's wait. */
#include "core/memory.h"
#include "core/status.h"
#include "device/cuda/cuda_device.h"

static int64_t image_limit(tsl_cu_device ordinal, tsl_cu_attribute attribute) {
  return tsl_cuda_attribute(ordinal, attribute);
}

void tsl_cuda_image_limits(tsl_cu_device ordinal, tsl_device *device) {
  const int64_t widest = image_limit(ordinal, TSL_CU_TEXTURE_WIDTH_MAX),
                pitch = image_limit(ordinal, TSL_CU_TEXTURE_PITCH_MAX),
                height = image_limit(ordinal, TSL_CU_TEXTURE_HEIGHT_MAX),
                base = image_limit(ordinal, TSL_CU_TEXTURE_ALIGNMENT),
                step = image_limit(ordinal, TSL_CU_TEXTURE_PITCH_ALIGNMENT);
  if (widest < 1 || height < 1 || pitch < TSL_TEXEL_BYTES || base < 1 || step < 1)
    return;
  device->capabilities |= TSL_CAN_IMAGES;
  device->image_width_max = widest < pitch / TSL_TEXEL_BYTES ? widest : pitch / TSL_TEXEL_BYTES;
  device->image_height_max = height;
  device->image_offset_alignment = (size_t)base;
  device->image_pitch_alignment = (size_t)step;
  device->image_pitch_max = (size_t)pitch;
}

tesela_status tsl_cuda_image_create(tsl_stream *stream, const tsl_image_layout *layout, tsl_image **image) {
  void *block;
  *image = NULL;
  TSL_TRY(tsl_image_check(layout));
  TSL_TRY(tsl_alloc_zeroed(sizeof(tsl_image), "an image", &block));
  tsl_image *made = block;
  made->stream = stream;
  const tsl_cu_resource bytes = {
      .kind = TSL_CU_RESOURCE_PITCH_2D,
      .of.rows = {.address = ((const tsl_cuda_buffer *)layout->buffer)->address + layout->offset,
                  .format = TSL_CU_FORMAT_FLOAT,
                  .channels = 4,
                  .width = (size_t)layout->width,
                  .height = (size_t)layout->height,
                  .pitch = layout->pitch}};
  const tsl_cu_sampling zeros_outside = {
      .outside = {TSL_CU_OUTSIDE_BORDER, TSL_CU_OUTSIDE_BORDER, TSL_CU_OUTSIDE_BORDER}};
  tesela_status status = tsl_cuda_enter(stream->device);
  if (status == TESELA_OK)
    status = tsl_cuda_leave(stream->device, "cuTexObjectCreate",
                            tsl_cuda.texture_create(&made->texture, &bytes, &zeros_outside, NULL));
  if (status != TESELA_OK) {
    tsl_free(made);
    return status;
  }
  *image = made;
  return TESELA_OK;
}

void tsl_cuda_image_destroy(tsl_image *image) {
  image->next = image->stream->gone;
  image->stream->gone = image;
}

void tsl_cuda_images_end(tsl_stream *stream) {
  for (tsl_image *image = stream->gone, *next; image; image = next) {
    next = image->next;
    tsl_cuda.texture_destroy(image->texture);
    tsl_free(image);
  }
  stream->gone = NULL;
}
