#include "device/opencl/opencl.h"

#include "core/memory.h"
#include "core/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stores the latest arguments, so the lock covers setting them and the launch. */
struct tsl_kernel {
  tsl_module *module;
  tsl_kernel *next;
  cl_kernel kernel;
  pthread_mutex_t lock;
  cl_uint arguments;
  int items_max;
  size_t items_required[3]; /* shape of reqd_work_group_size, or zeros */
  char name[];
};

void tsl_opencl_kernels_free(tsl_module *module) {
  for (tsl_kernel *kernel = module->kernels, *next; kernel != NULL; kernel = next) {
    next = kernel->next;
    tsl_opencl.clReleaseKernel(kernel->kernel);
    pthread_mutex_destroy(&kernel->lock);
    free(kernel);
  }
  module->kernels = NULL;
}

static tesela_status opencl_launch_query_limits(tsl_kernel *self) {
  const tsl_device *device = self->module->device;
  const cl_device_id id = tsl_opencl_of(device)->id;
  size_t items = 0;
  TSL_TRY(TSL_CL(device, clGetKernelInfo, self->kernel, CL_KERNEL_NUM_ARGS, sizeof self->arguments,
                 &self->arguments, NULL));
  TSL_TRY(TSL_CL(device, clGetKernelWorkGroupInfo, self->kernel, id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                 sizeof self->items_required, self->items_required, NULL));
  TSL_TRY(TSL_CL(device, clGetKernelWorkGroupInfo, self->kernel, id, CL_KERNEL_WORK_GROUP_SIZE, sizeof items,
                 &items, NULL));
  /* NVIDIA reports at most 256 items even for a working required shape of 1024. */
  const size_t *shape = self->items_required;
  if (shape[0] != 0)
    items = shape[0] * shape[1] * shape[2];
  self->items_max = items < 1 ? 1 : items > INT32_MAX ? INT32_MAX : (int)items;
  return TESELA_OK;
}

static tesela_status opencl_launch_create(tsl_module *module, const char *name, tsl_kernel **out) {
  const tsl_device *device = module->device;
  cl_int code = CL_SUCCESS;
  tsl_kernel *self = calloc(1, sizeof *self + strlen(name) + 1);
  if (self == NULL)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no host memory for a kernel's record", device->name);
  strcpy(self->name, name);
  self->module = module;
  self->kernel = tsl_opencl.clCreateKernel(module->program, name, &code);
  tesela_status status = TESELA_OK;
  if (code == CL_INVALID_KERNEL_NAME)
    status =
        tsl_fail(TESELA_BUILD_FAILED, "%s: %s has no kernel named \"%s\"", device->name, module->name, name);
  else if (code != CL_SUCCESS)
    status = tsl_opencl_fail(device, "clCreateKernel", code, name);
  else
    status = opencl_launch_query_limits(self);
  if (status != TESELA_OK) {
    if (self->kernel != NULL)
      tsl_opencl.clReleaseKernel(self->kernel);
    free(self);
    return status;
  }
  pthread_mutex_init(&self->lock, NULL);
  *out = self;
  return TESELA_OK;
}

tesela_status tsl_opencl_kernel_get(tsl_module *module, const char *name, tsl_kernel **kernel) {
  tesela_status status = TESELA_OK;
  *kernel = NULL;
  pthread_mutex_lock(&module->lock);
  for (tsl_kernel *at = module->kernels; at != NULL && *kernel == NULL; at = at->next)
    if (strcmp(at->name, name) == 0)
      *kernel = at;
  if (*kernel == NULL) {
    status = opencl_launch_create(module, name, kernel);
    if (status == TESELA_OK) {
      (*kernel)->next = module->kernels;
      module->kernels = *kernel;
    }
  }
  pthread_mutex_unlock(&module->lock);
  return status;
}

int tsl_opencl_kernel_items_max(tsl_kernel *kernel) {
  return kernel->items_max;
}

/* Checks the geometry and fills the sizes for the launch. */
static tesela_status make_launch_sizes(const tsl_kernel *kernel, const tsl_grid *grid, size_t global[3],
                                       size_t local[3]) {
  const tsl_device *device = kernel->module->device;
  const char *module = kernel->module->name;
  const int *items = grid->items;
  const size_t *shape = kernel->items_required;
  int64_t product = 1;
  if (shape[0] != 0 &&
      ((size_t)items[0] != shape[0] || (size_t)items[1] != shape[1] || (size_t)items[2] != shape[2]))
    return tsl_fail(TESELA_BAD_CALL,
                    "%s: %s: %s is compiled for work-groups of %zu x %zu x %zu items and was launched with "
                    "%d x %d x %d",
                    device->name, module, kernel->name, shape[0], shape[1], shape[2], items[0], items[1],
                    items[2]);
  for (int d = 0; d < 3; d++) {
    if (grid->groups[d] > device->group_count_max[d] ||
        !tsl_size_mul((size_t)grid->groups[d], (size_t)items[d], &global[d]))
      return tsl_fail(TESELA_BAD_CALL,
                      "%s: %s: %llu work-groups in dimension %d are more than the %llu that are allowed",
                      device->name, module, (unsigned long long)grid->groups[d], d,
                      (unsigned long long)device->group_count_max[d]);
    if (items[d] > device->group_size_max[d])
      return tsl_fail(TESELA_BAD_CALL,
                      "%s: %s: %d work-items in dimension %d of a group are more than the device's %d",
                      device->name, module, items[d], d, device->group_size_max[d]);
    local[d] = (size_t)items[d];
    product *= items[d]; /* both are below 2^31 */
    if (product > kernel->items_max)
      return tsl_fail(TESELA_BAD_CALL,
                      "%s: %s: a work-group of %d x %d x %d items is more than the %d that %s takes here",
                      device->name, module, items[0], items[1], items[2], kernel->items_max, kernel->name);
  }
  return TESELA_OK;
}

static cl_mem opencl_launch_memory_of(const tsl_argument *argument) {
  if (argument->image != NULL)
    return tsl_opencl_image_memory(argument->image);
  return argument->buffer != NULL ? ((const tsl_opencl_buffer *)argument->buffer)->memory : NULL;
}

static tesela_status set_arguments(const tsl_kernel *kernel, const tsl_argument *arguments, int count) {
  const tsl_device *device = kernel->module->device;
  for (int i = 0; i < count; i++) {
    const tsl_argument *argument = &arguments[i];
    const cl_mem memory = opencl_launch_memory_of(argument);
    const bool is_memory = memory != NULL;
    const cl_int code =
        tsl_opencl.clSetKernelArg(kernel->kernel, (cl_uint)i, is_memory ? sizeof memory : argument->bytes,
                                  is_memory ? (const void *)&memory : argument->value);
    if (code != CL_SUCCESS) {
      char detail[160];
      snprintf(detail, sizeof detail, "argument %d of %.100s", i, kernel->name);
      return tsl_opencl_fail(device, "clSetKernelArg", code, detail);
    }
  }
  return TESELA_OK;
}

tesela_status tsl_opencl_launch(tsl_stream *stream, tsl_kernel *kernel, const tsl_grid *grid,
                                const tsl_argument *arguments, int count) {
  size_t global[3], local[3];
  TSL_TRY(make_launch_sizes(kernel, grid, global, local));
  if ((cl_uint)count != kernel->arguments)
    return tsl_fail(TESELA_INTERNAL, "%s: %s takes %u arguments and was given %d", stream->device->name,
                    kernel->name, kernel->arguments, count);
  pthread_mutex_lock(&kernel->lock);
  tesela_status status = set_arguments(kernel, arguments, count);
  if (status == TESELA_OK) {
    const cl_int code = tsl_opencl.clEnqueueNDRangeKernel(stream->queue, kernel->kernel, 3, NULL, global,
                                                          local, 0, NULL, NULL);
    if (code != CL_SUCCESS)
      status = tsl_opencl_fail(stream->device, "clEnqueueNDRangeKernel", code, kernel->name);
  }
  pthread_mutex_unlock(&kernel->lock);
  return status;
}
