/* Reads the options that multiply, dot and transpose share. */
#include "cli/select.h"
#include "core/env.h"
#include "core/status.h"
#include "product/product.h"

#include <string.h>

/* The name of the added operand in each command; a transpose adds nothing. */
static const char *const added[TSL_OP_COUNT] = {[TSL_OP_GEMM] = "C0", [TSL_OP_DOT] = "s0"};

tesela_status tsl_product_ask(tsl_op op, const tsl_command_call *call, const tsl_product_options *options,
                              tsl_product_request *request) {
  if (options->beta.given && !options->add)
    return tsl_fail(TESELA_BAD_CALL, "--beta is the factor of %s, but no %s is named; add --add FILE",
                    added[op], added[op]);
  *request = (tsl_product_request){
      .op = op,
      .a = call->words[0],
      .b = call->word_count > 1 ? call->words[1] : NULL,
      .c0 = options->add,
      .output = options->output,
      .expected = options->expect,
      .verify = options->verify,
      .resume = options->resume,
      .alpha = {options->alpha.value[0], options->alpha.value[1]},
      .beta = {options->add && !options->beta.given ? 1 : options->beta.value[0], options->beta.value[1]},
      .tolerance = options->tolerance,
      .format = options->format,
      .device = tsl_device_or_default(options->device),
      .strategy = options->strategy,
      .accuracy = options->accuracy,
      .bits = options->bits,
      .checksums = options->checksums,
      .measure = options->measure_error && strcmp(tsl_env_get(TSL_ENV_MEASURE_ERROR), "0") == 0,
      .memory = options->memory,
      .repeat = options->repeat,
  };
  TSL_TRY(tsl_set_copies(options->copies));
  return tsl_set_threads(options->threads);
}

tesela_options tsl_product_plan_options(const tsl_product *product, const char *device, const char *strategy,
                                        int64_t runs) {
  return (tesela_options){.device = device,
                          .strategy = strategy,
                          .accuracy = product->request.accuracy,
                          .reproducibility = product->request.bits,
                          .expected_runs = runs,
                          .measure_error = product->request.measure,
                          .verify = product->request.checksums};
}
