#include "device/cpu/cpu.h"

enum { ZEN_4 = 0x19, ZEN_5 = 0x1a, PATHS_OF_32 = 1 << 2, PATHS_OF_64 = 1 << 3 };

/* Earlier and some Zen 5 processors have 32-byte data paths. */
bool tsl_cpu_paths_of_64(unsigned family, unsigned paths) {
  return family >= ZEN_5 && ((paths & PATHS_OF_64) || !(paths & PATHS_OF_32));
}

#if defined(__x86_64__)
#include <cpuid.h>

static const unsigned paths_leaf = 0x8000001a;

/* Returns 0 if the processor is not AMD's. */
static unsigned amd_cpu_family(void) {
  unsigned a = 0, b, c, d;
  if (!__builtin_cpu_is("amd") || !__get_cpuid(1, &a, &b, &c, &d))
    return 0;
  return (a >> 8 & 15) + (a >> 20 & 255);
}

/* Intel's processors with tiles or half-precision vectors, which virtual machines may show without tiles. */
bool tsl_cpu_pairs_vectors(void) {
  const unsigned tiles = 1u << 24, half_precision = 1u << 23;
  unsigned a = 0, b, c, d = 0;
  if (__builtin_cpu_is("intel") && __get_cpuid_count(7, 0, &a, &b, &c, &d))
    return (d & (tiles | half_precision)) != 0;
  if (!__get_cpuid(paths_leaf, &a, &b, &c, &d))
    a = 0;
  return tsl_cpu_paths_of_64(amd_cpu_family(), a);
}

bool tsl_cpu_halves_vectors(void) {
  return amd_cpu_family() >= ZEN_4 && !tsl_cpu_pairs_vectors();
}
#else
bool tsl_cpu_pairs_vectors(void) {
  return false;
}

bool tsl_cpu_halves_vectors(void) {
  return false;
}
#endif
