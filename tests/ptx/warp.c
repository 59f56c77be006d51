#include "group.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_WARP = 8, MOST_WARP = 64, MOST_ITEMS = 288, MOST_COPIES = 512, MOST_BATCHES = 64 };
static int warp_size;

_Thread_local ptx_place ptx_self;

/* Copies that this item started and that have not arrived, and their number in each batch. */
typedef struct copy {
  unsigned int to;
  const char *from; /* NULL: from outside, which was complained of */
  int bytes;
} copy;
static _Thread_local copy copies[MOST_COPIES];
static _Thread_local int copy_count, batches[MOST_BATCHES], batch_count, open_copies;

/* Words that the items of each warp exchange, alternately in two places, so that one barrier for
 * each exchange is enough. */
static ptx_shown board[MOST_ITEMS / LEAST_WARP][2][MOST_WARP];
static _Thread_local int turn;

static pthread_barrier_t group_barrier, warp_barriers[MOST_ITEMS / LEAST_WARP];
static const ptx_memory *memories;
static char *local;
static atomic_int complaints;

void ptx_complain(const char *what) {
  if (atomic_fetch_add(&complaints, 1) < 5)
    printf("item %d of group %d: %s\n", ptx_self.item, ptx_self.group, what);
}

unsigned int ptx_local(const void *pointer) {
  if (ptx_self.item == 0)
    local = (char *)(uintptr_t)pointer;
  ptx_barrier();
  return (unsigned int)((const char *)pointer - local);
}

char *ptx_local_memory(void) {
  return local;
}

bool ptx_is_inside(const char *from, int bytes) {
  for (int i = 0; i < 2; i++)
    if (from >= memories[i].from && from + bytes <= memories[i].from + memories[i].bytes)
      return true;
  ptx_complain("a copy from outside");
  return false;
}

void ptx_warp_barrier(void) {
  pthread_barrier_wait(&warp_barriers[ptx_self.item / warp_size]);
}

void ptx_barrier(void) {
  pthread_barrier_wait(&group_barrier);
}

void ptx_warps_barrier(int items) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
  static struct {
    int here;
    unsigned int round;
  } meetings[MOST_ITEMS / LEAST_WARP];
  const int own = ptx_self.item / items;
  pthread_mutex_lock(&lock);
  const unsigned int round = meetings[own].round;
  if (++meetings[own].here == items) {
    meetings[own].here = 0;
    meetings[own].round++;
    pthread_cond_broadcast(&all_here);
  }
  while (meetings[own].round == round)
    pthread_cond_wait(&all_here, &lock);
  pthread_mutex_unlock(&lock);
}

const ptx_shown *ptx_show(const unsigned int *words, int count) {
  const int warp = ptx_self.item / warp_size;
  ptx_shown *place = board[warp][turn ^= 1];
  memcpy(place[ptx_self.item % warp_size].words, words, (size_t)count * sizeof *words);
  pthread_barrier_wait(&warp_barriers[warp]);
  return place;
}

void ptx_copy(unsigned int end, const char *from, int bytes) {
  if (end % (unsigned)bytes != 0 || (uintptr_t)from % (unsigned)bytes != 0)
    ptx_complain("a copy that is not aligned");
  /* Until the bytes arrive, their memory holds 0x7f bytes: a NaN, or a large number. */
  memset(local + end, 0x7f, (size_t)bytes);
  if (copy_count == MOST_COPIES)
    abort();
  copies[copy_count++] = (copy){end, ptx_is_inside(from, bytes) ? from : NULL, bytes};
  open_copies++;
}

void ptx_put(unsigned int end, const void *words, int bytes) {
  if (end % (unsigned)bytes != 0)
    ptx_complain("words put to where they are not aligned");
  memcpy(local + end, words, (size_t)bytes);
}

void ptx_copies_end(void) {
  if (batch_count == MOST_BATCHES)
    abort();
  batches[batch_count++] = open_copies;
  open_copies = 0;
}

void ptx_copies_wait(int most) {
  int done = 0, finished = 0;
  for (; batch_count - finished > most; finished++)
    for (int end = done + batches[finished]; done < end; done++) {
      if (copies[done].from)
        memcpy(local + copies[done].to, copies[done].from, (size_t)copies[done].bytes);
    }
  memmove(copies, copies + done, (size_t)(copy_count - done) * sizeof *copies);
  memmove(batches, batches + finished, (size_t)(batch_count - finished) * sizeof *batches);
  copy_count -= done;
  batch_count -= finished;
}

void ptx_blocks(unsigned int line, bool transposed, unsigned int *out) {
  const int own = ptx_self.item % warp_size;
  if (line % 16 != 0)
    ptx_complain("a line that is not aligned");
  const ptx_shown *all = ptx_show(&line, 1);
  for (int b = 0; b < 4; b++) {
    if (!transposed) {
      memcpy(&out[b], local + all[8 * b + own / 4].words[0] + own % 4 * 4, 4);
      continue;
    }
    uint16_t pair[2];
    for (int i = 0; i < 2; i++)
      memcpy(&pair[i], local + all[8 * b + own % 4 * 2 + i].words[0] + own / 4 * 2, 2);
    out[b] = pair[0] | (unsigned int)pair[1] << 16;
  }
}

unsigned int ptx_bytes(unsigned int a, unsigned int b, unsigned int which) {
  const uint64_t both = a | (uint64_t)b << 32;
  unsigned int out = 0;
  for (int i = 0; i < 4; i++)
    out |= (unsigned int)(both >> (which >> (4 * i) & 7) * 8 & 255) << (8 * i);
  return out;
}

void ptx_exchange(void *dst, const void *argument) {
  unsigned int word;
  memcpy(&word, argument, sizeof word);
  memcpy(dst, &ptx_show(&word, 1)[(ptx_self.item % warp_size) ^ 1].words[0], sizeof word);
}

/* Number `index` of a register: 4 of 8 bits or 2 of 16. */
double ptx_number(const char *type, unsigned int word, int index) {
  if (strcmp(type, "s8") == 0)
    return (int8_t)(word >> 8 * index);
  if (strcmp(type, "u8") == 0)
    return (uint8_t)(word >> 8 * index);
  const uint16_t bits = (uint16_t)(word >> 16 * index);
  return strcmp(type, "f16") == 0 ? tsl_f16_to_f64(bits) : tsl_bf16_to_f64(bits);
}

void ptx_multiply(const char *shape, const char *a_type, const char *b_type, void *sums,
                  const unsigned int *a, const unsigned int *b) {
  const bool is_whole = strcmp(shape, "m16n8k32") == 0;
  const int own = ptx_self.item % warp_size, each = is_whole ? 4 : 2,
            half = 4 * each; /* numbers of a register, of 4 items */
  const unsigned int words[6] = {a[0], a[1], a[2], a[3], b[0], b[1]};
  const ptx_shown *all = ptx_show(words, 6);
  for (int e = 0; e < 4; e++) {
    const int row = own / 4 + e / 2 * 8, col = own % 4 * 2 + e % 2;
    double sum = 0;
    for (int k = 0; k < 2 * half; k++) {
      const int upper = k / half, item = k % half / each, index = k % each;
      sum += ptx_number(a_type, all[row % 8 * 4 + item].words[row / 8 + 2 * upper], index) *
             ptx_number(b_type, all[col * 4 + item].words[4 + upper], index);
    }
    if (is_whole)
      ((int *)sums)[e] += (int)sum;
    else
      ((float *)sums)[e] += (float)sum;
  }
}

unsigned int ptx_pair(tesela_type type, float first, float second) {
  uint16_t (*const narrow)(double) = type == TESELA_F16 ? tsl_f16_from_f64 : tsl_bf16_from_f64;
  return narrow(first) | (unsigned int)narrow(second) << 16;
}

float ptx_from(tesela_type type, unsigned int bits) {
  return (float)(type == TESELA_F16 ? tsl_f16_to_f64((uint16_t)bits) : tsl_bf16_to_f64((uint16_t)bits));
}

void ptx_store(void *dst, const void *from, size_t bytes) {
  if ((uintptr_t)dst % bytes != 0)
    ptx_complain("a store that is not aligned");
  memcpy(dst, from, bytes);
}

/* --- running --- */

typedef struct job {
  const ptx_kernel *kernel;
  int groups, item;
  void *c;
  const void *given;
} job;

static void *run_item(void *argument) {
  const job *own = argument;
  for (int g = 0; g < own->groups; g++) {
    ptx_self = (ptx_place){g, own->groups, own->item};
    own->kernel->run(memories[0].from, memories[1].from, own->c, own->given);
    if (copy_count > 0)
      ptx_complain("copies that nobody waited for");
    ptx_barrier();
  }
  return NULL;
}

int ptx_run(const ptx_kernel *kernel, int groups, const ptx_memory memory[2], void *c, const void *argument) {
  static job jobs[MOST_ITEMS];
  pthread_t threads[MOST_ITEMS];
  memories = memory;
  warp_size = kernel->warp;
  atomic_store(&complaints, 0);
  pthread_barrier_init(&group_barrier, NULL, (unsigned)kernel->items);
  ptx_group_start(kernel->items);
  for (int w = 0; w < kernel->items / warp_size; w++)
    pthread_barrier_init(&warp_barriers[w], NULL, (unsigned)warp_size);
  for (int i = 0; i < kernel->items; i++) {
    jobs[i] = (job){kernel, groups, i, c, argument};
    if (pthread_create(&threads[i], NULL, run_item, &jobs[i]) != 0)
      abort();
  }
  for (int i = 0; i < kernel->items; i++)
    pthread_join(threads[i], NULL);
  for (int w = 0; w < kernel->items / warp_size; w++)
    pthread_barrier_destroy(&warp_barriers[w]);
  pthread_barrier_destroy(&group_barrier);
  ptx_group_stop();
  return atomic_load(&complaints);
}
