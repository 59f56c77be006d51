/* What the files that Linux shows tell of the processor's caches. */
#include "unit.h"

#include "base/processor.h"
#include "scratch.h"

#include <stdio.h>

static void write_cache(const scratch *s, int index, const char *level, const char *type, const char *size) {
  const char *const files[][2] = {
      {"level", level}, {"type", type}, {"size", size}, {"shared_cpu_list", "0\n"}};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[96];
    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu0/cache/index%d/%s", index, files[i][0]);
    scratch_write(s, path, files[i][1]);
  }
}

static void test_caches(void **state) {
  scratch s;
  uint64_t bytes[3] = {1, 1, 1};
  (void)state;
  scratch_create(&s);
  tsl_processor_caches_at(s.folder, bytes);
  assert_true(bytes[0] == 0 && bytes[1] == 0 && bytes[2] == 0);
  write_cache(&s, 0, "1\n", "Data\n", "48K\n");
  write_cache(&s, 1, "1\n", "Instruction\n", "32K\n");
  write_cache(&s, 2, "2\n", "Unified\n", "2048K\n");
  tsl_processor_caches_at(s.folder, bytes);
  assert_true(bytes[0] == 48 << 10 && bytes[1] == 2 << 20 && bytes[2] == 0);
  write_cache(&s, 3, "3\n", "Unified\n", "107520K\n");
  tsl_processor_caches_at(s.folder, bytes);
  assert_true(bytes[0] == 48 << 10 && bytes[2] == 105 << 20);
  assert_true(tsl_processor_cache_at(s.folder) == 105 << 20);
  scratch_remove(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_caches)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
