/* How much of its stack a thread uses: it is painted first. */
#ifndef TESTS_UNIT_STACK_H
#define TESTS_UNIT_STACK_H

#include <stddef.h>

/* Bytes that a new thread uses for body(argument), all that the thread library puts on its stack included; 0:
 * the thread could not be started, or body() returned NULL. */
size_t stack_used(void *(*body)(void *), void *argument);

#endif
