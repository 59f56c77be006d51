/* Gives main() of a test the name TEST_MAIN, by which the executable of the room calls the function (room.c).
 * The compiler includes this header before each source of a test (tests/CMakeLists.txt). */
#ifndef TSL_TESTS_TEST_MAIN_H
#define TSL_TESTS_TEST_MAIN_H

#define main(...)                                                                                            \
  TEST_MAIN(__VA_ARGS__);                                                                                    \
  int TEST_MAIN(__VA_ARGS__)

#endif
