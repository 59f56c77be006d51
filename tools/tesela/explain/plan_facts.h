/* Facts about a plan that reports print in addition to its text: device, traffic and guarantees.
 * They stay valid after the plan is freed, until its context ends. */
#ifndef TSL_TOOL_EXPLAIN_PLAN_FACTS_H
#define TSL_TOOL_EXPLAIN_PLAN_FACTS_H

#include "inventory/report.h"

typedef struct tsl_plan_facts tsl_plan_facts;

/* Makes the facts of a plan. The caller frees them by tsl_plan_facts_free(), which accepts NULL. */
tesela_status tsl_plan_facts_of(const tesela_plan *plan, tsl_plan_facts **facts);
void tsl_plan_facts_free(tsl_plan_facts *facts);

/* Returns true if the plan runs on the processor's cores through a driver (PoCL) that computes on
 * copies in host memory. */
bool tsl_plan_copies_on_host(const tesela_plan *plan);

/* Returns the bytes of host memory that a run takes in addition to operands and their copies. */
uint64_t tsl_plan_extra_host_bytes(const tesela_plan *plan);

/* Returns the largest number of steps along k that one call may sum over, for a block of m x n elements of C.
 * The steps begin at `index`, and `most` is the limit. Parts of this size, added in order, give the bits of
 * the whole product. 0: k must not be split. */
int64_t tsl_plan_part_of_k(const tesela_plan *whole, int64_t m, int64_t n, int64_t index, int64_t most);

/* The guarantee for each element: an error of `factor` rounding units, in total `bound` (of
 * |alpha||A||B| + |beta||C0|); 0: the result is exact. `rounded`: the exact result, rounded once.
 * `flushes`: as in tsl_accuracy. */
typedef struct tsl_plan_bound {
  double factor, bound, flushes;
  bool rounded;
} tsl_plan_bound;
tsl_plan_bound tsl_plan_facts_bound(const tsl_plan_facts *facts);

/* Add rows to a list: the plan, its device and the vendor's library it calls; and its groups and
 * traffic. */
void tsl_plan_facts_add_device(const tsl_plan_facts *facts, tsl_table *table);
void tsl_plan_facts_add_account(const tsl_plan_facts *facts, tsl_table *table);
/* tsl_plan_facts_json_device() adds "plan", "peer" and "device". tsl_plan_facts_json_account()
 * returns the counts of docs/JSON.md. */
void tsl_plan_facts_json_device(const tsl_plan_facts *facts, json_t *object);
json_t *tsl_plan_facts_json_account(const tsl_plan_facts *facts);

#endif
