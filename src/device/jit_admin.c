#include "core/hash.h"
#include "core/status.h"
#include "device/jit_bundle.h"
#include "device/jit_cache.h"
#include "device/jit_scan.h"
#include "device/self_tests.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Gets the value of the key's line "name 3 abc"; "?": none. */
static void get_key_part(const tsl_jit_loaded *loaded, const char *name, char *out, size_t size) {
  const char *at = loaded->key, *end = loaded->key + loaded->key_bytes;
  const size_t length = strlen(name);
  snprintf(out, size, "?");
  while (at < end) {
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    if (line_end == NULL)
      return;
    if ((size_t)(line_end - at) > length && memcmp(at, name, length) == 0 && at[length] == ' ') {
      const char *value = memchr(at + length + 1, ' ', (size_t)(line_end - at) - length - 1);
      if (value != NULL)
        snprintf(out, size, "%.*s", (int)(line_end - value - 1), value + 1);
      return;
    }
    at = line_end + 1;
  }
}

/* Returns the length of the word at `src`, up to a blank or the line's end. */
static size_t word_length(const char *src, const char *end) {
  size_t length = 0;
  while (src + length < end && src[length] != ' ' && src[length] != '\n')
    length++;
  return length;
}

/* Appends `#define TSL_PARAM_TILE 16` as "tile=16"; other names stay, TSL_REAL as its value alone. */
static void add_definition(const char *name, size_t name_length, const char *value, size_t value_length,
                           tsl_text *out) {
  static const char param[] = "TSL_PARAM_", real[] = "TSL_REAL";
  const bool is_param = name_length > strlen(param) && strncmp(name, param, strlen(param)) == 0;
  tsl_text_add(out, "%s", out->length > 0 ? " " : "");
  if (name_length == strlen(real) && strncmp(name, real, name_length) == 0) {
    tsl_text_add_bytes(out, value, value_length);
    return;
  }
  for (size_t i = is_param ? strlen(param) : 0; i < name_length; i++)
    tsl_text_add(out, "%c", is_param ? tolower((unsigned char)name[i]) : name[i]);
  tsl_text_add(out, "=");
  tsl_text_add_bytes(out, value, value_length);
}

/* Gets the config: the definitions at the start of the key's text. */
static void get_key_config(const tsl_jit_loaded *loaded, char *out, size_t size) {
  static const char mark[] = "\ntext ", define[] = "#define ";
  const char *end = loaded->key + loaded->key_bytes;
  const char *at = memmem(loaded->key, loaded->key_bytes, mark, strlen(mark));
  tsl_text text = {0};
  if (at) {
    at += strlen(mark);
    at += word_length(at, end); /* the text's length */
    at += at < end;
  }
  while (at && (size_t)(end - at) > strlen(define) && memcmp(at, define, strlen(define)) == 0) {
    const char *name = at + strlen(define);
    const size_t name_length = word_length(name, end);
    const char *value = name + name_length + 1;
    const size_t value_length = value < end ? word_length(value, end) : 0;
    if (value >= end)
      break;
    add_definition(name, name_length, value, value_length, &text);
    at = memchr(value, '\n', (size_t)(end - value));
    at = at ? at + 1 : NULL;
  }
  snprintf(out, size, "%s", tsl_text_get(&text));
  tsl_text_free(&text);
}

/* Loads and verifies an entry; a damaged entry has no name and no config. */
static tsl_jit_entry jit_admin_describe(int folder, const tsl_jit_files_entry *entry) {
  tsl_jit_entry out = {
      .name = "?", .device = "?", .bytes = entry->bytes, .age = tsl_jit_age(entry->last_used)};
  tsl_jit_loaded loaded = {0};
  char hash[33];
  snprintf(out.hash, sizeof out.hash, "%.32s", entry->files[0].name);
  out.damaged = entry->binary == NULL || tsl_jit_entry_load(folder, entry->binary->name, &loaded) != NULL;
  if (out.damaged)
    return out;
  tsl_hash_text(tsl_hash_add(tsl_hash_start(), loaded.key, loaded.key_bytes), hash);
  out.damaged = strcmp(hash, out.hash) != 0;
  get_key_part(&loaded, "name", out.name, sizeof out.name);
  get_key_part(&loaded, "device", out.device, sizeof out.device);
  get_key_config(&loaded, out.config, sizeof out.config);
  free(loaded.bytes);
  return out;
}

/* Lists the folder; a missing folder is empty. */
static tesela_status open_listing(int *folder, tsl_jit_listing *listing) {
  char why[256];
  *listing = (tsl_jit_listing){0};
  *folder = tsl_jit_folder_open(false, why, sizeof why);
  if (*folder < 0)
    return errno == ENOENT ? TESELA_OK : tsl_fail(TESELA_IO_FAILED, "%s", why);
  if (tsl_jit_listing_make(*folder, listing))
    return TESELA_OK;
  close(*folder);
  return tsl_fail(TESELA_IO_FAILED, "the folder of compiled kernels cannot be listed");
}

tesela_status tsl_jit_list(void (*each)(void *argument, const tsl_jit_entry *entry), void *argument) {
  tsl_jit_listing listing;
  int folder;
  TSL_TRY(open_listing(&folder, &listing));
  for (int i = 0; i < listing.entry_count; i++) {
    const tsl_jit_entry entry = jit_admin_describe(folder, &listing.entries[i]);
    each(argument, &entry);
  }
  tsl_jit_listing_free(&listing);
  if (folder >= 0)
    close(folder);
  return TESELA_OK;
}

/* Exported entries, sorted by hash. */
typedef struct jit_admin_export {
  tsl_jit_loaded *entries;
  char (*hashes)[33];
  int count;
} jit_admin_export;

static bool jit_admin_is_for_devices(const tsl_jit_loaded *loaded, const char *const *device_keys,
                                     int key_count) {
  char device[sizeof((tsl_jit_entry *)0)->device];
  get_key_part(loaded, "device", device, sizeof device);
  bool is_wanted = key_count == 0;
  for (int i = 0; i < key_count && !is_wanted; i++)
    is_wanted = strcmp(device_keys[i], device) == 0;
  return is_wanted;
}

/* Loads the valid entries for these devices. */
static tesela_status jit_admin_load_entries(int folder, const tsl_jit_listing *listing,
                                            const char *const *device_keys, int key_count,
                                            jit_admin_export *out) {
  out->entries = calloc((size_t)listing->entry_count + 1, sizeof *out->entries);
  out->hashes = calloc((size_t)listing->entry_count + 1, sizeof *out->hashes);
  if (!out->entries || !out->hashes)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for the list of %d compiled kernels",
                    listing->entry_count);
  for (int i = 0; i < listing->entry_count; i++) {
    const tsl_jit_files_entry *entry = &listing->entries[i];
    tsl_jit_loaded loaded;
    if (!entry->binary || tsl_jit_entry_load(folder, entry->binary->name, &loaded) != NULL)
      continue;
    char *hash = out->hashes[out->count];
    tsl_hash_text(tsl_hash_add(tsl_hash_start(), loaded.key, loaded.key_bytes), hash);
    if (strncmp(hash, entry->binary->name, strlen(hash)) == 0 &&
        jit_admin_is_for_devices(&loaded, device_keys, key_count))
      out->entries[out->count++] = loaded;
    else
      free(loaded.bytes);
  }
  return TESELA_OK;
}

tesela_status tsl_jit_export(const char *const *device_keys, int key_count,
                             tesela_status (*write)(void *argument, const void *bytes, size_t count),
                             void *argument, int *count, uint64_t *bytes) {
  tsl_jit_listing listing;
  jit_admin_export all = {0};
  int folder;
  TSL_TRY(open_listing(&folder, &listing));
  tesela_status status = jit_admin_load_entries(folder, &listing, device_keys, key_count, &all);
  if (status == TESELA_OK && all.count == 0)
    status = tsl_fail(TESELA_UNSUPPORTED,
                      "there is nothing to export: the cache holds no kernel%s that is "
                      "not damaged; tesela cache prefill compiles them",
                      key_count > 0 ? " of this device" : "");
  if (status == TESELA_OK)
    status = tsl_jit_bundle_write(all.entries, (const char(*)[33])all.hashes, all.count, write, argument);
  *count = all.count;
  *bytes = tsl_jit_bundle_bytes(all.entries, all.count);
  for (int i = 0; i < all.count; i++)
    free(all.entries[i].bytes);
  free(all.entries);
  free(all.hashes);
  tsl_jit_listing_free(&listing);
  if (folder >= 0)
    close(folder);
  return status;
}

tesela_status tsl_jit_clear(int *count, uint64_t *bytes) {
  tsl_jit_listing listing;
  int folder, left = 0, reason = 0;
  *count = 0;
  *bytes = 0;
  tsl_self_test_clear();
  TSL_TRY(open_listing(&folder, &listing));
  for (int i = 0; i < listing.entry_count; i++) {
    if (!tsl_jit_remove_entry(folder, &listing.entries[i])) {
      reason = errno;
      left++;
      continue;
    }
    ++*count;
    *bytes += listing.entries[i].bytes;
  }
  if (folder >= 0) {
    tsl_jit_remove_temporaries(folder, &listing, 0);
    close(folder);
  }
  tsl_jit_listing_free(&listing);
  if (left > 0)
    return tsl_fail(TESELA_IO_FAILED, "%d compiled kernels could not be removed: %s", left, strerror(reason));
  return TESELA_OK;
}
