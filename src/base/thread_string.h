/* Texts that a call leaves behind for its thread to read: of any length, and gone with the thread. They are
 * on the heap, since what a library has of a thread's own block must fit what the loader has left when a
 * running program loads it. */
#ifndef TSL_BASE_THREAD_STRING_H
#define TSL_BASE_THREAD_STRING_H

typedef enum tsl_thread_slot {
  TSL_THREAD_ERROR,
  TSL_THREAD_REFUSAL,
  TSL_THREAD_LOG,  /* a compiler's */
  TSL_THREAD_PLAN, /* of the plan that a call made for itself */
  TSL_THREAD_SLOTS
} tsl_thread_slot;

enum { TSL_THREAD_TEXT_LEAST = 1024 }; /* bytes: shorter texts of a slot are always at the same address */

/* Copies a text for the running thread, and returns the copy, which stays until the thread keeps another one
 * in this slot.
 * "" where memory runs out; errno stays as it is. */
const char *tsl_thread_text_keep(tsl_thread_slot slot, const char *text);
/* What was kept last; "" before that. */
const char *tsl_thread_text(tsl_thread_slot slot);

#endif
