#include "cli/tool.h"

#include "core/env.h"
#include "core/status.h"

#include <errno.h>
#include <revision.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

int tsl_help_width(void) {
  return tsl_output_width() == 0 ? 100 : tsl_prose_width();
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

static tesela_status add_json(const tsl_command_call *call, json_t *object, size_t flags, tsl_text *out) {
  char *text = NULL;
  json_t *all = json_pack("{s:s, s:s, s:s}", "tesela", tesela_version(), "revision", TESELA_REVISION,
                          "command", call->command->name);
  if (object && all && json_object_update(all, object) == 0)
    text = json_dumps(all, flags | JSON_REAL_PRECISION(15));
  json_decref(all);
  json_decref(object);
  if (!text)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory to write JSON");
  tsl_text_add(out, "%s\n", text);
  free(text);
  return TESELA_OK;
}

tesela_status tsl_add_json(const tsl_command_call *call, json_t *object, tsl_text *out) {
  return add_json(call, object, JSON_INDENT(2), out);
}

static tesela_status print_json(const tsl_command_call *call, json_t *object, size_t flags) {
  tsl_text out = {0};
  TSL_TRY(add_json(call, object, flags, &out));
  return tsl_print(&out);
}

tesela_status tsl_print_json(const tsl_command_call *call, json_t *object) {
  return print_json(call, object, JSON_INDENT(2));
}

tesela_status tsl_print_json_line(const tsl_command_call *call, json_t *object) {
  return print_json(call, object, JSON_COMPACT);
}

void tsl_call_add_line(const tsl_command_call *call, tsl_text *out) {
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
