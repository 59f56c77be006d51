/* Linux saves the 8 KiB of AMX tiles only for processes that request permission. */
#include "device/cpu/cpu.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 }; /* code of arch_prctl; state component */

bool tsl_cpu_has_amx(void) {
  const unsigned bf16 = 1u << 22, tiles = 1u << 24, bytes = 1u << 25, wanted = bf16 | tiles | bytes;
  unsigned a, b, c, d;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & wanted) != wanted)
    return false;
  return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}
#else
bool tsl_cpu_has_amx(void) {
  return false;
}
#endif
