/* Options that explore and sweep share. */
#ifndef TSL_TOOL_EXPLORE_OPTIONS_H
#define TSL_TOOL_EXPLORE_OPTIONS_H

#include "cli/tool.h"
#include "explore/explore.h"

typedef struct tsl_explore_options {
  const char *sizes, *types, *devices, *accuracy;
  double seconds, time_limit, noise;
  int64_t threads, seed;
  tsl_kind data;
  bool warm, json, csv, markdown;
  const char *html; /* path of the HTML page; NULL: no page */
} tsl_explore_options;

/* Rows of a command's option table. The options are the member `shared` of the struct `type`. */
#define TSL_EXPLORE_OPTIONS(type, shared)                                                                    \
  TSL_OPTION(type, shared.sizes, "sizes", SIZES, NULL,                                                       \
             "gemm: squares, or M x N x K (512,1000x300x700); dot: N; transpose: squares, or M x N of the "  \
             "result"),                                                                                      \
      TSL_OPTION(type, shared.types, "types", TYPES, "f32,f64",                                              \
                 "types of the elements: f32, or bf16:f32 for A and B and another C, or u8:i8:i32"),         \
      TSL_OPTION(type, shared.devices, "devices", DEVICES, NULL,                                             \
                 "these devices, such as cpu,opencl:0, or all (default: TESELA_DEVICE, else all)"),          \
      TSL_OPTION(                                                                                            \
          type, shared.accuracy, "accuracy", ACCURACY, NULL,                                                 \
          "what results are to guarantee: default, a number such as 1e-5 (of |A||B|), e4m3, tf32, bf16, "    \
          "f32, f64, "                                                                                       \
          "exact (default: TESELA_ACCURACY)"),                                                               \
      TSL_OPTION(type, shared.seconds, "seconds", SECONDS, "0.5",                                            \
                 "measure each entry for at most so long (at least three times)"),                           \
      TSL_OPTION(type, shared.noise, "noise", FRACTION, "0.02",                                              \
                 "an entry is done when its interquartile range over the median is at most this"),           \
      TSL_OPTION(type, shared.time_limit, "time-limit", SECONDS, "30",                                       \
                 "leave out entries with a run longer than this"),                                           \
      TSL_OPTION(type, shared.time_limit, "patience", SECONDS, NULL, "the former name of --time-limit"),     \
      TSL_OPTION(type, shared.warm, "warm", FLAG, NULL,                                                      \
                 "run on one set of operands, which stays in the caches where it fits"),                     \
      TSL_OPTION(type, shared.seed, "seed", SEED, "1", "seed of the data and of the order"),                 \
      TSL_OPTION(type, shared.data, "data", DISTRIBUTION, "normal",                                          \
                 "numbers of A, as tesela generate draws them: some strategies are slower on some of them"), \
      TSL_OPTION(type, shared.threads, "threads", COUNT, NULL, "limit the number of host threads"),          \
      TSL_OPTION(type, shared.csv, "csv", FLAG, NULL, "print CSV, one line an entry"),                       \
      TSL_OPTION(type, shared.markdown, "markdown", FLAG, NULL, "print Markdown"),                           \
      TSL_OPTION(type, shared.html, "html", FILE, NULL,                                                      \
                 "write a page with tables, pictures (by gnuplot) and the machine's description"),           \
      TSL_OPTION(type, shared.json, "json", FLAG, NULL, "print JSON (docs/JSON.md)")

/* Reads the options into the exploration, whose op and strategies are already set. `sizes`: the
 * sizes if the options name none. */
tesela_status tsl_explore_prepare(const tsl_explore_options *options, const char *sizes, tsl_devices *devices,
                                  tsl_exploration *all);

#endif
