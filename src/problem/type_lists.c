#include "problem/type_lists.h"

#include <string.h>

#define THROUGHOUT(type)                                                                                     \
  { type, type, type }
const tsl_types tsl_types_single[] = {THROUGHOUT(TESELA_F32), THROUGHOUT(TESELA_F64), THROUGHOUT(0)};
const tsl_types tsl_types_all[] = {THROUGHOUT(TESELA_F32),  THROUGHOUT(TESELA_F64),  THROUGHOUT(TESELA_F16),
                                   THROUGHOUT(TESELA_BF16), THROUGHOUT(TESELA_I8),   THROUGHOUT(TESELA_I32),
                                   THROUGHOUT(TESELA_C64),  THROUGHOUT(TESELA_C128), THROUGHOUT(TESELA_U8),
                                   THROUGHOUT(TESELA_E4M3), THROUGHOUT(TESELA_E5M2), THROUGHOUT(0)};
#define NARROW                                                                                               \
  {TESELA_BF16, TESELA_BF16, TESELA_F32}, {TESELA_I8, TESELA_I8, TESELA_I32},                                \
      {TESELA_F16, TESELA_F16, TESELA_F32}, {TESELA_BF16, TESELA_BF16, TESELA_BF16},                         \
      {TESELA_F16, TESELA_F16, TESELA_F16}, {TESELA_U8, TESELA_I8, TESELA_I32},                              \
      {TESELA_I8, TESELA_U8, TESELA_I32}, {                                                                  \
    TESELA_U8, TESELA_U8, TESELA_I32                                                                         \
  }
#define EIGHTS_IN(c)                                                                                         \
  {TESELA_E4M3, TESELA_E4M3, c}, {TESELA_E5M2, TESELA_E4M3, c}, {TESELA_E4M3, TESELA_E5M2, c}, {             \
    TESELA_E5M2, TESELA_E5M2, c                                                                              \
  }
#define EIGHTS EIGHTS_IN(TESELA_F32), EIGHTS_IN(TESELA_BF16), EIGHTS_IN(TESELA_F16)
const tsl_types tsl_types_narrow[] = {NARROW, THROUGHOUT(0)};
const tsl_types tsl_types_small[] = {NARROW, EIGHTS, THROUGHOUT(0)};
const tsl_types tsl_types_real[] = {THROUGHOUT(TESELA_F32), THROUGHOUT(TESELA_F64), NARROW, THROUGHOUT(0)};
const tsl_types tsl_types_every[] = {THROUGHOUT(TESELA_F32),
                                     THROUGHOUT(TESELA_F64),
                                     {TESELA_BF16, TESELA_BF16, TESELA_F32},
                                     {TESELA_BF16, TESELA_BF16, TESELA_BF16},
                                     {TESELA_F16, TESELA_F16, TESELA_F32},
                                     {TESELA_F16, TESELA_F16, TESELA_F16},
                                     {TESELA_I8, TESELA_I8, TESELA_I32},
                                     {TESELA_U8, TESELA_I8, TESELA_I32},
                                     {TESELA_I8, TESELA_U8, TESELA_I32},
                                     {TESELA_U8, TESELA_U8, TESELA_I32},
                                     THROUGHOUT(TESELA_C64),
                                     THROUGHOUT(TESELA_C128),
                                     EIGHTS,
                                     THROUGHOUT(0)};
#undef EIGHTS
#undef EIGHTS_IN
#undef NARROW

bool tsl_types_parse(tsl_op op, const char *text, tsl_types *types) {
  tesela_type words[3] = {TESELA_TYPE_DEFAULT};
  int count = 0;
  for (const char *at = text; at; count++) {
    char word[8];
    const size_t length = strcspn(at, ":");
    if (count == 3 || length >= sizeof word)
      return false;
    memcpy(word, at, length);
    word[length] = '\0';
    words[count] = tsl_type_parse(word);
    if (words[count] == TESELA_TYPE_DEFAULT)
      return false;
    at = at[length] ? at + length + 1 : NULL;
  }
  *types = (tsl_types){words[0], count == 3 ? words[1] : words[0],
                       count == 1 ? tsl_result_type(op, words[0]) : words[count - 1]};
  return true;
}

void tsl_types_print(tsl_op op, const tsl_types *types, tsl_text *text) {
  tsl_text_add(text, "%s", tsl_type(types->a)->name);
  if (types->b != types->a)
    tsl_text_add(text, ":%s", tsl_type(types->b)->name);
  if (types->b != types->a || types->c != tsl_result_type(op, types->a))
    tsl_text_add(text, ":%s", tsl_type(types->c)->name);
}
