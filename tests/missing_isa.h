/* Instruction sets by TESELA_ISA that this processor lacks. A run with such a set repeats the run with the
 * best set below it. */
#ifndef TESTS_MISSING_ISA_H
#define TESTS_MISSING_ISA_H

#include "core/isa.h"
#include "device/device.h"

#include <stdlib.h>
#include <string.h>

/* Returns TESELA_ISA if the processor lacks this set, otherwise NULL. */
static inline const char *missing_isa(const tsl_device *cpu) {
  static const struct {
    const char *name;
    unsigned needs;
  } sets[] = {
#define SET(name, header, needs, ...) {#name, needs},
      TSL_ISA_LIST(SET) TSL_ISA_EXTENSION_LIST(SET)
#undef SET
  };
  const char *wanted = getenv("TESELA_ISA");
  for (size_t i = 0; wanted && i < sizeof sets / sizeof *sets; i++)
    if (strcmp(sets[i].name, wanted) == 0 && sets[i].needs & ~cpu->capabilities)
      return wanted;
  return NULL;
}

#endif
