/* What would run, what that needs, and why not something else: gathered for tesela_explain() and for the
 * tool, which tells it as text, too. */
#ifndef TSL_EXPLAIN_EXPLAIN_H
#define TSL_EXPLAIN_EXPLAIN_H

#include "explain/cost_report.h"
#include "explain/crossover.h"

/* What there is to tell. */
typedef struct tsl_explanation {
  tsl_problem problem;
  tsl_candidate *candidates;
  tsl_counted *counted; /* of those that can run, in their order */
  int count, able;
  tsl_plan *plan; /* NULL when nothing can run; then `failure` says why */
  tesela_status planned;
  tsl_text failure;
  uint64_t host_bytes, host_available;
  bool resident;
  tsl_devices *devices;
  tsl_crossover crossover; /* no parts where there is no choice of devices */
  tsl_candidate once;      /* what would run where starting counts; no strategy where that is not asked */
  double plan_seconds;     /* that making the plan took: device, compilers, self-test */
} tsl_explanation;

/* Opens devices, measures the ways to them where nobody did, and makes the plan. That nothing can run is no
 * failure: there is no plan then, `planned` is the status, and `failure` its sentence. Free with
 * tsl_explanation_free(), after a failure as well. */
tesela_status tsl_explain_find(const tsl_problem *problem, const tsl_choice *choice, tsl_explanation *found);
void tsl_explanation_free(tsl_explanation *found);

/* The candidate that the plan was made of; NULL: none was. */
const tsl_candidate *tsl_explain_chosen(const tsl_explanation *found);

/* As docs/JSON.md has it; NULL where memory ran out. */
json_t *tsl_explain_json(const tsl_explanation *found);

#endif
