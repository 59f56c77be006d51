/* Finished sentences, compared with the formats that made them. */
#ifndef TSL_TOOL_CLI_SENTENCE_H
#define TSL_TOOL_CLI_SENTENCE_H

#include <stdbool.h>
#include <stddef.h>

enum { TSL_SENTENCE_PARTS_MAX = 16 };

/* Parts of a sentence at the places of a format's conversions, in their order. */
typedef struct tsl_sentence_part {
  const char *text;
  size_t length;
  bool is_text; /* of %s: words, which may be a sentence themselves */
} tsl_sentence_part;

/* Returns true if printf could have made the text by the format, and sets the parts. */
bool tsl_sentence_match(const char *format, const char *text,
                        tsl_sentence_part parts[TSL_SENTENCE_PARTS_MAX]);
/* Returns the number of letters of a format outside of its conversions. */
int tsl_sentence_letters(const char *format);
/* Returns the text after the conversion that begins here, and sets its kind, such as 's', and its place:
 * 3 for "%3$s", 0 without a number. */
const char *tsl_sentence_conversion(const char *format, char *kind, int *place);

#endif
