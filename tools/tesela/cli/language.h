/* The language of texts for people: messages are looked up in the catalogues of po/, which the tool has
 * inside. JSON, help and all commands without --locale are English. Not thread-safe while it changes. */
#ifndef TSL_TOOL_CLI_LANGUAGE_H
#define TSL_TOOL_CLI_LANGUAGE_H

#include "core/text.h"
#include "core/types.h"

#include <jansson.h>

/* Marks a message of a table, which tsl_tr() translates where it is printed. */
#define N_(message) message

/* Returns true for a locale of a known language, such as sl, sl_SI or sl_SI.UTF-8. Appends the languages. */
bool tsl_locale_is_known(const char *name, tsl_text *languages);
/* Sets the language. NULL: by LANGUAGE, LC_ALL, LC_MESSAGES and LANG, as other programs do; English if these
 * name no known language. The tool starts in English. */
void tsl_locale_use(const char *name);
/* Returns the language's tag of HTML, such as "zh-CN". */
const char *tsl_locale_tag(void);

/* Returns the translation; the message itself if there is none. */
const char *tsl_tr(const char *message) __attribute__((format_arg(1)));
/* Returns the translation for this count. English has `singular` for 1, `plural` otherwise. */
const char *tsl_tr_count(const char *singular, const char *plural, long long count)
    __attribute__((format_arg(1), format_arg(2)));
/* Appends a finished English sentence in the language. The formats of the catalogue are compared with it, and
 * its parts go to the places of the translation. Parts that match no format stay English. */
void tsl_tr_sentence(const char *sentence, tsl_text *out);

/* Returns the messages of a source file, each with its list of translations; an empty object in English. */
json_t *tsl_locale_words(const char *file);
/* Returns the index of the translation for the counts 0 to 199; larger ones are as 100 + count % 100. */
json_t *tsl_locale_plurals(void);

#endif
