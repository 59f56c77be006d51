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
  const char *html;   /* path of the HTML page; NULL: no page */
  const char *locale; /* language of the page; NULL: by the environment */
} tsl_explore_options;

/* Rows of a command's option table. The options are the member `shared` of the struct `type`. */
#define TSL_EXPLORE_OPTIONS(type, shared)                                                                    \
  TSL_OPTION(type, shared.sizes, "sizes", SIZES, NULL,                                                       \
             "sizes, such as 512,1000x300x700; gemm: squares, or M x N x K; dot: N; transpose: squares, or " \
             "M x N of the result"),                                                                         \
      TSL_OPTION(type, shared.types, "types", TYPES, "f32,f64",                                              \
                 "types, such as f32,bf16:f32; bf16:f32 is the type of A and B, then of C; u8:i8:i32 names " \
                 "all three"),                                                                               \
      TSL_OPTION(type, shared.devices, "devices", DEVICES, NULL,                                             \
                 "use these devices, such as cpu,opencl:0 or all; the default is TESELA_DEVICE, else all"),  \
      TSL_OPTION(type, shared.accuracy, "accuracy", ACCURACY, NULL,                                          \
                 "required accuracy, such as 1e-5 or exact; all: default, a number (of |A||B|), e4m3, "      \
                 "tf32, bf16, f32, f64, exact (default: TESELA_ACCURACY)"),                                  \
      TSL_OPTION(type, shared.seconds, "seconds", SECONDS, "0.5",                                            \
                 "time for each entry; at least three samples are taken"),                                   \
      TSL_OPTION(type, shared.noise, "noise", FRACTION, "0.02",                                              \
                 "end an entry at this spread; the interquartile range divided by the median"),              \
      TSL_OPTION(type, shared.time_limit, "time-limit", SECONDS, "30",                                       \
                 "leave out entries with a longer run"),                                                     \
      TSL_OPTION(type, shared.time_limit, "patience", SECONDS, NULL, "former name of --time-limit"),         \
      TSL_OPTION(type, shared.warm, "warm", FLAG, NULL,                                                      \
                 "run on one set of operands; the operands stay in the caches if they fit"),                 \
      TSL_OPTION(type, shared.seed, "seed", SEED, "1", "seed of the data and of the order"),                 \
      TSL_OPTION(                                                                                            \
          type, shared.data, "data", DISTRIBUTION, "normal",                                                 \
          "distribution of A, as in tesela generate; the speed of some strategies depends on the numbers"),  \
      TSL_OPTION(type, shared.threads, "threads", COUNT, NULL, "limit the number of host threads"),          \
      TSL_OPTION(type, shared.csv, "csv", FLAG, NULL, "print CSV, one line an entry"),                       \
      TSL_OPTION(type, shared.markdown, "markdown", FLAG, NULL, "print Markdown"),                           \
      TSL_OPTION(type, shared.html, "html", FILE, NULL,                                                      \
                 "write a page with tables and pictures, which a browser draws; the machine is described"),  \
      TSL_OPTION_LOCALE(type, shared.locale, "the page"),                                                    \
      TSL_OPTION(type, shared.json, "json", FLAG, NULL, "print JSON (docs/JSON.md)")

/* Reads the options into the exploration, whose op and strategies are already set. `sizes`: the
 * sizes if the options name none. */
tesela_status tsl_explore_prepare(const tsl_explore_options *options, const char *sizes, tsl_devices *devices,
                                  tsl_exploration *all);

#endif
