/* Reads the lists of a call: types and sizes. inventory/select.h reads devices and strategies. */
#ifndef TSL_TOOL_CLI_SELECT_H
#define TSL_TOOL_CLI_SELECT_H

#include "problem/type_lists.h"

#define TSL_SELECT_MAX 64

/* Types of A, B and C, as tsl_types_parse() reads them. */
typedef struct tsl_chosen_types {
  tsl_types types;
  char name[24]; /* the text that tsl_types_print() writes */
} tsl_chosen_types;

typedef struct tsl_type_list {
  tsl_chosen_types items[TSL_SELECT_MAX];
  int count;
} tsl_type_list;

typedef struct tsl_size {
  int64_t m, n, k;
} tsl_size;

typedef struct tsl_size_list {
  tsl_size items[TSL_SELECT_MAX];
  int count;
} tsl_size_list;

/* Reads one entry of a list and adds it to `list`. */
typedef tesela_status (*tsl_select_reader)(const char *entry, void *list, void *context);
/* Reads all entries of a comma-separated list. */
tesela_status tsl_select_each(const char *text, tsl_select_reader read, void *list, void *context);
/* Returns an error if a list of `count` entries is full. */
tesela_status tsl_select_check_room(int count);

/* Returns the text of --device, else of TESELA_DEVICE; "auto" if neither is set. */
const char *tsl_device_or_default(const char *device);
/* Limits the host threads of this process; 0 changes nothing. Must be called before any thread
 * starts. */
tesela_status tsl_set_threads(int64_t threads);
/* Sets `auto` or `explicit` copies to devices for this process; NULL changes nothing. */
tesela_status tsl_set_copies(const char *word);
/* Returns an error if TESELA_THREADS, TESELA_ACCURACY or another variable is malformed. The library
 * would go on with its defaults, but a user of the tool should know. */
tesela_status tsl_check_environment(void);

/* Returns true if a text for tsl_select_devices() means all devices. */
bool tsl_selects_all_devices(const char *text);
/* Reads "f32,bf16:f32,u8:i8:i32"; NULL means f32 and f64. */
tesela_status tsl_select_types(tsl_op op, const char *text, tsl_type_list *out);
/* Reads the types of one product; returns TESELA_BAD_CALL with the accepted names. */
tesela_status tsl_select_type(tsl_op op, const char *text, tsl_chosen_types *out);
/* Reads sizes of an operation. gemm: "256,1000x300x700", squares and M x N x K. dot: "1000000", the
 * length (m = n = 1). transpose: "4096,1000x300", squares and M x N of the result (k = 0). */
tesela_status tsl_select_sizes(tsl_op op, const char *text, tsl_size_list *out);
/* Returns the operation of this name; TSL_OP_COUNT if there is none. */
tsl_op tsl_select_op(const char *word);
/* Reads `count` whole numbers >= 0 (two or three) separated by 'x' ("1000x700"); returns false for
 * any other text. */
bool tsl_parse_sizes(const char *text, int64_t *numbers, int count);

#endif
