/* gemm several: how a product is cut for devices, and its runs. For the files of this folder. */
#ifndef TSL_STRATEGY_GEMM_SEVERAL_H
#define TSL_STRATEGY_GEMM_SEVERAL_H

#include "strategy/subplans.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
  SEVERAL_CUT,
  SEVERAL_PART,
  SEVERAL_SLAB = SEVERAL_PART + TSL_MEMBERS_MAX,
  SEVERAL_ROWS = 1, /* values of SEVERAL_CUT */
  SEVERAL_COLS = 2,
  SEVERAL_HOLDERS = 3,
  SEVERAL_TERMS = 4
};

/* Lines of C, rows or columns, that one member computes; or so many of the terms of all sums. */
typedef struct tsl_several_part {
  tsl_device *device;
  int64_t first, count;
  tsl_problem problem;
  tsl_subplan *child;
  _Atomic(tsl_subplan *) instead; /* on another device, after its own failed; NULL: it never did */
  tsl_pool *pool; /* of threads that bring operands; NULL: the shared one's, or none are needed */
} tsl_several_part;

/* --- operands in pieces (shard_worker.c) --- */

/* A rectangle of C that a member computes, and which factor's lines for it stay on the device while the
 * other's pass through. */
typedef struct tsl_several_block {
  tsl_rect c;
  int member, stays; /* TSL_OPERAND_A or TSL_OPERAND_B */
} tsl_several_block;

/* What a member computes at a time: a rectangle of C, all of k. */
typedef struct tsl_several_tile {
  tsl_rect c;
  int block;
  int piece[TSL_OPERANDS]; /* the member's own, where the operand's part lies in it as it is; -1: it is copied
                            */
  int kind;
} tsl_several_tile;

/* Tiles of one size whose operands lie alike have one child. */
typedef struct tsl_several_kind {
  tsl_problem problem;
  tsl_subplan *child;
} tsl_several_kind;

/* What a member does in a run, and what it keeps between runs; the run's lock guards that. */
typedef struct tsl_site tsl_site;

/* Rates of links between members: bytes a second, 0 where nobody measured it. */
typedef struct tsl_several_links {
  double rates[TSL_MEMBERS_MAX][TSL_MEMBERS_MAX]; /* from, to */
} tsl_several_links;

/* work->state. */
typedef struct tsl_several {
  int count; /* of parts: members that have something to do */
  tsl_several_part parts[TSL_MEMBERS_MAX];
  pthread_mutex_t lock; /* of what follows, and of changes of `instead` */
  char note[800];       /* "" or what failed first; it does not change then */

  tsl_several_links links;
  tsl_several_block *blocks; /* operands in pieces: all of C */
  int block_count;
  tsl_site *sites[TSL_MEMBERS_MAX]; /* of members; NULL: nothing to do */
  pthread_mutex_t runs;             /* one at a time */
} tsl_several;

/* Which of C's sides is cut, where the config does not say: the one whose pieces move fewer bytes to so many
 * devices. */
int tsl_several_side(const tsl_problem *problem, int devices);
/* Whether terms may be shared out where the config leaves it open: both factors are then, and each device
 * makes all of C, which is small beside them. */
bool tsl_several_is_deep(const tsl_problem *problem);
/* What that means for a promise: so many parts of a sum are added. */
int64_t tsl_several_sums(const tsl_problem *problem, const tsl_config *config);
/* `size` lines for rates: whole grains as near to the rates as they come, the same for the same numbers. */
void tsl_several_share(int64_t size, const double *rates, int count, int64_t *lines);
/* The part of a problem that lines first to first + count of a side are. Of terms, the first ones' part has C
 * as it is; the others' is a dense one of its own, which is added. */
tsl_problem tsl_several_problem(const tsl_problem *whole, int side, int64_t first, int64_t count);

/* Decides what the config leaves open, by what children are expected to take; members with a bit in `idle`
 * get nothing. */
tesela_status tsl_several_decide(tsl_work *work, tsl_several *self, unsigned idle);
/* Whether the config says it all. */
bool tsl_several_is_said(const tsl_config *config);

/* The rectangle of an operand that a rectangle of C takes part with. */
tsl_rect tsl_several_rect(const tsl_problem *problem, int operand, const tsl_rect *c);
/* Lines first to first + count of a side of C. */
tsl_rect tsl_several_band(const tsl_problem *problem, int side, int64_t first, int64_t count);
/* Whether each member holds a part of C. */
bool tsl_several_all_hold(const tsl_sharding *spread, int members);

/* Bytes that a rectangle of C has to do with on each member, were another one to compute it: what comes from
 * there, and what goes there. */
typedef struct tsl_traffic {
  double in[TSL_MEMBERS_MAX], out[TSL_MEMBERS_MAX];
} tsl_traffic;
void tsl_several_traffic(const tsl_work *work, const tsl_rect *c, int member, tsl_traffic *traffic);
/* The same of one operand. */
void tsl_several_traffic_of(const tsl_work *work, const tsl_rect *c, int member, int operand,
                            tsl_traffic *traffic);
/* Measures links that have traffic and that nobody measured yet. */
void tsl_several_measure(const tsl_device *group, int member, const tsl_traffic *traffic,
                         tsl_several_links *links);
/* Seconds until all of it has travelled, and until the first slab has. */
double tsl_several_link_seconds(const tsl_traffic *traffic, const tsl_several_links *links, int member,
                                double slab, double *first);

/* Blocks, tiles and children of a work with a spread, whose config is decided; and the end of them. */
tesela_status tsl_several_build_sites(tsl_work *work, tsl_several *self);
void tsl_several_release_sites(const tsl_work *work, tsl_several *self);
bool tsl_several_share_of_block(const tsl_work *work, int index, tsl_subplan_info *out);
tesela_status tsl_several_run_sites(const tsl_work *work, const tsl_operands *operands);
/* Bytes of what passes through at a time, about. */
double tsl_several_slab(const tsl_work *work);

/* Tells, once for a plan and in the log, that a device failed and which one did its part again. */
void tsl_several_tell(const tsl_work *work, const char *failed, const char *by, const char *sentence);

tesela_status tsl_several_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

#endif
