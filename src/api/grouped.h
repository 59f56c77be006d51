/* Products that differ, under way in one call. */
#ifndef TSL_API_GROUPED_H
#define TSL_API_GROUPED_H

#include "api/batch_common.h"
#include "api/small_gemm.h"
#include "base/status.h"

/* Members that are done without plans. */
typedef struct tsl_small_gemm_group {
  const tsl_strategy *strategy;
  tsl_device *cpu;
  int64_t count;
  tsl_small_gemm *all; /* scratch; NULL: none */
} tsl_small_gemm_group;

typedef struct tsl_grouped {
  tesela_context *context;
  int64_t count; /* of members with plans: without those that are done at once */
  tsl_small_gemm_group at_once;
  const tesela_gemm_desc *descs;
  const tesela_batch *batches; /* as many */
  tsl_products *members;       /* likewise */
  tsl_cached_plan **cached;    /* theirs */
  uint64_t *seeds;             /* of what is measured of each */
  bool *alike;                 /* whether its plan is by another's config, for being joined alone */
  atomic_bool fails;           /* somebody found a member to be wrong while all are made ready */
  bool is_one;                 /* each member is one product: nobody gave batches */
  bool begun;                  /* a product may be done */
  atomic_int status;           /* of the first product that failed for good */
  tsl_status_saved saved;      /* its sentence */
} tsl_grouped;

/* Of the arrays here; a member's number counts those that are done at once, too. */
static inline int64_t tsl_grouped_index(const tsl_grouped *group, const tsl_products *member) {
  return member - group->members;
}

/* Finds the members of a whole group that are single, small and plain, and may be done without a plan, with
 * the bits of one; what they are given was checked, but that results lie apart. Returns how many there are;
 * out->all is the caller's, for tsl_scratch_give(). */
int64_t tsl_grouped_find_at_once(tesela_context *context, const tesela_gemm_desc *descs,
                                 const tesela_batch *batches, int64_t count, tsl_small_gemm_group *out);
/* Computes them; threads share them out. */
void tsl_grouped_at_once(tsl_grouped *group);

/* A member's plan, by the planner's choice: with its cached one and its seed. */
tesela_status tsl_grouped_find_plan(tsl_grouped *group, int64_t member);
/* Finds plans of members in buffers that have to be new, if there are several which may be joined: by one
 * config. */
void tsl_grouped_plan_alike(tsl_grouped *group);
/* Gives a member that has such a plan, and is not joined, one of its own. */
tesela_status tsl_grouped_plan_apart(tsl_grouped *group, int64_t member);

/* The call's key of a member. */
tesela_status tsl_grouped_key(const tsl_grouped *group, const tesela_gemm_desc *desc, tsl_call_key *key);
/* Whether a member's products run on the processor. */
bool tsl_grouped_on_host(const tsl_grouped *group, int64_t member);
/* Keeps the first failure; and tells it. */
void tsl_grouped_note(tsl_grouped *group, tesela_status status);
tesela_status tsl_grouped_told(tsl_grouped *group);

/* TESELA_BAD_CALL where two products certainly write to the same element. All members are ready. */
tesela_status tsl_grouped_check_apart(const tsl_grouped *group);

/* Computes the members on the processor: threads share them out. */
tesela_status tsl_grouped_share(tsl_grouped *group);

/* Members of several sizes in buffers of one device that a strategy takes in one run, by the plan of a batch
 * of the one with most work. */
typedef struct tsl_fused_members {
  tsl_cached_plan *cached; /* NULL: none are joined */
  const tsl_plan *plan;
  uint64_t workspace;
  int64_t count;
  const tsl_products **members;
} tsl_fused_members;
/* A plan of a batch of about so many products like the one described, and as many rows or some more. */
tesela_status tsl_grouped_plan_joint(const tsl_grouped *group, const tesela_gemm_desc *leader, int64_t able,
                                     tsl_cached_plan **cached);
/* Finds those among `count` members with single products, all queued on devices: they are brought behind the
 * others, of which `count` is how many there are then. One joint at a time: those that are left may be joined
 * otherwise by a further call. joint->members points into the array. */
tesela_status tsl_grouped_join(tsl_grouped *group, const tsl_products **members, int64_t *count,
                               tsl_fused_members *joint);
/* Queues them; their operands were checked. */
tesela_status tsl_grouped_enqueue_joint(tsl_grouped *group, const tsl_fused_members *joint,
                                        tsl_stream *stream, tsl_buffer *workspace);

/* Members in buffers of devices with kernels, queued there; those that are not queued are computed one by
 * one. What was queued is waited for by the second call, which comes after each first one. */
typedef struct tsl_group_queue tsl_group_queue;
tesela_status tsl_group_queue_begin(tsl_grouped *group, tsl_group_queue **lanes);
tesela_status tsl_group_queue_end(tsl_grouped *group, tsl_group_queue *lanes, tesela_status status);

#endif
