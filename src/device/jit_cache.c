#include "device/jit_cache.h"

#include "core/clock.h"
#include "core/env.h"
#include "core/log.h"
#include "core/progress_hook.h"
#include "core/status.h"
#include "device/device_private.h"
#include "device/jit_bundle.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum build_state { BUILDING, READY, FAILED } build_state;

/* A build. It is listed while BUILDING and READY; a failed build leaves the list, so that a later request
 * tries again, and its last waiting thread frees it. */
struct tsl_jit_module_entry {
  tsl_jit_module_entry *next;
  tsl_jit_key key;
  char *key_text;
  build_state state;
  int users; /* threads inside of tsl_jit_module() with this entry */
  tsl_module *module;
  tesela_status status; /* status of a failure; with message and log for waiting threads */
  tsl_status_saved sentence;
  char *log;
};

/* Appends a part after its length, so that keys are unique. */
static void jit_cache_add_part(tsl_text *key, const char *name, const char *value) {
  const size_t length = strlen(value);
  tsl_text_add(key, "%s %zu ", name, length);
  tsl_text_add_bytes(key, value, length);
  tsl_text_add(key, "\n");
}

static tesela_status jit_cache_make_key(tsl_device *device, const tsl_build *build, tsl_text *key) {
  tsl_text compiler = {0};
  tesela_status status = device->ops->compiler(device, &compiler);
  if (status == TESELA_OK)
    status = tsl_text_status(&compiler);
  if (status == TESELA_OK) {
    tsl_text_add(key, "tesela kernel %d\n", TSL_JIT_VERSION);
    jit_cache_add_part(key, "name", build->name);
    jit_cache_add_part(key, "device", device->key);
    jit_cache_add_part(key, "compiler", tsl_text_get(&compiler));
    jit_cache_add_part(key, "options", build->options);
    jit_cache_add_part(key, "text", build->text);
    status = tsl_text_status(key);
  }
  tsl_text_free(&compiler);
  return status;
}

/* Loads a module from the folder; folder < 0: from the file named by TESELA_CACHE. False: not there. */
static bool load_from_disk(tsl_device *device, const tsl_build *build, const tsl_jit_key *key, int folder,
                           tsl_module **module) {
  tsl_binary binary;
  tsl_status_saved saved;
  char took[32];
  const char *place = folder < 0 ? " of the file TESELA_CACHE" : ".bin";
  const double begin = tsl_clock();
  if (folder < 0 ? !tsl_jit_bundle_read(key, build->name, &binary)
                 : !tsl_jit_entry_read(folder, key, build->name, &binary))
    return false;
  tsl_status_save(&saved);
  const tesela_status status = device->ops->module_load(device, build->name, &binary, module);
  if (status != TESELA_OK)
    tsl_log(TSL_LOG_CACHE, "%s: %s%s is not taken by %s: %s", build->name, key->hash, place, device->name,
            tesela_last_error());
  else
    tsl_log(TSL_LOG_CACHE, "%s: %s%s is used on %s, loaded in %s", build->name, key->hash, place,
            device->name, tsl_format_seconds(tsl_clock() - begin, took, sizeof took));
  tsl_status_restore(&saved);
  free(binary.data);
  return status == TESELA_OK;
}

/* Compiles and loads a module; stores its binary unless `folder` is negative. */
static tesela_status jit_cache_compile(tsl_device *device, const tsl_build *build, const tsl_jit_key *key,
                                       int folder, tsl_module **module, double *seconds) {
  tsl_binary binary = {NULL, 0};
  const double begin = tsl_clock();
  tsl_long_operation_begin("compiling %s for %s, the first time", build->name, device->name);
  tesela_status status = device->ops->build(device, build, &binary);
  if (status == TESELA_OK)
    status = device->ops->module_load(device, build->name, &binary, module);
  tsl_long_operation_end();
  if (status != TESELA_OK)
    goto out;
  *seconds = tsl_clock() - begin;
  char took[32];
  tsl_log(TSL_LOG_CACHE, "%s: compiled for %s in %s", build->name, device->name,
          tsl_format_seconds(*seconds, took, sizeof took));
  if (folder >= 0)
    tsl_jit_entry_write(folder, key, device, build, &binary);
out:
  free(binary.data);
  return status;
}

bool tsl_jit_is_forbidden(void) {
  return strcmp(tsl_env_get(TSL_ENV_JIT), "never") == 0;
}

static tesela_status jit_cache_fail_forbidden(const tsl_device *device, const tsl_build *build) {
  tsl_log(TSL_LOG_CACHE, "%s: not compiled for %s: TESELA_JIT=never and the kernel is in no cache",
          build->name, device->name);
  return tsl_fail(TESELA_UNSUPPORTED,
                  "%s: %s is not compiled: TESELA_JIT=never and the kernel is in no cache", device->name,
                  build->name);
}

/* Loads the module from the cache file or the folder, else compiles it if TESELA_JIT allows. */
static tesela_status jit_cache_obtain(tsl_device *device, const tsl_build *build, const tsl_jit_key *key,
                                      tsl_module **module, double *seconds) {
  char why[256];
  int folder = -1;
  const bool may_compile = !tsl_jit_is_forbidden();
  if (load_from_disk(device, build, key, -1, module))
    return TESELA_OK;
  if (tsl_jit_size_limit() > 0) {
    folder = tsl_jit_folder_open(may_compile, why, sizeof why);
    if (folder < 0 && may_compile)
      tsl_log(TSL_LOG_CACHE, "no kernel is kept on disk: %s", why);
  }
  tesela_status status = TESELA_OK;
  if (folder < 0 || !load_from_disk(device, build, key, folder, module))
    status = may_compile ? jit_cache_compile(device, build, key, folder, module, seconds)
                         : jit_cache_fail_forbidden(device, build);
  if (folder >= 0)
    close(folder);
  return status;
}

static tsl_jit_module_entry *jit_cache_find(const tsl_device_slot *slot, const tsl_jit_key *key) {
  for (tsl_jit_module_entry *entry = slot->jit_modules; entry != NULL; entry = entry->next)
    if (strcmp(entry->key.hash, key->hash) == 0 && entry->key.length == key->length &&
        memcmp(entry->key.text, key->text, key->length) == 0)
      return entry;
  return NULL;
}

static void entry_free(tsl_jit_module_entry *entry) {
  free(entry->log);
  free(entry->key_text);
  free(entry);
}

/* Ends a thread's use of an entry; the last user of a failed build frees the entry. The lock is held. */
static void jit_cache_release_entry(tsl_jit_module_entry *entry) {
  if (--entry->users == 0 && entry->state == FAILED)
    entry_free(entry);
}

/* Waits for the building thread and returns its result. The lock is held. */
static tesela_status jit_cache_await(tsl_device_slot *slot, tsl_jit_module_entry *entry,
                                     tsl_module **module) {
  entry->users++;
  while (entry->state == BUILDING)
    pthread_cond_wait(&slot->jit_done, &slot->jit_lock);
  const tesela_status status = entry->status;
  if (status == TESELA_OK) {
    *module = entry->module;
  } else {
    tsl_status_restore(&entry->sentence);
    tsl_status_keep_log(entry->log);
  }
  jit_cache_release_entry(entry);
  return status;
}

/* Stores the build's result and wakes the waiting threads. The lock is held. */
static void jit_cache_end_build(tsl_device_slot *slot, tsl_jit_module_entry *entry, tesela_status status,
                                tsl_module *module) {
  entry->status = status;
  entry->module = module;
  entry->state = status == TESELA_OK ? READY : FAILED;
  if (status != TESELA_OK) {
    tsl_status_save(&entry->sentence);
    entry->log = strdup(tesela_last_log());
    tsl_jit_module_entry **at = &slot->jit_modules;
    while (*at != entry)
      at = &(*at)->next;
    *at = entry->next;
  }
  pthread_cond_broadcast(&slot->jit_done);
  jit_cache_release_entry(entry);
}

/* Lists a BUILDING entry with one user, which owns the text; NULL: no memory. The lock is held. */
static tsl_jit_module_entry *entry_add(tsl_device_slot *slot, tsl_text *text, const char *hash) {
  tsl_jit_module_entry *entry = calloc(1, sizeof *entry);
  if (entry == NULL)
    return NULL;
  entry->key.length = text->length;
  entry->key_text = tsl_text_take(text);
  entry->key.text = entry->key_text;
  memcpy(entry->key.hash, hash, sizeof entry->key.hash);
  entry->users = 1;
  entry->next = slot->jit_modules;
  slot->jit_modules = entry;
  return entry;
}

tesela_status tsl_jit_module(tsl_device *device, const tsl_build *build, tsl_module **module,
                             double *seconds) {
  tsl_device_slot *slot = tsl_device_slot_of(device);
  tsl_text text = {0};
  double taken = 0;
  *module = NULL;
  if (seconds != NULL)
    *seconds = 0;
  if (device->ops->build == NULL)
    return tsl_fail(TESELA_UNSUPPORTED, "%s: compiles no kernels", device->name);
  tesela_status status = jit_cache_make_key(device, build, &text);
  if (status != TESELA_OK) {
    tsl_text_free(&text);
    return status;
  }
  tsl_jit_key key = {.text = text.data, .length = text.length};
  tsl_hash_text(tsl_hash_add(tsl_hash_start(), text.data, text.length), key.hash);

  pthread_mutex_lock(&slot->jit_lock);
  tsl_jit_module_entry *entry = jit_cache_find(slot, &key);
  if (entry != NULL) {
    status = jit_cache_await(slot, entry, module);
  } else if (build->loaded_only) {
    status = tsl_fail(TESELA_UNSUPPORTED, "%s: %s is not loaded in this form", device->name, build->name);
  } else if ((entry = entry_add(slot, &text, key.hash)) == NULL) {
    status = tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no memory for the record of a kernel", device->name);
  } else {
    pthread_mutex_unlock(&slot->jit_lock);
    status = jit_cache_obtain(device, build, &entry->key, module, &taken);
    pthread_mutex_lock(&slot->jit_lock);
    jit_cache_end_build(slot, entry, status, *module);
  }
  pthread_mutex_unlock(&slot->jit_lock);
  if (seconds != NULL)
    *seconds = taken;
  tsl_text_free(&text);
  return status;
}

void tsl_jit_forget(tsl_device *device) {
  tsl_device_slot *slot = tsl_device_slot_of(device);
  while (slot->jit_modules != NULL) {
    tsl_jit_module_entry *entry = slot->jit_modules;
    slot->jit_modules = entry->next;
    device->ops->module_destroy(entry->module);
    entry_free(entry);
  }
}
