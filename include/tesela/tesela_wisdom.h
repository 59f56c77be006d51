/** @file tesela_wisdom.h
 * @brief Wisdom of a context: measured speeds by which it chooses plans. Part of tesela.h.
 *
 * Measured speeds, one record a line (docs/WISDOM.md), by which a context chooses plans. A context's own
 * records come from the user's file (read at the first choice of a plan), from imports, and from measurements
 * while planning (effort). The context also has the library's records, unless TESELA_WISDOM is "none". These
 * calls never write the user's file. Any number of threads may call them while others plan and run. A plan in
 * the making uses the records of its beginning; existing plans do not change. One-shot calls such as
 * tesela_gemm() choose anew after a change. */
#include <tesela/tesela.h> /* outside of the guard, because tesela.h includes this header */

#ifndef TESELA_TESELA_WISDOM_H
#define TESELA_TESELA_WISDOM_H

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the context's own records as text in *text, "" if there are none. Free it with
 * tesela_text_free(). */
TESELA_API tesela_status tesela_wisdom_export(tesela_context *context, char **text);
/** Adds the records of a text to the context's own. Of two records for the same case the faster is kept,
 * or the newer if the difference is noise. Records of other devices and of unknown strategies are kept
 * without effect. Empty lines and lines that start with # are ignored.
 *
 * @return TESELA_BAD_INPUT if a line is no record: the message has its number and the wrong word, and
 * nothing was imported. */
TESELA_API tesela_status tesela_wisdom_import(tesela_context *context, const char *text);
/** Removes the context's own records, including the records of the user's file. The file itself is not
 * changed; a new context reads it again. */
TESELA_API tesela_status tesela_wisdom_forget(tesela_context *context);

#ifdef __cplusplus
}
#endif

#endif
