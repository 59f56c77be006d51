/* What a page is made of. */
#ifndef TSL_TOOL_PAGE_CONTENTS_H
#define TSL_TOOL_PAGE_CONTENTS_H

#include "cli/measured.h"
#include "explore/explore.h"

typedef struct tsl_page {
  const tsl_exploration *all;
  tsl_devices *devices;
  const tsl_measured_list *roofs; /* of the exploration's devices */
  const char *command;            /* the call, as a shell takes it */
  const char *version, *revision; /* of tesela; the revision may be "" */
} tsl_page;

#endif
