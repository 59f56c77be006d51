/* Images: views of buffers where supported, else copies. The runtime retains objects of enqueued kernels, so
 * an image may be destroyed after the launch. The stream keeps a copy's memory for the next image of its
 * size; the next copy waits for kernels that read the previous one, because the queue is in order. */
#include "device/opencl/opencl.h"

#include "core/status.h"

#include <stdio.h>
#include <stdlib.h>

struct tsl_image {
  tsl_stream *stream;
  cl_mem memory;
  int64_t width, height; /* size of a copy; 0: a view */
};

/* Missing in older headers. */
enum { PITCH_ALIGNMENT = 0x104A, BASE_ALIGNMENT = 0x104B };

static const cl_image_format rgba = {CL_RGBA, CL_FLOAT};

cl_mem tsl_opencl_image_memory(const tsl_image *image) {
  return image->memory;
}

/* Returns true with views: core in OpenCL 2, an extension in 1.2 and 3. */
static bool has_views(cl_device_id id) {
  char version[128];
  int major = 0;
  tsl_opencl_text(id, CL_DEVICE_VERSION, version, sizeof version);
  return tsl_opencl_number(id, PITCH_ALIGNMENT) != 0 &&
         (tsl_opencl_has(id, "cl_khr_image2d_from_buffer") ||
          (sscanf(version, "OpenCL %d.", &major) == 1 && major == 2));
}

static int64_t image_limit(cl_device_id id, cl_device_info what) {
  const uint64_t number = tsl_opencl_number(id, what);
  return number > INT32_MAX ? INT32_MAX : (int64_t)number;
}

/* Converts alignments from texels to bytes. A view at an offset needs a sub-buffer, aligned in bits. Host
 * memory under a view needs the alignment of image base addresses. */
void tsl_opencl_image_limits(cl_device_id id, tsl_device *out) {
  if ((out->capabilities & TSL_CAN_IMAGES) == 0)
    return;
  out->image_width_max = image_limit(id, CL_DEVICE_IMAGE2D_MAX_WIDTH);
  out->image_height_max = image_limit(id, CL_DEVICE_IMAGE2D_MAX_HEIGHT);
  out->image_offset_alignment = 1;
  if (!has_views(id))
    return;
  const size_t part = (size_t)tsl_opencl_number(id, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8,
               base = TSL_TEXEL_BYTES * (size_t)tsl_opencl_number(id, BASE_ALIGNMENT);
  out->image_pitch_alignment = TSL_TEXEL_BYTES * (size_t)tsl_opencl_number(id, PITCH_ALIGNMENT);
  out->image_offset_alignment = part > base ? part : base > 0 ? base : 1;
  out->image_pitch_max = SIZE_MAX;
}

static cl_image_desc describe_image(const tsl_image_layout *layout) {
  return (cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE2D,
                         .image_width = (size_t)layout->width,
                         .image_height = (size_t)layout->height};
}

static tesela_status opencl_image_fail(const tsl_image_layout *layout, const char *call, cl_int code) {
  char what[96];
  snprintf(what, sizeof what, "an image of %lld x %lld texels", (long long)layout->width,
           (long long)layout->height);
  return tsl_opencl_fail(layout->buffer->device, call, code, what);
}

/* Makes the image as a view of the buffer. It retains the sub-buffer, and the sub-buffer the buffer. */
static tesela_status opencl_image_view(tsl_image *self, const tsl_image_layout *layout) {
  const cl_context context = tsl_opencl_of(layout->buffer->device)->context;
  const cl_buffer_region region = {layout->offset, layout->pitch * (size_t)layout->height};
  cl_mem part = ((tsl_opencl_buffer *)layout->buffer)->memory;
  cl_image_desc wanted = describe_image(layout);
  cl_int code = CL_SUCCESS;
  if (layout->offset != 0) {
    part = tsl_opencl.clCreateSubBuffer(part, CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    if (code != CL_SUCCESS)
      return opencl_image_fail(layout, "clCreateSubBuffer", code);
  }
  wanted.image_row_pitch = layout->pitch;
  wanted.buffer = part;
  self->memory = tsl_opencl.clCreateImage(context, CL_MEM_READ_ONLY, &rgba, &wanted, NULL, &code);
  if (layout->offset != 0)
    tsl_opencl.clReleaseMemObject(part);
  return code == CL_SUCCESS ? TESELA_OK : opencl_image_fail(layout, "clCreateImage", code);
}

/* Takes the stream's image memory of equal size, or creates one. */
static tesela_status take_copy_memory(tsl_image *self, const tsl_image_layout *layout) {
  tsl_stream *stream = self->stream;
  const cl_image_desc wanted = describe_image(layout);
  cl_int code = CL_SUCCESS;
  self->width = layout->width;
  self->height = layout->height;
  if (stream->image != NULL && stream->image_width == layout->width &&
      stream->image_height == layout->height) {
    self->memory = stream->image;
    stream->image = NULL;
    return TESELA_OK;
  }
  self->memory = tsl_opencl.clCreateImage(tsl_opencl_of(stream->device)->context, CL_MEM_READ_ONLY, &rgba,
                                          &wanted, NULL, &code);
  return code == CL_SUCCESS ? TESELA_OK : opencl_image_fail(layout, "clCreateImage", code);
}

static tesela_status opencl_image_copy(tsl_image *self, const tsl_image_layout *layout) {
  const size_t origin[3] = {0, 0, 0}, region[3] = {(size_t)layout->width, (size_t)layout->height, 1};
  TSL_TRY(take_copy_memory(self, layout));
  const cl_int code = tsl_opencl.clEnqueueCopyBufferToImage(
      self->stream->queue, ((tsl_opencl_buffer *)layout->buffer)->memory, self->memory, layout->offset,
      origin, region, 0, NULL, NULL);
  if (code == CL_SUCCESS)
    return TESELA_OK;
  tsl_opencl.clReleaseMemObject(self->memory);
  return opencl_image_fail(layout, "clEnqueueCopyBufferToImage", code);
}

tesela_status tsl_opencl_image_create(tsl_stream *stream, const tsl_image_layout *layout, tsl_image **image) {
  *image = NULL;
  TSL_TRY(tsl_image_check(layout));
  tsl_image *self = calloc(1, sizeof *self);
  if (self == NULL)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no host memory for an image's record", stream->device->name);
  self->stream = stream;
  const tesela_status status = stream->device->image_pitch_alignment != 0 ? opencl_image_view(self, layout)
                                                                          : opencl_image_copy(self, layout);
  if (status != TESELA_OK) {
    free(self);
    return status;
  }
  *image = self;
  return TESELA_OK;
}

/* Keeps the memory for the stream's next image. */
void tsl_opencl_image_destroy(tsl_image *image) {
  tsl_stream *stream = image->stream;
  cl_mem goes = image->memory;
  if (image->width != 0) {
    goes = stream->image;
    stream->image = image->memory;
    stream->image_width = image->width;
    stream->image_height = image->height;
  }
  if (goes != NULL)
    tsl_opencl.clReleaseMemObject(goes);
  free(image);
}
