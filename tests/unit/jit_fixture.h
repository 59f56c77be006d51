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

/* Devices of one context, with an empty cache of modules in memory. */
typedef struct copier {
  tsl_devices *devices;
  tsl_device *device;
} copier;

copier copier_begin(void);
void copier_end(copier *c);

/* Gets the module of a text, fails the test unless it is right, and returns the number of builds. */
int copier_ask(const copier *c, const char *name, const char *text);

/* Like copier_ask(), with a new context, whose kernel cache in memory is empty. */
int copier_ask_alone(const char *name, const char *text);

/* Folder TESELA_CACHE_DIR, from cache_begin() to cache_end(), setup and teardown of a test. */
extern scratch cache;

int cache_begin(void **state);
int cache_end(void **state);

/* Result of tsl_jit_list(): numbers of entries, damaged entries and bytes, and the last entry. */
typedef struct listed {
  int entries, damaged;
  uint64_t bytes;
  tsl_jit_entry last;
} listed;

listed cache_listed(void);

/* Gets a kernel that all tests share, with an empty cache in memory. Returns the number of builds. */
int ask_once(void);

/* --- processes and files --- */

/* Runs a task in a child process and returns its exit code. Fails the test if the child ends by a signal. */
int in_process(int (*task)(void));

/* Calls each(), unless NULL, for the files of the cache whose names end in `ending`. Returns their number. */
int files_ending(const char *ending, void (*each)(const char *path));

long size_of(const char *path);

/* Changes the byte at `index`: to `byte`, or to another value if the byte has that value. */
void overwrite(const char *path, long index, char byte);

/* Damages an entry. */
void make_empty(const char *path);
void change_magic(const char *path);

/* Returns a text of 20 kB that begins with the number, valid until the next call. Entries hold a text three
 * times: in key, binary and source. */
const char *large_text(int number);

#endif
