#ifndef TSL_API_GROUPED_H
#define TSL_API_GROUPED_H

#include "api/batch_common.h"
#include "api/small_gemm.h"
#include "core/status.h"

/* Members that are computed without plans. */
typedef struct tsl_small_gemm_group {
  tsl_device *cpu;
  const tesela_gemm_desc *descs; /* the caller's */
  int64_t count;                 /* members in `all` */
  tsl_small_gemm *all;           /* scratch memory of tsl_scratch_take(); NULL: none */
} tsl_small_gemm_group;

typedef struct tsl_grouped {
  tesela_context *context;
  int64_t count; /* number of members with plans; small holds the others */
  tsl_small_gemm_group small;
  const tesela_gemm_desc *descs;
  const tesela_batch *batches; /* array of `count` batches */
  tsl_products *members;       /* array of `count` members */
  tsl_cached_plan **cached;    /* cached plan of each member */
  tsl_api_checks *checks;      /* checks of each member's results */
  /* true: the member has another member's strategy and parameters, and may only run fused */
  bool *alike;
  atomic_bool fails;      /* true: parallel preparation found a wrong member */
  bool is_one;            /* the caller passed no batches: each member is one product */
  bool begun;             /* true: a product may be done */
  atomic_int status;      /* status of the first product that failed */
  tsl_status_saved saved; /* message of that failure */
} tsl_grouped;

/* Returns the index in the group's arrays; the caller's number also counts members without a plan. */
static inline int64_t tsl_grouped_index(const tsl_grouped *group, const tsl_products *member) {
  return member - group->members;
}

/* Finds members that may be computed without a plan: single, small, plain products. Checks operands, but not
 * overlaps between results. Returns their number; free out->all with tsl_scratch_give(). */
int64_t tsl_grouped_find_small(tesela_context *context, const tesela_gemm_desc *descs,
                               const tesela_batch *batches, int64_t count, tsl_small_gemm_group *out);
/* Computes the members without a plan; threads divide them. */
void tsl_grouped_run_small(tsl_grouped *group);

/* Finds a member's plan by the planner's choice, and its seed. */
tesela_status tsl_grouped_find_plan(tsl_grouped *group, int64_t member);
/* Plans new members in buffers with one shared strategy and parameters, if several may be fused. */
void tsl_grouped_plan_alike(tsl_grouped *group);
/* Gives a member whose shared plan was not fused a plan of its own. */
tesela_status tsl_grouped_plan_apart(tsl_grouped *group, int64_t member);

/* Returns true if a member's products run on the cpu. */
bool tsl_grouped_on_host(const tsl_grouped *group, int64_t member);
/* Stores a failure with its message if it is the group's first. */
void tsl_grouped_note(tsl_grouped *group, tesela_status status);
/* Returns the group's first failure and restores its message; TESELA_OK if there is none. */
tesela_status tsl_grouped_told(tsl_grouped *group);

/* Returns TESELA_BAD_CALL if two products certainly write the same element. All members are prepared. */
tesela_status tsl_grouped_check_apart(const tsl_grouped *group);

/* Computes the members on the cpu; threads divide them. */
tesela_status tsl_grouped_share(tsl_grouped *group);

/* Members of several sizes on one device that one launch computes, by a batch's plan of the largest. */
typedef struct tsl_fused_members {
  tsl_cached_plan *cached; /* NULL: no members are fused */
  const tsl_plan *plan;
  uint64_t workspace; /* bytes of device memory for the launch */
  int64_t count;
  const tsl_products **members;
} tsl_fused_members;
/* Returns a batch's plan for about `able` products like `leader`, with rounded up rows. */
tesela_status tsl_grouped_plan_joint(const tsl_grouped *group, const tesela_gemm_desc *leader, int64_t able,
                                     tsl_cached_plan **cached);
/* Moves the members that one launch can compute to the end of the array; *count becomes the number of the
 * others, which a further call may fuse. joint->members points into the array. */
tesela_status tsl_grouped_join(tsl_grouped *group, const tsl_products **members, int64_t *count,
                               tsl_fused_members *joint);
/* Enqueues a fused launch whose operands are checked. */
tesela_status tsl_grouped_enqueue_joint(tsl_grouped *group, const tsl_fused_members *joint,
                                        tsl_stream *stream, tsl_buffer *workspace);

typedef struct tsl_group_queue tsl_group_queue;
/* Queues members in buffers of devices with kernels; others are computed one by one. */
tesela_status tsl_group_queue_begin(tsl_grouped *group, tsl_group_queue **queue);
/* Waits for queued work and frees the queue. Call it after every tsl_group_queue_begin(). */
tesela_status tsl_group_queue_end(tsl_grouped *group, tsl_group_queue *queue, tesela_status status);

#endif
