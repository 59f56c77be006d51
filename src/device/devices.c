#include "device/devices.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "device/jit_cache.h"
#include "device/list.h"
#include "device/self_tests.h"
#include "device/slot.h"
#include "device/staging.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TSL_DEVICE_KIND_DECLARATION(kind) extern const tsl_device_kind tsl_device_kind_##kind;
TSL_DEVICE_KIND_LIST(TSL_DEVICE_KIND_DECLARATION)
#undef TSL_DEVICE_KIND_DECLARATION

static const tsl_device_kind *const own_kinds[] = {
#define TSL_DEVICE_KIND_MEMBER(kind) &tsl_device_kind_##kind,
    TSL_DEVICE_KIND_LIST(TSL_DEVICE_KIND_MEMBER)
#undef TSL_DEVICE_KIND_MEMBER
};

enum {
  OWN_KINDS = sizeof own_kinds / sizeof own_kinds[0],
  ADDED_MOST = 4,
  KINDS_MOST = OWN_KINDS + ADDED_MOST
};

/* Written by tsl_device_kind_add(), which only tests call, before anything else. */
static const tsl_device_kind *added_kinds[ADDED_MOST];
static int added_count;

/* A kind's devices, once somebody asked for them. */
typedef struct kind_devices {
  const tsl_device_kind *kind;
  bool was_listed;
  bool was_asked, is_processor; /* the kind's is_processor() */
  tsl_device_slot **slots;
  int count;
  tesela_status status; /* of list() */
  char why_none[1024];  /* its sentence */
} kind_devices;

struct tsl_devices {
  tsl_guard lock; /* of everything below, until a kind was listed; then its part is constant */
  int threads;    /* most that a device may use of the host; 0: no limit */
  int kind_count;
  kind_devices kinds[KINDS_MOST];
};

void tsl_device_kind_add(const tsl_device_kind *kind) {
  for (int i = 0; i < added_count; i++)
    if (added_kinds[i] == kind)
      return;
  if (added_count < ADDED_MOST)
    added_kinds[added_count++] = kind;
}

int tsl_devices_kinds(void) {
  return OWN_KINDS + added_count;
}

const tsl_device_kind *tsl_device_kind_at(int index) {
  return index < OWN_KINDS ? own_kinds[index] : added_kinds[index - OWN_KINDS];
}

tesela_status tsl_devices_create(tsl_devices **devices) {
  *devices = calloc(1, sizeof **devices);
  if (*devices == NULL)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for the list of devices");
  tsl_guard_init(&(*devices)->lock);
  (*devices)->kind_count = tsl_devices_kinds();
  for (int i = 0; i < (*devices)->kind_count; i++)
    (*devices)->kinds[i].kind = tsl_device_kind_at(i);
  return TESELA_OK;
}

/* --- threads --- */

void tsl_devices_limit(tsl_devices *devices, int threads) {
  tsl_guard_lock(&devices->lock);
  devices->threads = threads;
  for (int i = 0; i < devices->kind_count; i++)
    for (int d = 0; d < devices->kinds[i].count; d++) {
      tsl_device *device = &devices->kinds[i].slots[d]->device;
      device->host_threads = threads;
      tsl_device_limit(device, threads);
    }
  tsl_guard_unlock(&devices->lock);
}

/* --- listing --- */

static void slot_free(tsl_device_slot *slot) {
  tsl_self_test_forget(&slot->device);
  if (slot->kind->forget != NULL)
    slot->kind->forget(&slot->device);
  pthread_cond_destroy(&slot->jit_done);
  pthread_mutex_destroy(&slot->jit_lock);
  pthread_mutex_destroy(&slot->staging_lock);
  tsl_guard_destroy(&slot->open_lock);
  free(slot);
}

static tsl_device_slot *slot_create(const tsl_device_kind *kind, const tsl_device *device, int index,
                                    int threads) {
  tsl_device_slot *slot = calloc(1, sizeof *slot);
  if (slot == NULL)
    return NULL;
  slot->device = *device;
  slot->kind = kind;
  slot->device.kind = kind->kind;
  slot->device.index = index;
  slot->device.host_threads = threads;
  if (kind->single != 0)
    snprintf(slot->device.name, sizeof slot->device.name, "%s", kind->kind);
  else
    snprintf(slot->device.name, sizeof slot->device.name, "%s:%d", kind->kind, index);
  tsl_guard_init(&slot->open_lock);
  pthread_mutex_init(&slot->jit_lock, NULL);
  pthread_mutex_init(&slot->staging_lock, NULL);
  pthread_cond_init(&slot->jit_done, NULL);
  return slot;
}

typedef struct listing {
  kind_devices *into;
  int threads;
  bool out_of_memory;
} listing;

static void found(void *argument, const tsl_device *device) {
  listing *list = argument;
  kind_devices *into = list->into;
  tsl_device_slot **slots = realloc(into->slots, ((size_t)into->count + 1) * sizeof *slots);
  if (slots != NULL)
    into->slots = slots;
  tsl_device_slot *slot = slots != NULL ? slot_create(into->kind, device, into->count, list->threads) : NULL;
  if (slot == NULL) {
    tsl_device lost = *device;
    if (into->kind->forget != NULL)
      into->kind->forget(&lost);
    list->out_of_memory = true;
    return;
  }
  into->slots[into->count++] = slot;
}

static void kind_forget(kind_devices *kind) {
  while (kind->count > 0)
    slot_free(kind->slots[--kind->count]);
  free(kind->slots);
  kind->slots = NULL;
}

/* Asks the kind for its devices, unless that was done. All or none: a kind that fails half-way has no device.
 * A failure is remembered and no failure of the question, so this thread's sentence stays what it was. */
static const kind_devices *listed(tsl_devices *devices, int index) {
  kind_devices *kind = &devices->kinds[index];
  tsl_guard_lock(&devices->lock);
  if (!kind->was_listed) {
    listing list = {.into = kind, .threads = devices->threads};
    tsl_status_saved saved;
    tsl_status_save(&saved);
    kind->status = kind->kind->list(found, &list);
    if (list.out_of_memory)
      kind->status = tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for the list of devices");
    else if (kind->status == TESELA_OK && kind->count == 0)
      kind->status = tsl_fail(TESELA_NO_DEVICE, "there are no %s", kind->kind->what);
    if (kind->status != TESELA_OK) {
      snprintf(kind->why_none, sizeof kind->why_none, "%s", tesela_last_error());
      tsl_log(TSL_LOG_DEVICE, "no %s device: %s", kind->kind->kind, kind->why_none);
      kind_forget(kind);
    }
    tsl_status_restore(&saved);
    kind->was_listed = true;
  }
  tsl_guard_unlock(&devices->lock);
  return kind;
}

tesela_status tsl_devices_kind(tsl_devices *devices, int kind, const char **name, const char **what,
                               int *count, const char **why_none) {
  if (kind < 0 || kind >= devices->kind_count)
    return tsl_fail(TESELA_BAD_CALL, "there are %d kinds of device, and none with number %d",
                    devices->kind_count, kind);
  const kind_devices *of = listed(devices, kind);
  *name = of->kind->kind;
  *what = of->kind->what;
  *count = of->count;
  *why_none = of->why_none;
  return TESELA_OK;
}

tsl_device *tsl_devices_of_kind(tsl_devices *devices, int kind, int index) {
  if (kind < 0 || kind >= devices->kind_count || index < 0)
    return NULL;
  const kind_devices *of = listed(devices, kind);
  return index < of->count ? &of->slots[index]->device : NULL;
}

bool tsl_devices_is_processor(tsl_devices *devices, int kind) {
  if (kind < 0 || kind >= devices->kind_count)
    return false;
  kind_devices *of = &devices->kinds[kind];
  tsl_guard_lock(&devices->lock);
  if (!of->was_asked) {
    of->is_processor = of->kind->is_processor && of->kind->is_processor();
    of->was_asked = true;
  }
  bool all = of->was_listed ? of->count > 0 : of->is_processor;
  for (int i = 0; of->was_listed && i < of->count; i++)
    all = all && of->slots[i]->device.is_cpu;
  tsl_guard_unlock(&devices->lock);
  return all;
}

tsl_device *tsl_devices_at(tsl_devices *devices, int index) {
  if (index < 0)
    return NULL;
  for (int i = 0; i < devices->kind_count; i++) {
    const kind_devices *kind = listed(devices, i);
    if (index < kind->count)
      return &kind->slots[index]->device;
    index -= kind->count;
  }
  return NULL;
}

/* --- names --- */

/* A name that is well formed: which kind, and which device of it. */
typedef struct parsed_name {
  int kind;
  int64_t index;
} parsed_name;

/* "cpu, opencl:0, cuda:0": how names look, from the kinds that there are. */
static void add_examples(tsl_text *text) {
  for (int i = 0; i < tsl_devices_kinds(); i++)
    tsl_text_add(text, "%s%s%s", i == 0 ? "" : ", ", tsl_device_kind_at(i)->kind,
                 tsl_device_kind_at(i)->single != 0 ? "" : ":0");
}

static tesela_status name_parse(const char *name, parsed_name *out) {
  const size_t length = strcspn(name, ":");
  for (int i = 0; i < tsl_devices_kinds(); i++) {
    const char *kind = tsl_device_kind_at(i)->kind;
    if (strlen(kind) != length || strncmp(kind, name, length) != 0)
      continue;
    *out = (parsed_name){.kind = i, .index = 0};
    const char *digits = name + length + 1;
    if (name[length] == '\0' || (digits[0] != '\0' && strspn(digits, "0123456789") == strlen(digits) &&
                                 tsl_parse_i64(digits, &out->index)))
      return TESELA_OK;
  }
  tsl_text examples = {0};
  add_examples(&examples);
  tsl_fail(TESELA_BAD_CALL,
           "\"%.64s\" is no device's name; names are a kind, or a kind, a colon and a number: %s", name,
           tsl_text_get(&examples));
  tsl_text_free(&examples);
  return TESELA_BAD_CALL;
}

tesela_status tsl_device_name_check(const char *name) {
  parsed_name parsed;
  return strcmp(name, "auto") == 0 ? TESELA_OK : name_parse(name, &parsed);
}

static tesela_status not_there(const kind_devices *kind, const char *name) {
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

tesela_status tsl_devices_find(tsl_devices *devices, const char *name, tsl_device **device) {
  parsed_name parsed;
  *device = NULL;
  TSL_TRY(name_parse(name, &parsed));
  if (parsed.kind >= devices->kind_count)
    return tsl_fail(TESELA_INTERNAL, "%s: this kind was added after the list of devices was made", name);
  const kind_devices *kind = listed(devices, parsed.kind);
  if (parsed.index >= kind->count)
    return not_there(kind, name);
  *device = &kind->slots[parsed.index]->device;
  return TESELA_OK;
}

/* --- life --- */

tesela_status tsl_device_open(tsl_device *device) {
  tsl_device_slot *slot = tsl_device_slot_of(device);
  tesela_status status = TESELA_OK;
  char took[32];
  tsl_guard_lock(&slot->open_lock);
  if (!slot->is_open) {
    const double begin = tsl_clock();
    status = device->ops->open(device);
    slot->is_open = status == TESELA_OK;
    tsl_log(TSL_LOG_DEVICE, "%s %s after %s: %s", device->name, slot->is_open ? "is open" : "does not open",
            tsl_format_seconds(tsl_clock() - begin, took, sizeof took),
            slot->is_open ? device->label : tesela_last_error());
  }
  tsl_guard_unlock(&slot->open_lock);
  return status;
}

bool tsl_device_is_open(tsl_device *device) {
  tsl_device_slot *slot = tsl_device_slot_of(device);
  tsl_guard_lock(&slot->open_lock);
  const bool is_open = slot->is_open;
  tsl_guard_unlock(&slot->open_lock);
  return is_open;
}

static void slot_close(tsl_device_slot *slot) {
  if (!slot->is_open)
    return;
  tsl_staging_forget(&slot->device);
  tsl_jit_forget(&slot->device);
  slot->device.ops->close(&slot->device);
  slot->is_open = false;
}

void tsl_devices_destroy(tsl_devices *devices) {
  if (devices == NULL)
    return;
  for (int i = devices->kind_count - 1; i >= 0; i--) {
    kind_devices *kind = &devices->kinds[i];
    for (int d = kind->count - 1; d >= 0; d--)
      slot_close(kind->slots[d]);
    kind_forget(kind);
  }
  tsl_guard_destroy(&devices->lock);
  free(devices);
}
