/* Element type of cuda_dmma's A, B and C: f64, or c128 as two f64. */
#include "sm80.h"

#if NUMBERS == 2
typedef double2 number;
#else
typedef double number;
#endif
constexpr int NUMBER_BYTES = 8 * NUMBERS;

/* Multiplies a complex number by `by`, a real factor as a real number: infinity does not become NaN. */
SM80_FUNCTION double2 scaled(double2 value, const double (&by)[2]) {
  if (by[1] == 0)
    return make_double2(by[0] * value.x, by[0] * value.y);
  return make_double2(by[0] * value.x - by[1] * value.y, by[0] * value.y + by[1] * value.x);
}
