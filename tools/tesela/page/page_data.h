/* The data that the page draws. */
#ifndef TSL_TOOL_PAGE_PAGE_DATA_H
#define TSL_TOOL_PAGE_PAGE_DATA_H

#include "explore/explore.h"
#include "inventory/measured.h"

#include <jansson.h>

typedef struct tsl_page {
  const tsl_exploration *all;
  tsl_devices *devices;
  const tsl_measured_list *roofs; /* roofs of the exploration's devices */
  const char *command_line;       /* the call as a shell command */
  const char *locale;             /* of the page; NULL: by the environment */
  const char *version, *revision; /* tesela's version and source revision; the revision may be "" */
} tsl_page;

/* Returns the heading: "Matrix multiplication". */
const char *tsl_page_heading(const tsl_exploration *all);
/* Returns the exploration of docs/JSON.md with the members that only the page has; NULL for lack of memory.
 */
json_t *tsl_page_data(const tsl_page *page);
/* Appends text without bytes that are no UTF-8, and without control characters but line ends and tabs; each
 * becomes U+FFFD. */
void tsl_page_clean(const char *text, tsl_text *out);

#endif
