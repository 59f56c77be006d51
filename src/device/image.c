#include "device/device.h"

#include "core/memory.h"
#include "core/status.h"

#include <stdio.h>

size_t tsl_image_pitch(const tsl_device *device, int64_t width) {
  const size_t bytes = (size_t)width * TSL_TEXEL_BYTES, step = device->image_pitch_alignment;
  return step == 0 ? bytes : (bytes + step - 1) / step * step;
}

static bool is_in_buffer(const tsl_image_layout *layout) {
  size_t end;
  return tsl_size_mul(layout->pitch, (size_t)layout->height, &end) &&
         tsl_size_add(end, layout->offset, &end) && end <= layout->buffer->bytes;
}

bool tsl_image_fits(const tsl_image_layout *layout) {
  const tsl_device *device = layout->buffer->device;
  if (layout->width < 1 || layout->width > device->image_width_max || layout->height < 1 ||
      layout->height > device->image_height_max || layout->buffer->askew)
    return false;
  const size_t row = (size_t)layout->width * TSL_TEXEL_BYTES, step = device->image_pitch_alignment;
  const bool pitch_fits = step == 0 ? layout->pitch == row
                                    : layout->pitch >= row && layout->pitch % step == 0 &&
                                          layout->pitch <= device->image_pitch_max;
  return pitch_fits && layout->offset % device->image_offset_alignment == 0 && is_in_buffer(layout);
}

tesela_status tsl_image_check(const tsl_image_layout *layout) {
  const tsl_device *device = layout->buffer->device;
  if (tsl_image_fits(layout))
    return TESELA_OK;
  char pitches[64];
  if (device->image_pitch_alignment == 0)
    snprintf(pitches, sizeof pitches, "of exactly a row's bytes");
  else
    snprintf(pitches, sizeof pitches, "a multiple of %zu", device->image_pitch_alignment);
  return tsl_fail(
      TESELA_BAD_CALL,
      "%s: no image of %lld x %lld texels at byte %zu with pitch %zu in %s%zu bytes: limits are 1 to %lld "
      "x %lld texels, an offset in multiples of %zu, and a pitch %s",
      device->name, (long long)layout->width, (long long)layout->height, layout->offset, layout->pitch,
      layout->buffer->askew ? "unaligned host memory of " : "a buffer of ", layout->buffer->bytes,
      (long long)device->image_width_max, (long long)device->image_height_max, device->image_offset_alignment,
      pitches);
}
