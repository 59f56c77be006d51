/* Residues of a tile's sums, as an included text: a row of 32 at a time, in floats, which hold sums below
 * 2^24 exactly. The quotient errs by less than 2^-7, so the remainder is from -p to p; p is added to negative
 * remainders. For p = 256, where sums may be 2^24 plus a byte, the low byte is the residue. */
#include "strategy/gemm/emulated/residue_int8/kernels/wide.h"
#include "strategy/gemm/emulated/residue_int8/residue_int8_host.h"

#define EXACT 0x1.8p23f

TSL_INLINE void reduce_row(const tsl_residue_late *late, int64_t row) {
  const int32_t *const sums = late->sums + row * TSL_RESIDUE_LINES;
  unsigned char *const to = late->rest + row * TSL_RESIDUE_LINES;
  const tsl_residue_rest *const modulus = late->modulus;
  for (int half = 0; half < 2; half++) {
    wide_i32 sum;
    WIDE_LOAD(sum, sums + half * 16);
    if (late->adds)
      sum += integers_of_bytes(to + half * 16);
    if (!modulus->is_byte) {
      const wide_f32 whole = __builtin_convertvector(sum, wide_f32),
                     quotient = (whole * modulus->inverse + EXACT) - EXACT,
                     rest = lifted_f32(whole - quotient * modulus->p, broadcast_f32(modulus->p));
      sum = (wide_i32)(rest + EXACT);
    }
    const bytes_16 bytes = __builtin_convertvector(sum & 0xff, bytes_16);
    WIDE_STORE(to + half * 16, bytes);
  }
}

static void reduce_all(const tsl_residue_late *late) {
  for (int64_t row = 0; row < TSL_RESIDUE_LINES; row++)
    reduce_row(late, row);
}
