#include "product/plan_choice.h"

#include "core/status.h"

#include <string.h>

void tsl_plan_choice_free(tsl_plan_choice *choice) {
  tsl_text_free(&choice->strategy);
  tsl_text_free(&choice->name);
  tsl_text_free(&choice->device);
}

/* Reads "gemm NAME version=1 PARAMETER=VALUE ... device=DEVICE place=...". */
tesela_status tsl_settle(const tesela_plan *plan, tsl_plan_choice *out) {
  tsl_record record;
  *out = (tsl_plan_choice){.strategy = {0}};
  TSL_TRY(tsl_record_parse(tesela_plan_describe(plan), &record));
  tsl_text_add(&out->name, "%s", tsl_record_word(&record, 1));
  tsl_text_add(&out->strategy, "%s", tsl_record_word(&record, 1));
  tsl_text_add(&out->device, "%s", tsl_record_get(&record, "device"));
  for (int i = 0; i < record.count; i++) {
    const tsl_record_field *field = &record.fields[i];
    if (field->key && strcmp(field->key, "device") == 0)
      break;
    if (field->key && strcmp(field->key, "version") != 0)
      tsl_text_add(&out->strategy, " %s=%s", field->key, field->value);
  }
  tsl_record_free(&record);
  TSL_TRY(tsl_text_status(&out->name));
  TSL_TRY(tsl_text_status(&out->strategy));
  return tsl_text_status(&out->device);
}
