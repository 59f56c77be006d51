#include "unit/jit_fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/status.h"

atomic_int copier_builds, copier_loads, copier_modules;
const char *copier_version = "1";
const char *copier_key = "copier/one";
atomic_bool copier_refuses; /* the next binary that is loaded is not taken */

void (*copier_during_build)(const tsl_build *build);

static tesela_status copier_open(tsl_device *device) {
  (void)device;
  return TESELA_OK;
}

static void copier_close(tsl_device *device) {
  (void)device;
}

static tesela_status copier_compiler(tsl_device *device, tsl_text *text) {
  (void)device;
  tsl_text_add(text, "copier version %s", copier_version);
  return tsl_text_status(text);
}

static tesela_status copier_build(tsl_device *device, const tsl_build *build, tsl_binary *binary) {
  tsl_text all = {0};
  *binary = (tsl_binary){NULL, 0};
  atomic_fetch_add(&copier_builds, 1);
  if (copier_during_build != NULL)
    copier_during_build(build);
  if (strstr(build->text, "#error") != NULL) {
    tsl_status_keep_log("line 1: #error\n");
    return tsl_fail(TESELA_BUILD_FAILED, "%s: %s does not compile", device->name, build->name);
  }
  tsl_text_add(&all, "compiled %s", build->text);
  binary->bytes = all.length;
  binary->data = tsl_text_take(&all);
  return TESELA_OK;
}

static tesela_status copier_load(tsl_device *device, const char *name, const tsl_binary *binary,
                                 tsl_module **module) {
  *module = NULL;
  atomic_fetch_add(&copier_loads, 1);
  if (atomic_exchange(&copier_refuses, false))
    return tsl_fail(TESELA_BUILD_FAILED, "%s: %s: binary is not taken", device->name, name);
  *module = calloc(1, sizeof **module);
  (*module)->text = strndup(binary->data, binary->bytes);
  atomic_fetch_add(&copier_modules, 1);
  return TESELA_OK;
}

static void copier_unload(tsl_module *module) {
  atomic_fetch_sub(&copier_modules, 1);
  free(module->text);
  free(module);
}

static const tsl_device_ops copier_ops = {.source_extension = "cl",
                                          .open = copier_open,
                                          .close = copier_close,
                                          .build = copier_build,
                                          .compiler = copier_compiler,
                                          .module_load = copier_load,
                                          .module_destroy = copier_unload};

static tesela_status copier_list(void (*found)(void *argument, const tsl_device *device), void *argument) {
  tsl_device device = {.ops = &copier_ops, .capabilities = TSL_CAN_KERNELS};
  snprintf(device.key, sizeof device.key, "%s", copier_key);
  found(argument, &device);
  return TESELA_OK;
}

const tsl_device_kind copier_kind = {.kind = "copier", .what = "a compiler that copies", .list = copier_list};

copier copier_begin(void) {
  copier c = {NULL, NULL};
  assert_int_equal(tsl_devices_create(&c.devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(c.devices, "copier", &c.device), TESELA_OK);
  assert_int_equal(tsl_device_open(c.device), TESELA_OK);
  return c;
}

void copier_end(copier *c) {
  tsl_devices_destroy(c->devices);
  assert_int_equal(atomic_load(&copier_modules), 0);
}

int copier_ask(const copier *c, const char *name, const char *text) {
  const tsl_build build = {.name = name, .text = text, .options = ""};
  const int before = atomic_load(&copier_builds);
  tsl_module *module = NULL;
  assert_int_equal(tsl_jit_module(c->device, &build, &module, NULL), TESELA_OK);
  assert_memory_equal(module->text, "compiled ", 9);
  assert_string_equal(module->text + 9, text);
  return atomic_load(&copier_builds) - before;
}

int copier_ask_alone(const char *name, const char *text) {
  copier c = copier_begin();
  const int builds = copier_ask(&c, name, text);
  copier_end(&c);
  return builds;
}

scratch cache; /* its folder is TESELA_CACHE_DIR */

int cache_begin(void **state) {
  (void)state;
  scratch_create(&cache);
  setenv("TESELA_CACHE_DIR", cache.folder, 1);
  unsetenv("TESELA_CACHE_SIZE");
  copier_during_build = NULL;
  copier_version = "1";
  copier_key = "copier/one";
  atomic_store(&copier_builds, 0);
  atomic_store(&copier_loads, 0);
  return 0;
}

int cache_end(void **state) {
  (void)state;
  scratch_remove(&cache);
  return 0;
}

static void cache_count(void *argument, const tsl_jit_entry *entry) {
  listed *all = argument;
  all->entries++;
  all->damaged += entry->damaged != 0;
  all->bytes += entry->bytes;
  all->last = *entry;
}

listed cache_listed(void) {
  listed all = {0};
  assert_int_equal(tsl_jit_list(cache_count, &all), TESELA_OK);
  return all;
}

int ask_once(void) {
  return copier_ask_alone("gemm/tile_local", "__kernel void f() {}\n");
}

int in_process(int (*task)(void)) {
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0)
    _exit(task());
  int result;
  assert_int_equal(waitpid(child, &result, 0), child);
  assert_true(WIFEXITED(result));
  return WEXITSTATUS(result);
}

int files_ending(const char *ending, void (*each)(const char *path)) {
  DIR *names = opendir(cache.folder);
  int count = 0;
  assert_non_null(names);
  for (const struct dirent *name; (name = readdir(names)) != NULL;) {
    const size_t length = strlen(name->d_name), tail = strlen(ending);
    if (name->d_name[0] == '.' || length < tail || strcmp(name->d_name + length - tail, ending) != 0)
      continue;
    count++;
    if (each != NULL)
      each(scratch_path(&cache, name->d_name));
  }
  closedir(names);
  return count;
}

long size_of(const char *path) {
  struct stat facts;
  assert_int_equal(stat(path, &facts), 0);
  return (long)facts.st_size;
}

void overwrite(const char *path, long index, char byte) {
  FILE *file = fopen(path, "r+");
  assert_non_null(file);
  fseek(file, index, SEEK_SET);
  char old = 0;
  assert_int_equal(fread(&old, 1, 1, file), 1);
  fseek(file, index, SEEK_SET);
  fputc(old == byte ? byte ^ 1 : byte, file);
  fclose(file);
}

void make_empty(const char *path) {
  assert_int_equal(truncate(path, 0), 0);
}

void change_magic(const char *path) {
  overwrite(path, 0, 'T');
}

static char large[20000];

const char *large_text(int number) {
  memset(large, 'x', sizeof large - 1);
  const int digits = snprintf(large, sizeof large, "%d ", number);
  large[digits] = 'x';
  return large;
}
