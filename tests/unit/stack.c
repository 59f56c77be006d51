#include "unit/stack.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_PAINTED = 1 << 20, STACK_PAINT = 0xa5 };

size_t stack_used(void *(*body)(void *), void *argument) {
  pthread_attr_t attributes;
  pthread_t thread;
  unsigned char *stack = aligned_alloc(4096, STACK_PAINTED);
  size_t untouched = 0;
  memset(stack, STACK_PAINT, STACK_PAINTED);
  pthread_attr_init(&attributes);
  void *result = NULL;
  int failed = pthread_attr_setstack(&attributes, stack, STACK_PAINTED);
  if (!failed)
    failed = pthread_create(&thread, &attributes, body, argument);
  pthread_attr_destroy(&attributes);
  if (!failed) {
    pthread_join(thread, &result);
    while (untouched < STACK_PAINTED && stack[untouched] == STACK_PAINT)
      untouched++;
  }
  free(stack);
  return result ? STACK_PAINTED - untouched : 0;
}
