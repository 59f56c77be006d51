/* Which of the instruction sets of base/isa.h a device's kernels are of. */
#ifndef TSL_HOST_HOST_ISA_H
#define TSL_HOST_HOST_ISA_H

#include "base/isa.h"
#include "device/device.h"

/* The row of TSL_ISA_LIST, from 0, that is best among those whose needs a device offers: the first one needs
 * nothing. */
static inline int tsl_isa_best(unsigned offers) {
#define TSL_ISA_NEEDS(name, header, needs, ...) needs,
  static const unsigned rows[] = {TSL_ISA_LIST(TSL_ISA_NEEDS)};
#undef TSL_ISA_NEEDS
  int row = (int)(sizeof rows / sizeof *rows) - 1;
  while ((rows[row] & ~offers) != 0)
    row--;
  return row;
}

#endif
