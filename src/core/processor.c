#include "core/processor.h"

#include "core/cgroup.h"
#include "core/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits above real machines; GAP_MAX bounds gaps in the numbering (offline cores). */
enum { PROCESSORS_MAX = 4096, LEVELS_MAX = 8, GAP_MAX = 64, ZONES_MAX = 256 };

/* Reads the first line of a file, without its newline; false: it is empty or cannot be read. */
static bool read_one_line(const char *root, const char *path, char *line, size_t size) {
  char full[PATH_MAX];
  if (snprintf(full, sizeof full, "%s%s", root, path) >= (int)sizeof full ||
      !tsl_file_read_start(full, line, size))
    return false;
  line[strcspn(line, "\n")] = '\0';
  return line[0] != '\0';
}

typedef struct cache_info {
  int index;
  int64_t level;
  uint64_t bytes;
  bool is_data;            /* true for data and unified caches */
  int64_t first_processor; /* lowest number of the processors that share it */
} cache_info;

/* Returns the number after the last possible processor, which bounds searches; PROCESSORS_MAX: unknown. */
static int count_possible(const char *root) {
  char line[64];
  int64_t last;
  if (!read_one_line(root, "/sys/devices/system/cpu/possible", line, sizeof line))
    return PROCESSORS_MAX;
  const char *end =
      line + strcspn(line, "-,"); /* format: "0-7"; a list with gaps is searched as if unknown */
  return !strchr(line, ',') && tsl_parse_i64(*end ? end + 1 : line, &last) && last >= 0 &&
                 last < PROCESSORS_MAX
             ? (int)last + 1
             : PROCESSORS_MAX;
}

/* Reads the lowest number of the processors that share entry `index` of a processor's caches. */
static bool read_first_sharer(const char *root, int processor, int index, int64_t *first) {
  char path[128], line[64];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", processor,
           index);
  if (!read_one_line(root, path, line, sizeof line))
    return false;
  line[strcspn(line, "-,")] = '\0'; /* format: "0-7,16-23" */
  return tsl_parse_i64(line, first);
}

/* Reads entry `index` of a processor's caches; false: missing or unreadable. */
static bool read_cache(const char *root, int processor, int index, cache_info *out) {
  char path[128], line[64];
  const int length =
      snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/", processor, index);
  snprintf(path + length, sizeof path - (size_t)length, "level");
  if (!read_one_line(root, path, line, sizeof line) || !tsl_parse_i64(line, &out->level))
    return false;
  snprintf(path + length, sizeof path - (size_t)length, "size");
  if (!read_one_line(root, path, line, sizeof line) || !tsl_parse_bytes(line, &out->bytes))
    return false;
  snprintf(path + length, sizeof path - (size_t)length, "type");
  out->is_data = !read_one_line(root, path, line, sizeof line) || strcmp(line, "Instruction") != 0;
  out->index = index;
  return read_first_sharer(root, processor, index, &out->first_processor);
}

/* Finds the processor's cache of the highest level; false: none known. */
static bool read_last_level_cache(const char *root, int processor, cache_info *last) {
  bool any = false;
  for (int index = 0; index < LEVELS_MAX; index++) {
    cache_info entry;
    if (!read_cache(root, processor, index, &entry))
      break;
    if (!any || entry.level > last->level)
      *last = entry;
    any = true;
  }
  return any;
}

uint64_t tsl_processor_last_caches_at(const char *root) {
  const int possible = count_possible(root);
  uint64_t bytes = 0;
  cache_info last = {0};
  for (int processor = 0, missing = 0; processor < possible && missing < GAP_MAX; processor++) {
    int64_t first;
    if (last.level > 0 && read_first_sharer(root, processor, last.index, &first) && first < processor)
      continue; /* the cache was counted, and this processor's other files need not be read */
    if (!read_last_level_cache(root, processor, &last)) {
      missing++;
      continue;
    }
    missing = 0;
    /* counts each cache once, with the first processor that shares it */
    bytes += last.first_processor == processor ? last.bytes : 0;
  }
  return bytes;
}

void tsl_processor_data_caches_at(const char *root, uint64_t bytes[3]) {
  cache_info entry;
  bytes[0] = bytes[1] = bytes[2] = 0;
  for (int index = 0; index < LEVELS_MAX && read_cache(root, 0, index, &entry); index++)
    if (entry.is_data && entry.level >= 1 && entry.level <= 3)
      bytes[entry.level - 1] = entry.bytes;
}

bool tsl_processor_cpuinfo_at(const char *root, const char *key, char *value, size_t size) {
  char path[PATH_MAX], line[1024];
  bool is_there = false;
  if (snprintf(path, sizeof path, "%s/proc/cpuinfo", root) >= (int)sizeof path)
    return false;
  FILE *file = fopen(path, "re");
  while (file && !is_there && fgets(line, sizeof line, file)) {
    const size_t length = strlen(key);
    const char *colon = strchr(line, ':');
    if (!colon || strncmp(line, key, length) != 0 || line + length + strspn(line + length, " \t") != colon)
      continue;
    const char *start = colon + 1 + strspn(colon + 1, " \t");
    size_t used = strcspn(start, "\n");
    while (used > 0 && start[used - 1] == ' ')
      used--;
    snprintf(value, size, "%.*s", (int)used, start);
    is_there = used > 0;
  }
  if (file)
    fclose(file);
  return is_there;
}

void tsl_processor_model_at(const char *root, char *model, size_t size) {
  char family[16], number[16];
  model[0] = '\0';
  if (tsl_processor_cpuinfo_at(root, "cpu family", family, sizeof family) &&
      tsl_processor_cpuinfo_at(root, "model", number, sizeof number))
    snprintf(model, size, "%s.%s", family, number);
}

static double max_cpufreq_mhz(const char *root) {
  const int possible = count_possible(root);
  int64_t fastest = 0;
  for (int processor = 0, missing = 0; processor < possible && missing < GAP_MAX; processor++) {
    char path[96], line[64];
    int64_t khz;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", processor);
    if (!read_one_line(root, path, line, sizeof line) || !tsl_parse_i64(line, &khz)) {
      missing++;
      continue;
    }
    missing = 0;
    fastest = khz > fastest ? khz : fastest;
  }
  return 1e-3 * (double)fastest;
}

/* Returns the highest "cpu MHz : 2596.136" line; 0: none. */
static double max_cpuinfo_mhz(const char *root) {
  static const char key[] = "cpu MHz";
  char path[PATH_MAX], line[1024];
  double fastest = 0, mhz;
  if (snprintf(path, sizeof path, "%s/proc/cpuinfo", root) >= (int)sizeof path)
    return 0;
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file)) {
    const char *colon = strchr(line, ':');
    if (strncmp(line, key, sizeof key - 1) != 0 || !colon)
      continue;
    line[strcspn(line, "\n")] = '\0';
    if (tsl_parse_double(colon + 1 + strspn(colon + 1, " \t"), &mhz) && mhz > fastest)
      fastest = mhz;
  }
  if (file)
    fclose(file);
  return fastest;
}

int tsl_processor_mhz_at(const char *root) {
  const double cpufreq = max_cpufreq_mhz(root), mhz = cpufreq > 0 ? cpufreq : max_cpuinfo_mhz(root);
  return mhz > 0 && mhz < 1e6 ? (int)(mhz + 0.5) : 0;
}

int tsl_processor_celsius_at(const char *root) {
  long most = 0;
  for (int zone = 0; zone < ZONES_MAX; zone++) {
    char path[64], line[32];
    snprintf(path, sizeof path, "/sys/class/thermal/thermal_zone%d/temp", zone);
    if (!read_one_line(root, path, line, sizeof line))
      break;
    const long thousandths = strtol(line, NULL, 10);
    most = thousandths > most && thousandths < 1000000 ? thousandths : most;
  }
  return (int)((most + 500) / 1000);
}
