#include "core/env.h"

#include "core/status.h"
#include "core/suggest.h"
#include "core/text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const tsl_env_info table[] = {
#define ROW(suffix, fallback, what) {"TESELA_" #suffix, fallback, what},
    TSL_ENV_LIST(ROW)
#undef ROW
};

const char *tsl_env_foreign(const char *name) {
  return secure_getenv(name);
}

const char *tsl_env_get_or_null(tsl_env variable) {
  const char *value = tsl_env_foreign(table[variable].name);
  return value && *value ? value : NULL;
}

const char *tsl_env_get(tsl_env variable) {
  const char *value = tsl_env_get_or_null(variable);
  return value ? value : table[variable].fallback;
}

const tsl_env_info *tsl_env_info_at(int index) {
  return index >= 0 && index < TSL_ENV_COUNT ? &table[index] : NULL;
}

/* Variables whose values are words; an empty value means the default. */
static const struct {
  tsl_env variable;
  const char *words[8];
} worded[] = {
    {TSL_ENV_VENDORS, {"0", "1"}},
    {TSL_ENV_SELFTEST, {"0", "1"}},
    {TSL_ENV_COPIES, {"auto", "explicit"}},
    {TSL_ENV_JIT, {"allow", "never"}},
    {TSL_ENV_BLAS, {"auto", "tesela", "other", "loops"}},
    {TSL_ENV_SCALAPACK, {"auto", "tesela", "other"}},
    {TSL_ENV_CUBLAS_CALLS, {"auto", "tesela", "other", "host", "host_auto"}},
    {TSL_ENV_ISA, {TSL_ISA_WORDS}},
};

const char *const *tsl_env_words(tsl_env variable) {
  for (size_t i = 0; i < sizeof worded / sizeof *worded; i++)
    if (worded[i].variable == variable)
      return worded[i].words;
  return NULL;
}

tesela_status tsl_env_check(tsl_env variable) {
  const char *value = tsl_env_get(variable);
  const char *const *words = tsl_env_words(variable);
  char suggestion[TSL_SUGGESTION_BYTES];
  tsl_text list = {0}, names = {0};
  bool good = !*value || !words;
  for (int i = 0; !good && words[i]; i++) {
    good = strcmp(value, words[i]) == 0;
    tsl_text_add(&list, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
    tsl_text_add(&names, "%s ", words[i]);
  }
  const tesela_status status =
      good ? TESELA_OK
           : tsl_fail(TESELA_BAD_CALL, "%s is \"%.64s\"; it can be %s%s", tsl_env_info_at(variable)->name,
                      value, tsl_text_get(&list), tsl_suggest(value, tsl_text_get(&names), suggestion));
  tsl_text_free(&names);
  tsl_text_free(&list);
  return status;
}

tesela_status tsl_env_number(tsl_env variable, uint64_t *number) {
  const char *value = tsl_env_get(variable);
  int64_t read;
  if (!tsl_parse_i64(value, &read) || read < 0)
    return tsl_fail(TESELA_BAD_CALL, "%s is \"%.64s\"; it can be 0 or a positive whole number",
                    tsl_env_info_at(variable)->name, value);
  *number = (uint64_t)read;
  return TESELA_OK;
}
