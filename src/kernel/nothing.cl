/* Empty kernel, to measure a launch and the wait for it (tune/link.c). The possible write stops
 * compilers from removing it. */
#include "dialect.h"

TSL_KERNEL(1, 1, 1)
tsl_nothing(TSL_GLOBAL int *out, const int value) {
  if (value != 0)
    out[TSL_GLOBAL_ITEM(0)] = value;
}
