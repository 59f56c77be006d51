/* Measures the stack that a thread uses: the stack is filled with a pattern first. */
#ifndef TESTS_UNIT_STACK_H
#define TESTS_UNIT_STACK_H

#include <stddef.h>

/* Returns the bytes of stack that a new thread uses for body(argument), with those of the thread library.
 * Returns 0 if the thread could not be started or body() returned NULL. */
size_t stack_used(void *(*body)(void *), void *argument);

#endif
