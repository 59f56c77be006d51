#include "explain/explanation.h"

const tsl_candidate *tsl_explain_chosen(const tsl_explanation *found) {
  for (int i = 0; found->plan && i < found->count; i++)
    if (found->candidates[i].strategy == found->plan->work.strategy &&
        found->candidates[i].device == found->plan->work.device)
      return &found->candidates[i];
  return NULL;
}
