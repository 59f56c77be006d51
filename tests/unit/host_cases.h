/* Test cases for each strategy of the processor and for the code that they share: the requirements
 * on every host strategy. */
#ifndef TESTS_UNIT_HOST_CASES_H
#define TESTS_UNIT_HOST_CASES_H

#include <stdbool.h>

#include <tesela/tesela.h>

#include "strategy/strategy.h"

typedef enum host_way { ONE, BATCH, PACK, IN_PLACE } host_way;

typedef struct host_case {
  const char *strategy; /* NULL: the planner's choice */
  tsl_op op;
  tesela_type type, result;
  int64_t m, n, k;
  host_way way;
  bool alone; /* has one thread by design */
} host_case;

/* Cases of all strategies of the processor. */
extern const host_case host_cases[];
extern const int host_cases_count;

/* Allocates operands that are large enough for every case, filled with zeros. */
void host_case_memory(void *memory[3]);

/* Runs a case on the operands. */
tesela_status host_case_run(tesela_context *context, const host_case *case_in, void *const memory[3]);

/* Writes the name of a case into `text`, and returns `text`: "gemm host_packed, 40 x 40 x 40000". */
const char *host_case_name(const host_case *case_in, char text[128]);

#endif
