/* main() of the test executables: one executable a room, which runs one of its tests.
 * ROOM_TESTS is a generated file with TEST(name) of each test (tests/CMakeLists.txt). */
#include "unit/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Called as the C library calls main(), with arguments that main(void) does not read. */
#define TEST(name) int name##_main(int argc, char **argv);
#include ROOM_TESTS
#undef TEST
#define TEST(name) {#name, name##_main},
static const struct {
  const char *name;
  int (*run)(int argc, char **argv);
} tests[] = {
#include ROOM_TESTS
};
enum { TESTS = sizeof tests / sizeof *tests };

static const char *pattern; /* of --filter, or NULL */
static bool matched;

// The linker sends every call of cmocka's function to the wrapper, and the wrapper's call to cmocka (--wrap).
int __real__cmocka_run_group_tests(const char *group, const struct CMUnitTest *functions, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);
int __wrap__cmocka_run_group_tests(const char *group, const struct CMUnitTest *functions, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);

/* Compares as cmocka does: * stands for any characters, ? for one, and nothing else is special. */
static bool matches(const char *wanted, const char *name) {
  if (*wanted == '*')
    return matches(wanted + 1, name) || (*name && matches(wanted, name + 1));
  if (!*wanted || !*name)
    return *wanted == *name;
  return (*wanted == '?' || *wanted == *name) && matches(wanted + 1, name + 1);
}

/* Skips a group without a test function that matches the pattern, with its setup. */
int __wrap__cmocka_run_group_tests(const char *group, const struct CMUnitTest *functions, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown) {
  bool here = !pattern;
  for (size_t i = 0; i < count && !here; ++i)
    here = matches(pattern, functions[i].name);
  if (here) {
    matched = true;
    return __real__cmocka_run_group_tests(group, functions, count, setup, teardown);
  }
  for (size_t i = 0; i < count; ++i)
    fprintf(stderr, "does not match: %s\n", functions[i].name);
  return 0;
}

/* Removes "--filter PATTERN" from the arguments, and returns their new number; -1: the pattern is missing. */
static int take_filter(int argc, char **argv) {
  int kept = 0;
  for (int i = 0; i < argc; ++i) {
    if (strcmp(argv[i], "--filter") != 0) {
      argv[kept++] = argv[i];
    } else if (++i < argc) {
      pattern = argv[i];
    } else {
      return -1;
    }
  }
  argv[kept] = NULL;
  return kept;
}

int main(int argc, char **argv) {
  const int count = take_filter(argc, argv);
  if (count == 2 && strcmp(argv[1], "--list") == 0) {
    for (int i = 0; i < TESTS; ++i)
      puts(tests[i].name);
    return 0;
  }
  for (int i = 0; i < TESTS && count > 1; ++i) {
    if (strcmp(argv[1], tests[i].name) != 0)
      continue;
    /* argv[0] of the test: the shell command that runs the test. */
    char command[4096];
    snprintf(command, sizeof command, "'%s' %s", argv[0], argv[1]);
    argv[1] = command;
    if (pattern)
      cmocka_set_test_filter(pattern);
    const int status = tests[i].run(count - 1, argv + 1);
    if (status != 0 || !pattern || matched)
      return status;
    fprintf(stderr, "%s: no test function has a name that matches %s (wildcards: * and ?)\n", tests[i].name,
            pattern);
    return 2;
  }
  fprintf(stderr, "usage: %s TEST [--filter PATTERN] [ARGUMENTS]\n       %s --list\n", argv[0], argv[0]);
  return 2;
}
