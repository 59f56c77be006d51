#include "explore/ranks_found.h"

const char *tsl_ranks_way_name(int way) {
  static const char *const names[] = {
#define WAY_ROW(name, text) [TSL_RANKS_WAY_##name] = #text,
      TSL_RANKS_WAY_LIST(WAY_ROW)
#undef WAY_ROW
  };
  return names[way];
}
