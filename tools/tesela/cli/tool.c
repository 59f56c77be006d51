#include "cli/tool.h"

#include "base/env.h"
#include "base/notice.h"
#include "base/status.h"
#include "cli/interrupt.h"
#include "cli/select.h"

#include <errno.h>
#include <revision.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Exit codes: 0 done, 1 a wrong result, 2 a bad call or bad input, 3 a device or a resource failed. An input that
 * cannot be opened is TESELA_BAD_INPUT by the time it gets here, so TESELA_IO_FAILED is about outputs and disks. */
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
};
enum {
#define COMMAND_ONE(name) +1
  COMMAND_COUNT = 0 TSL_COMMAND_LIST(COMMAND_ONE)
#undef COMMAND_ONE
};

const tsl_command *tsl_command_at(int index) {
  return index >= 0 && index < COMMAND_COUNT ? commands[index] : NULL;
}

const tsl_command *tsl_command_find(const char *name) {
  const char *names[COMMAND_COUNT + 1];
  for (int i = 0; i < COMMAND_COUNT; i++) {
    if (strcmp(commands[i]->name, name) == 0)
      return commands[i];
    names[i] = commands[i]->name;
  }
  names[COMMAND_COUNT] = NULL;
  const char *nearest = tsl_nearest(name, names);
  if (nearest)
    tsl_fail(TESELA_BAD_CALL, "there is no command \"%s\"; did you mean %s?", name, nearest);
  else
    tsl_fail(TESELA_BAD_CALL, "there is no command \"%s\"; tesela --help lists them", name);
  return NULL;
}

int tsl_output_width(void) {
  if (!isatty(STDOUT_FILENO))
    return 0;
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col < 40 ? 40 : size.ws_col;
  return 80;
}

int tsl_prose_width(void) {
  const int width = tsl_output_width();
  return width == 0 ? 80 : width > 110 ? 110 : width;
}

bool tsl_output_colour(void) {
  const char *refused = tsl_env_foreign("NO_COLOR"), *terminal = tsl_env_foreign("TERM");
  return isatty(STDOUT_FILENO) && !(refused && *refused) && !(terminal && strcmp(terminal, "dumb") == 0);
}

tesela_status tsl_print(tsl_text *text) {
  tesela_status status = tsl_text_status(text);
  errno = 0;
  if (status == TESELA_OK &&
      (fwrite(tsl_text_get(text), 1, text->length, stdout) != text->length || fflush(stdout) != 0))
    status = tsl_fail(TESELA_IO_FAILED, "standard output: %s", strerror(errno));
  tsl_text_free(text);
  return status;
}

tesela_status tsl_print_json(const tsl_call *call, json_t *object) {
  char *text = NULL;
  json_t *all = json_pack("{s:s, s:s, s:s}", "tesela", tesela_version(), "revision", TESELA_REVISION,
                          "command", call->command->name);
  if (object && all && json_object_update(all, object) == 0)
    text = json_dumps(all, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
  json_decref(all);
  json_decref(object);
  if (!text)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory to write JSON");
  tsl_text out = {0};
  tsl_text_add(&out, "%s\n", text);
  free(text);
  return tsl_print(&out);
}

void tsl_call_add_line(const tsl_call *call, tsl_text *out) {
  tsl_text_add(out, "tesela");
  for (int i = 0; i < call->line_count; i++) {
    const char *word = call->line[i];
    const bool is_plain = *word && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                     "0123456789_-+=.,:/%@")] == '\0';
    tsl_text_add(out, is_plain ? " " : " '");
    for (; *word; word++)
      if (*word == '\'')
        tsl_text_add(out, "'\\''");
      else
        tsl_text_add(out, "%c", *word);
    tsl_text_add(out, is_plain ? "" : "'");
  }
}

/* The sentence, and below it what a compiler had to say. */
static int report(const tsl_command *command, tesela_status status) {
  if (status == TESELA_OK)
    return 0;
  fprintf(stderr, "tesela%s%s: %s\n", command ? " " : "", command ? command->name : "", tesela_last_error());
  if (status == TESELA_BUILD_FAILED && *tesela_last_log())
    fprintf(stderr, "%s\n", tesela_last_log());
  return exit_code(status);
}

static tesela_status check_words(const tsl_command *command, int count) {
  if (count < command->words_min)
    return tsl_fail(TESELA_BAD_CALL, "too few arguments; write tesela %s %s", command->name,
                    command->arguments);
  if (count > command->words_max)
    return tsl_fail(TESELA_BAD_CALL, "too many arguments; write tesela %s %s", command->name,
                    command->arguments);
  return TESELA_OK;
}

static tesela_status run_command(const tsl_command *command, int argc, char **argv) {
  bool help;
  int words;
  void *options = calloc(1, command->options_bytes);
  if (!options)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory to start");
  tesela_status status = TESELA_OK;
  TSL_GO(tsl_options_parse(command->options, argc, argv, options, command->options_bytes, &words, &help));
  if (help) {
    tsl_text out = {0};
    tsl_help_command(command, &out, tsl_prose_width(), tsl_output_colour());
    TSL_GO(tsl_print(&out));
  } else {
    TSL_GO(check_words(command, argc - words));
    TSL_GO(tsl_check_environment());
    status = command->run(&(tsl_call){command, options, argv + words, argc - words, argv, argc});
  }
out:
  free(options);
  return status;
}

/* What the user should know beside the result, unless the log said it. */
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
    return report(NULL, tsl_print(&out));
  }
  if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
    tsl_help_overview(&out, tsl_prose_width(), tsl_output_colour());
    return report(NULL, tsl_print(&out));
  }
  if (*first == '-') {
    const char *const names[] = {"--help", "--version", NULL};
    const char *nearest = tsl_nearest(first, names);
    return report(NULL, tsl_fail(TESELA_BAD_CALL,
                                 "there is no option %s%s%s; a command comes first: tesela COMMAND [options]",
                                 first, nearest ? "; did you mean " : "", nearest ? nearest : ""));
  }
  const tsl_command *command = tsl_command_find(first);
  if (!command)
    return report(NULL, TESELA_BAD_CALL);
  const tesela_status status = run_command(command, argc - 1, argv + 1);
  tell_notices();
  const int code = report(command, status);
  tsl_interrupt_end();
  return code;
}
