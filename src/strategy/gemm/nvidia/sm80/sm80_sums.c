/* How the sums of the parts of k are added, and how long that takes. */
#include "strategy/gemm/nvidia/sm80/sm80_gemm.h"

#include <math.h>

/* Blocks add few bytes of sums only, of f64 or complex numbers. c64 has a lower limit, since its accesses
 * have 8 bytes and take longer. */
int64_t tsl_sm80_joined_bytes(const tsl_sm80_tile *tile, int64_t parts) {
  enum { JOINED_BYTES = 256 << 10, JOINED_C64_BYTES = 64 << 10 };
  const int64_t bytes_max = tile->sum / tile->numbers == 4 ? JOINED_C64_BYTES : JOINED_BYTES,
                bytes = (parts - 1) * tile->tile_m * tile->tile_n * tile->sum;
  return tile->sum >= 8 && tile->cluster == 1 && bytes <= bytes_max ? bytes : 0;
}

double tsl_sm80_reduce_seconds(const tsl_sm80_tile *tile, int64_t parts, const tsl_device *device) {
  const double sums = 2.0 * tile->sum * (double)tile->problem.m * (double)tile->problem.n * (double)parts,
               joined = (double)tsl_sm80_joined_bytes(tile, parts);
  if (parts == 1 || tile->cluster > 1)
    return 0;
  return joined > 0 ? (tile->rates->join_clocks + tile->rates->join_part_clocks * (double)(parts - 1) +
                       joined / tile->rates->join_bytes) /
                          (1e6 * fmax(1, device->clock_mhz))
                    : tile->rates->reduce_seconds + sums / device->bandwidth;
}
