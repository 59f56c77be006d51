/* What a call's lists name: devices, strategies, types, sizes. */
#ifndef TSL_TOOL_CLI_SELECT_H
#define TSL_TOOL_CLI_SELECT_H

#include "device/devices.h"
#include "strategy/strategy.h"

#define TSL_SELECT_MAX 64

typedef struct tsl_device_list {
  tsl_device *items[TSL_SELECT_MAX];
  int count;
} tsl_device_list;

/* Types of A, B and C, as tsl_types_parse() reads them. */
typedef struct tsl_chosen_types {
  tsl_types types;
  char name[24]; /* as tsl_types_print() writes them */
} tsl_chosen_types;

typedef struct tsl_type_list {
  tsl_chosen_types items[TSL_SELECT_MAX];
  int count;
} tsl_type_list;

/* A strategy, with parameters where the user gave some. */
typedef struct tsl_chosen_strategy {
  const tsl_strategy *strategy;
  tsl_config config; /* the user's, over the defaults */
  unsigned given;    /* a bit per parameter that the user named */
} tsl_chosen_strategy;

typedef struct tsl_strategy_list {
  tsl_chosen_strategy items[TSL_SELECT_MAX];
  int count;
} tsl_strategy_list;

typedef struct tsl_size {
  int64_t m, n, k;
} tsl_size;

typedef struct tsl_size_list {
  tsl_size items[TSL_SELECT_MAX];
  int count;
} tsl_size_list;

/* What --device says, else TESELA_DEVICE; "auto" where neither names one. */
const char *tsl_device_or_default(const char *device);
/* Lets this process use at most so many host threads; 0 changes nothing. Before anything uses one. */
tesela_status tsl_set_threads(int64_t threads);
/* Refuses TESELA_THREADS, TESELA_ACCURACY and others where they are malformed: the library goes on with its
 * defaults, but a person who typed them wants to know. */
tesela_status tsl_check_environment(void);

/* "cpu,opencl:0"; "all" and "auto": all; NULL: TESELA_DEVICE, else all. */
tesela_status tsl_select_devices(tsl_devices *devices, const char *text, tsl_device_list *out);
/* Whether that text means all of them. */
bool tsl_selects_all_devices(const char *text);
/* "element,gemm tile_local tile=16"; NULL: all of the op that are tesela's own. TSL_OP_COUNT: of every
 * operation. With `peers`, or where TESELA_VENDORS is 1 and nothing is named, those that call a vendor's
 * library as well. */
tesela_status tsl_select_strategies(tsl_op op, const char *text, bool peers, tsl_strategy_list *out);
/* "f32,bf16:f32,u8:i8:i32"; NULL: f32 and f64. */
tesela_status tsl_select_types(tsl_op op, const char *text, tsl_type_list *out);
/* One of them; TESELA_BAD_CALL says what would be right. */
tesela_status tsl_select_type(tsl_op op, const char *text, tsl_chosen_types *out);
/* The sizes that an operation has: gemm "256,1000x300x700", squares and M x N x K; dot "1000000", the length
 * (m = n = 1); transpose "4096,1000x300", squares and M x N of the result (k = 0). */
tesela_status tsl_select_sizes(tsl_op op, const char *text, tsl_size_list *out);
/* The operation that a word names, TSL_OP_COUNT where it is none. */
tsl_op tsl_select_op(const char *word);
/* Two or three whole numbers >= 0 between 'x' ("1000x700"); false where it is anything else. */
bool tsl_parse_sizes(const char *text, int64_t *numbers, int count);

#endif
