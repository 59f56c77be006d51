/* A kind of device for the kernel cache's tests: its compiler copies the text behind the word "compiled", and
 * counts. Texts that hold "#error" do not compile. */
#ifndef TSL_TESTS_UNIT_JIT_FIXTURE_H
#define TSL_TESTS_UNIT_JIT_FIXTURE_H

#include "unit/unit.h"

#include <stdatomic.h>

#include "device/devices.h"
#include "device/jit_cache.h"
#include "scratch.h"

struct tsl_module {
  char *text; /* the binary's content */
};

/* State of the compiler: its settings, and counts of its calls. */
extern atomic_int copier_builds, copier_loads, copier_modules;
extern const char *copier_version;
extern const char *copier_key;
extern atomic_bool copier_refuses; /* the next binary that is loaded is not taken */
extern void (*copier_during_build)(const tsl_build *build);

extern const tsl_device_kind copier_kind;

/* A context's worth of devices: its memory of modules starts empty. */
typedef struct copier {
  tsl_devices *devices;
  tsl_device *device;
} copier;

copier copier_begin(void);
void copier_end(copier *c);

/* Asks for a text's module, which must be right, and says how many builds that took. */
int copier_ask(const copier *c, const char *name, const char *text);

/* Like copier_ask(), with a new context, whose kernel cache in memory is empty. */
int copier_ask_alone(const char *name, const char *text);

extern scratch cache; /* its folder is TESELA_CACHE_DIR */

int cache_begin(void **state);
int cache_end(void **state);

/* What tsl_jit_list() says: entries, bytes, damaged ones, and the last entry. */
typedef struct listed {
  int entries, damaged;
  uint64_t bytes;
  tsl_jit_entry last;
} listed;

listed cache_listed(void);

/* One kernel that all tests know, asked for with nothing in memory. */
int ask_once(void);

/* --- processes and files --- */

/* Runs a task in a process of its own and returns its exit code; a failed assertion there fails here. */
int in_process(int (*task)(void));

/* Calls each() for the folder's files whose names end so; returns how many there are. */
int files_ending(const char *ending, void (*each)(const char *path));

long size_of(const char *path);

void overwrite(const char *path, long index, char byte);

/* Damage that entries are still known by: the binary is wrong, its source is whole. */
void make_empty(const char *path);
void change_magic(const char *path);

const char *large_text(int number);

#endif
