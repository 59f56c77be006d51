/* Texts of calls for their thread, on the heap: libraries opened late have little thread-local space. */
#ifndef TSL_CORE_THREAD_STRING_H
#define TSL_CORE_THREAD_STRING_H

typedef enum tsl_thread_slot {
  TSL_THREAD_ERROR,
  TSL_THREAD_REFUSAL,
  TSL_THREAD_LOG,  /* log of a compiler */
  TSL_THREAD_PLAN, /* text of the plan that a one-shot call used */
  TSL_THREAD_NOTE, /* note about a repaired result */
  TSL_THREAD_SLOTS
} tsl_thread_slot;

enum { TSL_THREAD_TEXT_MIN = 1024 }; /* bytes up to which a slot's texts always have the same address */

/* Copies a text and returns the copy, valid until the slot's next text; "": no memory. Keeps errno. */
const char *tsl_thread_text_keep(tsl_thread_slot slot, const char *text);
/* Returns the slot's last text; "" if there was none. */
const char *tsl_thread_text(tsl_thread_slot slot);

/* Frees the calling thread's texts, for a thread that may still end when the library is unloaded. */
void tsl_thread_texts_free(void);

#endif
