/* Memory that runs out on demand. The file starve.c replaces malloc and its variants in its program, for
 * every library and thread of the process. */
#ifndef TESTS_STARVED_STARVE_H
#define TESTS_STARVED_STARVE_H

#include <stdbool.h>

/* From now on the nth call fails (1: the next one), and where `for_good` all that follow. 0: none. */
void starve(int nth, bool for_good);
/* Ends that; how many calls failed. */
int starve_end(void);

#endif
