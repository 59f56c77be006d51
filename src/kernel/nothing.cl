/* Empty kernel, to measure a launch and its wait. Compilers must not remove the possible write. */
#include "dialect.h"

TSL_KERNEL(1, 1, 1)
tsl_nothing(TSL_GLOBAL int *out, const int value) {
  if (value != 0)
    out[TSL_GLOBAL_ITEM(0)] = value;
}
