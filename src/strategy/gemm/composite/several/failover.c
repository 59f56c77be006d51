#include "core/warnings.h"
#include "strategy/gemm/composite/several/several.h"

#include <stdio.h>

void tsl_several_report_failure(const tsl_work *work, const char *failed, const char *by,
                                const char *sentence) {
  tsl_several *self = work->state;
  char note[sizeof self->note];
  snprintf(note, sizeof note, "%s failed, and %s computed its part of the product again: %.200s", failed, by,
           sentence);
  pthread_mutex_lock(&self->lock);
  if (!*self->note)
    snprintf(self->note, sizeof self->note, "%s", note);
  pthread_mutex_unlock(&self->lock);
  tsl_notice(TSL_LOG_PLAN, "%s", note);
}
