#include "core/call_table.h"

#include "core/affinity.h"
#include "core/cancel.h"
#include "core/clock.h"
#include "core/env.h"
#include "core/hash.h"
#include "core/library.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BLOCKS = 512 };

/* Operands of the thread's call before, and of the run of equal calls that it belongs to. */
typedef struct call_before {
  const tsl_calls_row *row;
  const char *data[TSL_CALLS_OPERANDS];
  int64_t distance[TSL_CALLS_OPERANDS], size[TSL_CALLS_SIZES], run; /* run: calls so far */
  const char *c_low, *c_high;                                       /* bytes of C of the run */
} call_before;

/* The rows of a thread. A finished thread's block serves the next new thread. */
typedef struct block {
  tsl_calls_file *file; /* mapped; the rows follow */
  tsl_calls_row *rows, *recent;
  call_before before;
  tsl_called described;
  bool is_taken;
} block;

atomic_bool tsl_calls_kept;
_Thread_local int tsl_calls_depth;
static _Thread_local block *mine __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static bool has_key, writes_files;
static char folder[TSL_CALLS_PATH];
static double started_at;
static atomic_int threads_now;
static char libraries[TSL_CALLS_LIBRARIES][TSL_CALLS_PATH];
static block *blocks[BLOCKS];
static _Atomic int block_count;
static int file_number;

static double seconds_of_tick;

/* Returns the processor's counter, which takes a third of the clock's time to read; else the clock. */
static double read_ticks(void) {
#if defined(__x86_64__)
  return (double)__builtin_ia32_rdtsc();
#else
  return tsl_clock();
#endif
}

/* Compares the counter with the clock. */
static void measure_ticks(void) {
  static const double enough = 5e-4;
  const double clock = tsl_clock(), ticks = read_ticks();
  double passed;
  do
    passed = tsl_clock() - clock;
  while (passed < enough);
  seconds_of_tick = passed / (read_ticks() - ticks);
}

static void give_block_back(void *argument) {
  mine = NULL; /* later destructors of the thread may call, too */
  pthread_mutex_lock(&lock);
  ((block *)argument)->is_taken = false;
  pthread_mutex_unlock(&lock);
}

/* Drops all blocks in the child of a fork: its calls get new files. */
static void forget_blocks(void) {
  pthread_mutex_init(&lock, NULL); /* a missing thread may hold the lock */
  mine = NULL;
  atomic_store(&block_count, 0); /* the parent's files stay the parent's */
  tsl_calls_depth = 0;
  started_at = tsl_clock();
  if (has_key)
    pthread_setspecific(key, NULL);
}

void tsl_calls_start(bool in_memory) {
  const char *path = tsl_env_get_or_null(TSL_ENV_RECORD);
  const bool has_folder = path && strlen(path) < sizeof folder;
  if (tsl_calls_are_kept() || (!has_folder && !in_memory))
    return;
  writes_files = has_folder;
  if (has_folder)
    snprintf(folder, sizeof folder, "%s", path);
  has_key = pthread_key_create(&key, give_block_back) == 0;
  pthread_atfork(NULL, NULL, forget_blocks);
  measure_ticks();
  started_at = tsl_clock();
  atomic_store(&tsl_calls_kept, true);
}

__attribute__((constructor)) static void start_if_asked(void) {
  tsl_calls_start(false);
}

__attribute__((destructor)) static void note_end(void) {
  const int count = atomic_load(&block_count);
  for (int i = 0; i < count; i++)
    blocks[i]->file->ended = tsl_clock();
}

/* --- blocks --- */

/* Opens a new file of the folder; -1: none. */
static int open_file(void) {
  char path[TSL_CALLS_PATH + 64];
  for (int tries = 0; tries < 1 << 16; tries++) {
    snprintf(path, sizeof path, "%s/%ld-%d" TSL_CALLS_SUFFIX, folder, (long)getpid(), file_number++);
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0 || errno != EEXIST)
      return file;
  }
  return -1;
}

/* Allocates a file's bytes. A write to mapped memory without room on the disk would end the program, and so
 * would a file above the process's limit. */
static bool reserve_bytes(int file) {
  struct rlimit limit;
  int reason = EFBIG;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < (rlim_t)TSL_CALLS_BYTES)
    return false;
  do
    reason = posix_fallocate(file, 0, TSL_CALLS_BYTES);
  while (reason == EINTR);
  return reason == 0;
}

/* Returns zeroed memory of a block, in a file if files are written; NULL: none. After a file without room no
 * other one is tried. */
static tsl_calls_file *map_block(void) {
  static bool has_no_room;
  void *memory;
  const int file = writes_files && !has_no_room ? open_file() : -1;
  if (file >= 0 && !reserve_bytes(file)) {
    has_no_room = true;
    close(file);
    return NULL;
  }
  if (writes_files && file < 0)
    return NULL;
  memory = mmap(NULL, TSL_CALLS_BYTES, PROT_READ | PROT_WRITE,
                writes_files ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, file, 0);
  if (file >= 0)
    close(file);
  return memory == MAP_FAILED ? NULL : memory;
}

static void fill_head(tsl_calls_file *file) {
  char path[PATH_MAX];
  file->process = (int64_t)getpid();
  file->parent = (int64_t)getppid();
  file->number = atomic_load(&block_count);
  file->started = started_at;
  file->processors = tsl_affinity_count();
  file->threads = atomic_load_explicit(&threads_now, memory_order_relaxed);
  snprintf(file->program, sizeof file->program, "%s", program_invocation_short_name);
  tsl_library_file((void (*)(void))tsl_calls_start, path, sizeof path);
  const char *slash = strrchr(path, '/');
  snprintf(file->library, sizeof file->library, "%.*s", (int)sizeof file->library - 1,
           slash ? slash + 1 : path);
  memcpy(file->libraries, libraries, sizeof libraries);
  memcpy(file->magic, TSL_CALLS_MAGIC, sizeof file->magic);
}

/* Returns a block that no thread uses, or a new one; NULL: none. Needs the lock. */
static block *take_block(void) {
  const int count = atomic_load(&block_count);
  for (int i = 0; i < count; i++)
    if (!blocks[i]->is_taken)
      return blocks[i];
  block *made = count < BLOCKS ? calloc(1, sizeof *made) : NULL;
  made = made && (made->file = map_block()) ? made : (free(made), NULL);
  if (!made)
    return NULL;
  made->rows = (tsl_calls_row *)((char *)made->file + TSL_CALLS_HEAD);
  fill_head(made->file);
  blocks[count] = made;
  atomic_store_explicit(&block_count, count + 1, memory_order_release);
  return made;
}

static __attribute__((noinline)) block *find_block(void) {
  TSL_NOT_CANCELLED;
  pthread_mutex_lock(&lock);
  block *taken = take_block();
  if (taken) {
    taken->is_taken = true;
    taken->before = (call_before){.row = NULL};
    if (!has_key || pthread_setspecific(key, taken) != 0)
      has_key = false; /* finished threads then keep their blocks */
  } else if (atomic_load(&block_count) > 0) {
    blocks[0]->file->lost++;
  }
  pthread_mutex_unlock(&lock);
  return mine = taken;
}

static inline block *own_block(void) {
  return mine ? mine : find_block();
}

/* --- calls --- */

tsl_called *tsl_calls_description(void) {
  block *counts = own_block();
  return counts ? &counts->described : NULL;
}

double tsl_calls_begin(void) {
  if (tsl_calls_depth++ > 0)
    return 0;
  block *counts = own_block();
  if (counts)
    atomic_store_explicit(&counts->file->is_inside, 1, memory_order_relaxed);
  return read_ticks();
}

double tsl_calls_end(double started) {
  tsl_calls_depth--;
  if (started <= 0)
    return 0;
  const double seconds = (read_ticks() - started) * seconds_of_tick;
  if (mine)
    atomic_store_explicit(&mine->file->is_inside, 0, memory_order_relaxed);
  return seconds > 0 ? seconds : 1e-9;
}

/* Allocators return addresses of few alignments; of finer classes one product would have several rows. */
int tsl_calls_alignment(const void *data) {
  enum { VECTOR = 4, LINE = 6, PAGE = 12 };
  const uintptr_t address = (uintptr_t)data | (uintptr_t)1 << PAGE;
  const int exact = __builtin_ctzll(address);
  return exact < VECTOR ? exact : exact < LINE ? VECTOR : exact < PAGE ? LINE : PAGE;
}

void tsl_calls_plan_name(const char *plan, char who[TSL_CALLS_WHO]) {
  const char *name = plan ? strchr(plan, ' ') : NULL;
  const char *device = plan ? strstr(plan, " device=") : NULL;
  if (!name || !device)
    return;
  device += strlen(" device=");
  snprintf(who, TSL_CALLS_WHO, "tesela %.*s %.*s", (int)strcspn(name + 1, " "), name + 1,
           (int)strcspn(device, " "), device);
}

static uint64_t hash_of_key(const tsl_calls_key *call_key) {
  uint64_t word, hash = 0;
  for (size_t i = 0; i < sizeof *call_key; i += sizeof word) {
    memcpy(&word, (const char *)call_key + i, sizeof word);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  return hash;
}
_Static_assert(sizeof(tsl_calls_key) % sizeof(uint64_t) == 0, "a key is hashed in words");

/* Returns the row with this key, or the free row for it; NULL: there is neither. */
static tsl_calls_row *find_row(block *counts, const tsl_calls_key *call_key) {
  const uint64_t mask = TSL_CALLS_ROWS - 1;
  uint64_t at = hash_of_key(call_key) & mask;
  for (int i = 0; i < TSL_CALLS_ROWS; i++, at = (at + 1) & mask) {
    tsl_calls_row *row = &counts->rows[at];
    if (at == mask)
      continue; /* the row of other calls */
    if (row->calls == 0)
      return counts->file->used < TSL_CALLS_ROWS - 2 ? row : NULL;
    if (memcmp(&row->key, call_key, sizeof *call_key) == 0)
      return row;
  }
  return NULL;
}

int64_t tsl_calls_round_size(int64_t size) {
  int64_t power = 1;
  while (power < size && power < INT64_MAX / 2)
    power *= 2;
  return size == 0 ? 0 : power;
}

/* Replaces sizes by powers of two, and drops what else makes many rows. */
static void round_key(tsl_calls_key *call_key) {
  call_key->rounded = 1;
  for (int i = 0; i < TSL_CALLS_SIZES; i++)
    call_key->size[i] = tsl_calls_round_size(call_key->size[i]);
  memset(call_key->ld, 0, sizeof call_key->ld);
  memset(call_key->align, 0, sizeof call_key->align);
  call_key->count = tsl_calls_round_size(call_key->count);
}

/* Leaves only the routine and the library that computes. */
static void reduce_key(tsl_calls_key *call_key) {
  *call_key = (tsl_calls_key){.name = call_key->name,
                              .who = call_key->who,
                              .count = 1,
                              .type = call_key->type,
                              .sizes = call_key->sizes,
                              .rounded = 1};
}

static tsl_calls_row *start_row(block *counts, tsl_calls_row *row, const tsl_called *called,
                                const tsl_calls_key *call_key) {
  row->key = *call_key;
  snprintf(row->name, sizeof row->name, "%s", called->name);
  snprintf(row->who, sizeof row->who, "%s", called->who);
  row->fastest = called->seconds;
  row->seen = TSL_SEEN_ALL;
  for (int i = 0; i < TSL_CALLS_SIZES; i++)
    row->least[i] = row->most[i] = called->key.size[i];
  counts->file->used++;
  return row;
}

/* Returns true if the call belongs to the row. Most calls repeat the last call, and need no hash. Words are
 * compared one by one: a wider load waits for the stores of sizes just before. */
static inline bool is_of_row(const tsl_calls_row *row, const tsl_called *called) {
  const char *x = (const char *)&row->key, *y = (const char *)&called->key;
  for (size_t i = offsetof(tsl_calls_key, size); i < sizeof row->key; i += sizeof(uint64_t)) {
    uint64_t a, b;
    memcpy(&a, x + i, sizeof a);
    memcpy(&b, y + i, sizeof b);
    if (a != b)
      return false;
  }
  return row->key.name == (uint64_t)(uintptr_t)called->name && strcmp(row->who, called->who) == 0;
}

static tsl_calls_row *row_of(block *counts, const tsl_called *called) {
  if (counts->recent && is_of_row(counts->recent, called))
    return counts->recent;
  tsl_calls_key call_key = called->key;
  call_key.name = (uint64_t)(uintptr_t)called->name;
  call_key.who = tsl_hash_add(tsl_hash_start(), called->who, strlen(called->who)).low;
  tsl_calls_row *row = find_row(counts, &call_key);
  if (!row || (row->calls == 0 && counts->file->used >= TSL_CALLS_EXACT)) {
    round_key(&call_key);
    row = find_row(counts, &call_key);
  }
  if (!row || (row->calls == 0 && counts->file->used >= TSL_CALLS_ROUNDED)) {
    reduce_key(&call_key);
    row = find_row(counts, &call_key);
  }
  if (!row) {
    row = &counts->rows[TSL_CALLS_ROWS - 1];
    snprintf(row->name, sizeof row->name, "others");
    snprintf(row->who, sizeof row->who, "several");
    row->seen = 0;
    return counts->recent = row;
  }
  return counts->recent = row->calls == 0 ? start_row(counts, row, called, &call_key) : row;
}

/* --- facts --- */

static bool is_in(const char *address, const call_before *before) {
  return address >= before->c_low && address < before->c_high;
}

/* Compares the operands with the operands of the thread's last call. */
static void compare_with_before(block *counts, tsl_calls_row *row, const tsl_called *called) {
  call_before *before = &counts->before;
  const char *const *data = (const char *const *)called->data;
  const bool is_known = data[0] && data[1] && data[2];
  const bool is_equal = is_known && before->row == row && before->data[2],
             is_shape = is_known && before->data[2] &&
                        memcmp(before->size, called->key.size, sizeof before->size) == 0;
  if (is_shape && data[2] == before->data[2] && called->key.beta != 0)
    row->continued++;
  const bool follows = is_equal && (data[2] != before->data[2] || called->key.beta == 0) &&
                       !is_in(data[0], before) && !is_in(data[1], before);
  int64_t distance[TSL_CALLS_OPERANDS];
  for (int i = 0; i < TSL_CALLS_OPERANDS; i++)
    distance[i] = follows ? data[i] - before->data[i] : 0;
  if (follows) {
    row->followed++;
    row->same_a += distance[0] == 0;
    row->same_b += distance[1] == 0;
    if (distance[2] != 0 && (before->run < 2 || memcmp(distance, before->distance, sizeof distance) == 0)) {
      row->strided++;
      memcpy(row->distance, distance, sizeof distance);
    }
  }
  before->run = follows ? before->run + 1 : 1;
  before->c_low = follows && before->c_low < data[2] ? before->c_low : data[2];
  const char *end = is_known ? data[2] + called->c_bytes : NULL;
  before->c_high = follows && before->c_high > end ? before->c_high : end;
  before->row = row;
  memcpy(before->distance, distance, sizeof distance);
  memcpy(before->size, called->key.size, sizeof before->size);
  memcpy(before->data, data, sizeof before->data);
}

/* Returns true for calls 1 to 4, then for powers of two. */
static bool is_sampled(uint64_t calls) {
  return calls <= 4 || (calls & (calls - 1)) == 0;
}

/* Counts the other threads that are inside a call. */
static void look_at_others(const block *counts, tsl_calls_row *row) {
  const int count = atomic_load_explicit(&block_count, memory_order_acquire);
  row->looks++;
  for (int i = 0; i < count; i++)
    row->others +=
        blocks[i] != counts && atomic_load_explicit(&blocks[i]->file->is_inside, memory_order_relaxed);
}

void tsl_calls_add(const tsl_called *called) {
  enum { LOOK_EVERY = 16 };
  block *counts = own_block();
  if (!counts)
    return;
  tsl_calls_row *row = row_of(counts, called);
  row->calls++;
  row->seconds += called->seconds;
  row->flops += called->flops;
  row->fastest = called->seconds < row->fastest ? called->seconds : row->fastest;
  for (int i = 0; i < TSL_CALLS_SIZES; i++) {
    row->least[i] = called->key.size[i] < row->least[i] ? called->key.size[i] : row->least[i];
    row->most[i] = called->key.size[i] > row->most[i] ? called->key.size[i] : row->most[i];
  }
  counts->file->threads = atomic_load_explicit(&threads_now, memory_order_relaxed);
  if (row->calls == 1 && called->why)
    snprintf(row->why, sizeof row->why, "%s", called->why);
  if (row->calls % LOOK_EVERY == 1)
    look_at_others(counts, row);
  compare_with_before(counts, row, called);
  if (called->sample && is_sampled(row->calls)) {
    row->seen &= called->sample(called->argument);
    row->samples++;
  }
}

void tsl_calls_set_threads(int threads) {
  atomic_store_explicit(&threads_now, threads, memory_order_relaxed);
}

void tsl_calls_note_library(const char *path) {
  TSL_NOT_CANCELLED;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < TSL_CALLS_LIBRARIES; i++) {
    if (strcmp(libraries[i], path) == 0)
      break;
    if (!libraries[i][0]) {
      snprintf(libraries[i], sizeof libraries[i], "%s", path);
      break;
    }
  }
  for (int i = 0; i < atomic_load(&block_count); i++)
    memcpy(blocks[i]->file->libraries, libraries, sizeof libraries);
  pthread_mutex_unlock(&lock);
}

void tsl_calls_each(void (*visit)(const tsl_calls_row *row, void *argument), void *argument) {
  const int count = atomic_load_explicit(&block_count, memory_order_acquire);
  for (int b = 0; b < count; b++)
    for (int i = 0; i < TSL_CALLS_ROWS; i++)
      if (blocks[b]->rows[i].calls > 0)
        visit(&blocks[b]->rows[i], argument);
}
