#include "problem/verify_mode.h"

#include "core/list_text.h"
#include "core/status.h"
#include "core/suggest.h"

#include <string.h>

tesela_status tsl_verify_parse(const char *word, tsl_verify_mode *mode) {
  static const char *const words[] = {TSL_VERIFY_LIST(TSL_LIST_TEXT)};
  char hint[TSL_SUGGESTION_BYTES];
  *mode = TSL_VERIFY_NONE;
  if (!*word)
    return TESELA_OK;
  for (int i = 0; i < (int)(sizeof words / sizeof *words); i++)
    if (strcmp(word, words[i]) == 0) {
      *mode = (tsl_verify_mode)i;
      return TESELA_OK;
    }
  return tsl_fail(TESELA_BAD_CALL, "verify is \"%s\"; it can be none, all, memory or repair%s", word,
                  tsl_suggest(word, "none, all, memory, repair", hint));
}
