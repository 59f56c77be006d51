/* The cases of benchmark programs: products given as words like 512x512x512, read from a file, or drawn at
 * random; types, layouts, kinds of data, operands in host memory and their judge. */
#ifndef TSL_BENCH_CASES_H
#define TSL_BENCH_CASES_H

#include "core/kinds.h"
#include "harness.h"
#include "problem/problem.h"
#include "problem/type_lists.h"

typedef struct bench_case {
  int64_t size[3]; /* m, n, k */
  int64_t batch;
  int sizes;      /* how many sizes the word had: of 512 one, and all three are 512; 512x100: k is 512 */
  char layout[3]; /* of A and B; N: rows are contiguous, T: columns are */
  bool is_drawn;
  uint64_t type; /* drawn: selects one type of the program's list */
} bench_case;

typedef struct bench_case_list {
  bench_case *items;
  int count, capacity;
} bench_case_list;

/* Set by options: products, kinds of the numbers in A, and the limit of 10^9 operations. */
extern bench_case_list bench_cases;
extern tsl_kind bench_kinds[TSL_KIND_COUNT];
extern int bench_kind_count;
extern double bench_gflop_max;

/* Reads "512", "512x100", "16x4096x4096", with a layout "16x4096x4096 NT", or a batch like "64*4096"; returns
 * false if it is none. */
bool bench_case_parse(const char *word, bench_case *out);
void bench_case_add(const bench_case *item);
/* Adds a word's product, or ends the program. */
void bench_take_case(char *word);
/* Adds a word's product, or keeps the word in bench_words. */
void bench_take_case_or_word(char *word);
/* Adds products of a file, one "M N K" or "M N K LAYOUT" a line; text after a # is ignored. */
void bench_take_shapes(const char *path);
/* Adds COUNT random products of a seed: half have log-uniform sizes from 1 to 8192, which are aligned
 * to nothing; a quarter with multiples of 8; a quarter are layers of published models, with m from 1 to 8192.
 * Each has a random layout of A and B, and one random type of the program's list. */
void bench_take_draw(const char *seed, const char *count);
void bench_take_data(const char *list);

#define BENCH_CASE_OPTIONS                                                                                   \
  OPTION_CALL("shapes", bench_take_shapes), OPTION_PAIR("draw", bench_take_draw), {                          \
    .name = "most", .kind = BENCH_NUMBER, .value = &bench_gflop_max                                          \
  }
#define BENCH_DATA_OPTION                                                                                    \
  { .name = "data", .kind = BENCH_CALL, .take = bench_take_data }

/* Reads types as "f32,bf16:f32,u8:i8:i32"; returns how many, or ends the program. */
int bench_types_parse(const char *list, tsl_types *types, int max);
/* Returns true if the program measures this case with type number `index` of `count`. */
bool bench_case_has_type(const bench_case *item, int index, int count);
tsl_problem bench_case_problem(const bench_case *item, const tsl_types *types);
bool bench_is_within(const tsl_problem *problem);
/* Writes "512x512x512", a batch as "...*64", and the layout if it is not NN. */
void bench_case_name(const bench_case *item, char *text, size_t size);

/* Returns a matrix in host memory as `shape` describes it; free() releases it. */
void *bench_matrix(const tsl_shape *shape, tsl_kind kind, uint64_t seed);
size_t bench_bytes(const tsl_shape *shape);
/* Judges C; prints why it is wrong and returns false. `factor`: the permitted error over a sum's in order. */
bool bench_is_right(const char *name, const tsl_problem *problem, const void *a, const void *b, const void *c,
                    double factor);
/* Returns |x - y| / |y| of two arrays; NaN if an element is NaN. */
double bench_difference(const void *x, const void *y, size_t bytes, tesela_type type);

#endif
