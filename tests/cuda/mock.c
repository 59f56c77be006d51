#include "cuda/mock.h"

#include "core/status.h"
#include "device/cuda/nvrtc.h"
#include "device/source.h"
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last one is newer than any NVRTC, and gets PTX. */
static const int architectures[] = {70, 75, 80, 90, 9999};

enum { SOURCES_MAX = 256 };
enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };
static bool was_built[SOURCES_MAX]; /* by the source's number */
static bool was_assembled[SOURCES_MAX][ARCHITECTURES];
static int builds;
bool mock_is_optimised;

struct tsl_module {
  tsl_binary binary;
};
struct tsl_kernel {
  tsl_module *module;
};
static const tsl_module *last; /* tests build in one thread; NULL: none, or it is gone */
static tsl_kernel any_kernel;

int mock_builds(void) {
  return builds;
}

bool mock_built(const char *path) {
  const tsl_source_file *file;
  for (int i = 0; i < SOURCES_MAX && (file = tsl_source_at(i)) != NULL; i++)
    if (strcmp(file->path, path) == 0)
      return was_built[i];
  return false;
}

const tsl_binary *mock_last(void) {
  return &last->binary;
}

static int place_of(int architecture) {
  int place = 0;
  while (place < ARCHITECTURES - 1 && architectures[place] != architecture)
    place++;
  return place;
}

static bool has_source(const char *text, const tsl_source_file *file) {
  char line[160];
  snprintf(line, sizeof line, "#line 1 \"%s\"", file->path);
  return strstr(text, line) != NULL;
}

static void note(const char *text, int place, bool is_assembled) {
  const tsl_source_file *file;
  for (int i = 0; i < SOURCES_MAX && (file = tsl_source_at(i)) != NULL; i++)
    if (has_source(text, file)) {
      was_built[i] = true;
      was_assembled[i][place] |= is_assembled;
    }
  builds++;
}

/* Returns true when a text must be assembled. NVRTC needs as long to assemble PTX as to make it. So
 * each source is assembled once for each architecture. CUDA's own sources are assembled with each
 * config, because only the assembler checks their instructions. */
static bool is_to_be_assembled(const char *text, int place) {
  const tsl_source_file *file;
  for (int i = 0; i < SOURCES_MAX && (file = tsl_source_at(i)) != NULL; i++) {
    const char *dot = strrchr(file->path, '.');
    if (has_source(text, file) && (!was_assembled[i][place] || (dot && strcmp(dot, ".cu") == 0)))
      return true;
  }
  return false;
}

/* --- the device --- */

static tesela_status open_nothing(tsl_device *device) {
  (void)device;
  return TESELA_OK;
}

static void close_nothing(tsl_device *device) {
  (void)device;
}

static tesela_status build(tsl_device *device, const tsl_build *what, tsl_binary *binary) {
  tsl_nvrtc_target target;
  TSL_TRY(tsl_nvrtc_target_for(device->architecture, &target));
  const int place = place_of(device->architecture);
  if (!target.is_ptx && !is_to_be_assembled(what->text, place)) {
    char name[sizeof target.name + 8]; /* "sm_90a" makes the PTX of "compute_90a" */
    snprintf(name, sizeof name, "compute%s", strchr(target.name, '_'));
    snprintf(target.name, sizeof target.name, "%.*s", (int)sizeof target.name - 1, name);
    target.is_ptx = true;
  }
  /* The assembler then takes less than half of the time, and checks the same. */
  const bool is_quick = !mock_is_optimised && !target.is_ptx && tsl_nvrtc_version() >= 13000;
  char options[4096];
  snprintf(options, sizeof options, "%s%s", what->options, is_quick ? " --Ofast-compile=mid" : "");
  tsl_build changed = *what;
  changed.options = options;
  TSL_TRY(tsl_nvrtc_compile(device->name, &target, &changed, binary));
  note(what->text, place, !target.is_ptx);
  return TESELA_OK;
}

static tesela_status compiler(tsl_device *device, tsl_text *text) {
  tsl_nvrtc_target target;
  TSL_TRY(tsl_nvrtc_target_for(device->architecture, &target));
  tsl_nvrtc_describe(&target, text);
  return tsl_text_status(text);
}

static tesela_status module_load(tsl_device *device, const char *name, const tsl_binary *binary,
                                 tsl_module **module) {
  *module = NULL;
  void *copy = malloc(binary->bytes);
  tsl_module *made = malloc(sizeof *made);
  if (!copy || !made) {
    free(copy);
    free(made);
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: %s", device->name, name);
  }
  memcpy(copy, binary->data, binary->bytes);
  made->binary = (tsl_binary){copy, binary->bytes};
  last = *module = made;
  return TESELA_OK;
}

static void module_destroy(tsl_module *module) {
  last = last == module ? NULL : last;
  free(module->binary.data);
  free(module);
}

/* Names stand in a binary as they are. */
static bool holds(const tsl_binary *binary, const char *name) {
  const size_t length = strlen(name);
  const char *data = binary->data;
  for (size_t i = 0; i + length <= binary->bytes; i++)
    if (memcmp(data + i, name, length) == 0)
      return true;
  return false;
}

static tesela_status kernel_get(tsl_module *module, const char *name, tsl_kernel **kernel) {
  *kernel = NULL;
  if (!holds(&module->binary, name))
    return tsl_fail(TESELA_BAD_CALL, "there is no kernel %s in what was compiled", name);
  any_kernel.module = module;
  *kernel = &any_kernel;
  return TESELA_OK;
}

static tesela_status kernel_local_bytes(tsl_kernel **kernel, size_t bytes) {
  (void)kernel;
  (void)bytes;
  return TESELA_OK;
}

static void kernel_early(tsl_kernel *kernel) {
  (void)kernel;
}

static int kernel_items_max(tsl_kernel *kernel) {
  (void)kernel;
  return 1024;
}

static const tsl_device_ops ops = {
    .dialect_folder = "device/cuda/include",
    .source_extension = "cu",
    .open = open_nothing,
    .close = close_nothing,
    .build = build,
    .compiler = compiler,
    .module_load = module_load,
    .module_destroy = module_destroy,
    .kernel_get = kernel_get,
    .kernel_items_max = kernel_items_max,
    .kernel_local_bytes = kernel_local_bytes,
    .kernel_early = kernel_early,
};

static tesela_status list(void (*found)(void *argument, const tsl_device *device), void *argument) {
  for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++) {
    tsl_nvrtc_target target;
    if (tsl_nvrtc_target_for(architectures[i], &target) != TESELA_OK) {
      printf("  sm_%d left out: %s\n", architectures[i], tesela_last_error());
      continue;
    }
    tsl_device device = {.ops = &ops,
                         .capabilities = TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_F64 | TSL_CAN_F16 |
                                         TSL_CAN_IMAGES | TSL_CAN_CUDA |
                                         (architectures[i] >= 80 ? TSL_CAN_MMA | TSL_CAN_ASYNC_COPY : 0) |
                                         (architectures[i] == 90 ? TSL_CAN_MMA_GROUP | TSL_CAN_WGMMA : 0),
                         .compute_units = 100,
                         .clock_mhz = 1500,
                         .memory_bytes = (uint64_t)16 << 30,
                         .allocation_max = (uint64_t)16 << 30,
                         .local_bytes = 48 << 10,
                         .local_bytes_inside = architectures[i] >= 90   ? 227 << 10
                                               : architectures[i] >= 80 ? 163 << 10
                                                                        : 0,
                         .cache_bytes = 4 << 20,
                         .image_width_max = 131072,
                         .image_height_max = 65000,
                         .image_offset_alignment = 512,
                         .image_pitch_alignment = 32,
                         .image_pitch_max = 2097120,
                         .group_items_max = 1024,
                         .group_size_max = {1024, 1024, 64},
                         .group_count_max = {INT32_MAX, 65535, 65535},
                         .warp = 32,
                         .vector_f32 = 1,
                         .vector_f64 = 1,
                         .architecture = architectures[i],
                         .peak_f32 = 2e13,
                         .peak_f64 = 1e13,
                         .bandwidth = 1e12,
                         .link_bandwidth = 2e10,
                         .launch_seconds = 5e-6};
    snprintf(device.label, sizeof device.label, "%s", target.name);
    snprintf(device.key, sizeof device.key, "mock/%s", target.name);
    found(argument, &device);
  }
  return TESELA_OK;
}

const tsl_device_kind mock_kind = {.kind = "mock", .what = "architectures that NVRTC knows", .list = list};

size_t mock_compile(const tsl_nvrtc_target *target, const char *name, const char *text, const char *options) {
  const tsl_build build = {.name = name, .text = text, .options = options};
  tsl_binary binary = {NULL, 0};
  if (tsl_nvrtc_compile("nvrtc", target, &build, &binary) != TESELA_OK)
    fail_msg("%s\n%s", tesela_last_error(), tesela_last_log());
  assert_true(binary.bytes > 16);
  const char *data = binary.data;
  if (target->is_ptx)
    assert_true(strstr(data, ".version") && data[binary.bytes - 1] == 0);
  else
    assert_memory_equal(data,
                        "\x7f"
                        "ELF",
                        4);
  const size_t bytes = binary.bytes;
  free(binary.data);
  return bytes;
}
