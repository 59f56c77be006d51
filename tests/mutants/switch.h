// TSL_MUTANT(n) holds where the environment variable TESELA_MUTANT is n: tests/mutants/run.py adds this file
// to copies of sources.
#ifndef TSL_TESTS_MUTANTS_SWITCH_H
#define TSL_TESTS_MUTANTS_SWITCH_H
#include <stdlib.h>
static inline long tsl_mutant_chosen(void) {
  static long chosen = -1;
  long number = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
  if (number < 0) {
    const char *text = getenv("TESELA_MUTANT");
    number = text ? atol(text) : 0;
    __atomic_store_n(&chosen, number, __ATOMIC_RELAXED);
  }
  return number;
}
#define TSL_MUTANT(number) (tsl_mutant_chosen() == number)
#endif
