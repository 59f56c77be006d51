#include "core/memory.h"
#include "core/status.h"
#include "device/cuda/cuda_device.h"
#include "device/cuda/nvrtc.h"

#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The driver allows 4 KiB. */
#define ARGUMENTS_MAX 32

/* A kernel by its name, or the same kernel with bytes of local memory. Plans share both. */
struct tsl_kernel {
  tsl_module *module;
  tsl_cu_function handle;
  int items_max;
  unsigned dynamic_local_bytes; /* of each launch */
  unsigned
      local_bytes_allowed; /* most that launches of the handle may request; of the kernel without bytes */
  atomic_bool early_was_requested;
  tsl_kernel *next;
  char name[];
};

struct tsl_module {
  tsl_device *device;
  tsl_cu_module handle;
  pthread_mutex_t lock;
  tsl_kernel *kernels;
};

tesela_status tsl_cuda_build(tsl_device *device, const tsl_build *build, tsl_binary *binary) {
  tsl_nvrtc_target target;
  TSL_TRY(tsl_nvrtc_target_for(device->architecture, &target));
  return tsl_nvrtc_compile(device->name, &target, build, binary);
}

tesela_status tsl_cuda_compiler(tsl_device *device, tsl_text *text) {
  tsl_nvrtc_target target;
  int driver = 0;
  TSL_TRY(tsl_nvrtc_target_for(device->architecture, &target));
  tsl_nvrtc_describe(&target, text);
  const int code = tsl_cuda.driver_version(&driver);
  if (code != TSL_CU_SUCCESS)
    return tsl_cuda_fail(device, "cuDriverGetVersion", code, "");
  tsl_text_add(text, ", driver for CUDA %d.%d", driver / 1000, driver % 1000 / 10);
  return tsl_text_status(text);
}

/* Checks that ELF tables lie inside, or that PTX has its NUL, because the driver gets no length. */
static bool looks_complete(const tsl_binary *binary) {
  const unsigned char *bytes = binary->data;
  Elf64_Ehdr head;
  if (binary->bytes < 2)
    return false;
  if (bytes[0] != ELFMAG0)
    return strnlen((const char *)bytes, binary->bytes) == binary->bytes - 1;
  if (binary->bytes < sizeof head)
    return false;
  memcpy(&head, bytes, sizeof head);
  const uint64_t sections = (uint64_t)head.e_shentsize * head.e_shnum,
                 segments = (uint64_t)head.e_phentsize * head.e_phnum;
  return memcmp(bytes, ELFMAG, SELFMAG) == 0 && bytes[EI_CLASS] == ELFCLASS64 &&
         head.e_shoff <= binary->bytes && sections <= binary->bytes - head.e_shoff &&
         head.e_phoff <= binary->bytes && segments <= binary->bytes - head.e_phoff;
}

/* Adds a hint if the compiler's major version is newer than the driver's. */
static tesela_status add_version_hint(const tsl_device *device, tesela_status status) {
  int driver = 0;
  const int compiler = tsl_nvrtc_version();
  if (tsl_cuda.driver_version(&driver) != TSL_CU_SUCCESS || compiler / 1000 <= driver / 1000)
    return status;
  return tsl_fail_in(status,
                     "%s: NVRTC %d.%d is too new for this driver, which is for CUDA %d.%d "
                     "(TESELA_NVRTC names another)",
                     device->name, compiler / 1000, compiler % 1000 / 10, driver / 1000, driver % 1000 / 10);
}

tesela_status tsl_cuda_module_load(tsl_device *device, const char *name, const tsl_binary *binary,
                                   tsl_module **module) {
  void *block;
  *module = NULL;
  if (!looks_complete(binary))
    return tsl_fail(TESELA_BUILD_FAILED, "%s: %s: the binary is neither a whole cubin nor PTX", device->name,
                    name);
  TSL_TRY(tsl_alloc_zeroed(sizeof(tsl_module), "a kernel module", &block));
  tsl_module *made = block;
  made->device = device;
  /* log of the driver's compiler, for PTX */
  char log[4096] = "";
  int options[] = {TSL_CU_JIT_ERROR_LOG, TSL_CU_JIT_ERROR_LOG_BYTES};
  void *values[] = {log, (void *)(uintptr_t)sizeof log};
  tesela_status status = tsl_cuda_enter(device);
  if (status == TESELA_OK) {
    char call[128];
    snprintf(call, sizeof call, "%.80s: cuModuleLoadDataEx", name);
    status =
        tsl_cuda_leave(device, call, tsl_cuda.module_load(&made->handle, binary->data, 2, options, values));
  }
  if (status != TESELA_OK) {
    log[sizeof log - 1] = 0;
    tsl_free(made);
    if (status != TESELA_BUILD_FAILED)
      return status;
    tsl_status_keep_log(log);
    return add_version_hint(device, status);
  }
  pthread_mutex_init(&made->lock, NULL);
  *module = made;
  return TESELA_OK;
}

void tsl_cuda_module_destroy(tsl_module *module) {
  if (!module)
    return;
  if (tsl_cuda_enter_quietly(module->device)) {
    tsl_cuda.module_unload(module->handle);
    tsl_cuda_leave_quietly();
  }
  for (tsl_kernel *kernel = module->kernels, *next; kernel; kernel = next) {
    next = kernel->next;
    tsl_free(kernel);
  }
  pthread_mutex_destroy(&module->lock);
  tsl_free(module);
}

static tesela_status kernel_make(tsl_module *module, const char *name, tsl_kernel **kernel) {
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof(tsl_kernel) + strlen(name) + 1, "a kernel", &block));
  *kernel = block;
  (*kernel)->module = module;
  memcpy((*kernel)->name, name, strlen(name) + 1);
  return TESELA_OK;
}

/* Returns a kernel of the list; NULL: there is none. The lock is held. */
static tsl_kernel *kernel_find(const tsl_module *module, const char *name, size_t bytes) {
  tsl_kernel *kernel = module->kernels;
  while (kernel && (kernel->dynamic_local_bytes != bytes || strcmp(kernel->name, name) != 0))
    kernel = kernel->next;
  return kernel;
}

/* Adds a kernel to the list. The lock is held. */
static tesela_status kernel_add(tsl_module *module, const char *name, tsl_kernel **kernel) {
  tesela_status status;
  tsl_kernel *made;
  TSL_TRY(kernel_make(module, name, &made));
  char call[128];
  snprintf(call, sizeof call, "cuModuleGetFunction(%.80s)", name);
  TSL_GO(tsl_cuda_enter(module->device));
  int code = tsl_cuda.module_function(&made->handle, module->handle, name);
  if (code == TSL_CU_SUCCESS) {
    snprintf(call, sizeof call, "cuFuncGetAttribute");
    code = tsl_cuda.function_attribute(&made->items_max, TSL_CU_FUNCTION_ITEMS_MAX, made->handle);
  }
  TSL_GO(tsl_cuda_leave(module->device, call, code));
  made->next = module->kernels;
  module->kernels = made;
  *kernel = made;
  return TESELA_OK;
out:
  tsl_free(made);
  return status;
}

tesela_status tsl_cuda_kernel_get(tsl_module *module, const char *name, tsl_kernel **kernel) {
  tesela_status status = TESELA_OK;
  pthread_mutex_lock(&module->lock);
  *kernel = kernel_find(module, name, 0);
  if (!*kernel)
    status = kernel_add(module, name, kernel);
  pthread_mutex_unlock(&module->lock);
  return status;
}

int tsl_cuda_kernel_items_max(tsl_kernel *kernel) {
  return kernel->items_max > 0 ? kernel->items_max : 1;
}

/* Adds a kernel with bytes of local memory to the list. The lock is held. */
static tesela_status kernel_add_with_bytes(tsl_kernel *plain, unsigned bytes, tsl_kernel **kernel) {
  tsl_module *module = plain->module;
  tsl_kernel *made;
  if (bytes > plain->local_bytes_allowed) {
    TSL_TRY(tsl_cuda_enter(module->device));
    TSL_TRY(tsl_cuda_leave(module->device, "cuFuncSetAttribute",
                           tsl_cuda.function_set(plain->handle, TSL_CU_FUNCTION_SHARED_MAX, (int)bytes)));
    plain->local_bytes_allowed = bytes;
  }
  TSL_TRY(kernel_make(module, plain->name, &made));
  made->handle = plain->handle;
  made->items_max = plain->items_max;
  made->dynamic_local_bytes = bytes;
  atomic_init(&made->early_was_requested, atomic_load(&plain->early_was_requested));
  made->next = module->kernels;
  module->kernels = made;
  *kernel = made;
  return TESELA_OK;
}

tesela_status tsl_cuda_kernel_local_bytes(tsl_kernel **kernel, size_t bytes) {
  tsl_module *module = (*kernel)->module;
  const tsl_device *device = module->device;
  const char *name = (*kernel)->name;
  if (bytes > device->local_bytes_inside)
    return tsl_fail(TESELA_UNSUPPORTED, "%s: %s: %zu bytes of local memory, where at most %llu are possible",
                    device->name, name, bytes, (unsigned long long)device->local_bytes_inside);
  tesela_status status = TESELA_OK;
  pthread_mutex_lock(&module->lock);
  tsl_kernel *known = kernel_find(module, name, bytes);
  if (known)
    *kernel = known;
  else
    status = kernel_add_with_bytes(kernel_find(module, name, 0), (unsigned)bytes, kernel);
  pthread_mutex_unlock(&module->lock);
  return status;
}

void tsl_cuda_kernel_early(tsl_kernel *kernel) {
  atomic_store(&kernel->early_was_requested, tsl_cuda.launch_with != NULL);
}

static tesela_status module_check_grid(const tsl_device *device, const tsl_kernel *kernel,
                                       const tsl_grid *grid) {
  int64_t items = 1;
  for (int d = 0; d < 3; d++) {
    items *= grid->items[d];
    if (grid->items[d] < 1 || grid->items[d] > device->group_size_max[d])
      return tsl_fail(TESELA_BAD_CALL, "%s: %s: %d work-items along dimension %d, where 1 to %d are possible",
                      device->name, kernel->name, grid->items[d], d, device->group_size_max[d]);
    if (grid->groups[d] < 1 || grid->groups[d] > device->group_count_max[d])
      return tsl_fail(TESELA_BAD_CALL,
                      "%s: %s: %llu work-groups along dimension %d, where 1 to %llu are possible",
                      device->name, kernel->name, (unsigned long long)grid->groups[d], d,
                      (unsigned long long)device->group_count_max[d]);
  }
  if (items > kernel->items_max)
    return tsl_fail(TESELA_BAD_CALL, "%s: %s: %lld work-items a group, where at most %d are possible",
                    device->name, kernel->name, (long long)items, kernel->items_max);
  return TESELA_OK;
}

tesela_status tsl_cuda_launch(tsl_stream *stream, tsl_kernel *kernel, const tsl_grid *grid,
                              const tsl_argument *arguments, int count) {
  tsl_device *device = stream->device;
  void *at[ARGUMENTS_MAX]; /* the driver copies the arguments by the kernel's sizes */
  if (count > ARGUMENTS_MAX)
    return tsl_fail(TESELA_BAD_CALL, "%s: %s: %d arguments, where at most %d are possible", device->name,
                    kernel->name, count, ARGUMENTS_MAX);
  TSL_TRY(module_check_grid(device, kernel, grid));
  for (int i = 0; i < count; i++)
    at[i] = arguments[i].image    ? (void *)arguments[i].image
            : arguments[i].buffer ? (void *)&((tsl_cuda_buffer *)arguments[i].buffer)->address
                                  : (void *)(uintptr_t)arguments[i].value;
  const bool entered = tsl_cuda_is_entered(device); /* saves a tenth of a small launch */
  if (!entered)
    TSL_TRY(tsl_cuda_enter(device));
  tsl_cu_launch_attribute early_was_requested = {.id = TSL_CU_LAUNCH_EARLY, .value = {.allowed = 1}};
  const tsl_cu_launch launch = {
      .groups = {(unsigned)grid->groups[0], (unsigned)grid->groups[1], (unsigned)grid->groups[2]},
      .items = {(unsigned)grid->items[0], (unsigned)grid->items[1], (unsigned)grid->items[2]},
      .shared_bytes = kernel->dynamic_local_bytes,
      .stream = stream->handle,
      .attributes = &early_was_requested,
      .count = 1};
  const int code = atomic_load(&kernel->early_was_requested)
                       ? tsl_cuda.launch_with(&launch, kernel->handle, at, NULL)
                       : tsl_cuda.launch(kernel->handle, launch.groups[0], launch.groups[1], launch.groups[2],
                                         launch.items[0], launch.items[1], launch.items[2],
                                         launch.shared_bytes, launch.stream, at, NULL);
  if (!entered)
    tsl_cuda_leave_quietly();
  if (code == TSL_CU_SUCCESS)
    return TESELA_OK;
  char call[128];
  snprintf(call, sizeof call, "cuLaunchKernel(%.80s)", kernel->name);
  return tsl_cuda_fail(device, call, code, "");
}
