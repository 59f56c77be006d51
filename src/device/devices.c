#include "device/devices.h"

#include "core/env.h"
#include "core/floats.h"
#include "core/log.h"
#include "core/status.h"
#include "core/suggest.h"
#include "device/device_list.h"
#include "device/device_private.h"
#include "device/group.h"
#include "device/jit_cache.h"
#include "device/memory_pool.h"
#include "device/self_tests.h"
#include "device/staging.h"
#include "dispatch/crossovers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TSL_DEVICE_KIND_DECLARATION(kind) extern const tsl_device_kind tsl_device_kind_##kind;
TSL_DEVICE_KIND_LIST(TSL_DEVICE_KIND_DECLARATION)
#undef TSL_DEVICE_KIND_DECLARATION

static const tsl_device_kind *const built_in_kinds[] = {
#define TSL_DEVICE_KIND_MEMBER(kind) &tsl_device_kind_##kind,
    TSL_DEVICE_KIND_LIST(TSL_DEVICE_KIND_MEMBER)
#undef TSL_DEVICE_KIND_MEMBER
};

enum {
  BUILT_IN_KINDS = sizeof built_in_kinds / sizeof built_in_kinds[0],
  ADDED_KINDS_MAX = 4,
  KINDS_MAX = BUILT_IN_KINDS + ADDED_KINDS_MAX
};

/* Kinds of tests; set before all other calls. */
static const tsl_device_kind *added_kinds[ADDED_KINDS_MAX];
static int added_count;

#define NO_MEMORY "no memory for the list of devices"

typedef struct kind_devices {
  const tsl_device_kind *kind;
  bool was_listed;
  bool was_asked, is_processor; /* is_processor() was called; its result */
  tsl_device_slot **slots;
  int count;
  tesela_status status; /* result of list() */
  char why_none[1024];  /* message of list() */
} kind_devices;

struct tsl_devices {
  tsl_fork_mutex lock; /* protects all below; a listed kind is constant */
  int threads;         /* maximum host threads of a device; 0: no limit */
  uint64_t memory;     /* maximum bytes of a plan; 0: the device's */
  uint64_t last_cache; /* assumed bytes of the processor's last cache; 0: its own */
  tsl_device_slot **requested_groups;
  int group_count;
  int kind_count;
  kind_devices kinds[KINDS_MAX];
  kind_devices unlisted_kinds[KINDS_MAX]; /* constant results where list() ran out of memory */
};

void tsl_device_kind_add(const tsl_device_kind *kind) {
  for (int i = 0; i < added_count; i++)
    if (added_kinds[i] == kind)
      return;
  if (added_count < ADDED_KINDS_MAX)
    added_kinds[added_count++] = kind;
}

int tsl_device_kind_count(void) {
  return BUILT_IN_KINDS + added_count;
}

const tsl_device_kind *tsl_device_kind_at(int index) {
  return index < BUILT_IN_KINDS ? built_in_kinds[index] : added_kinds[index - BUILT_IN_KINDS];
}

/* Reads a size; 0: the variable is not set. */
static tesela_status read_size_variable(tsl_env variable, uint64_t *bytes) {
  const char *text = tsl_env_get(variable);
  *bytes = 0;
  if (*text && (!tsl_parse_bytes(text, bytes) || *bytes == 0))
    return tsl_fail(TESELA_BAD_CALL, "%s is \"%.64s\"; it can be a size such as 8GiB",
                    tsl_env_info_at((int)variable)->name, text);
  return TESELA_OK;
}

tesela_status tsl_devices_create(tsl_devices **devices) {
  static const tsl_env worded[] = {TSL_ENV_JIT, TSL_ENV_COPIES, TSL_ENV_SELFTEST, TSL_ENV_VENDORS};
  uint64_t memory, last_cache;
  *devices = NULL;
  TSL_TRY(read_size_variable(TSL_ENV_DEVICE_MEMORY, &memory));
  TSL_TRY(read_size_variable(TSL_ENV_LAST_CACHE, &last_cache));
  for (size_t i = 0; i < sizeof worded / sizeof *worded; i++)
    TSL_TRY(tsl_env_check(worded[i]));
  TSL_TRY(tsl_crossovers_check());
  *devices = calloc(1, sizeof **devices);
  if (*devices == NULL)
    return tsl_fail(TESELA_OUT_OF_MEMORY, NO_MEMORY);
  tsl_fork_mutex_init(&(*devices)->lock);
  (*devices)->memory = memory;
  (*devices)->last_cache = last_cache;
  (*devices)->kind_count = tsl_device_kind_count();
  for (int i = 0; i < (*devices)->kind_count; i++) {
    (*devices)->kinds[i].kind = tsl_device_kind_at(i);
    (*devices)->unlisted_kinds[i] =
        (kind_devices){.kind = tsl_device_kind_at(i), .status = TESELA_OUT_OF_MEMORY, .why_none = NO_MEMORY};
  }
  return TESELA_OK;
}

void tsl_devices_limit(tsl_devices *devices, int threads) {
  tsl_fork_mutex_lock(&devices->lock);
  devices->threads = threads;
  for (int i = 0; i < devices->kind_count; i++)
    for (int d = 0; d < devices->kinds[i].count; d++) {
      tsl_device *device = &devices->kinds[i].slots[d]->device;
      device->host_threads = threads;
      tsl_device_limit(device, threads);
    }
  tsl_fork_mutex_unlock(&devices->lock);
}

static void slot_free(tsl_device_slot *slot) {
  tsl_self_test_forget(&slot->device);
  if (slot->kind->forget != NULL)
    slot->kind->forget(&slot->device);
  pthread_cond_destroy(&slot->jit_done);
  pthread_mutex_destroy(&slot->jit_lock);
  pthread_mutex_destroy(&slot->staging_lock);
  pthread_mutex_destroy(&slot->pool.lock);
  tsl_fork_mutex_destroy(&slot->open_lock);
  free(slot);
}

/* Returns the bytes for plans; drivers reserve a part of a device's own memory. */
static uint64_t memory_limit(const tsl_device *device, uint64_t configured) {
  const bool shared = (device->capabilities & (TSL_CAN_HOST | TSL_CAN_SHARED_MEMORY)) != 0;
  const uint64_t has = device->memory_bytes - (shared ? 0 : device->memory_bytes / 16);
  return configured > 0 && configured < has ? configured : has;
}

static tsl_device_slot *slot_create(const tsl_device_kind *kind, const tsl_device *device, int index,
                                    const tsl_devices *devices) {
  tsl_device_slot *slot = calloc(1, sizeof *slot);
  if (slot == NULL)
    return NULL;
  slot->device = *device;
  slot->kind = kind;
  slot->device.kind = kind->kind;
  slot->device.index = index;
  slot->device.host_threads = devices->threads;
  slot->device.memory_limit = memory_limit(device, devices->memory);
  if (device->is_cpu && devices->last_cache > 0)
    slot->device.cache_bytes = devices->last_cache;
  if (device->member_count > 0)
    tsl_group_name(&slot->device);
  else if (kind->single != 0)
    snprintf(slot->device.name, sizeof slot->device.name, "%s", kind->kind);
  else
    snprintf(slot->device.name, sizeof slot->device.name, "%s:%d", kind->kind, index);
  tsl_fork_mutex_init(&slot->open_lock);
  pthread_mutex_init(&slot->jit_lock, NULL);
  pthread_mutex_init(&slot->staging_lock, NULL);
  pthread_mutex_init(&slot->pool.lock, NULL);
  pthread_cond_init(&slot->jit_done, NULL);
  return slot;
}

typedef struct devices_listing {
  kind_devices *into;
  const tsl_devices *devices;
  bool out_of_memory;
} devices_listing;

/* Adds a device that list() found to its kind; without memory drops it and sets out_of_memory. */
static void add_found_device(void *argument, const tsl_device *device) {
  devices_listing *list = argument;
  kind_devices *into = list->into;
  tsl_device_slot **slots = realloc(into->slots, ((size_t)into->count + 1) * sizeof *slots);
  if (slots != NULL)
    into->slots = slots;
  tsl_device_slot *slot = slots != NULL ? slot_create(into->kind, device, into->count, list->devices) : NULL;
  if (slot == NULL) {
    tsl_device lost = *device;
    if (into->kind->forget != NULL)
      into->kind->forget(&lost);
    list->out_of_memory = true;
    return;
  }
  into->slots[into->count++] = slot;
}

static void kind_free_slots(kind_devices *kind) {
  while (kind->count > 0)
    slot_free(kind->slots[--kind->count]);
  free(kind->slots);
  kind->slots = NULL;
}

/* Lists a kind once. A failure is remembered, unless memory ran out, and keeps the thread's error message. */
static const kind_devices *list_kind_once(tsl_devices *devices, int index) {
  kind_devices *kind = &devices->kinds[index];
  tsl_fork_mutex_lock(&devices->lock);
  if (!kind->was_listed) {
    TSL_DEFAULT_FLOATS; /* drivers' threads inherit the environment */
    devices_listing list = {.into = kind, .devices = devices};
    tsl_status_saved saved;
    tsl_status_save(&saved);
    kind->why_none[0] = 0;
    kind->status = kind->kind->list(add_found_device, &list);
    if (list.out_of_memory)
      kind->status = tsl_fail(TESELA_OUT_OF_MEMORY, NO_MEMORY);
    else if (kind->status == TESELA_OK && kind->count == 0)
      kind->status = tsl_fail(TESELA_NO_DEVICE, "there are no %s", kind->kind->what);
    if (kind->status != TESELA_OK) {
      snprintf(kind->why_none, sizeof kind->why_none, "%s", tesela_last_error());
      tsl_log(TSL_LOG_DEVICE, "no %s device: %s", kind->kind->kind, kind->why_none);
      kind_free_slots(kind);
    }
    tsl_status_restore(&saved);
    kind->was_listed = kind->status != TESELA_OUT_OF_MEMORY;
  }
  const kind_devices *answer = kind->was_listed ? kind : &devices->unlisted_kinds[index];
  tsl_fork_mutex_unlock(&devices->lock);
  return answer;
}

tesela_status tsl_devices_kind(tsl_devices *devices, int kind, const char **name, const char **what,
                               int *count, const char **why_none) {
  if (kind < 0 || kind >= devices->kind_count)
    return tsl_fail(TESELA_BAD_CALL, "there are %d kinds of device, but kind %d was requested",
                    devices->kind_count, kind);
  const kind_devices *list = list_kind_once(devices, kind);
  *name = list->kind->kind;
  *what = list->kind->what;
  *count = list->count;
  *why_none = list->why_none;
  return TESELA_OK;
}

tsl_device *tsl_devices_of_kind(tsl_devices *devices, int kind, int index) {
  if (kind < 0 || kind >= devices->kind_count || index < 0)
    return NULL;
  const kind_devices *list = list_kind_once(devices, kind);
  return index < list->count ? &list->slots[index]->device : NULL;
}

bool tsl_devices_is_processor(tsl_devices *devices, int kind) {
  if (kind < 0 || kind >= devices->kind_count)
    return false;
  kind_devices *list = &devices->kinds[kind];
  tsl_fork_mutex_lock(&devices->lock);
  if (!list->was_asked) {
    list->is_processor = list->kind->is_processor && list->kind->is_processor();
    list->was_asked = true;
  }
  bool all = list->was_listed ? list->count > 0 : list->is_processor;
  for (int i = 0; list->was_listed && i < list->count; i++)
    all = all && list->slots[i]->device.is_cpu;
  tsl_fork_mutex_unlock(&devices->lock);
  return all;
}

tsl_device *tsl_devices_at(tsl_devices *devices, int index) {
  if (index < 0)
    return NULL;
  for (int i = 0; i < devices->kind_count; i++) {
    const kind_devices *kind = list_kind_once(devices, i);
    if (index < kind->count)
      return &kind->slots[index]->device;
    index -= kind->count;
  }
  return NULL;
}

typedef struct parsed_name {
  int kind; /* index of the kind */
  int64_t index;
} parsed_name;

static void add_example_names(tsl_text *text) {
  for (int i = 0; i < tsl_device_kind_count(); i++)
    tsl_text_add(text, "%s%s%s", i == 0 ? "" : ", ", tsl_device_kind_at(i)->kind,
                 tsl_device_kind_at(i)->single != 0 ? "" : ":0");
}

/* Returns TESELA_BAD_CALL with the accepted names and the nearest one. `length`: letters before the colon. */
static tesela_status fail_name(const char *name, size_t length) {
  char suggestion[TSL_SUGGESTION_BYTES];
  tsl_text examples = {0}, names = {0};
  add_example_names(&examples);
  const char *const tail = strspn(name + length, ":0123456789") == strlen(name + length) ? name + length : "";
  for (int i = 0; i < tsl_device_kind_count(); i++)
    tsl_text_add(&names, "%s%s, ", tsl_device_kind_at(i)->kind, tail);
  tsl_text_add(&names, "auto");
  const tesela_status status =
      tsl_fail(TESELA_BAD_CALL,
               "\"%.64s\" is no device's name; names are a kind, or a kind, a colon and a number: %s%s", name,
               tsl_text_get(&examples), tsl_suggest(name, tsl_text_get(&names), suggestion));
  tsl_text_free(&examples);
  tsl_text_free(&names);
  return status;
}

static tesela_status parse_device_name(const char *name, parsed_name *out) {
  const size_t length = strcspn(name, ":");
  for (int i = 0; i < tsl_device_kind_count(); i++) {
    const char *kind = tsl_device_kind_at(i)->kind;
    if (strlen(kind) != length || strncmp(kind, name, length) != 0)
      continue;
    *out = (parsed_name){.kind = i, .index = 0};
    const char *digits = name + length + 1;
    if (name[length] == '\0' || (digits[0] != '\0' && strspn(digits, "0123456789") == strlen(digits) &&
                                 tsl_parse_i64(digits, &out->index)))
      return TESELA_OK;
  }
  return fail_name(name, length);
}

static bool is_whole_kind(const char *name) {
  const char *colon = strchr(name, ':');
  return colon && strcmp(colon, ":*") == 0;
}

/* Name in a list of names: a kind's "cuda:*", or one device's. */
typedef struct name_in_list {
  char text[64];
  bool is_whole_kind;
  parsed_name parsed;
} name_in_list;

/* Parses the list's next name and advances *rest, NULL after the last. TESELA_BAD_CALL: malformed. */
static tesela_status next_name(const char *all, const char **rest, name_in_list *out) {
  const size_t length = strcspn(*rest, ",");
  if (length == 0)
    return tsl_fail(TESELA_BAD_CALL,
                    "\"%.64s\" has a comma without a device; several devices are named like opencl:0,cpu",
                    all);
  snprintf(out->text, sizeof out->text, "%.*s", (int)(length < sizeof out->text ? length : 63), *rest);
  if (strcmp(out->text, "auto") == 0)
    return tsl_fail(TESELA_BAD_CALL, "\"%.64s\" has auto among several devices, which are named one by one",
                    all);
  *rest = (*rest)[length] ? *rest + length + 1 : NULL;
  out->is_whole_kind = is_whole_kind(out->text);
  if (!out->is_whole_kind)
    return parse_device_name(out->text, &out->parsed);
  char kind[64];
  snprintf(kind, sizeof kind, "%.*s", (int)strcspn(out->text, ":"), out->text);
  return parse_device_name(kind, &out->parsed);
}

static bool names_group(const char *name) {
  return strchr(name, ',') || is_whole_kind(name);
}

tesela_status tsl_device_name_check(const char *name) {
  parsed_name parsed;
  name_in_list one;
  if (strcmp(name, "auto") == 0)
    return TESELA_OK;
  if (!names_group(name))
    return parse_device_name(name, &parsed);
  for (const char *rest = name; rest;)
    TSL_TRY(next_name(name, &rest, &one));
  return TESELA_OK;
}

static tesela_status fail_missing_device(const kind_devices *kind, const char *name) {
  if (kind->count == 0 && kind->status == TESELA_NO_DEVICE)
    return tsl_fail(TESELA_NO_DEVICE, "there is no device %s: %s", name, kind->why_none);
  if (kind->count == 0)
    return tsl_fail(kind->status, "%s: %s", name, kind->why_none);
  tsl_text names = {0};
  for (int i = 0; i < kind->count; i++)
    tsl_text_add(&names, "%s%s", i == 0 ? "" : ", ", kind->slots[i]->device.name);
  tsl_fail(TESELA_NO_DEVICE, "there is no device %s; there %s %s", name, kind->count == 1 ? "is" : "are",
           tsl_text_get(&names));
  tsl_text_free(&names);
  return TESELA_NO_DEVICE;
}

static tesela_status find_single_device(tsl_devices *devices, const char *name, tsl_device **device) {
  parsed_name parsed;
  TSL_TRY(parse_device_name(name, &parsed));
  if (parsed.kind >= devices->kind_count)
    return tsl_fail(TESELA_INTERNAL, "%s: this kind was added after the list of devices was made", name);
  const kind_devices *kind = list_kind_once(devices, parsed.kind);
  if (parsed.index >= kind->count)
    return fail_missing_device(kind, name);
  *device = &kind->slots[parsed.index]->device;
  return TESELA_OK;
}

static tesela_status add_member(const char *list, tsl_device *member, tsl_device *group) {
  for (int i = 0; i < group->member_count; i++)
    if (group->members[i] == member)
      return tsl_fail(TESELA_BAD_CALL, "\"%.64s\" names %s twice: each device may occur once", list,
                      member->name);
  if (group->member_count == TSL_MEMBERS_MAX)
    return tsl_fail(TESELA_BAD_CALL, "\"%.64s\" names more than %d devices", list, (int)TSL_MEMBERS_MAX);
  group->members[group->member_count++] = member;
  return TESELA_OK;
}

static tesela_status add_members_named(tsl_devices *devices, const char *list, const name_in_list *name,
                                       tsl_device *group) {
  tsl_device *member = NULL;
  if (!name->is_whole_kind) {
    TSL_TRY(find_single_device(devices, name->text, &member));
    return add_member(list, member, group);
  }
  const kind_devices *kind = list_kind_once(devices, name->parsed.kind);
  if (kind->count == 0)
    return fail_missing_device(kind, name->text);
  for (int i = 0; i < kind->count; i++)
    TSL_TRY(add_member(list, &kind->slots[i]->device, group));
  return TESELA_OK;
}

/* Registers a group, or returns an existing one with equal members. */
static tesela_status find_or_register_group(tsl_devices *devices, const tsl_device *group,
                                            tsl_device **device) {
  tesela_status status = TESELA_OK;
  tsl_fork_mutex_lock(&devices->lock);
  for (int i = 0; i < devices->group_count && !*device; i++)
    if (tsl_group_is(&devices->requested_groups[i]->device, group))
      *device = &devices->requested_groups[i]->device;
  if (!*device) {
    const size_t bytes = ((size_t)devices->group_count + 1) * sizeof *devices->requested_groups;
    tsl_device_slot **grown = realloc(devices->requested_groups, bytes);
    if (grown)
      devices->requested_groups = grown;
    tsl_device_slot *slot = grown ? slot_create(&tsl_device_kind_several, group, 0, devices) : NULL;
    if (slot)
      *device = &(devices->requested_groups[devices->group_count++] = slot)->device;
    else
      status = tsl_fail(TESELA_OUT_OF_MEMORY, NO_MEMORY);
  }
  tsl_fork_mutex_unlock(&devices->lock);
  return status;
}

static tesela_status find_group(tsl_devices *devices, const char *name, tsl_device **device) {
  tsl_device group = {.member_count = 0};
  name_in_list one;
  for (const char *rest = name; rest;) {
    TSL_TRY(next_name(name, &rest, &one));
    TSL_TRY(add_members_named(devices, name, &one, &group));
  }
  if (group.member_count == 1) {
    *device = group.members[0];
    return TESELA_OK;
  }
  tsl_group_describe(&group);
  return find_or_register_group(devices, &group, device);
}

tesela_status tsl_devices_find(tsl_devices *devices, const char *name, tsl_device **device) {
  *device = NULL;
  return names_group(name) ? find_group(devices, name, device) : find_single_device(devices, name, device);
}

static void slot_close(tsl_device_slot *slot) {
  if (!slot->is_open)
    return;
  tsl_staging_forget(&slot->device);
  (void)tsl_pooled_buffers_destroy(&slot->device);
  tsl_jit_forget(&slot->device);
  slot->device.ops->close(&slot->device);
  slot->is_open = false;
}

void tsl_devices_destroy(tsl_devices *devices) {
  if (devices == NULL)
    return;
  for (int i = 0; i < devices->group_count; i++) {
    slot_close(devices->requested_groups[i]);
    slot_free(devices->requested_groups[i]);
  }
  free(devices->requested_groups);
  for (int i = devices->kind_count - 1; i >= 0; i--) {
    kind_devices *kind = &devices->kinds[i];
    for (int d = kind->count - 1; d >= 0; d--)
      slot_close(kind->slots[d]);
    kind_free_slots(kind);
  }
  tsl_fork_mutex_destroy(&devices->lock);
  free(devices);
}
