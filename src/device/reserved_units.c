#include "device/reserved_units.h"

static _Thread_local int spared;

void tsl_reserve_units(int units) {
  spared = units;
}

int tsl_spared_units(void) {
  return spared;
}
