/* FNV-1a with 128 bits (Fowler, Noll, Vo; draft-eastlake-fnv). */
#include "core/hash.h"

#include <stdio.h>

__extension__ typedef unsigned __int128 wide;

static const tsl_hash offset_basis = {0x6c62272e07bb0142u, 0x62b821756295c58du};
static const tsl_hash prime = {0x0000000001000000u, 0x000000000000013bu};

static wide to_128_bits(tsl_hash hash) {
  return (wide)hash.high << 64 | hash.low;
}

tsl_hash tsl_hash_start(void) {
  return offset_basis;
}

tsl_hash tsl_hash_add(tsl_hash state, const void *bytes, size_t count) {
  const unsigned char *byte = bytes;
  const wide factor = to_128_bits(prime);
  wide value = to_128_bits(state);
  for (size_t i = 0; i < count; i++)
    value = (value ^ byte[i]) * factor;
  return (tsl_hash){(uint64_t)(value >> 64), (uint64_t)value};
}

void tsl_hash_text(tsl_hash hash, char out[33]) {
  snprintf(out, 33, "%016llx%016llx", (unsigned long long)hash.high, (unsigned long long)hash.low);
}
