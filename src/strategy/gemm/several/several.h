/* gemm several: how a product is cut for devices, and its runs. For the files of this folder. */
#ifndef TSL_STRATEGY_GEMM_SEVERAL_H
#define TSL_STRATEGY_GEMM_SEVERAL_H

#include "strategy/children.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SEVERAL_CUT, SEVERAL_PART, SEVERAL_ROWS = 1, SEVERAL_COLS = 2 };

/* Lines of C, rows or columns, that one member computes. */
typedef struct tsl_several_part {
  tsl_device *device;
  int64_t first, count;
  tsl_problem problem;
  tsl_child *child;
  _Atomic(tsl_child *) instead; /* on another device, after its own failed; NULL: it never did */
  tsl_pool *pool; /* of threads that bring operands; NULL: the shared one's, or none are needed */
} tsl_several_part;

/* work->state. */
typedef struct tsl_several {
  int count; /* of parts: members that have something to do */
  tsl_several_part parts[TSL_MEMBERS_MAX];
  pthread_mutex_t lock; /* of what follows, and of changes of `instead` */
  char note[800];       /* "" or what failed first; it does not change then */
} tsl_several;

/* Which of C's sides is cut, where the config does not say: the one whose pieces move fewer bytes to so many devices. */
int tsl_several_side(const tsl_problem *problem, int devices);
/* `size` lines for rates: whole grains as near to the rates as they come, the same for the same numbers. */
void tsl_several_share(int64_t size, const double *rates, int count, int64_t *lines);
/* The part of a problem that lines first to first + count of a side are. */
tsl_problem tsl_several_problem(const tsl_problem *whole, int side, int64_t first, int64_t count);

/* Decides what the config leaves open, by what children are expected to take; members with a bit in `idle` get nothing. */
tesela_status tsl_several_decide(tsl_work *work, unsigned idle);
/* Whether the config says it all. */
bool tsl_several_is_said(const tsl_config *config);

tesela_status tsl_several_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

#endif
