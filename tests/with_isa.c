/* with_isa PROGRAM ARGUMENTS...: runs a test with the instruction set TESELA_ISA. Exits with 77, which is
 * skipped, if the processor lacks this set: the test would repeat another one. */
#include "core/status.h"
#include "device/devices.h"
#include "missing_isa.h"

#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  tsl_devices *devices;
  tsl_device *cpu;
  if (argc < 2 || tsl_devices_create(&devices) != TESELA_OK ||
      tsl_devices_find(devices, "cpu", &cpu) != TESELA_OK) {
    fprintf(stderr, "usage: with_isa PROGRAM ARGUMENTS...\n");
    return 1;
  }
  const char *missing = missing_isa(cpu);
  tsl_devices_destroy(devices);
  if (missing) {
    printf("skipped: this processor has no %s\n", missing);
    return 77;
  }
  execvp(argv[1], argv + 1);
  perror(argv[1]);
  return 1;
}
