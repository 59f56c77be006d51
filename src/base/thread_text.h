/* Texts that a call leaves behind for its thread to read: of any length, and gone with the thread. */
#ifndef TSL_BASE_THREAD_TEXT_H
#define TSL_BASE_THREAD_TEXT_H

typedef enum tsl_thread_slot {
  TSL_THREAD_LOG,  /* a compiler's */
  TSL_THREAD_PLAN, /* of the plan that a call made for itself */
  TSL_THREAD_SLOTS
} tsl_thread_slot;

/* Copies a text for the running thread, and returns the copy, which stays until the thread keeps another one in this slot.
 * "" where memory runs out; errno stays as it is. */
const char *tsl_thread_text_keep(tsl_thread_slot slot, const char *text);
/* What was kept last; "" before that. */
const char *tsl_thread_text(tsl_thread_slot slot);

#endif
