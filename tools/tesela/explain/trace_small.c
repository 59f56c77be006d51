/* The small trace of a rung, for pages of explorations. */
#include "explain/trace.h"

#include "core/status.h"
#include "problem/problem.h"

tesela_status tsl_trace_small(const tsl_rung *rung, json_t **trace) {
  const tsl_recording_place first = {.has_element = false};
  const tsl_problem problem = rung->op == TSL_OP_DOT ? tsl_problem_dot(16, TESELA_F32)
                                                     : tsl_problem_of(rung->op, 8, 8, 8, TESELA_F32);
  tsl_recording recording = {0};
  tsl_strategy_list list;
  tsl_text name = {0};
  tesela_status status;
  tsl_text_add(&name, "%s %s", rung->name, rung->small);
  TSL_GO(tsl_select_strategies(rung->op, tsl_text_get(&name), false, &list));
  TSL_GO(tsl_record_rung(list.items[0].strategy, &problem, &list.items[0].config, &first, &recording));
  *trace = tsl_trace_json(&list.items[0], &recording, &first);
  status = *trace ? TESELA_OK : tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a trace");
out:
  tsl_recording_free(&recording);
  tsl_text_free(&name);
  return status;
}
