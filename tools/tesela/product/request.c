/* What multiply, dot and transpose are asked alike. */
#include "base/env.h"
#include "base/status.h"
#include "cli/select.h"
#include "product/product.h"

#include <string.h>

/* What is added, as the commands call it; a transpose adds nothing. */
static const char *const added[TSL_OP_COUNT] = {[TSL_OP_GEMM] = "C0", [TSL_OP_DOT] = "s0"};

tesela_status tsl_product_ask(tsl_op op, const tsl_call *call, const tsl_product_options *given,
                              tsl_product_request *request) {
  if (given->beta.given && !given->add)
    return tsl_fail(TESELA_BAD_CALL, "--beta is the factor of %s, but no %s is named; add --add FILE",
                    added[op], added[op]);
  *request = (tsl_product_request){
      .op = op,
      .a = call->words[0],
      .b = call->word_count > 1 ? call->words[1] : NULL,
      .c0 = given->add,
      .output = given->output,
      .expected = given->expect,
      .verify = given->verify,
      .resume = given->resume,
      .alpha = {given->alpha.value[0], given->alpha.value[1]},
      .beta = {given->add && !given->beta.given ? 1 : given->beta.value[0], given->beta.value[1]},
      .tolerance = given->tolerance,
      .format = given->format,
      .device = tsl_device_or_default(given->device),
      .strategy = given->strategy,
      .accuracy = given->accuracy,
      .bits = given->bits,
      .measure = given->measure_error && strcmp(tsl_env_get(TSL_ENV_MEASURE_ERROR), "0") == 0,
      .memory = given->memory,
      .repeat = given->repeat,
  };
  return tsl_set_threads(given->threads);
}
