/* Suggestions for mistyped words in messages. No state: thread-safe. */
#ifndef TSL_CORE_SUGGEST_H
#define TSL_CORE_SUGGEST_H

enum { TSL_SUGGESTION_BYTES = 96 };

/* Writes "; did you mean NAME?" with the name that is nearest to `word`, or "" if no name is near. `names`
 * are separated by commas or blanks. The first of several equally near names is taken. Returns `out`. */
const char *tsl_suggest(const char *word, const char *names, char out[TSL_SUGGESTION_BYTES]);

#endif
