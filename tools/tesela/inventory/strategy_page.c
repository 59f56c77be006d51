#include "inventory/strategy_page.h"

#include "device/devices.h"
#include "device/source.h"
#include "strategy/support.h"

tesela_status tsl_strategy_story(const tsl_strategy *strategy, tsl_text *out) {
  /* File names of strategies; where two operations share a strategy name, the file name begins with
   * the operation. */
  static const struct {
    bool names_op;
    const char *extension;
  } files[] = {{false, "cl"}, {false, "cu"}, {false, "c"}, {true, "cl"}, {true, "c"}};
  const char *op = tsl_op_name(strategy->op), *name = strategy->name;
  tesela_status status = TESELA_OK;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    tsl_text path = {0};
    tsl_text_add(&path, "%s/%s%s%s.%s", tsl_strategy_folder(strategy), files[i].names_op ? op : "",
                 files[i].names_op ? "_" : "", name, files[i].extension);
    status = tsl_text_status(&path);
    if (status == TESELA_OK)
      status = tsl_source_comment(tsl_text_get(&path), out);
    tsl_text_free(&path);
    if (status != TESELA_BAD_INPUT)
      break;
  }
  return status;
}

/* A square size that nearly every config takes. */
enum { SIZE = 512 };

tesela_status tsl_strategy_source(const tsl_chosen_strategy *chosen, tesela_type type, tsl_device *device,
                                  tsl_text *out) {
  const tsl_strategy *strategy = chosen->strategy;
  if (strategy->vendor.load)
    return tsl_fail(TESELA_UNSUPPORTED, "%s calls a vendor's library, whose source is not here",
                    strategy->name);
  if (strategy->needs & TSL_CAN_HOST || device->capabilities & TSL_CAN_HOST)
    return tsl_fail(TESELA_UNSUPPORTED, "%s is C of this library on %s, compiled long ago: src/%s",
                    strategy->name, device->name, tsl_strategy_folder(strategy));
  tsl_work work = {.strategy = strategy,
                   .problem = tsl_problem_of(strategy->op, SIZE, SIZE, SIZE, type),
                   .config = chosen->config,
                   .device = device,
                   .source_texts = out};
  const char *why = tsl_strategy_refuse(strategy, &work.problem, &work.config, device);
  if (why)
    return tsl_fail(TESELA_UNSUPPORTED, "%s on %s: %s", strategy->name, device->name, why);
  TSL_TRY(tsl_device_open(device));
  TSL_TRY(strategy->build(&work));
  if (strategy->release)
    strategy->release(&work);
  return tsl_text_status(out);
}
