/* Header of every unit test: cmocka, and the headers that cmocka needs. */
#ifndef TSL_TESTS_UNIT_H
#define TSL_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
