#include "core/floats.h"

tsl_floats_before tsl_floats_hold(void) {
  const tsl_floats_before before = {tsl_floats_read(), fegetround()};
  const tsl_floats wanted = tsl_floats_default(before.floats);
  if (before.rounding != FE_TONEAREST)
    fesetround(FE_TONEAREST);
  tsl_floats_write_if_changed(wanted | (before.floats & TSL_FLOATS_FLAGS));
  return before;
}

void tsl_floats_restore(const tsl_floats_before *before) {
  if (before->rounding != FE_TONEAREST)
    fesetround(before->rounding);
  if (tsl_floats_read() != before->floats)
    tsl_floats_write(before->floats);
}
