/* Matrix of costs: plans of products with predicted and measured seconds, one text file for a device.
 *
 *     device label=NVIDIA-H200 key=... date=2026-11-29 revision=... compute_units=132 ...
 *     bf16 NT 216 104 320 1 3.5e-06 1.67e-05 cuda_whole tile_m=64 tile_n=64 room=226
 *
 * The fields of a line are the types, the layout, m, n, k, and the number of products. Then follow the
 * predicted and the measured seconds, the strategy and its config. The model of that time predicted. The
 * device's line has each fact that models read, so that they can be evaluated without the device. */
#ifndef TSL_BENCH_COSTS_H
#define TSL_BENCH_COSTS_H

#include "cases.h"
#include "strategy/config.h"
#include "strategy/strategy.h"

enum { BENCH_TYPES_WORD = 32 };

typedef struct bench_cost {
  char types[BENCH_TYPES_WORD]; /* a word of bench_word_types() */
  bench_case item;
  tsl_problem problem;
  const tsl_strategy *strategy;
  tsl_config config;
  double predicted, seconds;
} bench_cost;

typedef struct bench_costs {
  tsl_device device; /* as the file's last line about a device describes it */
  bench_cost *items;
  int count, capacity;
} bench_costs;

/* Reads "f32", "bf16:f32" or "tf32", which has f32's operands and less accuracy. Sets *accuracy to the
 * requested accuracy of products with these types, or NULL. Ends the program if the word has no types. */
void bench_word_types(const char *word, tsl_types *types, const char **accuracy);
/* Reads such words, separated by commas, and returns their number. Ends the program if there are more than
 * `max`, or if a word has no types. */
int bench_types_words(const char *list, char (*words)[BENCH_TYPES_WORD], int max);
/* Returns the product of a case, with the accuracy of the types' word. */
tsl_problem bench_word_problem(const char *word, const bench_case *item);

/* Opens a matrix to append lines, and writes the device's line. Ends the program if that fails. */
FILE *bench_costs_begin(const char *path, const tsl_device *device);
void bench_costs_write(FILE *file, const bench_cost *cost);
/* Closes the matrix; ends the program if not all could be written. */
void bench_costs_end(FILE *file, const char *path);
/* Adds a file's lines to the matrix; ends the program if the file cannot be read. Free `items` by free(). */
void bench_costs_read(const char *path, bench_costs *costs);

/* Print, and read, a strategy and its config: "register_tile form=local ...". */
void bench_config_print(FILE *file, const tsl_strategy *strategy, const tsl_config *config);
void bench_config_read(const char *text, const tsl_strategy **strategy, tsl_config *config);

#endif
