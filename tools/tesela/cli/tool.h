/* What every subcommand has: its descriptor, from which help texts, man page and shell completion are made,
 * one call of it, and where it prints. */
#ifndef TSL_TOOL_CLI_TOOL_H
#define TSL_TOOL_CLI_TOOL_H

#include "cli/options.h"
#include "cli/table.h"

#include <jansson.h>

typedef struct tsl_command tsl_command;

/* One call of a subcommand. `options` is the command's own struct, filled; `words` are the arguments that are
 * no options. */
typedef struct tsl_call {
  const tsl_command *const *commands; /* all there are, in the order of the help text; NULL ends them */
  const tsl_command *command;
  const void *options;
  char *const *words;
  int word_count;
  char *const *line; /* the command's name and everything behind it */
  int line_count;
} tsl_call;

typedef struct tsl_example {
  const char *line; /* NULL ends the table */
  const char *what;
} tsl_example;

struct tsl_command {
  const char *name;
  const char *what;      /* one line, lower case */
  const char *arguments; /* "A B [-o C]" */
  const char *details;   /* paragraphs between newlines */
  const tsl_option *options;
  const tsl_example *examples;
  const char *const *choices; /* what the first word may be, NULL-terminated; NULL: anything */
  int words_min, words_max;
  size_t options_bytes;
  bool starts_program; /* options end at the first word: what follows is the program's own */
  bool together;       /* processes that MPI started are one call: one of them speaks */
  tesela_status (*run)(const tsl_call *call);
};

/* The call as a shell takes it: "tesela explore --sizes 256,512". */
void tsl_call_add_line(const tsl_call *call, tsl_text *out);

/* Writes to standard output and frees the text; a failed write (a full disk behind a redirection) is
 * TESELA_IO_FAILED. */
tesela_status tsl_print(tsl_text *text);
/* Prints and releases a JSON object, with "tesela" (the version) and "command" in front. NULL, jansson's
 * answer to a lack of memory, is a failure. */
tesela_status tsl_print_json(const tsl_call *call, json_t *object);

/* Width of the terminal at standard output; 0 when it is none, which means: wrap nothing. */
int tsl_output_width(void);
/* Width for running text: the terminal's, at most 110, else 80. */
int tsl_prose_width(void);
/* Whether standard output takes colour: a terminal, and NO_COLOR is not set. */
bool tsl_output_colour(void);

#endif
