/* The data from which a page is made. */
#ifndef TSL_TOOL_PAGE_CONTENTS_H
#define TSL_TOOL_PAGE_CONTENTS_H

#include "explore/explore.h"
#include "inventory/measured.h"

typedef struct tsl_page {
  const tsl_exploration *all;
  tsl_devices *devices;
  const tsl_measured_list *roofs; /* roofs of the exploration's devices */
  const char *command;            /* the call as a shell command */
  const char *version, *revision; /* tesela's version and source revision; the revision may be "" */
} tsl_page;

#endif
