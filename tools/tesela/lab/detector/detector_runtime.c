/* Runs a kernel item by item on the processor, and records what it reads and writes.
 *
 * The kernel is compiled with -fsanitize=thread,bounds. The compiler then calls __tsan_read4(address) and the
 * like before each access to memory, and __ubsan_handle_out_of_bounds() for indices outside of arrays. These
 * functions are here, not in the compiler's library. Each work-item is a fiber. A group's items run one after
 * the other up to the next barrier, forwards or backwards. A cell for each element holds who wrote and read it
 * last. Two items that use an element in the same interval between barriers, one of them writing, race.
 *
 * Arguments: operation, type size, m, n, k, lda, ldb, ldc, alpha, beta, groups x y z, items x y z, order, data,
 * tile, elements of each local argument. Output: lines "F|kind|sentence" (fault), "H|kind|sentence" (guess from the result),
 * "W|kind|sentence" (first wrong element) and "C|counts". "@1234" in a sentence is a code address, "{7:12}" the
 * array at a line and column. */
#define _GNU_SOURCE
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

typedef struct lab_vector {
  unsigned x, y, z;
} lab_vector;
lab_vector lab_item, lab_group, lab_items, lab_groups;
void lab_call(void);
/* Values of the kernel's arguments: m, n, k, rows, cols, lda, ldb, ldc; alpha, beta; elements of local memory. */
long lab_sizes[8], lab_local_counts[8];
double lab_scalars[2];

enum { ARRAYS_MAX = 32, GAP = 1 << 20, STACK = 1 << 18, FAULTS_MAX = 12, PAGE = 4096 };

/* A use of an element: item and group (-1: none), interval, number of the access in the interval, address. */
typedef struct use {
  int item, group;
  unsigned interval, step;
  uintptr_t code;
} use;

typedef struct cell {
  use write, reads[2];
  bool was_written, was_read;
} cell;

/* Accesses outside of an array, in one direction. */
typedef struct outside {
  long count, index, max_row, max_col, min_row;
  use first;
} outside;

typedef struct array {
  char name[64];
  char *start;
  long count; /* elements */
  size_t element;
  long rows, cols, pitch; /* a matrix; a local array of one dimension has one row */
  bool is_local, is_input, is_result, has_race;
  cell *cells;
  outside out[2]; /* reads, writes */
  use unset;      /* a read of an element that nobody wrote */
  long unset_index, unset_count;
} array;

static array arrays[ARRAYS_MAX];
static int array_count;
static char *arena, *arena_end;

static bool is_running;
static use now; /* the running item, and its latest access */
static unsigned item_count;
static char *last_address;
static double reads[2], writes[2], barriers; /* global, local */
static int fault_count;

static struct {
  long m, n, k, lda, ldb, ldc;
  double alpha, beta;
  size_t size;
  char op;
  bool is_real, backwards;
  long tile;
} job;

/* --- sentences --- */

static void tell_item(char *out, size_t size, int item) {
  const unsigned x = (unsigned)item % lab_items.x, y = (unsigned)item / lab_items.x % lab_items.y;
  if (lab_items.y > 1)
    snprintf(out, size, "item (%u, %u)", x, y);
  else
    snprintf(out, size, "item %u", x);
}

static void tell_element(const array *of, long index, char *out, size_t size) {
  if (of->rows > 1 && index >= 0)
    snprintf(out, size, "%s[%ld][%ld]", of->name, index / of->pitch, index % of->pitch);
  else
    snprintf(out, size, "%s[%ld]", of->name, index);
}

static void tell_operand(const array *of, long index, char *out, size_t size) {
  if (!of->is_local && of->rows > 1 && index >= 0)
    snprintf(out, size, "%s[%ld] (row %ld, column %ld)", of->name, index, index / of->pitch, index % of->pitch);
  else
    tell_element(of, index, out, size);
}

static bool is_full(void) {
  return ++fault_count > FAULTS_MAX;
}

/* --- races --- */

/* Reports two uses without an order, once for each pair of lines. */
static void tell_race(array *of, long index, const use *first, bool first_writes, const use *second,
                      bool second_writes) {
  of->has_race = true;
  static struct {
    const array *of;
    uintptr_t codes[2];
  } known[64];
  static int known_count;
  char element[160], items[2][48];
  for (int i = 0; i < known_count; i++)
    if (known[i].of == of && ((known[i].codes[0] == first->code && known[i].codes[1] == second->code) ||
                              (known[i].codes[0] == second->code && known[i].codes[1] == first->code)))
      return;
  if (known_count < 64) {
    known[known_count].of = of;
    known[known_count].codes[0] = first->code;
    known[known_count++].codes[1] = second->code;
  }
  if (is_full())
    return;
  tell_operand(of, index, element, sizeof element);
  tell_item(items[0], sizeof items[0], first->item);
  tell_item(items[1], sizeof items[1], second->item);
  if (!of->is_local) {
    printf("F|race on %s|%s: %s is %s by %s of group %d and %s by %s of group %d (@%lx): nothing orders them; "
           "one item for each element would be right\n",
           of->name, "@@", element, first_writes ? "written" : "read", items[0], first->group,
           second_writes ? "written" : "read", items[1], second->group, (unsigned long)second->code);
    printf("A|%lx\n", (unsigned long)first->code);
    return;
  }
  /* The element's use that comes first in an item's own order: a read before the write asks for a barrier
   * between the reads of one turn and the writes of the next. */
  const use *write = first_writes ? first : second, *other = first_writes ? second : first;
  const bool both = first_writes && second_writes;
  if (both)
    printf("F|missing barrier|@@: %s is written by %s and, without a barrier between, by %s at @%lx\n",
           element, items[0], items[1], (unsigned long)second->code);
  else if (write->step < other->step)
    printf("F|missing barrier|@@: %s is written here by %s and read by %s at @%lx without a barrier between: "
           "the barrier between storing and using is missing\n",
           element, write == first ? items[0] : items[1], write == first ? items[1] : items[0],
           (unsigned long)other->code);
  else
    printf("F|missing barrier|@@: %s is read here by %s and written again by %s at @%lx without a barrier "
           "between: the second barrier, after the use, is missing\n",
           element, other == first ? items[0] : items[1], other == first ? items[1] : items[0],
           (unsigned long)write->code);
  printf("A|%lx\n",
         (unsigned long)(both ? first->code : write->step < other->step ? write->code : other->code));
}

/* Returns true if nothing orders the two uses. */
static bool is_unordered(const use *before, const use *after) {
  if (before->item < 0 || (before->group == after->group && before->item == after->item))
    return false;
  return before->group != after->group || before->interval == after->interval;
}

static void touch(array *of, long index, bool is_write, uintptr_t code) {
  cell *at = &of->cells[index];
  now.code = code;
  now.step++;
  (is_write ? writes : reads)[of->is_local]++;
  if (is_write) {
    if (is_unordered(&at->write, &now))
      tell_race(of, index, &at->write, true, &now, true);
    for (int i = 0; i < 2; i++)
      if (is_unordered(&at->reads[i], &now))
        tell_race(of, index, &at->reads[i], false, &now, true);
    at->write = now;
    at->was_written = true;
    return;
  }
  if (is_unordered(&at->write, &now))
    tell_race(of, index, &at->write, true, &now, false);
  if (!at->was_written && !of->is_input) {
    if (of->unset_count++ == 0) {
      of->unset = now;
      of->unset_index = index;
    }
  }
  at->was_read = true;
  if (at->reads[0].item != now.item || at->reads[0].group != now.group) {
    at->reads[1] = at->reads[0];
  }
  at->reads[0] = now;
}

/* --- accesses --- */

static void note_outside(array *of, long index, bool is_write, uintptr_t code) {
  outside *out = &of->out[is_write];
  const long row = index >= 0 ? index / of->pitch : -1, col = index >= 0 ? index % of->pitch : -1;
  if (out->count++ == 0) {
    out->first = now;
    out->first.code = code;
    out->index = index;
    out->max_row = row;
    out->max_col = col;
    out->min_row = row;
  }
  out->max_row = row > out->max_row ? row : out->max_row;
  out->max_col = col > out->max_col ? col : out->max_col;
  out->min_row = row < out->min_row ? row : out->min_row;
}

/* Returns the array of an address, or the one that lies nearest; NULL: memory of the kernel's own. */
static array *find_array(const char *at) {
  for (int i = 0; i < array_count; i++) {
    array *of = &arrays[i];
    const char *end = of->start + (size_t)of->count * of->element;
    const long before = of->is_local ? 0 : GAP / 2;
    const char *after = of->is_local
                            ? (const char *)(((uintptr_t)end + PAGE - 1) / PAGE * PAGE)
                            : end + GAP / 2;
    if (at >= of->start - before && at < after)
      return of;
  }
  return NULL;
}

static void use_memory(void *address, size_t bytes, bool is_write, void *code) {
  char *at = address;
  if (!is_running)
    return;
  last_address = at;
  now.code = (uintptr_t)code;
  array *of = find_array(at);
  if (!of)
    return;
  const long offset = at - of->start, size = (long)of->element;
  const long first = offset >= 0 ? offset / size : -((-offset + size - 1) / size);
  const long last = (offset + (long)bytes - 1) / size;
  for (long index = first; index <= last; index++) {
    const bool is_gap = !of->is_local && of->cols < of->pitch && index >= 0 && index % of->pitch >= of->cols;
    if (index < 0 || index >= of->count || is_gap)
      note_outside(of, index, is_write, (uintptr_t)code);
    else
      touch(of, index, is_write, (uintptr_t)code);
  }
}

#define HERE __builtin_return_address(0)
#define LAB_ACCESS(bytes)                                                                                    \
  void __tsan_read##bytes(void *at);                                                                         \
  void __tsan_write##bytes(void *at);                                                                        \
  void __tsan_unaligned_read##bytes(void *at);                                                               \
  void __tsan_unaligned_write##bytes(void *at);                                                              \
  void __tsan_volatile_read##bytes(void *at);                                                                \
  void __tsan_volatile_write##bytes(void *at);                                                               \
  void __tsan_read_write##bytes(void *at);                                                                   \
  void __tsan_read##bytes(void *at) {                                                                        \
    use_memory(at, bytes, false, HERE);                                                                      \
  }                                                                                                          \
  void __tsan_write##bytes(void *at) {                                                                       \
    use_memory(at, bytes, true, HERE);                                                                       \
  }                                                                                                          \
  void __tsan_unaligned_read##bytes(void *at) {                                                              \
    use_memory(at, bytes, false, HERE);                                                                      \
  }                                                                                                          \
  void __tsan_unaligned_write##bytes(void *at) {                                                             \
    use_memory(at, bytes, true, HERE);                                                                       \
  }                                                                                                          \
  void __tsan_volatile_read##bytes(void *at) {                                                               \
    use_memory(at, bytes, false, HERE);                                                                      \
  }                                                                                                          \
  void __tsan_volatile_write##bytes(void *at) {                                                              \
    use_memory(at, bytes, true, HERE);                                                                       \
  }                                                                                                          \
  void __tsan_read_write##bytes(void *at) {                                                                  \
    use_memory(at, bytes, false, HERE);                                                                      \
    use_memory(at, bytes, true, HERE);                                                                       \
  }
LAB_ACCESS(1)
LAB_ACCESS(2)
LAB_ACCESS(4)
LAB_ACCESS(8)
LAB_ACCESS(16)

void __tsan_read_range(void *at, unsigned long bytes);
void __tsan_write_range(void *at, unsigned long bytes);
void __tsan_init(void);
void __tsan_func_entry(void *code);
void __tsan_func_exit(void);
void __ubsan_handle_out_of_bounds(void *data, uintptr_t index);
void __ubsan_handle_out_of_bounds_abort(void *data, uintptr_t index);
void __tsan_read_range(void *at, unsigned long bytes) {
  use_memory(at, bytes, false, HERE);
}
void __tsan_write_range(void *at, unsigned long bytes) {
  use_memory(at, bytes, true, HERE);
}
void __tsan_init(void) {}
void __tsan_func_entry(void *code) {
  (void)code;
}
void __tsan_func_exit(void) {}

/* The compiler's record of a checked index. */
typedef struct bounds_record {
  const char *file;
  unsigned line, column;
  const struct {
    uint16_t kind, info;
    char name[];
  } * array_type, *index_type;
} bounds_record;

void __ubsan_handle_out_of_bounds(void *data, uintptr_t index) {
  static unsigned known[64];
  static int known_count;
  const bounds_record *record = data;
  char item[48];
  for (int i = 0; i < known_count; i++)
    if (known[i] == record->line)
      return;
  if (known_count < 64)
    known[known_count++] = record->line;
  tell_item(item, sizeof item, now.item);
  if (!is_full())
    printf("F|out of bounds|%s:%u: {%u:%u} is used with the index %ld by %s of group %d; its type is %s\n",
           record->file, record->line, record->line, record->column, (long)(int)index, item, now.group,
           record->array_type->name);
}
void __ubsan_handle_out_of_bounds_abort(void *data, uintptr_t index) {
  __ubsan_handle_out_of_bounds(data, index);
}

/* --- arrays --- */

static array *add_array(const char *name, char *start, long count, size_t element) {
  if (array_count == ARRAYS_MAX) {
    printf("U|the kernel has more than %d arrays\n", ARRAYS_MAX);
    exit(0);
  }
  array *of = &arrays[array_count++];
  *of = (array){.start = start, .count = count, .element = element, .rows = 1, .cols = count, .pitch = count};
  snprintf(of->name, sizeof of->name, "%s", name);
  of->cells = calloc((size_t)count + 1, sizeof(cell));
  return of;
}

static void forget_uses(array *of) {
  for (long i = 0; i < of->count; i++) {
    of->cells[i] = (cell){.write = {.item = -1}};
    of->cells[i].reads[0].item = of->cells[i].reads[1].item = -1;
  }
}

/* Makes a local array empty, as it is when a group begins. */
static void empty_local(array *of) {
  forget_uses(of);
  memset(of->start, 0xff, (size_t)of->count * of->element);
}

void lab_register(const char *name, void *start, unsigned long bytes, unsigned long row, unsigned long element);
void lab_register(const char *name, void *start, unsigned long bytes, unsigned long row,
                  unsigned long element) {
  for (int i = 0; i < array_count; i++)
    if (arrays[i].start == (char *)start)
      return;
  array *of = add_array(name, start, (long)(bytes / element), element);
  of->is_local = true;
  of->pitch = of->cols = (long)(row / element);
  of->rows = of->count / of->pitch;
  empty_local(of);
}

static char *take_arena(size_t bytes) {
  char *start = arena_end + GAP;
  arena_end = start + (bytes + 63) / 64 * 64 + GAP;
  return start;
}

void *lab_local_argument(const char *name, unsigned long bytes, unsigned long element);
void *lab_local_argument(const char *name, unsigned long bytes, unsigned long element) {
  for (int i = 0; i < array_count; i++)
    if (strcmp(arrays[i].name, name) == 0)
      return arrays[i].start;
  array *of = add_array(name, take_arena(bytes), (long)(bytes / element), element);
  of->is_local = true;
  empty_local(of);
  return of->start;
}

void *lab_operand(const char *name);
void *lab_operand(const char *name) {
  for (int i = 0; i < array_count; i++)
    if (strcmp(arrays[i].name, name) == 0)
      return arrays[i].start;
  return NULL;
}

static array *add_operand(const char *name, long rows, long cols, long pitch) {
  const long count = rows > 0 ? (rows - 1) * pitch + cols : 0;
  array *of = add_array(name, take_arena((size_t)count * job.size), count, job.size);
  of->rows = rows;
  of->cols = cols;
  of->pitch = pitch > 0 ? pitch : 1;
  forget_uses(of);
  return of;
}

/* --- items as fibers --- */

typedef struct fiber {
  ucontext_t context;
  bool is_done;
  void *barrier; /* address of the barrier where it waits */
  unsigned step;
} fiber;

static fiber *fibers;
static char *stacks;
static ucontext_t scheduler;

static void fiber_start(void) {
  lab_call();
  fibers[now.item].is_done = true;
  swapcontext(&fibers[now.item].context, &scheduler);
}

void lab_barrier(void);
void lab_barrier(void) {
  fibers[now.item].barrier = HERE;
  barriers++;
  swapcontext(&fibers[now.item].context, &scheduler);
}

static void resume(unsigned item) {
  now.item = (int)item;
  now.step = 0;
  lab_item = (lab_vector){item % lab_items.x, item / lab_items.x % lab_items.y,
                          item / lab_items.x / lab_items.y};
  fibers[item].barrier = NULL;
  is_running = true;
  swapcontext(&scheduler, &fibers[item].context);
  is_running = false;
}

/* Reports items that wait at different barriers, or for items that ended. Returns true if all have ended. */
static bool check_barriers(void) {
  int waiting = -1, done = -1, other = -1;
  char items[2][48];
  for (unsigned i = 0; i < item_count; i++)
    if (fibers[i].is_done)
      done = (int)i;
    else if (waiting < 0)
      waiting = (int)i;
    else if (fibers[i].barrier != fibers[waiting].barrier)
      other = (int)i;
  static bool is_told;
  if (waiting < 0 || (done < 0 && other < 0) || is_told)
    return waiting < 0;
  is_told = true;
  tell_item(items[0], sizeof items[0], waiting);
  tell_item(items[1], sizeof items[1], done >= 0 ? done : other);
  if (!is_full()) {
    printf("F|barrier not reached|@@: %s of group %d waits at this barrier, but %s %s; every item of a group "
           "must reach it\n",
           items[0], now.group, items[1], done >= 0 ? "has ended" : "waits at another one");
    printf("A|%lx\n", (unsigned long)(uintptr_t)fibers[waiting].barrier);
  }
  return false;
}

static void run_group(int group) {
  now.group = group;
  now.interval = 0;
  for (int i = 0; i < array_count; i++)
    if (arrays[i].is_local)
      empty_local(&arrays[i]);
  for (unsigned i = 0; i < item_count; i++) {
    fiber *of = &fibers[i];
    getcontext(&of->context);
    of->context.uc_stack.ss_sp = stacks + (size_t)i * STACK;
    of->context.uc_stack.ss_size = STACK;
    of->context.uc_link = &scheduler;
    of->is_done = false;
    makecontext(&of->context, fiber_start, 0);
  }
  do {
    now.interval++;
    for (unsigned i = 0; i < item_count; i++) {
      const unsigned item = job.backwards ? item_count - 1 - i : i;
      if (!fibers[item].is_done)
        resume(item);
    }
  } while (!check_barriers());
}

static void run_all(void) {
  const unsigned groups = lab_groups.x * lab_groups.y * lab_groups.z;
  item_count = lab_items.x * lab_items.y * lab_items.z;
  fibers = calloc(item_count, sizeof *fibers);
  stacks = mmap(NULL, (size_t)item_count * STACK, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  for (unsigned g = 0; g < groups; g++) {
    const unsigned group = job.backwards ? groups - 1 - g : g;
    lab_group = (lab_vector){group % lab_groups.x, group / lab_groups.x % lab_groups.y,
                             group / lab_groups.x / lab_groups.y};
    run_group((int)group);
  }
}

/* An address so far away that the processor refuses it. */
static void on_signal(int number) {
  array *nearest = &arrays[0];
  char item[48];
  for (int i = 1; i < array_count; i++)
    if (labs(last_address - arrays[i].start) < labs(last_address - nearest->start))
      nearest = &arrays[i];
  tell_item(item, sizeof item, now.item);
  printf("F|out of bounds|@@: %s[%ld] is far outside of %s (%s of group %d)\nA|%lx\n", nearest->name,
         (long)(last_address - nearest->start) / (long)nearest->element, nearest->name, item, now.group,
         (unsigned long)now.code);
  fflush(stdout);
  _exit(number == SIGSEGV || number == SIGBUS ? 0 : 1);
}

/* --- data and references --- */

static uint64_t seed = 88172645463325252u;
static double next_value(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  if (job.is_real)
    return (double)(seed >> 11) / 9007199254740992.0 - 0.5;
  const int whole = (int)(seed >> 33) % 4 + 1; /* never 0, so that each element counts */
  return seed >> 60 & 1 ? whole : -whole;
}

static double get(const array *of, long index) {
  return of->element == 8 ? ((double *)(void *)of->start)[index] : ((float *)(void *)of->start)[index];
}

static void put(array *of, long index, double value) {
  if (of->element == 8)
    ((double *)(void *)of->start)[index] = value;
  else
    ((float *)(void *)of->start)[index] = (float)value;
}

static void fill(array *of) {
  of->is_input = true;
  for (long i = 0; i < of->count; i++)
    put(of, i, next_value());
}

/* Ways to read or write a matrix: right, rows and columns exchanged, exchanged inside of each tile. */
typedef enum way { RIGHT, SWAPPED, TILE_SWAPPED, WAYS } way;

static void turn(way how, long *row, long *col) {
  const long tile = job.tile, r = *row, c = *col;
  if (how == SWAPPED) {
    *row = c;
    *col = r;
  } else if (how == TILE_SWAPPED) {
    *row = r / tile * tile + c % tile;
    *col = c / tile * tile + r % tile;
  }
}

typedef struct guess {
  way a, b, c;
  long a_pitch, b_pitch, c_pitch;
} guess;

/* Returns element (row, col) of alpha A B + beta C0 under a guess; NaN outside of the operands. */
static double product(const guess *guess, const array *a, const array *b, const double *c0, long row, long col,
                      double *magnitude) {
  double sum = 0, sizes = 0;
  for (long l = 0; l < job.k; l++) {
    long ar = row, ac = l, br = l, bc = col;
    turn(guess->a, &ar, &ac);
    turn(guess->b, &br, &bc);
    const long ai = ar * guess->a_pitch + ac, bi = br * guess->b_pitch + bc;
    if (ai >= a->count || bi >= b->count)
      return NAN;
    sum += get(a, ai) * get(b, bi);
    sizes += fabs(get(a, ai) * get(b, bi));
  }
  const double added = job.beta != 0 ? job.beta * c0[row * job.ldc + col] : 0;
  if (magnitude)
    *magnitude = fabs(job.alpha) * sizes + fabs(added);
  return job.alpha * sum + added;
}

/* Returns true if the whole result is what the guess computes. */
static bool guess_fits(const guess *guess, const array *a, const array *b, const double *c0, const array *c) {
  for (long row = 0; row < job.m; row++)
    for (long col = 0; col < job.n; col++) {
      long r = row, k = col;
      turn(guess->c, &r, &k);
      const long at = r * guess->c_pitch + k;
      if (at >= c->count || !(get(c, at) == product(guess, a, b, c0, row, col, NULL)))
        return false;
    }
  return true;
}

static void guess_swaps(const array *a, const array *b, const double *c0, const array *c) {
  static const char *const words[] = {"", "rows and columns of %s are exchanged",
                                      "rows and columns of %s are exchanged inside of each tile"};
  guess next = {.a_pitch = job.lda, .b_pitch = job.ldb, .c_pitch = job.ldc};
  for (int swaps = 1; swaps < WAYS * WAYS * WAYS; swaps++) {
    char text[3][96] = {"", "", ""};
    const int ways[] = {swaps % WAYS, swaps / WAYS % WAYS, swaps / WAYS / WAYS};
    next.a = (way)ways[0], next.b = (way)ways[1], next.c = (way)ways[2];
    if (!guess_fits(&next, a, b, c0, c))
      continue;
    for (int i = 0; i < 3; i++)
      snprintf(text[i], sizeof text[i], words[ways[i]], i == 0 ? "a" : i == 1 ? "b" : "c");
    printf("H|swapped indices|%s%s%s%s%s: the result is exactly what that gives\n", text[0],
           *text[0] && (*text[1] || *text[2]) ? ", " : "", text[1], *text[1] && *text[2] ? ", " : "", text[2]);
    return;
  }
}

static void guess_strides(const array *a, const array *b, const double *c0, const array *c) {
  static const char *const names[] = {"m", "n", "k", "lda", "ldb", "ldc"};
  const long values[] = {job.m, job.n, job.k, job.lda, job.ldb, job.ldc};
  const long rights[] = {job.lda, job.ldb, job.ldc};
  for (int operand = 0; operand < 3; operand++)
    for (int i = 0; i < 6; i++) {
      guess next = {.a_pitch = job.lda, .b_pitch = job.ldb, .c_pitch = job.ldc};
      long *pitch[] = {&next.a_pitch, &next.b_pitch, &next.c_pitch};
      if (values[i] == rights[operand] || (operand == 2 && values[i] < job.n))
        continue;
      *pitch[operand] = values[i];
      if (guess_fits(&next, a, b, c0, c)) {
        printf("H|wrong stride|the rows of %c are taken to be %s = %ld elements apart; %ld would be right\n",
               "abc"[operand], names[i], values[i], rights[operand]);
        return;
      }
    }
}

/* Reports the first wrong element. Returns the largest error, as a fraction of the sum of magnitudes. */
static double check_product(const array *a, const array *b, const double *c0, const array *c) {
  const guess right = {.a_pitch = job.lda, .b_pitch = job.ldb, .c_pitch = job.ldc};
  const double unit = job.size == 8 ? 1.2e-16 : 6e-8;
  const double allowed = job.is_real ? (double)(job.k + 4) * unit : 0;
  long wrong = 0, row0 = 0, col0 = 0;
  double worst = 0, got = 0, expected = 0;
  for (long row = 0; row < job.m; row++)
    for (long col = 0; col < job.n; col++) {
      double magnitude;
      const double value = get(c, row * job.ldc + col);
      const double reference = product(&right, a, b, c0, row, col, &magnitude);
      const double error = magnitude > 0 ? fabs(value - reference) / magnitude : fabs(value - reference);
      worst = error > worst ? error : worst;
      if (error <= allowed)
        continue;
      if (wrong++ == 0) {
        row0 = row, col0 = col, got = value, expected = reference;
      }
    }
  if (wrong > 0)
    printf("W|wrong result|C(%ld, %ld) is %.9g, %.9g would be right; %ld of %ld elements are wrong where m = "
           "%ld, n = %ld, k = %ld, lda = %ld, ldb = %ld, ldc = %ld, alpha = %g, beta = %g\n",
           row0, col0, isnan(got) ? fabs(got) : got, expected, wrong, job.m * job.n, job.m, job.n, job.k, job.lda, job.ldb, job.ldc,
           job.alpha, job.beta);
  return wrong > 0 ? worst : 0;
}

static void guess_precision(double error) {
  if (job.size == 8 && job.is_real && error > 1e-13 && error < 1e-4)
    printf("H|float for double|errors are as large as float's (%.2g of the sum): a sum, a constant or a local "
           "array is float; double would be right\n",
           error);
}

/* --- reports --- */

static void tell_outside(const array *of, bool is_write) {
  const outside *out = &of->out[is_write];
  char item[48], place[160];
  if (out->count == 0 || is_full())
    return;
  tell_item(item, sizeof item, out->first.item);
  const bool is_edge = !of->is_local && out->min_row >= 0 &&
                       ((out->max_row <= of->rows && of->pitch > of->cols && out->max_col <= of->cols) ||
                        (out->max_row <= of->rows && of->pitch == of->cols) ||
                        (of->rows == 1 && out->max_row <= 1 && out->max_col == 0));
  if (of->is_local || of->rows <= 1)
    snprintf(place, sizeof place, "it has %ld elements", of->count);
  else
    snprintf(place, sizeof place, "it has %ld rows and %ld columns", of->rows, of->cols);
  char element[160];
  tell_operand(of, out->index, element, sizeof element);
  printf("F|%s|@@: %s is %s by %s of group %d; %s (%ld such accesses)\nA|%lx\n",
         is_edge ? "off by one at an edge" : "out of bounds", element, is_write ? "written" : "read", item,
         out->first.group, place, out->count, (unsigned long)out->first.code);
}

static void tell_unset(const array *of) {
  char item[48], element[160];
  if (of->unset_count == 0 || of->has_race || is_full())
    return;
  tell_item(item, sizeof item, of->unset.item);
  tell_operand(of, of->unset_index, element, sizeof element);
  printf("F|uninitialised %s|@@: %s is read by %s of group %d before anything was written to it\nA|%lx\n",
         of->is_local ? "local memory" : "result", element, item, of->unset.group,
         (unsigned long)of->unset.code);
}

/* Reports elements of an operand that no item used. */
static void tell_unused(const array *of) {
  long count = 0, low[2] = {0, 0}, high[2] = {0, 0};
  for (long row = 0; row < of->rows; row++)
    for (long col = 0; col < of->cols; col++) {
      const cell *at = &of->cells[row * of->pitch + col];
      if (of->is_result ? at->was_written : at->was_read)
        continue;
      if (count++ == 0)
        low[0] = high[0] = row, low[1] = high[1] = col;
      low[0] = row < low[0] ? row : low[0];
      low[1] = col < low[1] ? col : low[1];
      high[0] = row > high[0] ? row : high[0];
      high[1] = col > high[1] ? col : high[1];
    }
  if (count == 0 || is_full())
    return;
  const bool is_tail = of->name[0] == 'b' ? high[0] == of->rows - 1 : high[1] == of->cols - 1;
  printf("%s|%s|%ld of %ld elements of %s are never %s: rows %ld to %ld, columns %ld to %ld%s\n",
         of->is_result ? "F" : "T", of->is_result ? "unwritten elements" : is_tail ? "unread tail" : "unread elements",
         count, of->rows * of->cols, of->name, of->is_result ? "written" : "read", low[0], high[0], low[1],
         high[1], is_tail && !of->is_result ? ", the tail" : "");
}

static void tell_memory(void) {
  for (int i = 0; i < array_count; i++) {
    tell_outside(&arrays[i], false);
    tell_outside(&arrays[i], true);
  }
  for (int i = 0; i < array_count; i++)
    tell_unset(&arrays[i]);
  for (int i = 0; i < array_count; i++)
    if (!arrays[i].is_local)
      tell_unused(&arrays[i]);
}

static void tell_counts(void) {
  printf("C|%g|%g|%g|%g|%g|%g\n", reads[0], writes[0], reads[1], writes[1],
         barriers / ((double)item_count * lab_groups.x * lab_groups.y * lab_groups.z),
         job.op == 't'   ? (double)job.m * (double)job.n
         : job.op == 'd' ? (double)job.k
                         : (double)job.m * (double)job.n * (double)job.k);
}

/* --- operations --- */

static void work_gemm(void) {
  array *a = add_operand("a", job.m, job.k, job.lda), *b = add_operand("b", job.k, job.n, job.ldb);
  array *c = add_operand("c", job.m, job.n, job.ldc);
  double *c0 = calloc((size_t)c->count + 1, sizeof *c0);
  fill(a);
  fill(b);
  for (long i = 0; i < c->count; i++) {
    c0[i] = job.beta != 0 ? next_value() : NAN;
    put(c, i, c0[i]);
  }
  c->is_input = job.beta != 0;
  c->is_result = true;
  run_all();
  tell_memory();
  const double error = check_product(a, b, c0, c);
  if (!(error == 0)) {
    guess_precision(error);
    if (job.m == job.n && job.n == job.k && job.beta == 0)
      guess_swaps(a, b, c0, c);
    guess_strides(a, b, c0, c);
  }
  tell_counts();
}

static void work_dot(void) {
  array *x = add_operand("x", 1, job.k, job.k), *y = add_operand("y", 1, job.k, job.k);
  const long groups = (long)(lab_groups.x * lab_groups.y * lab_groups.z);
  array *sums = add_operand("sums", 1, groups, groups);
  double sum = 0, expected = 0, magnitude = 0;
  fill(x);
  fill(y);
  memset(sums->start, 0xff, (size_t)sums->count * sums->element);
  sums->is_result = true;
  run_all();
  tell_memory();
  for (long i = 0; i < groups; i++)
    sum += get(sums, i);
  for (long i = 0; i < job.k; i++) {
    expected += get(x, i) * get(y, i);
    magnitude += fabs(get(x, i) * get(y, i));
  }
  const double error = fabs(sum - expected) / (magnitude > 0 ? magnitude : 1);
  if (!(error <= (job.is_real ? (double)(job.k + 4) * (job.size == 8 ? 1.2e-16 : 6e-8) : 0))) {
    printf("W|wrong result|the sum is %.12g, %.12g would be right, for %ld elements\n", sum, expected, job.k);
    guess_precision(error);
  }
  tell_counts();
}

static void work_transpose(void) {
  array *a = add_operand("a", job.n, job.m, job.lda), *c = add_operand("c", job.m, job.n, job.ldc);
  long wrong = 0, row0 = 0, col0 = 0;
  bool is_copy = job.m == job.n;
  fill(a);
  memset(c->start, 0xff, (size_t)c->count * c->element);
  c->is_result = true;
  for (long row = 0; row < job.n; row++)
    for (long col = 0; col < job.m; col++)
      put(a, row * job.lda + col, (double)(row * 1000 + col));
  run_all();
  tell_memory();
  for (long row = 0; row < job.m; row++)
    for (long col = 0; col < job.n; col++) {
      const double value = get(c, row * job.ldc + col);
      is_copy &= value == (double)(row * 1000 + col);
      if (!(value == (double)(col * 1000 + row)) && wrong++ == 0)
        row0 = row, col0 = col;
    }
  if (wrong > 0) {
    const double value = get(c, row0 * job.ldc + col0);
    printf("W|wrong result|C(%ld, %ld) is wrong, A(%ld, %ld) would be right; %ld of %ld elements are wrong\n",
           row0, col0, col0, row0, wrong, job.m * job.n);
    if (is_copy)
      printf("H|swapped indices|the result is A itself: rows and columns were not exchanged\n");
    else if (value >= 0 && value < (double)(job.n * 1000))
      printf("H|wrong element|C(%ld, %ld) has element (%ld, %ld) of A\n", row0, col0, (long)value / 1000,
             (long)value % 1000);
  }
  tell_counts();
}

int main(int count, char **words) {
  if (count < 20)
    return 2;
  static char signal_stack[1 << 16];
  const stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  job.op = words[1][0];
  job.size = (size_t)atol(words[2]);
  job.m = atol(words[3]), job.n = atol(words[4]), job.k = atol(words[5]);
  job.lda = atol(words[6]), job.ldb = atol(words[7]), job.ldc = atol(words[8]);
  job.alpha = atof(words[9]), job.beta = atof(words[10]);
  lab_groups = (lab_vector){(unsigned)atoi(words[11]), (unsigned)atoi(words[12]), (unsigned)atoi(words[13])};
  lab_items = (lab_vector){(unsigned)atoi(words[14]), (unsigned)atoi(words[15]), (unsigned)atoi(words[16])};
  job.backwards = words[17][0] == 'b';
  job.is_real = words[18][0] == 'r';
  job.tile = atol(words[19]);
  for (int i = 20; i < count && i < 28; i++)
    lab_local_counts[i - 20] = atol(words[i]);
  const bool is_transpose = job.op == 't';
  const long sizes[] = {job.m,
                        job.op == 'd' ? job.k : job.n,
                        job.k,
                        is_transpose ? job.n : job.m,
                        is_transpose ? job.m : job.n,
                        job.lda,
                        job.ldb,
                        job.ldc};
  memcpy(lab_sizes, sizes, sizeof sizes);
  lab_scalars[0] = job.alpha;
  lab_scalars[1] = job.beta;
  now = (use){.item = -1};
  arena = mmap(NULL, (size_t)1 << 28, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  arena_end = arena;
  sigaltstack(&stack, NULL);
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  if (job.op == 'g')
    work_gemm();
  else if (job.op == 'd')
    work_dot();
  else
    work_transpose();
  return 0;
}
