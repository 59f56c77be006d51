/* The documentation of one strategy: the comment of its source, its parameters, and its kernels as
 * a device compiles them. */
#ifndef TSL_TOOL_INVENTORY_STRATEGY_PAGE_H
#define TSL_TOOL_INVENTORY_STRATEGY_PAGE_H

#include "core/status.h"
#include "inventory/select.h"

/* Appends idea, difference to the strategy below, picture, parameters and limits: the first comment
 * of its kernel file, or of its C file. */
tesela_status tsl_strategy_story(const tsl_strategy *strategy, tsl_text *out);
/* Appends the kernels' text of the strategy's first file for a kind of device, "opencl" or "cuda", without a
 * device; definitions that the device decides are missing. Else as tsl_strategy_source(). */
tesela_status tsl_strategy_source_of_kind(const tsl_chosen_strategy *chosen, tesela_type type,
                                          const char *kind, tsl_text *out);
/* Appends the lines of `source` from the strategy's own files, with an #include line for each other file. */
void tsl_strategy_own_source(const tsl_strategy *strategy, const char *source, tsl_text *out);
/* Appends the kernels' text for a device and a type, with all includes resolved and the parameters'
 * #define lines. Returns TESELA_UNSUPPORTED if the strategy has no kernels, or the device refuses
 * it. */
tesela_status tsl_strategy_source(const tsl_chosen_strategy *chosen, tesela_type type, tsl_device *device,
                                  tsl_text *out);

#endif
