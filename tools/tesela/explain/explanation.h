/* What tesela explain has to tell, and how it is told. */
#ifndef TSL_TOOL_EXPLAIN_EXPLANATION_H
#define TSL_TOOL_EXPLAIN_EXPLANATION_H

#include "cli/counted.h"
#include "cli/tool.h"
#include "explain/crossover.h"

typedef struct tsl_explain_options {
  tesela_type type;
  const char *device, *strategy;
  bool transpose_a, transpose_b, resident, trace, json;
  tsl_number alpha, beta;
} tsl_explain_options;

/* What there is to tell. */
typedef struct tsl_explanation {
  tsl_problem problem;
  tsl_candidate *candidates;
  tsl_counted *counted; /* of those that can run, in their order */
  int count, able;
  tsl_plan *plan; /* NULL when nothing can run; then `failure` says why */
  tsl_text failure;
  uint64_t host_bytes, host_available;
  bool resident;
  tsl_devices *devices;
  tsl_crossover crossover; /* no parts where there is no choice of devices */
  tsl_candidate once;      /* what would run where starting counts; no strategy where that is not asked */
  double plan_seconds;     /* that making the plan took: device, compilers, self-test */
} tsl_explanation;

/* The candidate that the plan was made of; NULL: none was. */
const tsl_candidate *tsl_explain_chosen(const tsl_explanation *found);

tesela_status tsl_explain_text(const tsl_explanation *found, const tsl_explain_options *given);
tesela_status tsl_explain_json(const tsl_call *call, const tsl_explanation *found);

#endif
