#include "base/thread_string.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Texts of one thread, allocated at the first text. */
typedef struct texts {
  struct {
    char *text; /* NULL: no text yet */
    size_t capacity;
  } slots[TSL_THREAD_SLOTS];
} texts;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static atomic_bool usable;

static void free_texts(void *argument) {
  texts *own = argument;
  for (int i = 0; own && i < TSL_THREAD_SLOTS; i++)
    free(own->slots[i].text);
  free(own);
}

static void thread_string_make_key(void) {
  atomic_store(&usable, pthread_key_create(&key, free_texts) == 0);
}

/* Frees the main thread's texts when the process ends or the library is unloaded. After that no thread
 * may call a destructor that was registered here. */
__attribute__((destructor)) static void free_main(void) {
  if (!atomic_exchange(&usable, false))
    return;
  free_texts(pthread_getspecific(key));
  pthread_key_delete(key);
}

static texts *texts_of_thread(void) {
  pthread_once(&once, thread_string_make_key);
  if (!atomic_load(&usable))
    return NULL;
  texts *own = pthread_getspecific(key);
  if (own)
    return own;
  own = calloc(1, sizeof *own);
  if (own && pthread_setspecific(key, own) == 0)
    return own;
  free(own);
  return NULL;
}

static const char *thread_string_keep(tsl_thread_slot slot, const char *text) {
  texts *own = texts_of_thread();
  const size_t bytes = strlen(text) + 1;
  if (!own)
    return "";
  if (own->slots[slot].capacity < bytes) {
    const size_t capacity = bytes < TSL_THREAD_TEXT_LEAST ? TSL_THREAD_TEXT_LEAST : bytes;
    free(own->slots[slot].text);
    own->slots[slot].text = malloc(capacity);
    own->slots[slot].capacity = own->slots[slot].text ? capacity : 0;
  }
  return own->slots[slot].text ? memmove(own->slots[slot].text, text, bytes) : "";
}

const char *tsl_thread_text_keep(tsl_thread_slot slot, const char *text) {
  const int saved_errno = errno;
  const char *kept = thread_string_keep(slot, text);
  errno = saved_errno;
  return kept;
}

const char *tsl_thread_text(tsl_thread_slot slot) {
  const texts *own = atomic_load(&usable) ? pthread_getspecific(key) : NULL;
  return own && own->slots[slot].text ? own->slots[slot].text : "";
}
