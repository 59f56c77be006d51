/* A kernel that does nothing: what is left is what a launch and the wait for it cost (tune/link.c). It could write, so that
 * nobody leaves it out. */
#include "dialect.h"

TSL_KERNEL(1, 1, 1)
tsl_nothing(TSL_GLOBAL int *out, const int value) {
  if (value != 0)
    out[TSL_GLOBAL_ITEM(0)] = value;
}
