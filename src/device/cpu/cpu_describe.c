#include "device/cpu/cpu.h"

#include "core/env.h"
#include "core/isa.h"
#include "core/pool.h"
#include "core/processor.h"
#include "core/status.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif
#include <sys/utsname.h>
#include <unistd.h>

/* Clock where none is known (arm64 virtual machines). */
#define ASSUMED_MHZ 2000

/* Returns true if the processor has a set and the operating system saves its registers. */
#define RUNS(name, header, needs, flags, floats, fused, runs)                                                \
  static bool name##_runs(void) {                                                                            \
    return runs;                                                                                             \
  }
TSL_ISA_LIST(RUNS)
TSL_ISA_EXTENSION_LIST(RUNS)
#undef RUNS

/* Instruction sets. `wide`: the set with equal results in wide types; their measurements are exchangeable. */
static const struct {
  const char *name, *wide;
  unsigned needs;
  int vector_f32, fused;
  bool (*runs)(void);
} sets[] = {
#define SET(name, header, needs, flags, floats, fused, runs)                                                 \
  {#name, #header, needs, floats, fused, name##_runs},
    TSL_ISA_LIST(SET) TSL_ISA_EXTENSION_LIST(SET)
#undef SET
};
enum { SETS = sizeof sets / sizeof sets[0] };

/* Returns the union with all earlier sets, and AVX-512's double issue. */
static unsigned capabilities_of(int set) {
  unsigned all = 0;
  for (int i = 0; i <= set; i++)
    all |= sets[i].needs;
  if (all & TSL_CAN_AVX512 && tsl_cpu_pairs_vectors())
    all |= TSL_CAN_AVX512_PAIRS;
  return all;
}

/* Chooses the last set that the processor supports with all earlier ones, limited by TESELA_ISA. */
static tesela_status choose_set(int *chosen) {
  const char *most = tsl_env_get(TSL_ENV_ISA);
  int limit = SETS - 1, set = 0;
  TSL_TRY(tsl_env_check(TSL_ENV_ISA));
  while (most[0] != '\0' && strcmp(sets[limit].name, most) != 0)
    limit--;
  while (set < limit && sets[set + 1].runs())
    set++;
  *chosen = set;
  return TESELA_OK;
}

unsigned tsl_host_offers(void) {
  int set = 0;
  return choose_set(&set) == TESELA_OK ? capabilities_of(set) : 0;
}

static FILE *open_below(const char *root, const char *path) {
  char full[PATH_MAX];
  if (snprintf(full, sizeof full, "%s%s", root, path) >= (int)sizeof full)
    return NULL;
  return fopen(full, "re");
}

void tsl_cpu_label_at(const char *root, char *label, size_t size) {
  char maker[32], part[32];
  if (tsl_processor_cpuinfo_at(root, "model name", label, size))
    return;
  if (tsl_processor_cpuinfo_at(root, "CPU implementer", maker, sizeof maker) &&
      tsl_processor_cpuinfo_at(root, "CPU part", part, sizeof part))
    snprintf(label, size, "arm64 processor, maker %s, part %s", maker, part);
  else
    snprintf(label, size, "processor without a name");
}

/* Returns MHz from a file in kHz; 0: none. */
static int cpu_describe_cpufreq_mhz(const char *root, long cpu) {
  char path[96], line[64];
  int64_t khz = 0;
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/cpufreq/cpuinfo_max_freq", cpu);
  FILE *file = open_below(root, path);
  if (file == NULL)
    return 0;
  if (fgets(line, sizeof line, file) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    if (!tsl_parse_i64(line, &khz) || khz < 0 || khz > (int64_t)1e9)
      khz = 0;
  }
  fclose(file);
  return (int)(khz / 1000);
}

/* Returns the MHz of Intel's name "... @ 2.50GHz"; 0: none. */
static double mhz_in_name(const char *label) {
  const char *at = strstr(label, "@ ");
  char number[16];
  double ghz;
  if (at == NULL)
    return 0;
  const size_t digits = strspn(at + 2, "0123456789.");
  if (digits == 0 || digits >= sizeof number || strncmp(at + 2 + digits, "GHz", 3) != 0)
    return 0;
  snprintf(number, sizeof number, "%.*s", (int)digits, at + 2);
  return tsl_parse_double(number, &ghz) ? 1000 * ghz : 0;
}

/* Large and small cores are numbered at opposite ends: reads the first and the last. */
int tsl_cpu_clock_at(const char *root) {
  const long last = sysconf(_SC_NPROCESSORS_CONF) - 1;
  const int first_mhz = cpu_describe_cpufreq_mhz(root, 0), last_mhz = cpu_describe_cpufreq_mhz(root, last);
  char text[128];
  double mhz = first_mhz > last_mhz ? first_mhz : last_mhz;
  if (mhz <= 0 &&
      (!tsl_processor_cpuinfo_at(root, "cpu MHz", text, sizeof text) || !tsl_parse_double(text, &mhz)))
    mhz = 0;
  if (mhz <= 0) {
    tsl_cpu_label_at(root, text, sizeof text);
    mhz = mhz_in_name(text);
  }
  return mhz > 0 && mhz < 1e6 ? (int)mhz : 0;
}

static uint64_t machine_memory_bytes(void) {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

static void add_platform(tsl_device *device) {
  struct utsname system;
#if defined(__clang__)
  const char *compiler = ""; /* its version has its name */
#else
  const char *compiler = "gcc ";
#endif
  if (uname(&system) != 0)
    snprintf(system.release, sizeof system.release, "?");
  snprintf(device->platform, sizeof device->platform, "Linux %.48s, %s%.64s", system.release, compiler,
           __VERSION__);
}

static void add_key(tsl_device *device, const char *set) {
  char model[32];
  tsl_processor_model_at("", model, sizeof model);
  snprintf(device->key, sizeof device->key, "%.90s%s%s/%s", device->label, model[0] ? "/" : "", model, set);
  for (char *at = device->key; *at != '\0'; at++)
    if ((unsigned char)*at <= ' ')
      *at = '_';
}

/* Sets the predictions. Each thread counts as a core; a launch is a function call. */
static void add_predictions(tsl_device *device, int set) {
  const double clocks = 1e6 * device->clock_mhz * device->threads;
  const int fused =
      sets[set].vector_f32 == 16 && tsl_cpu_halves_vectors() ? sets[set].fused / 2 : sets[set].fused;
  device->peak_f32 = clocks * 2 * fused * sets[set].vector_f32;
  device->peak_f64 = device->peak_f32 / 2;
  device->bandwidth = tsl_device_bandwidth_of(device->threads);
  device->link_bandwidth = 0;
  device->launch_seconds = 1e-7;
}

tesela_status tsl_cpu_describe(tsl_device *device) {
  int set = 0;
  TSL_TRY(choose_set(&set));
  tsl_cpu_label_at("", device->label, sizeof device->label);
  add_platform(device);
  add_key(device, sets[set].wide);
  device->capabilities = TSL_CAN_HOST | TSL_CAN_F64 | TSL_CAN_SHARED_MEMORY | capabilities_of(set);
  device->is_cpu = 1;
  device->threads = tsl_pool_default_threads();
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  device->compute_units = processors > 0 ? (int)processors : 1;
  const int clock = tsl_cpu_clock_at("");
  device->clock_mhz = clock > 0 ? clock : ASSUMED_MHZ;
  device->memory_bytes = machine_memory_bytes();
  device->allocation_max = device->memory_bytes;
  device->cache_bytes = tsl_processor_last_caches_at("");
  tsl_processor_data_caches_at("", device->level_bytes);
  device->warp = 1;
  device->vector_f32 = sets[set].vector_f32;
  device->vector_f64 = sets[set].vector_f32 / 2;
  device->host_alignment = 1;
  add_predictions(device, set);
  return TESELA_OK;
}
