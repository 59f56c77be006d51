// Limits a cmocka program to the test functions whose names match the environment variable TESELA_TEST
// (wildcards * and ?). Every program that links cmocka has this file inside (tests/CMakeLists.txt).
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

// The linker sends every call of cmocka's function to the wrapper, and the wrapper's call to cmocka (--wrap).
int __real__cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);
int __wrap__cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);

static const char *pattern;
static bool matched;

/* Compares as cmocka does: * stands for any characters, ? for one, and nothing else is special. */
static bool matches(const char *wanted, const char *name) {
  if (*wanted == '*')
    return matches(wanted + 1, name) || (*name && matches(wanted, name + 1));
  if (!*wanted || !*name)
    return *wanted == *name;
  return (*wanted == '?' || *wanted == *name) && matches(wanted + 1, name + 1);
}

__attribute__((constructor)) static void read_pattern(void) {
  pattern = getenv("TESELA_TEST");
  if (pattern) {
    cmocka_set_test_filter(pattern);
  }
}

int __wrap__cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction setup, CMFixtureFunction teardown) {
  bool here = !pattern;
  for (size_t i = 0; pattern && i < count; ++i) {
    here = here || matches(pattern, tests[i].name);
  }
  if (here) {
    matched = true;
    return __real__cmocka_run_group_tests(group, tests, count, setup, teardown);
  }
  for (size_t i = 0; i < count; ++i) {
    fprintf(stderr, "does not match: %s\n", tests[i].name);
  }
  return 0;
}

// Fails a program that ran no test: a pattern without a match must not look like a success.
__attribute__((destructor)) static void require_a_match(void) {
  if (pattern && !matched) {
    fprintf(stderr,
            "%s: no test ran: no test function has a name that matches TESELA_TEST=%s (wildcards: * and ?)\n",
            program_invocation_short_name, pattern);
    fflush(NULL);
    _exit(2);
  }
}
