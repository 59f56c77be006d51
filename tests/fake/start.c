/* Adds the fake device before main() starts. */
#include "fake/fake.h"

__attribute__((constructor)) static void start(void) {
  tesela_fake_install();
}
