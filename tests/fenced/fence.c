#include "fenced/fence.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page;
static unsigned char *whole[FENCE_PLACES], *lines[FENCE_PLACES], *nowhere;
static const char *volatile running = "nothing";

/* The last piece of memory returned for each place, for the report of a fault. */
static struct { const unsigned char *start, *end; } handed[FENCE_PLACES];

static const char *name_of(int place) {
  static const char *const names[FENCE_PLACES] = {"A", "B", "C", "packed A", "packed B", "another operand"};
  return names[place];
}

/* The place whose memory lies nearest to the address. */
static int nearest(const unsigned char *src, long long *away) {
  int found = 0;
  *away = 0;
  for (int i = 0; i < FENCE_PLACES; i++) {
    const long long before = (long long)(handed[i].start - src), behind = (long long)(src - handed[i].end);
    const long long own = before > 0 ? before : behind >= 0 ? behind + 1 : 0;
    if (handed[i].start && (*away == 0 || own < *away)) {
      *away = own;
      found = i;
    }
  }
  return found;
}

/* Nothing goes on after this: a report may take more than a handler should. */
static void report(int number, siginfo_t *info, void *context) {
  char line[1024];
  long long away;
  const unsigned char *at = info->si_addr;
  const int place = nearest(at, &away);
  (void)number;
  (void)context;
  const int length =
      snprintf(line, sizeof line, "%s: touches byte %p, outside of %s by %lld bytes%s\n", running,
               info->si_addr, name_of(place), away,
               at >= nowhere && at < nowhere + page ? ", of an operand that it must not read" : "");
  (void)!write(STDOUT_FILENO, line, (size_t)length);
  _exit(1);
}

static unsigned char *reserve(size_t bytes) {
  void *at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    perror("mmap");
    exit(1);
  }
  return at;
}

static void open_pages(unsigned char *data, size_t bytes) {
  if (mprotect(data, bytes, PROT_READ | PROT_WRITE) != 0) {
    perror("mprotect");
    exit(1);
  }
}

void fence_set_up(void) {
  page = (size_t)sysconf(_SC_PAGESIZE);
  for (int i = 0; i < FENCE_PLACES; i++) {
    whole[i] = reserve(FENCE_BYTES + 2 * page) + page;
    open_pages(whole[i], FENCE_BYTES);
    lines[i] = reserve((2 * FENCE_LINES + 1) * page) + page;
    for (int line = 0; line < FENCE_LINES; line++)
      open_pages(lines[i] + (size_t)line * 2 * page, page);
  }
  nowhere = reserve(page);
  fence_catch();
}

void fence_catch(void) {
  const struct sigaction action = {.sa_sigaction = report, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
}

int64_t fence_line_stride(tesela_type type) {
  return (int64_t)(2 * page / tsl_type(type)->size);
}

void *fence_block(int place, size_t bytes, size_t alignment, fence_side side) {
  if (bytes > FENCE_BYTES)
    return NULL;
  unsigned char *at =
      side == FENCE_BEFORE ? whole[place] : whole[place] + (FENCE_BYTES - bytes) / alignment * alignment;
  handed[place].start = at;
  handed[place].end = at + bytes;
  return at;
}

void *fence_whole(int place, const tsl_shape *shape, fence_side side) {
  const size_t size = tsl_type(shape->type)->size;
  unsigned char *at = fence_block(place, (size_t)tsl_shape_extent(shape) * size, size, side);
  return at ? at + (size_t)tsl_shape_below(shape) * size : NULL;
}

void *fence_apart(int place, const tsl_shape *shape, fence_side side) {
  const size_t size = tsl_type(shape->type)->size;
  const bool by_rows = shape->row_stride == fence_line_stride(shape->type);
  const int64_t count = by_rows ? shape->rows : shape->cols;
  const size_t line = (size_t)(by_rows ? shape->cols : shape->rows) * size;
  if (count > FENCE_LINES || line > page)
    return NULL;
  unsigned char *at = lines[place] + (side == FENCE_BEFORE ? 0 : page - line);
  handed[place].start = at;
  handed[place].end = at + (size_t)(count - 1) * 2 * page + line;
  return at;
}

void *fence_nowhere(void) {
  return nowhere;
}

void fence_tell(const char *text) {
  running = text;
}
