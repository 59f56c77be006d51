#include "cli/commands.h"

#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/language.h"
#include "cli/ranks.h"
#include "cli/select.h"
#include "core/status.h"
#include "core/suggest.h"
#include "core/warnings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exit codes: 0 done, 1 a wrong result, 2 a bad call or bad input, 3 a failure of a device or
 * resource. Commands turn the failure to open an input into TESELA_BAD_INPUT, so TESELA_IO_FAILED
 * concerns outputs and disks. */
#define TSL_EXIT_LIST(X)                                                                                     \
  X(OK, 0)                                                                                                   \
  X(BAD_CALL, 2)                                                                                             \
  X(BAD_INPUT, 2)                                                                                            \
  X(UNSUPPORTED, 2)                                                                                          \
  X(NO_DEVICE, 3)                                                                                            \
  X(OUT_OF_MEMORY, 3)                                                                                        \
  X(DEVICE_FAILED, 3)                                                                                        \
  X(BUILD_FAILED, 3)                                                                                         \
  X(IO_FAILED, 3)                                                                                            \
  X(WRONG_RESULT, 1)                                                                                         \
  X(INTERNAL, 3)

static int exit_code(tesela_status status) {
  static const int codes[] = {
#define EXIT_ROW(name, code) [TESELA_##name] = code,
      TSL_EXIT_LIST(EXIT_ROW)
#undef EXIT_ROW
  };
  return (size_t)status < sizeof codes / sizeof *codes ? codes[status] : 3;
}

#define COMMAND_DECLARE(name) extern const tsl_command tsl_command_##name;
TSL_COMMAND_LIST(COMMAND_DECLARE)
#undef COMMAND_DECLARE

static const tsl_command *const commands[] = {
#define COMMAND_ROW(name) &tsl_command_##name,
    TSL_COMMAND_LIST(COMMAND_ROW)
#undef COMMAND_ROW
        NULL};

/* Returns true if this process prints: one of the ranks that make one call together. */
static bool speaks(const tsl_command *command) {
  return !command || !command->together || tsl_ranks_is_speaker();
}

/* Prints the message and the compiler's log below it; returns the exit code. */
static int commands_report(const tsl_command *command, tesela_status status) {
  if (status == TESELA_OK)
    return 0;
  if (!speaks(command))
    return exit_code(status);
  tsl_text sentence = {0};
  tsl_tr_sentence(tesela_last_error(), &sentence);
  fprintf(stderr, "tesela%s%s: %s\n", command ? " " : "", command ? command->name : "",
          sentence.failed ? tesela_last_error() : tsl_text_get(&sentence));
  tsl_text_free(&sentence);
  if (status == TESELA_BUILD_FAILED && *tesela_last_log())
    fprintf(stderr, "%s\n", tesela_last_log());
  return exit_code(status);
}

/* Returns the flag before a word of the command line if the flag selects the printed format, such as --csv;
 * otherwise NULL. */
static const char *printing_flag(char *const *line, const char *word) {
  for (int i = 1; line[i]; i++)
    if (line[i] == word && strncmp(line[i - 1], "--", 2) == 0 && tsl_option_prints(line[i - 1] + 2))
      return line[i - 1];
  return NULL;
}

/* Returns TESELA_BAD_CALL: names the first surplus word and the accepted arguments. */
static tesela_status fail_surplus(const tsl_command *command, char *const *line, const char *word) {
  const char *flag = printing_flag(line, word);
  tsl_text right = {0};
  if (!flag)
    return tsl_fail(TESELA_BAD_CALL, "too many arguments: \"%s\" is one too many; write tesela %s %s", word,
                    command->name, *command->arguments ? command->arguments : "[options]");
  for (int i = 0; line[i]; i++)
    if (line[i] != word)
      tsl_text_add(&right, "%s ", line[i]);
  const tesela_status status =
      tsl_fail(TESELA_BAD_CALL,
               "too many arguments: \"%s\" is one too many, as %s prints to standard output: tesela %s> %s",
               word, flag, tsl_text_get(&right), word);
  tsl_text_free(&right);
  return status;
}

static tesela_status check_choice(const tsl_command *command, const char *word) {
  tsl_text names = {0};
  bool is_there = false;
  for (int i = 0; command->choices[i]; i++) {
    tsl_text_add(&names, "%s%s", i ? ", " : "", command->choices[i]);
    is_there = is_there || strcmp(command->choices[i], word) == 0;
  }
  return tsl_word_check(word, is_there, &names);
}

/* Checks the number of words and the first word. `line`: the command's name and all arguments after
 * it, as the user wrote them. */
static tesela_status commands_check_words(const tsl_command *command, char *const *line, char *const *words,
                                          int count) {
  if (count < command->words_min)
    return tsl_fail(TESELA_BAD_CALL, "too few arguments; write tesela %s %s", command->name,
                    command->arguments);
  if (count > command->words_max)
    return fail_surplus(command, line, words[command->words_max]);
  return command->choices && count > 0 ? check_choice(command, words[0]) : TESELA_OK;
}

static tesela_status run_command(const tsl_command *command, int argc, char **argv) {
  bool help;
  int words;
  void *options = calloc(1, command->options_bytes);
  char **line = calloc((size_t)argc + 1, sizeof *line); /* a copy, since getopt_long() reorders argv */
  tesela_status status = TESELA_OK;
  if (!options || !line)
    TSL_GO(tsl_fail(TESELA_OUT_OF_MEMORY, "no memory to start"));
  memcpy(line, argv, (size_t)argc * sizeof *line);
  TSL_GO(tsl_options_parse(command->options, command->starts_program, argc, argv, options,
                           command->options_bytes, &words, &help));
  if (help) {
    tsl_text out = {0};
    tsl_help_command(command, true, &out, tsl_help_width(), tsl_output_colour());
    TSL_GO(tsl_print(&out));
  } else {
    TSL_GO(commands_check_words(command, line, argv + words, argc - words));
    TSL_GO(tsl_check_environment());
    status =
        command->run(&(tsl_command_call){commands, command, options, argv + words, argc - words, line, argc});
  }
out:
  free(line);
  free(options);
  return status;
}

/* Prints the library's notices, unless the log printed them. */
static void tell_notices(void) {
  char sentence[TSL_NOTICE_BYTES];
  bool logged;
  for (int i = 0; tsl_notice_at(i, sentence, &logged); i++)
    if (!logged)
      fprintf(stderr, "tesela: note: %s\n", sentence);
}

int tsl_tool_main(int argc, char **argv) {
  const char *first = argc > 1 ? argv[1] : "--help";
  tsl_interrupt_setup();
  tsl_text out = {0};
  if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
    tsl_text_add(&out, "tesela %s\n", tesela_version());
    return commands_report(NULL, tsl_print(&out));
  }
  if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
    tsl_help_overview(commands, &out, tsl_help_width(), tsl_output_colour());
    return commands_report(NULL, tsl_print(&out));
  }
  if (*first == '-') {
    char suggestion[TSL_SUGGESTION_BYTES];
    tsl_suggest(first, "--help, --version", suggestion);
    return commands_report(
        NULL, tsl_fail(TESELA_BAD_CALL, "there is no option %s%s", first,
                       *suggestion ? suggestion : "; a command comes first: tesela COMMAND [options]"));
  }
  const tsl_command *command = tsl_command_find(commands, first);
  if (!command)
    return commands_report(NULL, TESELA_BAD_CALL);
  const tesela_status status = run_command(command, argc - 1, argv + 1);
  if (speaks(command))
    tell_notices();
  const int code = commands_report(command, status);
  if (command->together)
    tsl_ranks_leave(code != 0);
  tsl_interrupt_end();
  return code;
}
