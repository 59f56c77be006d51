#ifndef TSL_HOST_HOST_ISA_H
#define TSL_HOST_HOST_ISA_H

#include "core/isa.h"
#include "device/device.h"

/* Returns the best row of TSL_ISA_LIST, from 0, whose needs the device offers; row 0 needs nothing. */
static inline int tsl_isa_best(unsigned offers) {
#define TSL_ISA_NEEDS(name, header, needs, ...) needs,
  static const unsigned rows[] = {TSL_ISA_LIST(TSL_ISA_NEEDS)};
#undef TSL_ISA_NEEDS
  int row = (int)(sizeof rows / sizeof *rows) - 1;
  while ((rows[row] & ~offers) != 0)
    row--;
  return row;
}

/* Returns the best row of TSL_ISA_LIST that the processor runs, whatever its device offers. */
static inline int tsl_host_isa_that_runs(void) {
#define TSL_ISA_RUNS(isa, header, needs, flags, floats, fused, runs) (runs),
  const bool rows[] = {TSL_ISA_LIST(TSL_ISA_RUNS)};
#undef TSL_ISA_RUNS
  int best = 0;
  for (int i = 1; i < (int)(sizeof rows / sizeof *rows); i++)
    best = rows[i] ? i : best;
  return best;
}

#endif
