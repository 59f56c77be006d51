/* The descriptor of a subcommand, one call of it, and its output. Help texts, man page and shell
 * completion are made from descriptors. */
#ifndef TSL_TOOL_CLI_TOOL_H
#define TSL_TOOL_CLI_TOOL_H

#include "cli/options.h"
#include "cli/table.h"

#include <jansson.h>

typedef struct tsl_command tsl_command;

/* One call of a subcommand. `options` is the command's own struct, filled. `words` are the
 * arguments that are no options. */
typedef struct tsl_command_call {
  const tsl_command *const *commands; /* all commands, in the order of the help text; NULL ends the list */
  const tsl_command *command;
  const void *options;
  char *const *words;
  int word_count;
  char *const *line; /* the command's name and all arguments after it */
  int line_count;
} tsl_command_call;

typedef struct tsl_example {
  const char *line; /* NULL ends the table */
  const char *what;
} tsl_example;

struct tsl_command {
  const char *name;
  const char *what;      /* one line, begins in lower case */
  const char *arguments; /* "A B [-o C]" */
  const char *details;   /* paragraphs separated by newlines */
  const tsl_option *options;
  const tsl_example *examples;
  const char *const *choices; /* the accepted first words, NULL-terminated; NULL: any word */
  int words_min, words_max;
  size_t options_bytes;
  bool starts_program; /* options end at the first word; later arguments belong to the started program */
  bool together;       /* processes that MPI started make one call together, and one process prints */
  tesela_status (*run)(const tsl_command_call *call);
};

/* Appends the call as a shell command: "tesela explore --sizes 256,512". */
void tsl_call_add_line(const tsl_command_call *call, tsl_text *out);

/* Writes the text to standard output and frees it. Returns TESELA_IO_FAILED if the write fails, for
 * example on a full disk. */
tesela_status tsl_print(tsl_text *text);
/* Appends what tsl_print_json() prints. */
tesela_status tsl_add_json(const tsl_command_call *call, json_t *object, tsl_text *out);
/* Prints and releases a JSON object, with "tesela" (the version) and "command" added in front.
 * Returns TESELA_OUT_OF_MEMORY for NULL, which jansson returns for lack of memory. */
tesela_status tsl_print_json(const tsl_command_call *call, json_t *object);
/* Prints it as one line, for long lists of numbers. */
tesela_status tsl_print_json_line(const tsl_command_call *call, json_t *object);

/* Returns the width of the terminal at standard output; 0 if it is no terminal: nothing is wrapped. */
int tsl_output_width(void);
/* Returns the width for running text: the terminal's, at most 110; 80 without a terminal. */
int tsl_prose_width(void);
/* Returns the columns of brief help: tsl_prose_width(), but 100 if standard output is no terminal. */
int tsl_help_width(void);
/* Returns true if standard output takes colour: it is a terminal, and NO_COLOR is not set. */
bool tsl_output_colour(void);

#endif
