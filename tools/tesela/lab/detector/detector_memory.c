/* Runs a kernel item by item on the processor, and records its reads and writes.
 *
 * The kernel is compiled with -fsanitize=thread,bounds. The compiler then calls __tsan_read4(address) and the
 * like before each access to memory, and __ubsan_handle_out_of_bounds() for indices outside of arrays. This
 * file defines these functions in place of the compiler's library. Each work-item is a fiber. A group's items
 * run one after the other up to the next barrier, forwards or backwards. A cell for each element holds its
 * last writer and readers. Two items race if they use an element in the same interval between barriers, and
 * one of the two writes. */
#define _GNU_SOURCE
#include "detector.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { ARRAYS_MAX = 32, GAP = 1 << 20, STACK = 1 << 18, FAULTS_MAX = 12, PAGE = 4096 };

lab_vector lab_item, lab_group, lab_items, lab_groups;
long lab_sizes[8], lab_local_counts[8];
double lab_scalars[2];
lab_run lab_job;
lab_use_hook *lab_on_use;
void lab_call(void);

static array arrays[ARRAYS_MAX];
static int array_count;
static char *arena, *arena_end;

static bool is_running;
static use now; /* the running item, and its latest access */
static unsigned item_count;
static char *last_address;
static double reads[2], writes[2], barriers; /* global, local */
static int fault_count;

/* --- sentences --- */

static void tell_item(char *out, size_t size, int item) {
  const unsigned x = (unsigned)item % lab_items.x, y = (unsigned)item / lab_items.x % lab_items.y;
  if (lab_items.y > 1)
    snprintf(out, size, N_("item (%u, %u)"), x, y);
  else
    snprintf(out, size, N_("item %u"), x);
}

static void tell_element(const array *list, long index, char *out, size_t size) {
  if (list->rows > 1 && index >= 0)
    snprintf(out, size, "%s[%ld][%ld]", list->name, index / list->pitch, index % list->pitch);
  else
    snprintf(out, size, "%s[%ld]", list->name, index);
}

static void tell_operand(const array *list, long index, char *out, size_t size) {
  if (!list->is_local && list->rows > 1 && index >= 0)
    snprintf(out, size, N_("%s[%ld] (row %ld, column %ld)"), list->name, index, index / list->pitch,
             index % list->pitch);
  else
    tell_element(list, index, out, size);
}

static bool is_full(void) {
  return ++fault_count > FAULTS_MAX;
}

/* --- races --- */

/* Reports two uses without an order, once for each pair of lines. */
static void tell_race(array *list, long index, const use *first, bool first_writes, const use *second,
                      bool second_writes) {
  list->has_race = true;
  static struct {
    const array *list;
    uintptr_t codes[2];
  } known[64];
  static int known_count;
  char element[160], items[2][48];
  for (int i = 0; i < known_count; i++)
    if (known[i].list == list && ((known[i].codes[0] == first->code && known[i].codes[1] == second->code) ||
                                  (known[i].codes[0] == second->code && known[i].codes[1] == first->code)))
      return;
  if (known_count < 64) {
    known[known_count].list = list;
    known[known_count].codes[0] = first->code;
    known[known_count++].codes[1] = second->code;
  }
  if (is_full())
    return;
  tell_operand(list, index, element, sizeof element);
  tell_item(items[0], sizeof items[0], first->item);
  tell_item(items[1], sizeof items[1], second->item);
  if (!list->is_local) {
    printf("F|" N_("race on %s") "|" N_("%s: %s is %s by %s of group %d and %s by %s of group %d (@%lx): "
                                        "nothing orders them; one item for each element would be right") "\n",
           list->name, "@@", element, first_writes ? N_("written") : N_("read"), items[0], first->group,
           second_writes ? "written" : "read", items[1], second->group, (unsigned long)second->code);
    printf("A|%lx\n", (unsigned long)first->code);
    return;
  }
  /* An item's own order of accesses tells which barrier is missing. If the read is the earlier one, it is the
   * barrier between the reads of one turn and the writes of the next. */
  const use *write = first_writes ? first : second, *other = first_writes ? second : first;
  const bool both = first_writes && second_writes;
  if (both)
    printf("F|" N_("missing barrier") "|" N_(
               "@@: %s is written by %s and, without a barrier between, by %s at @%lx") "\n",
           element, items[0], items[1], (unsigned long)second->code);
  else if (write->step < other->step)
    printf("F|" N_("missing barrier") "|" N_("@@: %s is written here by %s and read by %s at @%lx; the "
                                             "barrier between storing and using is missing") "\n",
           element, write == first ? items[0] : items[1], write == first ? items[1] : items[0],
           (unsigned long)other->code);
  else
    printf("F|" N_("missing barrier") "|" N_("@@: %s is read here by %s and written again by %s at @%lx; the "
                                             "second barrier, after the use, is missing") "\n",
           element, other == first ? items[0] : items[1], other == first ? items[1] : items[0],
           (unsigned long)write->code);
  printf("A|%lx\n", (unsigned long)(both                        ? first->code
                                    : write->step < other->step ? write->code
                                                                : other->code));
}

/* Returns true if nothing orders the two uses. */
static bool is_unordered(const use *before, const use *after) {
  if (before->item < 0 || (before->group == after->group && before->item == after->item))
    return false;
  return before->group != after->group || before->interval == after->interval;
}

/* Lines of memory that 32 neighbouring items touch with the same access, counted from a barrier. */
enum { NEIGHBOURS = 32, STEPS_MAX = 2048, LINE = 64 };
static struct {
  unsigned turn;
  int count;
  uintptr_t lines[NEIGHBOURS];
} touched[STEPS_MAX];
static unsigned turn; /* number of the present 32 items in the present interval */
static double line_count, access_count;

static void note_line(const char *address) {
  if (now.step >= STEPS_MAX)
    return;
  const uintptr_t line = (uintptr_t)address / LINE;
  if (touched[now.step].turn != turn) {
    touched[now.step].turn = turn;
    touched[now.step].count = 0;
    access_count++;
  }
  for (int i = 0; i < touched[now.step].count; i++)
    if (touched[now.step].lines[i] == line)
      return;
  touched[now.step].lines[touched[now.step].count++] = line;
  line_count++;
}

static void touch(array *list, long index, bool is_write, uintptr_t code) {
  cell *at = &list->cells[index];
  now.code = code;
  now.step++;
  (is_write ? writes : reads)[list->is_local]++;
  if (lab_on_use)
    lab_on_use(list, index, is_write, &now);
  if (!list->is_local)
    note_line(list->start + (size_t)index * list->element);
  if (is_write) {
    if (is_unordered(&at->write, &now))
      tell_race(list, index, &at->write, true, &now, true);
    for (int i = 0; i < 2; i++)
      if (is_unordered(&at->reads[i], &now))
        tell_race(list, index, &at->reads[i], false, &now, true);
    at->write = now;
    at->was_written = true;
    return;
  }
  if (is_unordered(&at->write, &now))
    tell_race(list, index, &at->write, true, &now, false);
  if (!at->was_written && !list->is_input) {
    if (list->unset_count++ == 0) {
      list->unset = now;
      list->unset_index = index;
    }
  }
  at->was_read = true;
  if (at->reads[0].item != now.item || at->reads[0].group != now.group) {
    at->reads[1] = at->reads[0];
  }
  at->reads[0] = now;
}

/* --- accesses --- */

static void note_outside(array *list, long index, bool is_write, uintptr_t code) {
  outside *out = &list->out[is_write];
  const long row = index >= 0 ? index / list->pitch : -1, col = index >= 0 ? index % list->pitch : -1;
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

/* Returns the array of an address, or the nearest array; NULL: memory of the kernel's own. */
static array *find_array(const char *address) {
  for (int i = 0; i < array_count; i++) {
    array *list = &arrays[i];
    const char *end = list->start + (size_t)list->count * list->element;
    const long before = list->is_local ? 0 : GAP / 2;
    const char *after =
        list->is_local ? (const char *)(((uintptr_t)end + PAGE - 1) / PAGE * PAGE) : end + GAP / 2;
    if (address >= list->start - before && address < after)
      return list;
  }
  return NULL;
}

static void use_memory(void *address, size_t bytes, bool is_write, void *code) {
  char *at = address;
  if (!is_running || bytes == 0)
    return;
  last_address = at;
  now.code = (uintptr_t)code;
  array *list = find_array(at);
  if (!list)
    return;
  const long offset = at - list->start, size = (long)list->element;
  const long first = offset >= 0 ? offset / size : -((-offset + size - 1) / size);
  const long last = (offset + (long)bytes - 1) / size;
  for (long index = first; index <= last; index++) {
    const bool is_gap =
        !list->is_local && list->cols < list->pitch && index >= 0 && index % list->pitch >= list->cols;
    if (index < 0 || index >= list->count || is_gap)
      note_outside(list, index, is_write, (uintptr_t)code);
    else
      touch(list, index, is_write, (uintptr_t)code);
  }
}

/* Records an atomic addition, which races with nothing. */
void lab_atomic(void *address, unsigned long bytes);
void lab_atomic(void *address, unsigned long bytes) {
  array *list = is_running ? find_array(address) : NULL;
  if (!list)
    return;
  const long offset = (char *)address - list->start, index = offset / (long)bytes;
  now.code = (uintptr_t)__builtin_return_address(0);
  if (offset < 0 || index >= list->count) {
    note_outside(list, offset < 0 ? -1 : index, true, now.code);
    return;
  }
  cell *at = &list->cells[index];
  if (!at->was_written && !list->is_input && list->unset_count++ == 0) {
    list->unset = now;
    list->unset_index = index;
  }
  at->was_written = at->was_read = true;
  reads[list->is_local]++;
  writes[list->is_local]++;
}

#define HERE __builtin_return_address(0)
#define LAB_ACCESS(bytes)                                                                                    \
  void __tsan_read##bytes(void *address);                                                                    \
  void __tsan_write##bytes(void *address);                                                                   \
  void __tsan_unaligned_read##bytes(void *address);                                                          \
  void __tsan_unaligned_write##bytes(void *address);                                                         \
  void __tsan_volatile_read##bytes(void *address);                                                           \
  void __tsan_volatile_write##bytes(void *address);                                                          \
  void __tsan_read_write##bytes(void *address);                                                              \
  void __tsan_read##bytes(void *address) {                                                                   \
    use_memory(address, bytes, false, HERE);                                                                 \
  }                                                                                                          \
  void __tsan_write##bytes(void *address) {                                                                  \
    use_memory(address, bytes, true, HERE);                                                                  \
  }                                                                                                          \
  void __tsan_unaligned_read##bytes(void *address) {                                                         \
    use_memory(address, bytes, false, HERE);                                                                 \
  }                                                                                                          \
  void __tsan_unaligned_write##bytes(void *address) {                                                        \
    use_memory(address, bytes, true, HERE);                                                                  \
  }                                                                                                          \
  void __tsan_volatile_read##bytes(void *address) {                                                          \
    use_memory(address, bytes, false, HERE);                                                                 \
  }                                                                                                          \
  void __tsan_volatile_write##bytes(void *address) {                                                         \
    use_memory(address, bytes, true, HERE);                                                                  \
  }                                                                                                          \
  void __tsan_read_write##bytes(void *address) {                                                             \
    use_memory(address, bytes, false, HERE);                                                                 \
    use_memory(address, bytes, true, HERE);                                                                  \
  }
LAB_ACCESS(1)
LAB_ACCESS(2)
LAB_ACCESS(4)
LAB_ACCESS(8)
LAB_ACCESS(16)

void __tsan_read_range(void *address, unsigned long bytes);
void __tsan_write_range(void *address, unsigned long bytes);
void __tsan_init(void);
void __tsan_func_entry(void *code);
void __tsan_func_exit(void);
void __ubsan_handle_out_of_bounds(void *data, uintptr_t index);
void __ubsan_handle_out_of_bounds_abort(void *data, uintptr_t index);
void __tsan_read_range(void *address, unsigned long bytes) {
  use_memory(address, bytes, false, HERE);
}
void __tsan_write_range(void *address, unsigned long bytes) {
  use_memory(address, bytes, true, HERE);
}

/* C's functions on memory, which the compiler does not record. */
void *lab_memcpy(void *target, const void *source, size_t bytes);
void *lab_memmove(void *target, const void *source, size_t bytes);
void *lab_memset(void *target, int value, size_t bytes);
void *lab_memmove(void *target, const void *source, size_t bytes) {
  use_memory((void *)(uintptr_t)source, bytes, false, HERE);
  use_memory(target, bytes, true, HERE);
  return memmove(target, source, bytes);
}
void *lab_memcpy(void *target, const void *source, size_t bytes) {
  use_memory((void *)(uintptr_t)source, bytes, false, HERE);
  use_memory(target, bytes, true, HERE);
  return memmove(target, source, bytes);
}
void *lab_memset(void *target, int value, size_t bytes) {
  use_memory(target, bytes, true, HERE);
  return memset(target, value, bytes);
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
    printf("F|" N_("out of bounds") "|" N_(
               "%s:%u: {%u:%u} is used with the index %ld by %s of group %d; its type is %s") "\n",
           record->file, record->line, record->line, record->column, (long)(int)index, item, now.group,
           record->array_type->name);
}
void __ubsan_handle_out_of_bounds_abort(void *data, uintptr_t index) {
  __ubsan_handle_out_of_bounds(data, index);
}

/* --- arrays --- */

static array *add_array(const char *name, char *start, long count, size_t element) {
  if (array_count == ARRAYS_MAX) {
    printf("U|" N_("the kernel has more than %d arrays") "\n", ARRAYS_MAX);
    exit(0);
  }
  array *list = &arrays[array_count++];
  *list =
      (array){.start = start, .count = count, .element = element, .rows = 1, .cols = count, .pitch = count};
  snprintf(list->name, sizeof list->name, "%s", name);
  list->cells = calloc((size_t)count + 1, sizeof(cell));
  return list;
}

static void forget_uses(array *list) {
  for (long i = 0; i < list->count; i++) {
    list->cells[i] = (cell){.write = {.item = -1}};
    list->cells[i].reads[0].item = list->cells[i].reads[1].item = -1;
  }
}

/* Empties a local array, for the start of a group. */
static void empty_local(array *list) {
  forget_uses(list);
  memset(list->start, 0xff, (size_t)list->count * list->element);
}

void lab_register(const char *name, void *start, unsigned long bytes, unsigned long row,
                  unsigned long element);
void lab_register(const char *name, void *start, unsigned long bytes, unsigned long row,
                  unsigned long element) {
  for (int i = 0; i < array_count; i++)
    if (arrays[i].start == (char *)start)
      return;
  array *list = add_array(name, start, (long)(bytes / element), element);
  list->is_local = true;
  list->pitch = list->cols = (long)(row / element);
  list->rows = list->count / list->pitch;
  empty_local(list);
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
  array *list = add_array(name, take_arena(bytes), (long)(bytes / element), element);
  list->is_local = true;
  empty_local(list);
  return list->start;
}

void *lab_operand(const char *name);
void *lab_operand(const char *name) {
  for (int i = 0; i < array_count; i++)
    if (strcmp(arrays[i].name, name) == 0)
      return arrays[i].start;
  return NULL;
}

array *lab_add_operand(const char *name, long rows, long cols, long pitch) {
  const long count = rows > 0 ? (rows - 1) * pitch + cols : 0;
  array *list = add_array(name, take_arena((size_t)count * lab_job.size), count, lab_job.size);
  list->rows = rows;
  list->cols = cols;
  list->pitch = pitch > 0 ? pitch : 1;
  forget_uses(list);
  return list;
}

/* --- items as fibers --- */

typedef struct fiber {
  ucontext_t context;
  bool is_done;
  void *barrier; /* address of the barrier where it waits */
  unsigned step;
} fiber;

static fiber *fibers; /* NULL: not yet made */
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
  turn += item % NEIGHBOURS == 0;
  lab_item =
      (lab_vector){item % lab_items.x, item / lab_items.x % lab_items.y, item / lab_items.x / lab_items.y};
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
    printf(
        "F|" N_("barrier not reached") "|" N_(
            "@@: %s of group %d waits at this barrier, but %s %s; every item of a group must reach it") "\n",
        items[0], now.group, items[1], done >= 0 ? N_("has ended") : N_("waits at another one"));
    printf("A|%lx\n", (unsigned long)(uintptr_t)fibers[waiting].barrier);
  }
  return false;
}

const use *lab_now(void) {
  return &now;
}

/* Makes the fibers of a group's items, once. */
static void make_fibers(void) {
  if (fibers)
    return;
  item_count = lab_items.x * lab_items.y * lab_items.z;
  fibers = calloc(item_count, sizeof *fibers);
  stacks = mmap(NULL, (size_t)item_count * STACK, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (!fibers || stacks == MAP_FAILED) {
    printf("U|" N_("no memory for the %u items of a group") "\n", item_count);
    exit(0);
  }
}

void lab_run_group(unsigned group) {
  make_fibers();
  lab_group = (lab_vector){group % lab_groups.x, group / lab_groups.x % lab_groups.y,
                           group / lab_groups.x / lab_groups.y};
  now.group = (int)group;
  now.interval = 0;
  for (int i = 0; i < array_count; i++)
    if (arrays[i].is_local)
      empty_local(&arrays[i]);
  for (unsigned i = 0; i < item_count; i++) {
    fiber *list = &fibers[i];
    getcontext(&list->context);
    list->context.uc_stack.ss_sp = stacks + (size_t)i * STACK;
    list->context.uc_stack.ss_size = STACK;
    list->context.uc_link = &scheduler;
    list->is_done = false;
    makecontext(&list->context, fiber_start, 0);
  }
  do {
    now.interval++;
    for (unsigned i = 0; i < item_count; i++) {
      const unsigned item = lab_job.backwards ? item_count - 1 - i : i;
      if (!fibers[item].is_done)
        resume(item);
    }
  } while (!check_barriers());
}

void lab_run_all(void) {
  const unsigned groups = lab_groups.x * lab_groups.y * lab_groups.z;
  for (unsigned g = 0; g < groups; g++)
    lab_run_group(lab_job.backwards ? groups - 1 - g : g);
}

/* Reports an address that the processor refuses. */
static void on_signal(int number, siginfo_t *info, void *context) {
  (void)context;
  if (fault_count > 0) /* an earlier write may have destroyed the address */
    _exit(0);
  array *nearest = &arrays[0];
  char item[48];
  for (int i = 1; i < array_count; i++)
    if (labs(last_address - arrays[i].start) < labs(last_address - nearest->start))
      nearest = &arrays[i];
  tell_item(item, sizeof item, now.item);
  if (info->si_code > 0 && info->si_code < 0x80 && (uintptr_t)info->si_addr < PAGE) {
    const bool is_recorded = (uintptr_t)last_address < PAGE; /* functions of the library are not */
    printf("F|" N_("crash") "|" N_("%sa null pointer is used by %s of group %d") "\nA|%lx\n",
           is_recorded ? "@@: " : "", item, now.group, (unsigned long)now.code);
    fflush(stdout);
    _exit(0);
  }
  printf("F|" N_("out of bounds") "|" N_("@@: %s[%ld] is far outside of %s (%s of group %d)") "\nA|%lx\n",
         nearest->name, (long)(last_address - nearest->start) / (long)nearest->element, nearest->name, item,
         now.group, (unsigned long)now.code);
  fflush(stdout);
  _exit(number == SIGSEGV || number == SIGBUS ? 0 : 1);
}

/* --- faults of memory --- */

static void tell_outside(const array *list, bool is_write) {
  const outside *out = &list->out[is_write];
  char item[48], place[160];
  if (out->count == 0 || is_full())
    return;
  tell_item(item, sizeof item, out->first.item);
  const bool is_edge =
      !list->is_local && out->min_row >= 0 &&
      ((out->max_row <= list->rows && list->pitch > list->cols && out->max_col <= list->cols) ||
       (out->max_row <= list->rows && list->pitch == list->cols) ||
       (list->rows == 1 && out->max_row <= 1 && out->max_col == 0));
  if (list->is_local || list->rows <= 1)
    snprintf(place, sizeof place, N_("it has %ld elements"), list->count);
  else
    snprintf(place, sizeof place, N_("it has %ld rows and %ld columns"), list->rows, list->cols);
  char element[160];
  tell_operand(list, out->index, element, sizeof element);
  printf("F|%s|" N_("@@: %s is %s by %s of group %d; %s (%ld such accesses)") "\nA|%lx\n",
         is_edge ? N_("off by one at an edge") : N_("out of bounds"), element, is_write ? "written" : "read",
         item, out->first.group, place, out->count, (unsigned long)out->first.code);
}

static void tell_unset(const array *list) {
  char item[48], element[160];
  if (list->unset_count == 0 || list->has_race || is_full())
    return;
  tell_item(item, sizeof item, list->unset.item);
  tell_operand(list, list->unset_index, element, sizeof element);
  printf("F|" N_("uninitialised %s") "|" N_(
             "@@: %s is read by %s of group %d before anything was written to it") "\nA|%lx\n",
         list->is_local ? N_("local memory") : N_("result"), element, item, list->unset.group,
         (unsigned long)list->unset.code);
}

/* Reports elements of an operand that no item used. */
static void tell_unused(const array *list) {
  long count = 0, low[2] = {0, 0}, high[2] = {0, 0};
  for (long row = 0; row < list->rows; row++)
    for (long col = 0; col < list->cols; col++) {
      const cell *at = &list->cells[row * list->pitch + col];
      if (list->is_result ? at->was_written : at->was_read)
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
  const bool is_tail = list->name[0] == 'b' ? high[0] == list->rows - 1 : high[1] == list->cols - 1;
  printf("%s|%s|" N_("%ld of %ld elements of %s are never %s: rows %ld to %ld, columns %ld to %ld%s") "\n",
         list->is_result ? "F" : "T",
         list->is_result ? N_("unwritten elements")
         : is_tail       ? N_("unread tail")
                         : N_("unread elements"),
         count, list->rows * list->cols, list->name, list->is_result ? "written" : "read", low[0], high[0],
         low[1], high[1], is_tail && !list->is_result ? N_(", the tail") : "");
}

void lab_tell_memory(void) {
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

void lab_tell_counts(double products) {
  printf("C|%g|%g|%g|%g|%g|%g|%g\n", reads[0], writes[0], reads[1], writes[1],
         barriers / ((double)item_count * lab_groups.x * lab_groups.y * lab_groups.z), products,
         access_count > 0 ? line_count / access_count : 0);
}

void lab_start(void) {
  static char signal_stack[1 << 16];
  const stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_ONSTACK | SA_SIGINFO};
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* a crash loses no sentence */
  now = (use){.item = -1};
  arena =
      mmap(NULL, (size_t)1 << 28, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  arena_end = arena;
  sigaltstack(&stack, NULL);
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
}
