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

/* Part of a product for one member. */
typedef struct tsl_several_part {
  tsl_device *device;
  int64_t first, count; /* rows or columns of C, or terms of all sums */
  tsl_problem problem;
  tsl_subplan *child;
  _Atomic(tsl_subplan *) replacement; /* plan on another device after the member's device failed, or NULL */
  tsl_pool *pool; /* threads that copy operands; NULL: the shared pool, or none are needed */
} tsl_several_part;

/* Rectangle of C that a member computes. `stays`: resident operand; the other operand streams in slabs. */
typedef struct tsl_several_block {
  tsl_rect c;
  int member, stays; /* TSL_OPERAND_A or TSL_OPERAND_B */
} tsl_several_block;

/* Unit of a member's computation: a rectangle of C with all of k. */
typedef struct tsl_several_tile {
  tsl_rect c;
  int block; /* index of its block in tsl_several.blocks */
  /* for each operand, the member's shard that contains the tile's part; -1: the part is copied */
  int shard[TSL_OPERANDS];
  int kind; /* index in the kinds of the worker */
} tsl_several_tile;

/* Problem and plan that tiles with equal sizes and strides share. */
typedef struct tsl_several_kind {
  tsl_problem problem;
  tsl_subplan *child;
} tsl_several_kind;

typedef struct tsl_shard_worker tsl_shard_worker; /* a member's tiles and resources (shard_worker.h) */

/* Bandwidths of links between members in bytes a second; 0: not measured. */
typedef struct tsl_several_links {
  double rates[TSL_MEMBERS_MAX][TSL_MEMBERS_MAX]; /* [source member][destination member] */
} tsl_several_links;

typedef struct tsl_several { /* work->state */
  int count;                 /* number of parts: members that have work */
  tsl_several_part parts[TSL_MEMBERS_MAX];
  pthread_mutex_t lock; /* guards the following members and changes of `replacement` */
  char note[800];       /* report of the first failure, "" if none; it is never changed afterwards */

  double seconds; /* expected seconds of the slowest part, if expected times set the parts */
  tsl_several_links links;
  tsl_several_block *blocks; /* distributed operands: blocks that cover C */
  int block_count;
  tsl_shard_worker *workers[TSL_MEMBERS_MAX]; /* index: member; NULL: no work */
  pthread_mutex_t run_lock;
} tsl_several;

/* Returns the side of C to cut if the config leaves it open: the side that moves fewer bytes. */
int tsl_several_side(const tsl_problem *problem, int devices);
/* Returns true if terms may be cut when the config leaves the cut open: C is much smaller than A and B. */
bool tsl_several_is_deep(const tsl_problem *problem);
/* Returns the partial sums of an element of C, which widen the error bound. */
int64_t tsl_several_partial_sums(const tsl_problem *problem, const tsl_config *config);
/* Distributes `size` lines in proportion to the rates, in whole grains; equal arguments give equal lines. */
void tsl_several_distribute_lines(int64_t size, const double *rates, int count, int64_t *lines);
/* Returns the problem of lines `first` to `first` + `count` of a side. If terms are cut, each part but the
 * first has a dense C of its own, which is added later. */
tsl_problem tsl_several_problem_of_part(const tsl_problem *whole, int side, int64_t first, int64_t count);

/* Sets the parts that the config leaves open, from expected times. Members with a bit in `idle` get none. */
tesela_status tsl_several_decide(tsl_work *work, tsl_several *self, unsigned idle);
/* Returns the seconds in which host threads copy the operands of all parts that the config sets. */
double tsl_several_host_seconds(const tsl_work *work);
/* Returns true if the config sets the parts. */
bool tsl_several_has_parts(const tsl_config *config);

/* Returns the rectangle of an operand that a rectangle of C needs. */
tsl_rect tsl_several_rect(const tsl_problem *problem, int operand, const tsl_rect *c);
/* Returns the rectangle of lines `first` to `first` + `count` of a side of C. */
tsl_rect tsl_several_rect_of_lines(const tsl_problem *problem, int side, int64_t first, int64_t count);
/* Returns true if each of the members holds a part of C that is not empty. */
bool tsl_several_all_hold(const tsl_sharding *spread, int members);

/* Bytes that a member receives from and sends to each other member to compute a rectangle of C. */
typedef struct tsl_traffic {
  double in[TSL_MEMBERS_MAX], out[TSL_MEMBERS_MAX];
} tsl_traffic;
/* Computes the traffic of all operands that a member does not hold; tsl_several_traffic_of(): of one. */
void tsl_several_traffic(const tsl_work *work, const tsl_rect *c, int member, tsl_traffic *traffic);
void tsl_several_traffic_of(const tsl_work *work, const tsl_rect *c, int member, int operand,
                            tsl_traffic *traffic);
/* Measures the links that have traffic and no measured rate yet. */
void tsl_several_measure(const tsl_device *group, int member, const tsl_traffic *traffic,
                         tsl_several_links *links);
/* Returns the seconds of all traffic; *first gets the seconds until the first slab has arrived. */
double tsl_several_link_seconds(const tsl_traffic *traffic, const tsl_several_links *links, int member,
                                double slab, double *first);

/* Makes blocks, tiles and child plans of distributed operands, for tsl_several_release_workers(). */
tesela_status tsl_several_build_workers(tsl_work *work, tsl_several *self);
void tsl_several_release_workers(const tsl_work *work, tsl_several *self);
/* Returns true if two tiles of a product have equal sizes and strides. */
bool tsl_several_same_tile(const tsl_problem *a, const tsl_problem *b);
/* Returns the expected seconds of a block. */
double tsl_several_block_seconds(const tsl_work *work, int block);
/* Describes the child plan of block `index`; returns false after the last block. */
bool tsl_several_describe_block(const tsl_work *work, int index, tsl_subplan_info *out);
/* Runs a work with distributed operands; runs wait for each other. */
tesela_status tsl_several_run_workers(const tsl_work *work, const tsl_operands *operands);
/* Returns the approximate bytes of a slab of the streaming operand. */
double tsl_several_slab_bytes(const tsl_work *work);

/* Reports once, in the plan's note and the log, that `by` repeated `failed`'s part. `sentence`: the error. */
void tsl_several_report_failure(const tsl_work *work, const char *failed, const char *by,
                                const char *sentence);

/* Calls run() for `count` jobs of `size` bytes: `caller_job` in this thread, the others in threads of their
 * own. */
void tsl_several_run_each(void *jobs, size_t size, int count, int caller_job, void *(*run)(void *job));

/* Runs all parts, each in a thread, and repeats the parts of failed devices on other members. */
tesela_status tsl_several_run(const tsl_work *work, const tsl_operands *operands, tsl_stream *stream);

/* Predicts the seconds of a built work on `count` devices like its first one, with sub-plans by `factory` and
 * the built work's cut; 0: unknown. Sharded operands lie in equal parts, with links of `rate`. */
double tsl_several_predict(const tsl_work *built, const tsl_subplan_factory *factory, int count, double rate);

#endif
