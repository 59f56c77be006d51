#include "inventory/strategy_page.h"

#include "device/devices.h"
#include "device/source.h"
#include "strategy/kernel_launch/launch.h"
#include "strategy/support.h"

#include <stdlib.h>
#include <string.h>

/* Calls use() with the paths that a strategy's main file may have, until one is found. Where two operations
 * share a strategy name, the file name begins with the operation. */
static tesela_status try_files(const tsl_strategy *strategy, const char *const *extensions,
                               tesela_status (*use)(const char *path, const void *argument, tsl_text *out),
                               const void *argument, tsl_text *out) {
  tesela_status status = TESELA_BAD_INPUT;
  for (int names_op = 0; names_op < 2; names_op++)
    for (int i = 0; extensions[i]; i++) {
      tsl_text path = {0};
      tsl_text_add(&path, "%s/%s%s%s.%s", tsl_strategy_folder(strategy),
                   names_op ? tsl_op_name(strategy->op) : "", names_op ? "_" : "", strategy->name,
                   extensions[i]);
      status = tsl_text_status(&path);
      if (status == TESELA_OK)
        status = use(tsl_text_get(&path), argument, out);
      tsl_text_free(&path);
      if (status != TESELA_BAD_INPUT)
        return status;
    }
  return status;
}

static tesela_status add_comment(const char *path, const void *argument, tsl_text *out) {
  (void)argument;
  return tsl_source_comment(path, out);
}

tesela_status tsl_strategy_story(const tsl_strategy *strategy, tsl_text *out) {
  return try_files(strategy, (const char *const[]){"cl", "cu", "c", NULL}, add_comment, NULL, out);
}

static tesela_status add_flattened(const char *path, const void *argument, tsl_text *out) {
  const char *const folders[] = {"kernel", argument, NULL};
  return tsl_source_flatten(path, folders, out);
}

static tesela_status refuse_without_kernels(const tsl_strategy *strategy) {
  if (strategy->vendor.load)
    return tsl_fail(TESELA_UNSUPPORTED, "%s calls a vendor's library, whose source is not here",
                    strategy->name);
  if (strategy->needs & TSL_CAN_HOST)
    return tsl_fail(TESELA_UNSUPPORTED, "%s is C of this library, compiled long ago: src/%s", strategy->name,
                    tsl_strategy_folder(strategy));
  return TESELA_OK;
}

tesela_status tsl_strategy_source_of_kind(const tsl_chosen_strategy *chosen, tesela_type type,
                                          const char *kind, tsl_text *out) {
  tsl_text folder = {0}, kernel = {0};
  tesela_status status;
  TSL_TRY(refuse_without_kernels(chosen->strategy));
  tsl_text_add(&folder, "device/%s/include", kind);
  status = tsl_text_status(&folder);
  if (status == TESELA_OK)
    status = try_files(chosen->strategy, (const char *const[]){"cl", "cu", NULL}, add_flattened,
                       tsl_text_get(&folder), &kernel);
  if (status == TESELA_OK) {
    tsl_launch_defines(type, chosen->strategy, &chosen->config, tsl_text_get(&kernel), out);
    tsl_text_add_bytes(out, kernel.data, kernel.length);
    status = tsl_text_status(out);
  }
  tsl_text_free(&folder);
  tsl_text_free(&kernel);
  return status;
}

/* Parses `#line N "path"` to the line number; returns the path's start, or NULL. */
static const char *parse_line_directive(const char *line, long *number) {
  static const char word[] = "#line ";
  char *end;
  if (strncmp(line, word, sizeof word - 1) != 0)
    return NULL;
  *number = strtol(line + sizeof word - 1, &end, 10);
  return strncmp(end, " \"", 2) == 0 ? end + 2 : NULL;
}

void tsl_strategy_own_source(const tsl_strategy *strategy, const char *source, tsl_text *out) {
  const char *folder = tsl_strategy_folder(strategy);
  bool is_own = true, was_own = true;
  bool is_rest = false; /* the line is the rest of an #include line */
  for (const char *line = source; *line;) {
    const size_t length = strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n');
    long number = 0;
    const char *path = parse_line_directive(line, &number);
    if (path) {
      is_own = strncmp(path, folder, strlen(folder)) == 0 && path[strlen(folder)] == '/';
      if (was_own && !is_own)
        tsl_text_add(out, "#include \"%.*s\"\n", (int)strcspn(path, "\""), path);
      was_own = is_own;
      is_rest = number > 1;
    } else if (is_own && !(is_rest && *line == '\n'))
      tsl_text_add_bytes(out, line, length);
    is_rest = is_rest && path;
    line += length;
  }
}

/* A square size that nearly every config takes. */
enum { SIZE = 512 };

tesela_status tsl_strategy_source(const tsl_chosen_strategy *chosen, tesela_type type, tsl_device *device,
                                  tsl_text *out) {
  const tsl_strategy *strategy = chosen->strategy;
  TSL_TRY(refuse_without_kernels(strategy));
  if (device->capabilities & TSL_CAN_HOST)
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
