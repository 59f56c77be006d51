#include "tune/search.h"

#include <string.h>

#define SEARCH_DECLARE(name) extern const tsl_search tsl_search_##name;
TSL_SEARCH_LIST(SEARCH_DECLARE)
#undef SEARCH_DECLARE

static const tsl_search *const searches[] = {
#define SEARCH_ROW(name) &tsl_search_##name,
    TSL_SEARCH_LIST(SEARCH_ROW)
#undef SEARCH_ROW
};

const tsl_search *tsl_search_at(int index) {
  return index >= 0 && index < (int)(sizeof searches / sizeof *searches) ? searches[index] : NULL;
}

const tsl_search *tsl_search_find(const char *name) {
  for (int i = 0; tsl_search_at(i); i++)
    if (strcmp(tsl_search_at(i)->name, name) == 0)
      return tsl_search_at(i);
  return NULL;
}
