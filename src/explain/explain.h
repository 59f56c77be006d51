/* Explanation of a choice: the plan, its needs, and the reasons against other candidates. Used by
 * tesela_explain() and by the tool, which also prints text. */
#ifndef TSL_EXPLAIN_EXPLAIN_H
#define TSL_EXPLAIN_EXPLAIN_H

#include "explain/cost_report.h"
#include "explain/crossover.h"

/* Content of an explanation. */
typedef struct tsl_explanation {
  tsl_problem problem;
  tsl_candidate *candidates;
  tsl_counted *counted; /* costs of the usable candidates, in the same order */
  int count, able;
  tsl_plan *plan; /* NULL: nothing can run; `planned` and `failure` have the reason */
  tesela_status planned;
  tsl_text failure;
  uint64_t host_bytes, host_available;
  bool resident;
  tsl_devices *devices;
  tsl_crossover crossover; /* no parts if there is no choice of devices */
  tsl_candidate once;      /* choice if start-up counts; strategy is NULL if this was not requested */
  double plan_seconds;     /* seconds for creating the plan: device, compilers, self-test */
} tsl_explanation;

/* Explains a problem: opens devices, measures missing transfer costs, and creates the plan. If nothing
 * can run the call succeeds without a plan; `planned` is the status, and `failure` its message. Free
 * with tsl_explanation_free(), also after a failure. */
tesela_status tsl_explain_find(const tsl_problem *problem, const tsl_choice *choice, tsl_explanation *found);
void tsl_explanation_free(tsl_explanation *found);

/* Returns the candidate of the plan; NULL: no plan. */
const tsl_candidate *tsl_explain_chosen(const tsl_explanation *found);

/* Appends the explanation as docs/JSON.md describes it. */
void tsl_explain_json(const tsl_explanation *found, tsl_text *out);

#endif
