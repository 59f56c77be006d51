#include "device/reserved_units.h"

static _Thread_local int reserved_units;

void tsl_reserve_units(int units) {
  reserved_units = units;
}

int tsl_reserved_units(void) {
  return reserved_units;
}
