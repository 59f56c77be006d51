/* Options of tesela explain. */
#ifndef TSL_TOOL_EXPLAIN_OPTIONS_H
#define TSL_TOOL_EXPLAIN_OPTIONS_H

#include "cli/tool.h"
#include "explain/explain.h"

typedef struct tsl_explain_options {
  tesela_type type;
  const char *device, *strategy, *accuracy, *bits, *element, *group, *html, *locale;
  bool transpose_a, transpose_b, symmetric, solve, resident, counters, trace, json;
  tsl_option_structure a_is, b_is;
  tsl_option_number alpha, beta;
  tesela_bias_axis bias_axis;
  tesela_activation activation;
  tesela_scaling scale_a, scale_b;
  int64_t ranks;
  uint64_t memory, link;
  tsl_option_number gflops;
} tsl_explain_options;

tesela_status tsl_explain_text(const tsl_explanation *found, const tsl_explain_options *options);

#endif
