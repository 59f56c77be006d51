/* What every unit test includes: cmocka with the headers that it asks for. */
#ifndef TSL_TESTS_UNIT_H
#define TSL_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
