/* Computes the whole product by a subplan, the choice of a plan without residue_int8, where residues do not
 * pay. Its bits differ, so where reproducible bits are requested this strategy's native lines do. */
#include "core/status.h"
#include "strategy/gemm/emulated/residue_int8/residue_int8.h"

#include <stdio.h>
#include <string.h>

enum { WEIGHT_MAX = 1000 }; /* cost of a subplan's element in moduli, at most */

/* Returns the time of the subplan's product in units of one modulus, more than the least number of moduli. 0:
 * residues are expected to take twice as long, so the caller named this strategy; the subplan is not used. */
static int weight_of(const tsl_work *work, double seconds) {
  const double own = tsl_residue_int8_modulus_seconds(&work->problem, &work->config, work->device),
               weight = own > 0 ? seconds / own : 0, least = tsl_residue_least(&work->problem, &work->config);
  return 2 * weight < least ? 0 : (int)fmin(fmax(weight, least + 1), WEIGHT_MAX);
}

/* Writes the note with the subplan's strategy: the second word of its plan's text. */
static void write_note(const tsl_work *work, tsl_residue_state *state) {
  const char *const text = work->subplans->text(state->whole), *name = text + strcspn(text, " ");
  name += *name == ' ';
  snprintf(state->whole_note, sizeof state->whole_note,
           "residue_int8: residues do not pay for these numbers: the product was computed by %.*s",
           (int)strcspn(name, " "), name);
}

tesela_status tsl_residue_int8_make_whole(tsl_work *work, uint64_t workspace) {
  tsl_residue_state *state = work->state;
  const tsl_problem problem = tsl_problem_drop_epilogue(&work->problem);
  tsl_status_saved saved;
  if (problem.ask.bits != TSL_REPRODUCIBILITY_ANY || !tsl_problem_reads(&problem, TSL_OPERAND_A) ||
      !work->subplans || (work->forbid_compile && !work->subplans->for_blocks))
    return TESELA_OK;
  const bool is_host = tsl_device_is_host(work->device);
  const tsl_subplan_request request = {.problem = &problem,
                                       .device = work->device,
                                       .in_buffers = !is_host,
                                       .workspace_most = workspace,
                                       .most = work->strategy->accuracy(&problem, &work->config),
                                       .skips = !is_host,
                                       .except = work->strategy};
  tsl_status_save(&saved);
  const tesela_status status = work->subplans->make(work->subplans, &request, &state->whole);
  if (status == TESELA_OUT_OF_MEMORY)
    return status;
  if (status != TESELA_OK || !state->whole) { /* this strategy's kernels compute it */
    tsl_status_restore(&saved);
    return TESELA_OK;
  }
  if (!is_host && work->subplans->workspace(state->whole) > workspace) {
    work->subplans->destroy(state->whole);
    state->whole = NULL;
    return TESELA_OK;
  }
  state->whole_weight = weight_of(work, work->subplans->expected(state->whole));
  write_note(work, state);
  return TESELA_OK;
}
