#include "device/device_fragments.h"

#include <stdio.h>
#include <string.h>

const tsl_fragments tsl_fragments_all[TSL_FRAGMENTS_COUNT] = {
#define FRAGMENTS_ROW(NAME, ...) {__VA_ARGS__},
    TSL_FRAGMENTS_LIST(FRAGMENTS_ROW)
#undef FRAGMENTS_ROW
};

/* Returns true if `name` begins with one of the words of `match`, separated by blanks. */
static bool begins(const char *name, const char *match) {
  for (size_t length; *match != '\0'; match += length + (match[length] == ' ')) {
    length = strcspn(match, " ");
    if (strncmp(name, match, length) == 0)
      return true;
  }
  return false;
}

const tsl_fragments *tsl_fragments_of(int sub_group, const char *architecture) {
  char number[16];
  snprintf(number, sizeof number, "%d", sub_group);
  for (int i = 0; i < TSL_FRAGMENTS_COUNT; i++) {
    const tsl_fragments *row = &tsl_fragments_all[i];
    if (sub_group > 0 ? strcmp(row->match, number) == 0 : begins(architecture, row->match))
      return row;
  }
  return NULL;
}
