#include "tune/measured_choice.h"

#include "api/api.h"
#include "core/floats.h"
#include "core/status.h"
#include "tune/plan_measured.h"
#include "tune/plan_race.h"

/* Measures candidates for a new problem. Replaces *known by wisdom with the records; *won is the fastest. */
static tesela_status choose_measure(tesela_context *context, const tsl_call_key *key, tsl_choice *choice,
                                    tsl_shared_wisdom **known, tsl_candidate *won) {
  tsl_effort found;
  tesela_status status = tsl_tune_effort(&key->problem, choice, key->effort, &found);
  if (status == TESELA_OK && found.won.strategy) {
    *won = found.won;
    status = tsl_api_wisdom_learn(context, tsl_text_get(&found.records));
    tsl_api_wisdom_release(*known);
    *known = NULL;
    if (status == TESELA_OK)
      status = tsl_api_wisdom(context, known);
    choice->wisdom = *known ? (*known)->wisdom : NULL;
  }
  tsl_text_free(&found.records);
  return status;
}

tesela_status tsl_api_plan(tesela_context *context, const tsl_call_key *key, tesela_plan **plan) {
  TSL_DEFAULT_FLOATS;
  tsl_choice choice = {.device = key->device,
                       .place = key->place,
                       .spread = key->spread,
                       .vendors = tsl_planner_vendors(),
                       .runs = (double)key->runs};
  tsl_candidate won = {.strategy = NULL}, second;
  tsl_shared_wisdom *known = NULL;
  tsl_plan *chosen;
  tesela_status status;
  tsl_choice_set_strategy(&choice, key->strategy);
  TSL_TRY(tsl_api_devices(context, &choice.devices));
  if (tsl_problem_batch(&key->problem) == 1) /* batches are never measured */
    TSL_TRY(tsl_api_wisdom(context, &known));
  choice.wisdom = known ? known->wisdom : NULL;
  if (key->effort > 0)
    TSL_GO(choose_measure(context, key, &choice, &known, &won));
  TSL_GO(tsl_tune_choose_first(&key->problem, &choice, &won, &second, &chosen));
  tsl_plan_race *race = key->strategy || key->spread || key->effort > 0
                            ? NULL
                            : tsl_plan_race_of(chosen, &second, choice.devices);
  status = tsl_api_plan_around(chosen, plan);
  if (status == TESELA_OK)
    (*plan)->race = race;
  else
    tsl_plan_race_free(race);
out:
  tsl_api_wisdom_release(known);
  return status;
}
