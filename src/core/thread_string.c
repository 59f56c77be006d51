#include "core/thread_string.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct thread_texts {
  struct {
    char *text; /* NULL: no text yet */
    size_t capacity;
  } slots[TSL_THREAD_SLOTS];
} thread_texts;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static atomic_bool usable;

/* Frees a thread_texts at its thread's end; NULL is allowed. */
static void free_texts(void *argument) {
  thread_texts *texts = argument;
  for (int i = 0; texts && i < TSL_THREAD_SLOTS; i++)
    free(texts->slots[i].text);
  free(texts);
}

void tsl_thread_texts_free(void) {
  if (!atomic_load(&usable))
    return;
  free_texts(pthread_getspecific(key));
  (void)pthread_setspecific(key, NULL);
}

static void create_texts_key(void) {
  atomic_store(&usable, pthread_key_create(&key, free_texts) == 0);
}

/* Frees the main thread's texts at exit or unload; later no thread's end calls a destructor. */
__attribute__((destructor)) static void free_at_unload(void) {
  if (!atomic_exchange(&usable, false))
    return;
  free_texts(pthread_getspecific(key));
  pthread_key_delete(key);
}

static thread_texts *get_or_create_thread_texts(void) {
  pthread_once(&once, create_texts_key);
  if (!atomic_load(&usable))
    return NULL;
  thread_texts *texts = pthread_getspecific(key);
  if (texts)
    return texts;
  texts = calloc(1, sizeof *texts);
  if (texts && pthread_setspecific(key, texts) == 0)
    return texts;
  free(texts);
  return NULL;
}

static const char *store_text(tsl_thread_slot slot, const char *text) {
  thread_texts *texts = get_or_create_thread_texts();
  const size_t bytes = strlen(text) + 1;
  if (!texts)
    return "";
  if (texts->slots[slot].capacity < bytes) {
    const size_t capacity = bytes < TSL_THREAD_TEXT_MIN ? TSL_THREAD_TEXT_MIN : bytes;
    free(texts->slots[slot].text);
    texts->slots[slot].text = malloc(capacity);
    texts->slots[slot].capacity = texts->slots[slot].text ? capacity : 0;
  }
  return texts->slots[slot].text ? memmove(texts->slots[slot].text, text, bytes) : "";
}

const char *tsl_thread_text_keep(tsl_thread_slot slot, const char *text) {
  const int saved_errno = errno;
  const char *copy = store_text(slot, text);
  errno = saved_errno;
  return copy;
}

const char *tsl_thread_text(tsl_thread_slot slot) {
  const thread_texts *texts = atomic_load(&usable) ? pthread_getspecific(key) : NULL;
  return texts && texts->slots[slot].text ? texts->slots[slot].text : "";
}
