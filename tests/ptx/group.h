/* Functions that src/kernel/ptx_group.h needs from a GPU, on the host: four warps that multiply together,
 * barriers that count bytes, and copies of boxes. Copies arrive when a thread waits for their barrier, and
 * products read local memory when a thread waits for them: both as late as allowed. */
#ifndef TSL_TESTS_PTX_GROUP_H
#define TSL_TESTS_PTX_GROUP_H

#include "warp.h"

/* For warp.c: before the items of a group start, and when all are through. */
void ptx_group_start(int items);
void ptx_group_stop(void);

void ptx_barrier_start(unsigned int barrier, unsigned int count);
void ptx_arrive(unsigned int barrier, unsigned int bytes);
void ptx_await(unsigned int barrier, unsigned int phase);

unsigned long long ptx_panel(unsigned int address, unsigned int beside, unsigned int block);
/* sums: [cols / 8][4]; flags: what follows the predicate, of which the last two numbers say which operand
 * lies across. */
void ptx_group_multiply(int cols, const char *a_type, const char *b_type, void *sums, unsigned long long a,
                        unsigned long long b, const char *flags);
void ptx_group_end(void);
void ptx_group_wait(int most);

void ptx_map(unsigned int map, const char *from, long long inner, long long outer, long long pitch,
             int elements, int rows, const char *type);
void ptx_map_publish(char *dst, unsigned int map);
void ptx_copy_box(unsigned int end, const char *map, int inner, int outer, unsigned int barrier);

#endif
