/* Options of subcommands: one table from which getopt_long's arguments, the help texts, the man
 * page and the shell completion are made. */
#ifndef TSL_TOOL_CLI_OPTIONS_H
#define TSL_TOOL_CLI_OPTIONS_H

#include "core/kinds.h"
#include "core/text.h"
#include "core/types.h"

#include <stddef.h>

/* Kinds of value. X(NAME, text shown in help or NULL, reader in options.c, type of the member in
 * the command's struct). Lists are separated by commas and are split where they are used. */
#define TSL_VALUE_LIST(X)                                                                                    \
  X(FLAG, NULL, read_flag, bool)                                                                             \
  X(FILE, "FILE", read_text, const char *)                                                                   \
  X(FORMAT, "FORMAT", read_format, const char *)                                                             \
  X(TEXT, "TEXT", read_text, const char *)                                                                   \
  X(NUMBER, "NUMBER", read_number, tsl_option_number)                                                        \
  X(SCALAR, "NUMBER", read_scalar, tsl_scalar)                                                               \
  X(COUNT, "N", read_count, int64_t)                                                                         \
  X(SEED, "N", read_seed, int64_t)                                                                           \
  X(BYTES, "BYTES", read_bytes, uint64_t)                                                                    \
  X(SECONDS, "SECONDS", read_seconds, double)                                                                \
  X(FRACTION, "FRACTION", read_fraction, double)                                                             \
  X(TYPE, "TYPE", read_type, tesela_type)                                                                    \
  X(TYPES, "LIST", read_text, const char *)                                                                  \
  X(SIZES, "LIST", read_text, const char *)                                                                  \
  X(DEVICE, "DEVICE", read_device, const char *)                                                             \
  X(DEVICES, "LIST", read_text, const char *)                                                                \
  X(STRATEGY, "STRATEGY", read_text, const char *)                                                           \
  X(STRATEGIES, "LIST", read_text, const char *)                                                             \
  X(ACCURACY, "ACCURACY", read_accuracy, const char *)                                                       \
  X(BITS, "BITS", read_bits, const char *)                                                                   \
  X(CHECKSUMS, "MODE", read_checksums, const char *)                                                         \
  X(STRUCTURE, "STRUCTURE", read_structure, tsl_option_structure)                                            \
  X(ALONG, "WAY", read_along, tesela_bias_axis)                                                              \
  X(ACTIVATION, "FUNCTION", read_activation, tesela_activation)                                              \
  X(SCALING, "WHAT", read_scaling, tesela_scaling)                                                           \
  X(OP, "OP", read_op, const char *)                                                                         \
  X(DISTRIBUTION, "NAME", read_distribution, tsl_kind)                                                       \
  X(LOCALE, "LOCALE", read_locale, const char *)

typedef enum tsl_value {
#define TSL_VALUE_MEMBER(name, shown, reader, type) TSL_VALUE_##name,
  TSL_VALUE_LIST(TSL_VALUE_MEMBER)
#undef TSL_VALUE_MEMBER
} tsl_value;

/* An optional number. */
typedef struct tsl_option_number {
  double value;
  bool given;
} tsl_option_number;

/* The structure of a matrix, and its stored triangle. */
typedef struct tsl_option_structure {
  tesela_structure structure;
  tesela_triangle triangle;
} tsl_option_structure;

/* An optional number, real or complex (re, im). */
typedef struct tsl_scalar {
  double value[2];
  bool given;
} tsl_scalar;

typedef struct tsl_option {
  const char *name; /* "transpose-a"; NULL ends the table */
  char letter;      /* 'o', or 0 */
  tsl_value value;
  const char *fallback; /* the default, as a user would write it; NULL: zero, false, none */
  const char *what;     /* help text, one line; brief help shows the part before the first semicolon */
  size_t offset;        /* the offset of the value's member in the command's struct */
} tsl_option;

/* A row of the table for an option with a long name only. */
#define TSL_OPTION(struct_type, member, name, value, fallback, what)                                         \
  { name, 0, TSL_VALUE_##value, fallback, what, offsetof(struct_type, member) }
/* --json of each command that prints a table. */
#define TSL_OPTION_JSON(struct_type)                                                                         \
  TSL_OPTION(struct_type, json, "json", FLAG, NULL, "print JSON (docs/JSON.md)")
/* --locale of each command with translated texts. */
#define TSL_OPTION_LOCALE(struct_type, member, what)                                                         \
  TSL_OPTION(struct_type, member, "locale", LOCALE, NULL,                                                    \
             "language of " what ": en, sl, es, hu or zh; the default is by LC_ALL, LC_MESSAGES and LANG")
#define TSL_OPTIONS_END                                                                                      \
  { NULL, 0, TSL_VALUE_FLAG, NULL, NULL, 0 }

/* Returns the text that help shows for a value, such as "FILE"; NULL for a flag. */
const char *tsl_value_shown(tsl_value value);

/* Returns true if this option is a flag that selects the format printed to standard output. */
bool tsl_option_prints(const char *name);

/* Fills the command's struct (zeroed here, `bytes` long) from the table's defaults and argv[1..].
 * Moves words that are no options to the end; *words is the index of the first. `word_ends`:
 * parsing stops at the first word. *help: --help or -h was found, and the rest was not parsed.
 * Returns TESELA_BAD_CALL with the option's name and the accepted values; also for an option with a value
 * that is given twice. */
tesela_status tsl_options_parse(const tsl_option *options, bool word_ends, int argc, char **argv,
                                void *target, size_t bytes, int *words, bool *help);

/* Returns TESELA_OK if `is_there`, else TESELA_BAD_CALL with the accepted names and the nearest one. Frees
 * `names`, which commas separate. */
tesela_status tsl_word_check(const char *text, bool is_there, tsl_text *names);

/* Sets *piece to the next trimmed item of a comma-separated list, a copy that the caller frees;
 * NULL at the end. Moves *list past the item. Returns TESELA_BAD_CALL for an empty item. */
tesela_status tsl_list_next(const char **list, char **piece);

#endif
