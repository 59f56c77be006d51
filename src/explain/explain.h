/* Explanation of a choice: the plan, its needs, and the reasons against other candidates. */
#ifndef TSL_EXPLAIN_EXPLAIN_H
#define TSL_EXPLAIN_EXPLAIN_H

#include "explain/cost_report.h"
#include "planner/planner.h"
#include "planner/transfer_cost.h"

typedef struct tsl_crossover_part {
  int64_t from; /* smallest size of squares that run on `device`, up to the next part */
  const tsl_device *device;
} tsl_crossover_part;

enum { TSL_CROSSOVER_PARTS = 8, TSL_CROSSOVER_MIN = 16, TSL_CROSSOVER_MAX = 16384 };

typedef struct tsl_crossover {
  tsl_crossover_part parts[TSL_CROSSOVER_PARTS];
  int count;
} tsl_crossover;

/* Finds the predicted ranges for square products like this one (types, transposes, scalars), operands at
 * choice->place. Sizes are TSL_CROSSOVER_MIN to TSL_CROSSOVER_MAX. */
tesela_status tsl_crossover_find(const tsl_problem *like, const tsl_choice *choice, tsl_crossover *out);
/* Appends the ranges: "cpu, from 640 on cuda:0". */
void tsl_crossover_print(const tsl_crossover *found, tsl_text *out);

typedef struct tsl_explanation {
  tsl_problem problem;
  tsl_candidate *candidates; /* owned; the usable ones come first */
  tsl_cost_report *counted;  /* costs of the `usable_count` usable candidates, in the same order */
  int count, usable_count;
  tsl_plan *plan; /* NULL: nothing can run; `plan_status` and `failure` tell why */
  tesela_status plan_status;
  tsl_text failure;
  tsl_text crossover_decided; /* crossover of a product without a plan (dispatch/crossovers.h); "": none */
  uint64_t host_bytes, host_available; /* bytes of operands and the run; bytes that may be allocated */
  bool resident;                       /* operands are on the device */
  tsl_devices *devices;                /* devices of the choice, not owned */
  tsl_crossover crossover;             /* no parts without a choice of devices */
  tsl_candidate once; /* choice for a single run with its start-up; strategy NULL: not sought */
  /* bits=rows: the order of sums (planner/row_order.h), and the choice on the plan's device with bits=any;
   * NULL, and strategy NULL: not sought */
  const char *row_order;
  tsl_candidate free_choice;
  /* expected seconds on 1, 2, 4 and 8 devices like the first one of the plan's group; 0: unknown */
  struct {
    int devices;
    double seconds;
  } scaling[4];
  int scaling_count; /* 0: a single device */
  double link_rate;  /* bytes a second of the links of `scaling`, as between the first two; 0: host memory */
  double plan_seconds; /* seconds for creating the plan: device, compilers, self-test */
} tsl_explanation;

/* Explains a problem: opens devices, measures missing transfer costs, creates the plan. Succeeds without a
 * plan if nothing can run. Free with tsl_explanation_free(), also after a failure. */
tesela_status tsl_explain_find(const tsl_problem *problem, const tsl_choice *choice, tsl_explanation *found);
void tsl_explanation_free(tsl_explanation *found);

/* Returns the plan's candidate; NULL: no plan. */
const tsl_candidate *tsl_explain_chosen(const tsl_explanation *found);

/* Returns the predicted fraction of linear scaling; NAN: unknown. */
double tsl_explain_of_linear(const tsl_explanation *found, int index);

/* Returns the reproducibility that a candidate guarantees for the problem. */
tsl_reproducibility tsl_explain_bits(const tsl_explanation *found, const tsl_candidate *candidate);

/* Appends the JSON of docs/JSON.md. */
void tsl_explain_json(const tsl_explanation *found, tsl_text *out);

#endif
