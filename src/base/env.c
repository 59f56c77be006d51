#include "base/env.h"

#include <stddef.h>
#include <stdlib.h>

static const tsl_env_info table[] = {
#define ROW(suffix, fallback, what) {"TESELA_" #suffix, fallback, what},
    TSL_ENV_LIST(ROW)
#undef ROW
};

const char *tsl_env_foreign(const char *name) {
  return secure_getenv(name);
}

const char *tsl_env_given(tsl_env variable) {
  const char *value = tsl_env_foreign(table[variable].name);
  return value && *value ? value : NULL;
}

const char *tsl_env_get(tsl_env variable) {
  const char *value = tsl_env_given(variable);
  return value ? value : table[variable].fallback;
}

const tsl_env_info *tsl_env_at(int index) {
  return index >= 0 && index < TSL_ENV_COUNT ? &table[index] : NULL;
}
