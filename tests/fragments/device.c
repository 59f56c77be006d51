/* A kind of device for each instruction. Its memory is the host's, as for the cpu device. A kernel
 * is a function compiled as C, found by the #define lines before its text. So the test also covers
 * the arguments that the strategy's C passes to the compiler and to the kernel. */
#include "kernel.h"

#include "core/status.h"
#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const tsl_device_kind tsl_device_kind_cpu;

int fragments_across[2], fragments_complaints, fragments_runs;

struct tsl_kernel {
  tsl_module *module;
};
struct tsl_module {
  tsl_device *device;
  const fragments_kernel *found;
  int across[2];
  tsl_kernel kernel;
};

static char last[1 << 18];

const char *fragments_text(void) {
  return last;
}

static tesela_status build(tsl_device *device, const tsl_build *what, tsl_binary *binary) {
  const size_t bytes = strlen(what->text) + 1;
  (void)device;
  snprintf(last, sizeof last, "%s", what->text);
  *binary = (tsl_binary){malloc(bytes), bytes};
  memcpy(binary->data, what->text, bytes);
  return TESELA_OK;
}

static tesela_status compiler(tsl_device *device, tsl_text *text) {
  (void)device;
  tsl_text_add(text, "C");
  return tsl_text_status(text);
}

/* The number behind "#define NAME "; -1 where there is no such line. */
static int defined(const char *text, const char *name) {
  char line[64];
  snprintf(line, sizeof line, "#define %s ", name);
  const char *at = strstr(text, line);
  return at ? atoi(at + strlen(line)) : -1;
}

static bool fits(const fragments_kernel *kernel, const tsl_device *device, const char *text) {
  char line[64];
  snprintf(line, sizeof line, "#define %s\n", device->fragments->define);
  return &tsl_fragments_all[kernel->fragments] == device->fragments && strstr(text, line) != NULL &&
         defined(text, "TSL_TYPE_AB") == kernel->type_ab && defined(text, "TSL_TYPE_C") == kernel->type_c &&
         defined(text, "TSL_SIGNED_A") == kernel->signed_a &&
         defined(text, "TSL_SIGNED_B") == kernel->signed_b &&
         defined(text, "TSL_PARAM_TILE_M") == kernel->tile_m &&
         defined(text, "TSL_PARAM_TILE_N") == kernel->tile_n &&
         defined(text, "TSL_PARAM_SUB_M") == kernel->sub_m &&
         defined(text, "TSL_PARAM_SUB_N") == kernel->sub_n &&
         defined(text, "TSL_PARAM_DEPTH") == kernel->depth;
}

static tesela_status module_load(tsl_device *device, const char *name, const tsl_binary *binary,
                                 tsl_module **module) {
  const fragments_entry *entry = fragments_kernels;
  *module = NULL;
  while (entry->name && !fits(entry->kernel, device, binary->data))
    entry++;
  if (!entry->name)
    return tsl_fail(TESELA_BUILD_FAILED, "%s: %s: no kernel of this form was compiled as C", device->name,
                    name);
  tsl_module *made = calloc(1, sizeof *made);
  made->device = device;
  made->found = entry->kernel;
  made->across[0] = defined(binary->data, "A_MN_MAJOR");
  made->across[1] = defined(binary->data, "B_MN_MAJOR");
  made->kernel.module = made;
  *module = made;
  return TESELA_OK;
}

static void module_destroy(tsl_module *module) {
  free(module);
}

static tesela_status kernel_get(tsl_module *module, const char *name, tsl_kernel **kernel) {
  (void)name;
  *kernel = &module->kernel;
  return TESELA_OK;
}

static int kernel_items_max(tsl_kernel *kernel) {
  (void)kernel;
  return 256;
}

static tesela_status launch(tsl_stream *stream, tsl_kernel *kernel, const tsl_grid *grid,
                            const tsl_argument *arguments, int count) {
  const tsl_module *module = kernel->module;
  const ptx_memory memory[2] = {{arguments[0].buffer->host, arguments[0].buffer->bytes},
                                {arguments[1].buffer->host, arguments[1].buffer->bytes}};
  (void)stream;
  if (count != 4 || grid->items[0] != module->found->kernel.items || module->across[0] < 0 ||
      module->across[1] < 0)
    return tsl_fail(TESELA_INTERNAL, "%s: %d arguments, %d work-items", module->device->name, count,
                    grid->items[0]);
  fragments_across[0] = module->across[0];
  fragments_across[1] = module->across[1];
  fragments_runs++;
  fragments_complaints += ptx_run(&module->found->kernel, (int)grid->groups[0], memory,
                                  arguments[2].buffer->host, arguments[3].value);
  return TESELA_OK;
}

static tsl_device_ops ops;

static void take(void *argument, const tsl_device *device) {
  *(tsl_device *)argument = *device;
}

static tesela_status list(void (*found)(void *argument, const tsl_device *device), void *argument) {
  tsl_device device;
  TSL_TRY(tsl_device_kind_cpu.list(take, &device));
  ops = *device.ops;
  ops.dialect_folder = "device/opencl/include";
  ops.source_extension = "cl";
  ops.build = build;
  ops.compiler = compiler;
  ops.module_load = module_load;
  ops.module_destroy = module_destroy;
  ops.kernel_get = kernel_get;
  ops.kernel_items_max = kernel_items_max;
  ops.launch = launch;
  device.ops = &ops;
  device.capabilities = TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_OPENCL | TSL_CAN_FRAGMENTS;
  device.is_cpu = 0;
  device.compute_units = 32;
  device.clock_mhz = 2000;
  device.local_bytes = 65536;
  device.group_items_max = 256;
  for (int d = 0; d < 3; d++) {
    device.group_size_max[d] = 256;
    device.group_count_max[d] = d == 0 ? 5 : 1; /* few, so that groups take several tiles */
  }
  device.peak_f32 = 1e13;
  device.bandwidth = 1e12;
  device.link_bandwidth = 1e10;
  device.launch_seconds = 1e-5;
  for (int i = 0; i < TSL_FRAGMENTS_COUNT; i++) {
    device.fragments = &tsl_fragments_all[i];
    snprintf(device.label, sizeof device.label, "%s", device.fragments->name);
    snprintf(device.key, sizeof device.key, "fragments/%s", device.fragments->name);
    found(argument, &device);
  }
  return TESELA_OK;
}

const tsl_device_kind fragments_kind = {
    .kind = "fragments", .what = "matrix instructions computed by the host", .list = list};
