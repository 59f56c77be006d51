/* Warps on the host, for tests. A group of a kernel has a thread for each item, and PTX
 * instructions that a warp executes together meet at a barrier. The emulation finds faults that a GPU may
 * hide: unaligned addresses, reads outside the operands, reads of local memory before its copies arrived.
 * Copies arrive as late as allowed. */
#ifndef TSL_TESTS_PTX_WARP_H
#define TSL_TESTS_PTX_WARP_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/types.h"

typedef struct ptx_place {
  int group, groups, item;
} ptx_place;
extern _Thread_local ptx_place ptx_self;

/* Memory that copies may read. */
typedef struct ptx_memory {
  const char *from;
  size_t bytes;
} ptx_memory;

typedef void ptx_function(const char *a, const char *b, void *c, const void *argument);
/* A kernel as one of the files made of kernel.c has it. */
typedef struct ptx_kernel {
  ptx_function *run;
  int items, depth; /* a group; numbers along k of a panel */
  int tile_m, tile_n;
  int warp; /* items that execute instructions together, 8 to 64 */
} ptx_kernel;

/* Runs `groups` groups, one after the other. Returns the number of faults of the kinds above; 0: no
 * fault. */
int ptx_run(const ptx_kernel *kernel, int groups, const ptx_memory memory[2], void *c, const void *argument);

/* Exchanges words among the items of a warp. All items call it with up to 16 words, and get the
 * words of all items, which are valid until the next call. */
typedef struct ptx_shown {
  unsigned int words[16];
} ptx_shown;
const ptx_shown *ptx_show(const unsigned int *words, int count);

/* For group.c; ptx_complain() says and counts what is wrong. */
char *ptx_local_memory(void);
bool ptx_is_inside(const char *from, int bytes); /* complains, too */
void ptx_complain(const char *what);
double ptx_number(const char *type, unsigned int word, int index);

/* Functions that kernels call. */
unsigned int ptx_local(const void *pointer);
void ptx_barrier(void);
void ptx_warp_barrier(void);
void ptx_warps_barrier(
    int items); /* of the `items`, whole warps one after the other, that this item is among */
void ptx_copy(unsigned int end, const char *from, int bytes); /* 16 or 4 */
void ptx_put(unsigned int end, const void *words, int bytes);
void ptx_copies_end(void);
void ptx_copies_wait(int most);
void ptx_blocks(unsigned int line, bool transposed, unsigned int *out);
unsigned int ptx_bytes(unsigned int a, unsigned int b, unsigned int which);
void ptx_exchange(void *dst, const void *argument);
void ptx_multiply(const char *shape, const char *a_type, const char *b_type, void *sums,
                  const unsigned int *a, const unsigned int *b);
unsigned int ptx_pair(tesela_type type, float first, float second);
float ptx_from(tesela_type type, unsigned int bits);
void ptx_store(void *dst, const void *from, size_t bytes);

#endif
