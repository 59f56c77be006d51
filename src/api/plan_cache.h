/* Cache of a context's plans by their problems: hash chains with eviction of the least recently used
 * plan. It has room for a group of products of different sizes. Plans own staging buffers, so plans on
 * one device may hold at most an eighth of its memory, in addition to the plan in use. */
#ifndef TSL_API_PLAN_CACHE_H
#define TSL_API_PLAN_CACHE_H

#include "base/fork_mutex.h"
#include "plan/plan.h"

enum { TSL_DEVICE_NAME = sizeof((tsl_device *)0)->name, TSL_PLANS_CACHED = 512, TSL_PLAN_CHAINS = 512 };

/* Properties of a call that select its plan. */
typedef struct tsl_call_key {
  tsl_problem problem;
  tsl_text_place place;
  tsl_sharding *spread; /* operands on several devices; the cache copies it; NULL: none */
  char device[TSL_DEVICE_NAME];
  const char *strategy; /* borrowed text of the caller; NULL: the planner chooses */
  int64_t runs;         /* expected runs of a plan that the caller owns; 0 in the cache */
  double effort;        /* seconds for measurements; in the cache only zero or nonzero counts */
} tsl_call_key;

typedef struct tsl_cached_plan tsl_cached_plan;
/* Slot of the cache, with the members that a search reads. */
typedef struct tsl_plan_place {
  tsl_cached_plan *plan; /* NULL: the slot is free */
  const tsl_device *device;
  uint64_t hash;    /* hash of the key */
  uint64_t bytes;   /* bytes on the device */
  int next;         /* next slot in a hash chain or in the list of free slots, counted from 1; 0: none */
  int newer, older; /* neighbours in the order of last use, counted from 1; 0: none */
} tsl_plan_place;

typedef struct tsl_plan_cache {
  tsl_fork_mutex lock; /* protects all members below */
  tsl_plan_place places[TSL_PLANS_CACHED];
  int chains[TSL_PLAN_CHAINS]; /* first slot of each hash chain, counted from 1; 0: none */
  /* first free slot, counted from 1 (0: none), and the number of slots ever used */
  int free, begun;
  int newest, oldest;
  uint64_t bytes;      /* bytes of all plans on all devices */
  uint64_t generation; /* number of tsl_plan_cache_renew() calls */
} tsl_plan_cache;

/* Initialises a cache whose memory is zero. */
void tsl_plan_cache_init(tsl_plan_cache *cache);
void tsl_plan_cache_destroy(tsl_plan_cache *cache);

/* Finds a plan; NULL: none. Give it back after the run with tsl_plan_cache_give_back(). An evicted plan
 * lives until its last user gives it back. */
tsl_cached_plan *tsl_plan_cache_find(tsl_plan_cache *cache, const tsl_call_key *key);
/* Adds a plan for a key, with `bytes` bytes on its device, and returns its entry. Where the key has a plan
 * already, `replaces` evicts the older plan; otherwise the older plan is returned and `plan` is destroyed.
 * `generation` is tsl_plan_cache_generation() before planning. If the cache was renewed meanwhile the plan is
 * not stored and lives until it is given back. After a failure the plan is destroyed. */
tesela_status tsl_plan_cache_add(tsl_plan_cache *cache, const tsl_call_key *key, uint64_t generation,
                                 tesela_plan *plan, const tsl_device *device, uint64_t bytes, bool replaces,
                                 tsl_cached_plan **cached);
/* Returns the generation; call it before a plan is made. */
uint64_t tsl_plan_cache_generation(tsl_plan_cache *cache);
/* Evicts all plans, because the wisdom has changed. Plans in use live until they are given back. */
void tsl_plan_cache_renew(tsl_plan_cache *cache);
/* Uses a held entry for another run. Returns false if it was evicted. */
bool tsl_plan_cache_use(tsl_plan_cache *cache, tsl_cached_plan *cached);
/* Ends one use of an entry. The last user of an evicted plan destroys it. */
void tsl_plan_cache_give_back(tsl_plan_cache *cache, tsl_cached_plan *cached);
tesela_plan *tsl_plan_cache_plan(const tsl_cached_plan *cached);

/* Adds a reference, so that the entry stays valid after eviction, though its plan may be gone. Returns
 * cached. */
tsl_cached_plan *tsl_plan_cache_hold(tsl_cached_plan *cached);
void tsl_plan_cache_release(tsl_cached_plan *cached); /* NULL is allowed */

/* Marks that no strategy supports a batch of the plan's product in one run. */
void tsl_plan_cache_refuse_batches(tsl_cached_plan *cached);
bool tsl_plan_cache_refuses_batches(const tsl_cached_plan *cached);

#endif
