#include "group.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAP_BYTES = 128,
  MOST_BARRIERS = 128,
  MOST_BOXES = 16,
  MOST_PRODUCTS = 64,
  FOUR_WARPS = 128,
  MOST_FOURS = 3
};

/* A matrix as copies of boxes know it; it lies in local memory, then in global memory, in place of a
 * description. */
typedef struct map {
  const char *from;
  long long inner, outer, pitch;
  int elements, rows, size;
} map;

typedef struct box {
  unsigned int to;
  const char *map;
  int inner, outer;
} box;

/* A barrier in local memory, found by its address. Copies of boxes are deferred until a thread
 * waits for the barrier. */
typedef struct barrier {
  unsigned int count, missing,
      phase;       /* arrivals of a phase; how many are not there; number of phases that are over */
  long long bytes; /* announced and not there */
  box boxes[MOST_BOXES];
  int box_count;
} barrier;
static barrier barriers[MOST_BARRIERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* Products that this item asked for: all, and of the batches that were ended. */
typedef struct product {
  int cols;
  const char *a_type, *b_type;
  bool a_across, b_across;
  void *sums;
  unsigned long long a, b;
} product;
static _Thread_local product products[MOST_PRODUCTS];
static _Thread_local int product_count, open_products, batches[MOST_PRODUCTS], batch_count;
static pthread_barrier_t fours[MOST_FOURS];

void ptx_group_start(int items) {
  for (int f = 0; f < MOST_FOURS; f++)
    pthread_barrier_init(&fours[f], NULL, FOUR_WARPS);
  if (items / FOUR_WARPS > MOST_FOURS)
    abort();
}

void ptx_group_stop(void) {
  for (int f = 0; f < MOST_FOURS; f++)
    pthread_barrier_destroy(&fours[f]);
}

/* --- barriers --- */

static barrier *barrier_at(unsigned int address) {
  if (address % 8 != 0 || address / 8 >= MOST_BARRIERS)
    abort();
  return &barriers[address / 8];
}

static void end_phase(barrier *self) {
  if (self->missing == 0 && self->bytes == 0) {
    self->phase++;
    self->missing = self->count;
    pthread_cond_broadcast(&changed);
  }
}

void ptx_barrier_start(unsigned int address, unsigned int count) {
  *barrier_at(address) = (barrier){.count = count, .missing = count};
}

void ptx_arrive(unsigned int address, unsigned int bytes) {
  barrier *self = barrier_at(address);
  pthread_mutex_lock(&lock);
  if (self->missing == 0)
    ptx_complain("more arrivals than a barrier waits for");
  self->missing--;
  self->bytes += bytes;
  end_phase(self);
  pthread_mutex_unlock(&lock);
}

static void arrive_box(barrier *self, const box *what) {
  const map *from = (const map *)what->map;
  for (int r = 0; r < from->rows; r++)
    for (int e = 0; e < from->elements; e++) {
      const long long inner = what->inner + e, outer = what->outer + r;
      const unsigned int line = what->to + (unsigned int)r * 128, at = (unsigned int)(e * from->size);
      char *to = ptx_local_memory() + line + (at ^ (line / 128 % 8) << 4);
      const char *element = from->from + outer * from->pitch + inner * from->size;
      if (inner >= from->inner || outer >= from->outer)
        memset(to, 0, (size_t)from->size);
      else if (ptx_is_inside(element, from->size))
        memcpy(to, element, (size_t)from->size);
    }
  self->bytes -= (long long)from->rows * from->elements * from->size;
}

void ptx_await(unsigned int address, unsigned int phase) {
  barrier *self = barrier_at(address);
  pthread_mutex_lock(&lock);
  while (self->phase % 2 == phase) {
    if (self->box_count > 0) {
      for (int i = 0; i < self->box_count; i++)
        arrive_box(self, &self->boxes[i]);
      self->box_count = 0;
      end_phase(self);
    } else
      pthread_cond_wait(&changed, &lock);
  }
  pthread_mutex_unlock(&lock);
}

/* --- copies --- */

void ptx_map(unsigned int address, const char *from, long long inner, long long outer, long long pitch,
             int elements, int rows, const char *type) {
  static const char zeros[MAP_BYTES];
  const map made = {from, inner, outer, pitch, elements, rows, strcmp(type, "0") == 0 ? 1 : 2};
  char *to = ptx_local_memory() + address;
  if (address % MAP_BYTES != 0 || memcmp(to, zeros, MAP_BYTES) != 0)
    ptx_complain("a description on what is not 128 bytes of zeros");
  if ((uintptr_t)from % 16 != 0 || pitch % 16 != 0 || pitch <= 0 || elements * made.size != 128 || rows < 1 ||
      rows > 256)
    ptx_complain("a matrix that boxes cannot be copied from");
  memcpy(to, &made, sizeof made);
}

void ptx_map_publish(char *dst, unsigned int address) {
  if ((uintptr_t)dst % MAP_BYTES != 0)
    ptx_complain("a description that is not aligned");
  if (ptx_self.item % 32 == 0)
    memcpy(dst, ptx_local_memory() + address, MAP_BYTES);
  ptx_warp_barrier();
}

void ptx_copy_box(unsigned int end, const char *from, int inner, int outer, unsigned int address) {
  barrier *self = barrier_at(address);
  const map *what = (const map *)from;
  if (end % 1024 != 0)
    ptx_complain("a box that is not aligned");
  pthread_mutex_lock(&lock);
  if (self->box_count == MOST_BOXES)
    abort();
  /* Until the box arrives, its memory holds 0x7f bytes: a NaN, or a large number. */
  memset(ptx_local_memory() + end, 0x7f, (size_t)what->rows * 128);
  self->boxes[self->box_count++] = (box){end, from, inner, outer};
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

/* --- products --- */

unsigned long long ptx_panel(unsigned int address, unsigned int beside, unsigned int block) {
  return address | (unsigned long long)beside << 20 | (unsigned long long)block << 40;
}

/* Number k of a line in a panel, `size` bytes each. */
static double number_at(unsigned long long panel, bool across, const char *type, int size, int line, int k) {
  const unsigned int address = panel & 0xfffff, beside = panel >> 20 & 0xfffff,
                     block = (unsigned int)(panel >> 40);
  unsigned int at =
      across ? address + (unsigned int)(line / 64) * beside + (unsigned int)(k / 8) * block +
                   (unsigned int)(k % 8 * 128 + line % 64 * 2)
             : address + (unsigned int)(line / 8) * block + (unsigned int)(line % 8 * 128 + k * size);
  at ^= (at / 128 % 8) << 4;
  unsigned int word = 0;
  memcpy(&word, ptx_local_memory() + at, (size_t)size);
  return ptx_number(type, word, 0);
}

static void multiply(const product *p) {
  const int own = ptx_self.item % FOUR_WARPS, size = p->a_type[1] == '8' ? 1 : 2, depth = 32 / size;
  const int row = own / 32 * 16 + own % 32 / 4, col = own % 4 * 2;
  for (int e = 0; e < p->cols / 2; e++) {
    double sum = 0;
    for (int k = 0; k < depth; k++)
      sum += number_at(p->a, p->a_across, p->a_type, size, row + e % 4 / 2 * 8, k) *
             number_at(p->b, p->b_across, p->b_type, size, e / 4 * 8 + col + e % 2, k);
    if (size == 1)
      ((int *)p->sums)[e] += (int)sum;
    else
      ((float *)p->sums)[e] += (float)sum;
  }
}

void ptx_group_multiply(int cols, const char *a_type, const char *b_type, void *sums, unsigned long long a,
                        unsigned long long b, const char *flags) {
  const bool none = flags[0] == '\0'; /* ", 1, 1, a, b" */
  if (product_count == MOST_PRODUCTS)
    abort();
  products[product_count++] =
      (product){cols, a_type, b_type, !none && flags[8] == '1', !none && flags[11] == '1', sums, a, b};
  open_products++;
}

void ptx_group_end(void) {
  batches[batch_count++] = open_products;
  open_products = 0;
}

void ptx_group_wait(int most) {
  int done = 0, finished = 0;
  for (; batch_count - finished > most; finished++)
    for (int end = done + batches[finished]; done < end; done++)
      multiply(&products[done]);
  memmove(products, products + done, (size_t)(product_count - done) * sizeof *products);
  memmove(batches, batches + finished, (size_t)(batch_count - finished) * sizeof *batches);
  product_count -= done;
  batch_count -= finished;
  pthread_barrier_wait(&fours[ptx_self.item / FOUR_WARPS]);
}
