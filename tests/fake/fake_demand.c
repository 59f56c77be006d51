/* Selection of the call that fails, and counts of live objects. */
#include "fake/fake_internal.h"

#include "core/status.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  tesela_status status;
} operations[] = {
#define TESELA_FAKE_ROW(NAME, name, status, what) {#name, TESELA_##status},
    TESELA_FAKE_LIST(TESELA_FAKE_ROW)
#undef TESELA_FAKE_ROW
};

static const char *const objects[] = {
#define TESELA_FAKE_OBJECT_ROW(NAME, name) name,
    TESELA_FAKE_OBJECT_LIST(TESELA_FAKE_OBJECT_ROW)
#undef TESELA_FAKE_OBJECT_ROW
};

/* The call numbers, from the last reset on, of the first and of the last call that fail; 0: none. */
typedef struct demand {
  atomic_int calls, first, last;
} demand;

static demand demands[TESELA_FAKE_COUNT];
static atomic_int failures, wraps, torn;
static atomic_int
    statuses[TESELA_FAKE_COUNT]; /* in place of the operation's own; 0, which is TESELA_OK: its own */
static atomic_int live[TESELA_FAKE_LIVE_COUNT];

static bool clock_is_on;
static double clock_now;

static bool cards_are_on, polls_are_on;
static int device_count = 1;
static atomic_int counted_device = -1;
static char inner_name[64] = "cpu";
static unsigned hidden_capabilities;
static char malformed[256]; /* error in the environment's settings */

tesela_status fake_demand(const tsl_device *device, tesela_fake_operation operation) {
  demand *of = &demands[operation];
  const int only = atomic_load(&counted_device);
  if (only >= 0 && device->index != only)
    return TESELA_OK;
  const int call = atomic_fetch_add(&of->calls, 1) + 1;
  const int first = atomic_load(&of->first);
  if (first == 0 || call < first || call > atomic_load(&of->last))
    return TESELA_OK;
  atomic_fetch_add(&failures, 1);
  const char *name = operations[operation].name;
  if (operation == TESELA_FAKE_BUILD)
    tsl_status_keep_log("fake compiler: error: failed on demand\n");
  return tsl_fail(tesela_fake_status(operation), "%s: %s number %d failed on demand", device->name, name,
                  call);
}

bool fake_is_armed(tesela_fake_operation operation) {
  const int first = atomic_load(&demands[operation].first);
  return first != 0 && atomic_load(&demands[operation].calls) < atomic_load(&demands[operation].last);
}

static void arm(tesela_fake_operation operation, int nth, bool is_lasting) {
  demand *of = &demands[operation];
  const int first = nth > 0 ? atomic_load(&of->calls) + nth : 0;
  atomic_store(&of->first, 0);
  atomic_store(&of->last, is_lasting ? INT32_MAX : first);
  atomic_store(&of->first, first);
}

void tesela_fake_fail(tesela_fake_operation operation, int nth) {
  arm(operation, nth, false);
}

void tesela_fake_fail_from(tesela_fake_operation operation, int nth) {
  arm(operation, nth, true);
}

void tesela_fake_reset(void) {
  for (int i = 0; i < TESELA_FAKE_COUNT; i++) {
    arm((tesela_fake_operation)i, 0, false);
    atomic_store(&demands[i].calls, 0);
    atomic_store(&statuses[i], TESELA_OK);
  }
  atomic_store(&failures, 0);
  atomic_store(&wraps, 0);
  atomic_store(&torn, 0);
  clock_is_on = false;
}

const char *tesela_fake_name(tesela_fake_operation operation) {
  return operations[operation].name;
}

tesela_status tesela_fake_status(tesela_fake_operation operation) {
  const tesela_status other = (tesela_status)atomic_load(&statuses[operation]);
  return other == TESELA_OK ? operations[operation].status : other;
}

void tesela_fake_fail_as(tesela_fake_operation operation, tesela_status status) {
  atomic_store(&statuses[operation], (int)status);
}

bool fake_fails_halfway(void) {
  return atomic_load(&statuses[TESELA_FAKE_COPY_OUT]) != TESELA_OK;
}

void fake_count_wrap(void) {
  atomic_fetch_add(&wraps, 1);
}
int tesela_fake_wraps(void) {
  return atomic_load(&wraps);
}

void fake_count_torn(void) {
  atomic_fetch_add(&torn, 1);
}
int tesela_fake_torn(void) {
  return atomic_load(&torn);
}

int tesela_fake_calls(tesela_fake_operation operation) {
  return atomic_load(&demands[operation].calls);
}

int tesela_fake_failures(void) {
  return atomic_load(&failures);
}

/* --- the clock: for tests that run on one thread --- */

void tesela_fake_clock(void) {
  clock_is_on = true;
  clock_now = 0;
}

void tesela_fake_pass(double seconds) {
  clock_now += seconds;
}

bool fake_has_clock(double *now) {
  *now = clock_now;
  return clock_is_on;
}

/* --- live objects --- */

void fake_count_live(tesela_fake_object object, int change) {
  atomic_fetch_add(&live[object], change);
}

int tesela_fake_live(tesela_fake_object object) {
  return atomic_load(&live[object]);
}

const char *tesela_fake_live_text(void) {
  static _Thread_local char text[160];
  size_t length = 0;
  text[0] = '\0';
  for (int i = 0; i < TESELA_FAKE_LIVE_COUNT; i++) {
    const int count = atomic_load(&live[i]);
    if (count != 0)
      length += (size_t)snprintf(text + length, sizeof text - length, "%s%d %s%s", length > 0 ? ", " : "",
                                 count, objects[i], count == 1 ? "" : "s");
  }
  return text;
}

/* --- settings --- */

void tesela_fake_inner(const char *name) {
  snprintf(inner_name, sizeof inner_name, "%s", name);
}

void tesela_fake_hide(unsigned capabilities) {
  hidden_capabilities = capabilities;
}

void tesela_fake_devices(int count) {
  device_count = count;
}

void tesela_fake_cards(bool on) {
  cards_are_on = on;
}

bool fake_has_cards(void) {
  return cards_are_on;
}

void tesela_fake_polls(bool on) {
  polls_are_on = on;
}

bool fake_has_polls(void) {
  return polls_are_on;
}

void tesela_fake_only(int index) {
  atomic_store(&counted_device, index);
}

tesela_status fake_settings(const char **inner, unsigned *hidden, int *count) {
  *inner = inner_name;
  *count = device_count;
  *hidden = hidden_capabilities;
  return malformed[0] == '\0' ? TESELA_OK : tsl_fail(TESELA_BAD_CALL, "%s", malformed);
}

/* "copy_out:2" or "copy_out:2+". */
static bool read_demand(const char *word) {
  for (int i = 0; i < TESELA_FAKE_COUNT; i++) {
    const size_t length = strlen(operations[i].name);
    char digits[16];
    int64_t nth;
    if (strncmp(word, operations[i].name, length) != 0 || word[length] != ':')
      continue;
    const size_t count = strspn(word + length + 1, "0123456789");
    const char *rest = word + length + 1 + count;
    if (count >= sizeof digits || (rest[0] != '\0' && strcmp(rest, "+") != 0))
      return false;
    snprintf(digits, sizeof digits, "%.*s", (int)count, word + length + 1);
    if (!tsl_parse_i64(digits, &nth) || nth < 1 || nth > INT32_MAX)
      return false;
    arm((tesela_fake_operation)i, (int)nth, rest[0] == '+');
    return true;
  }
  return false;
}

static bool read_capability(const char *word) {
  static const struct {
    const char *name;
    unsigned capability;
  } capabilities[] = {
#define TESELA_FAKE_CAPABILITY_ROW(name, bit, text) {#name, TSL_CAN_##name},
      TSL_CAPABILITY_LIST(TESELA_FAKE_CAPABILITY_ROW)
#undef TESELA_FAKE_CAPABILITY_ROW
  };
  for (size_t i = 0; i < sizeof capabilities / sizeof capabilities[0]; i++)
    if (strcmp(word, capabilities[i].name) == 0) {
      hidden_capabilities |= capabilities[i].capability;
      return true;
    }
  return false;
}

/* Reads each word of a variable. The error message describes a right word by `should`. */
static void read_words(const char *variable, bool (*read)(const char *word), const char *should) {
  const char *value = getenv(variable);
  char words[256], *place = NULL;
  if (value == NULL)
    return;
  snprintf(words, sizeof words, "%s", value);
  for (const char *word = strtok_r(words, ",", &place); word != NULL; word = strtok_r(NULL, ",", &place))
    if (!read(word))
      snprintf(malformed, sizeof malformed, "%s has \"%.64s\" and should have words like %s", variable, word,
               should);
}

void tesela_fake_install(void) {
  const char *inner = getenv("TESELA_FAKE_INNER");
  if (inner != NULL && inner[0] != '\0')
    tesela_fake_inner(inner);
  read_words("TESELA_FAKE", read_demand, "copy_out:1 or finish:2+");
  read_words("TESELA_FAKE_HIDE", read_capability, "SHARED_MEMORY");
  tsl_device_kind_add(&fake_kind);
}
