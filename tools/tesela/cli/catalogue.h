/* Catalogues of translations: the text of a .po file of GNU gettext, parsed. */
#ifndef TSL_TOOL_CLI_CATALOGUE_H
#define TSL_TOOL_CLI_CATALOGUE_H

#include <stdbool.h>

enum { TSL_CATALOGUE_FORMS = 4 };

typedef struct tsl_catalogue_entry {
  const char *files;      /* its "#:" lines: source files, with blanks between; NULL: there are none */
  const char *one, *many; /* many: NULL without a count */
  const char *forms[TSL_CATALOGUE_FORMS]; /* translations; NULL past the last */
} tsl_catalogue_entry;

typedef struct tsl_catalogue {
  char *text; /* a copy of the file, in which the entries point */
  tsl_catalogue_entry *entries;
  int count;
} tsl_catalogue;

/* Parses a file that msgfmt accepts, without contexts. The catalogue is empty if memory ran out. */
tsl_catalogue tsl_catalogue_parse(const char *po);
void tsl_catalogue_free(tsl_catalogue *catalogue);
/* Returns the entry of a message; NULL: there is none. */
const tsl_catalogue_entry *tsl_catalogue_find(const tsl_catalogue *catalogue, const char *message);

#endif
