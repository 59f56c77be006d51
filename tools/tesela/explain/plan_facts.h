/* What reports say of a plan of the public header beside its text: its device, what a run moves, what it
 * guarantees. Facts outlive the plan, and end with its context. */
#ifndef TSL_TOOL_EXPLAIN_PLAN_FACTS_H
#define TSL_TOOL_EXPLAIN_PLAN_FACTS_H

#include "cli/report.h"

typedef struct tsl_plan_facts tsl_plan_facts;

/* Free with tsl_plan_facts_free(), which takes NULL. */
tesela_status tsl_plan_facts_of(const tesela_plan *plan, tsl_plan_facts **facts);
void tsl_plan_facts_free(tsl_plan_facts *facts);

/* Whether a plan runs in the host's memory on copies of its own: on a processor's cores, by way of a driver
 * (PoCL). */
bool tsl_plan_copies_on_host(const tesela_plan *plan);

/* Bytes of host memory that a run of the plan takes beside operands and their copies. */
uint64_t tsl_plan_extra_host_bytes(const tesela_plan *plan);

/* Of a product's plan: the most steps along k, from `index` on and at most `most`, that a block of m x n
 * elements of C may be summed over at once, so that parts added one after the other have the bits of the
 * whole; 0: all of k at once only. */
int64_t tsl_plan_part_of_k(const tesela_plan *whole, int64_t m, int64_t n, int64_t index, int64_t most);

/* What is guaranteed of each element: an error of `factor` units, in all `bound` (|alpha||A||B| +
 * |beta||C0|); 0: every bit is kept. `rounded`: the exact result, rounded once. `flushes` as tsl_accuracy has
 * it. */
typedef struct tsl_plan_bound {
  double factor, bound, flushes;
  bool rounded;
} tsl_plan_bound;
tsl_plan_bound tsl_plan_facts_bound(const tsl_plan_facts *facts);

/* Rows of a list: the plan, its device, the vendor's library behind it; and its groups and traffic. */
void tsl_plan_facts_add_device(const tsl_plan_facts *facts, tsl_table *table);
void tsl_plan_facts_add_account(const tsl_plan_facts *facts, tsl_table *table);
/* Adds "plan", "peer" and "device"; the account as docs/JSON.md has it. */
void tsl_plan_facts_json_device(const tsl_plan_facts *facts, json_t *object);
json_t *tsl_plan_facts_json_account(const tsl_plan_facts *facts);

#endif
