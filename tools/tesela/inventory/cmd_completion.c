/* tesela completion: scripts that complete commands, options and values in a shell. */
#include "cli/language.h"
#include "cli/options.h"
#include "cli/tool.h"
#include "core/kinds.h"
#include "core/status.h"
#include "io/io.h"
#include "problem/structure.h"
#include "problem/verify_mode.h"
#include "strategy/strategy_list.h"

#include <string.h>

/* --- the values of an option, alike for all shells --- */

static void complete_types(tsl_text *out) {
  const tsl_type_info *type;
  for (int i = 0; (type = tsl_type_at(i)) != NULL; i++)
    tsl_text_add(out, " %s", type->name);
}

/* Returns true if an earlier strategy of another operation has this name. */
static bool came_before(int index) {
  const char *name = tsl_strategy_at(index)->name;
  for (int i = 0; i < index; i++)
    if (strcmp(tsl_strategy_at(i)->name, name) == 0)
      return true;
  return false;
}

static void complete_strategies(tsl_text *out) {
  const tsl_strategy *strategy;
  for (int i = 0; (strategy = tsl_strategy_at(i)) != NULL; i++)
    if (!came_before(i))
      tsl_text_add(out, " %s", strategy->name);
}

static void complete_ops(tsl_text *out) {
  for (int i = 0; i < TSL_OP_COUNT; i++)
    tsl_text_add(out, " %s", tsl_op_name((tsl_op)i));
}

static void complete_distributions(tsl_text *out) {
  for (int i = 0; i < TSL_KIND_COUNT; i++)
    tsl_text_add(out, " %s", tsl_kind_name((tsl_kind)i));
}

static void complete_formats(tsl_text *out) {
  for (const char *name = tsl_io_formats(); *name; name += strspn(name, ", ")) {
    const size_t length = strcspn(name, ",");
    tsl_text_add(out, " %.*s", (int)length, name);
    name += length;
  }
}

/* Appends a command that lists the machine's devices at the time of completion. */
static void complete_devices(tsl_text *out) {
  tsl_text_add(out, " $(tesela devices --names 2>/dev/null)");
}

static void complete_accuracies(tsl_text *out) {
  tsl_text_add(out, " default 1e-5 e4m3 tf32 bf16 f32 f64 exact");
}

static void complete_bits(tsl_text *out) {
  tsl_text_add(out, " any run threads rows devices");
}

static void complete_checksums(tsl_text *out) {
#define CHECKSUMS_WORD(name, word) tsl_text_add(out, " %s", word);
  TSL_VERIFY_LIST(CHECKSUMS_WORD)
#undef CHECKSUMS_WORD
}

static void complete_structures(tsl_text *out) {
  for (int structure = TESELA_GENERAL + 1; structure <= TESELA_UNIT_TRIANGULAR; /* of factors */ structure++)
    for (int triangle = TESELA_WHOLE + 1; triangle < TESELA_TRIANGLES; triangle++) {
      tsl_text_add(out, " ");
      tsl_structure_print((tesela_structure)structure, (tesela_triangle)triangle, out);
    }
}

static void complete_alongs(tsl_text *out) {
  for (int i = TESELA_NO_BIAS + 1; i < TESELA_ALONGS; i++)
    tsl_text_add(out, " %s", tsl_along_name((tesela_bias_axis)i));
}

static void complete_activations(tsl_text *out) {
  for (int i = TESELA_NO_ACTIVATION + 1; i < TESELA_ACTIVATIONS; i++)
    tsl_text_add(out, " %s", tsl_activation_name((tesela_activation)i));
}

static void complete_scalings(tsl_text *out) {
  for (int i = TESELA_NO_SCALE + 1; i < TESELA_SCALINGS; i++)
    tsl_text_add(out, " %s", tsl_scaling_name((tesela_scaling)i));
}

static void complete_locales(tsl_text *out) {
  tsl_text names = {0};
  tsl_locale_is_known("", &names);
  for (const char *at = tsl_text_get(&names); *at; at++)
    tsl_text_add(out, *at == ',' ? "" : "%c", *at);
  tsl_text_free(&names);
}

static void (*const completions[])(tsl_text *) = {
    [TSL_VALUE_TYPE] = complete_types,
    [TSL_VALUE_TYPES] = complete_types,
    [TSL_VALUE_DEVICE] = complete_devices,
    [TSL_VALUE_DEVICES] = complete_devices,
    [TSL_VALUE_STRATEGY] = complete_strategies,
    [TSL_VALUE_STRATEGIES] = complete_strategies,
    [TSL_VALUE_OP] = complete_ops,
    [TSL_VALUE_STRUCTURE] = complete_structures,
    [TSL_VALUE_ALONG] = complete_alongs,
    [TSL_VALUE_ACTIVATION] = complete_activations,
    [TSL_VALUE_SCALING] = complete_scalings,
    [TSL_VALUE_ACCURACY] = complete_accuracies,
    [TSL_VALUE_BITS] = complete_bits,
    [TSL_VALUE_CHECKSUMS] = complete_checksums,
    [TSL_VALUE_FORMAT] = complete_formats,
    [TSL_VALUE_DISTRIBUTION] = complete_distributions,
    [TSL_VALUE_LOCALE] = complete_locales,
};

/* Appends the accepted values of an option; returns false if the option has no list of values. */
static bool completion_add_values(const tsl_option *option, tsl_text *out) {
  const size_t count = sizeof completions / sizeof *completions;
  if ((size_t)option->value >= count || !completions[option->value])
    return false;
  completions[option->value](out);
  return true;
}

/* Appends a help text up to its first semicolon, for single quotes of sh and zsh, or of fish with
 * backslashes. */
static void add_quoted(const char *text, bool is_fish, tsl_text *out) {
  for (; *text && *text != ';'; text++)
    if (*text == '\'')
      tsl_text_add(out, is_fish ? "\\'" : "'\\''");
    else
      tsl_text_add(out, is_fish && *text == '\\' ? "\\\\" : "%c", *text);
}

/* --- bash --- */

/* Appends the case of one command: values by option, then its options and words. */
static void bash_command(tsl_text *out, const tsl_command *command) {
  tsl_text_add(out, "    %s)\n      case $before in\n", command->name);
  for (const tsl_option *option = command->options; option->name; option++) {
    if (option->value == TSL_VALUE_FLAG)
      continue;
    tsl_text_add(out, "        --%s", option->name);
    if (option->letter)
      tsl_text_add(out, " | -%c", option->letter);
    tsl_text_add(out, ") ");
    if ((size_t)option->value < sizeof completions / sizeof *completions && completions[option->value]) {
      tsl_text_add(out, "words=\"");
      completions[option->value](out);
      tsl_text_add(out, "\" ;;\n");
    } else
      tsl_text_add(out, option->value == TSL_VALUE_FILE
                            ? "COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n"
                            : "return ;;\n");
  }
  tsl_text_add(out, "        *) words=\"--help");
  for (const tsl_option *option = command->options; option->name; option++)
    tsl_text_add(out, " --%s", option->name);
  for (const char *const *choice = command->choices; choice && *choice; choice++)
    tsl_text_add(out, " %s", *choice);
  tsl_text_add(out, "\"\n");
  if (!command->choices && command->words_max > 0)
    tsl_text_add(out,
                 "           [[ $word == -* ]] || { COMPREPLY=($(compgen -f -- \"$word\")); return; }\n");
  tsl_text_add(out, "           ;;\n      esac ;;\n");
}

static void write_bash(const tsl_command *const *commands, tsl_text *out) {
  tsl_text_add(out,
               "# bash completion for tesela %s: source <(tesela completion bash)\n"
               "_tesela() {\n"
               "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
               "  COMPREPLY=()\n"
               "  if ((COMP_CWORD == 1)); then\n"
               "    words=\"--help --version",
               tesela_version());
  const tsl_command *command;
  for (int i = 0; (command = commands[i]) != NULL; i++)
    tsl_text_add(out, " %s", command->name);
  tsl_text_add(out, "\"\n  else\n    case ${COMP_WORDS[1]} in\n");
  for (int i = 0; (command = commands[i]) != NULL; i++)
    bash_command(out, command);
  tsl_text_add(out, "    esac\n  fi\n"
                    "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                    "}\n"
                    "complete -o filenames -F _tesela tesela\n");
}

/* --- zsh --- */

static void zsh_command(tsl_text *out, const tsl_command *command) {
  tsl_text_add(out, "    %s)\n      case $before in\n", command->name);
  for (const tsl_option *option = command->options; option->name; option++) {
    if (option->value == TSL_VALUE_FLAG)
      continue;
    tsl_text values = {0};
    tsl_text_add(out, "        --%s", option->name);
    if (option->letter)
      tsl_text_add(out, "|-%c", option->letter);
    if (completion_add_values(option, &values))
      tsl_text_add(out, ") compadd --%s; return ;;\n", tsl_text_get(&values));
    else
      tsl_text_add(out, option->value == TSL_VALUE_FILE ? ") _files; return ;;\n" : ") return ;;\n");
    tsl_text_free(&values);
  }
  tsl_text_add(out, "      esac\n      options=('--help:show its text'");
  for (const tsl_option *option = command->options; option->name; option++) {
    tsl_text_add(out, " '--%s:", option->name);
    add_quoted(option->what, false, out);
    tsl_text_add(out, "'");
  }
  tsl_text_add(out, ")\n      [[ $word == -* ]] && { _describe option options; return }\n");
  if (command->choices) {
    tsl_text_add(out, "      compadd --");
    for (const char *const *choice = command->choices; *choice; choice++)
      tsl_text_add(out, " %s", *choice);
    tsl_text_add(out, " ;;\n");
  } else
    tsl_text_add(out, command->words_max > 0 ? "      _files ;;\n" : "      _describe option options ;;\n");
}

static void write_zsh(const tsl_command *const *commands, tsl_text *out) {
  const tsl_command *command;
  tsl_text_add(
      out,
      "#compdef tesela\n# zsh completion for tesela %s: source <(tesela completion zsh), or as the file "
      "_tesela "
      "in a folder of $fpath\n"
      "_tesela() {\n"
      "  local word=${words[CURRENT]} before=${words[CURRENT-1]}\n"
      "  local -a commands options\n"
      "  if (( CURRENT == 2 )); then\n    commands=('--help:show its text' '--version:show its version'",
      tesela_version());
  for (int i = 0; (command = commands[i]) != NULL; i++) {
    tsl_text_add(out, " '%s:", command->name);
    add_quoted(command->what, false, out);
    tsl_text_add(out, "'");
  }
  tsl_text_add(out, ")\n    _describe command commands\n    return\n  fi\n  case ${words[2]} in\n");
  for (int i = 0; (command = commands[i]) != NULL; i++)
    zsh_command(out, command);
  tsl_text_add(out, "  esac\n}\n"
                    "if [[ ${funcstack[1]} == _tesela ]]; then _tesela \"$@\"\n"
                    "elif (( $+functions[compdef] )); then compdef _tesela tesela\nfi\n");
}

/* --- fish --- */

static void fish_command(tsl_text *out, const tsl_command *command) {
  tsl_text_add(out, "complete -c tesela -n __fish_use_subcommand -a %s -d '", command->name);
  add_quoted(command->what, true, out);
  tsl_text_add(out, "'\n");
  for (const tsl_option *option = command->options; option->name; option++) {
    tsl_text values = {0};
    tsl_text_add(out, "complete -c tesela -n '__fish_seen_subcommand_from %s' -l %s", command->name,
                 option->name);
    if (option->letter)
      tsl_text_add(out, " -s %c", option->letter);
    if (completion_add_values(option, &values))
      tsl_text_add(out, " -x -a '%s'", tsl_text_get(&values) + 1);
    else if (option->value != TSL_VALUE_FLAG)
      tsl_text_add(out, option->value == TSL_VALUE_FILE ? " -r -F" : " -x");
    tsl_text_add(out, " -d '");
    add_quoted(option->what, true, out);
    tsl_text_add(out, "'\n");
    tsl_text_free(&values);
  }
  for (const char *const *choice = command->choices; choice && *choice; choice++)
    tsl_text_add(out, "complete -c tesela -n '__fish_seen_subcommand_from %s' -a %s\n", command->name,
                 *choice);
  if (!command->choices && command->words_max > 0)
    tsl_text_add(out, "complete -c tesela -n '__fish_seen_subcommand_from %s' -F\n", command->name);
}

static void write_fish(const tsl_command *const *commands, tsl_text *out) {
  const tsl_command *command;
  tsl_text_add(out,
               "# fish completion for tesela %s: tesela completion fish | source\n"
               "complete -c tesela -f\n"
               "complete -c tesela -l help -d 'show its text'\n",
               tesela_version());
  for (int i = 0; (command = commands[i]) != NULL; i++)
    fish_command(out, command);
}

/* --- the command --- */

static const char *const shells[] = {"bash", "zsh", "fish", NULL};
static void (*const writers[])(const tsl_command *const *commands, tsl_text *out) = {write_bash, write_zsh,
                                                                                     write_fish};

/* Holds no option; every command needs a struct. */
typedef struct completion_options {
  bool unused;
} completion_options;

static const tsl_option options[] = {TSL_OPTIONS_END};

static const tsl_example examples[] = {
    {"source <(tesela completion bash)", "for the present shell"},
    {"tesela completion bash > ~/.local/share/bash-completion/completions/tesela", "for every new shell"},
    {"tesela completion zsh > ~/.zfunc/_tesela", "a folder that is in $fpath"},
    {"tesela completion fish > ~/.config/fish/completions/tesela.fish", "for every new shell"},
    {NULL, NULL},
};

static tesela_status completion_run(const tsl_command_call *call) {
  int shell = 0;
  while (strcmp(call->words[0], shells[shell]) != 0)
    shell++;
  tsl_text out = {0};
  writers[shell](call->commands, &out);
  return tsl_print(&out);
}

const tsl_command tsl_command_completion = {
    .name = "completion",
    .what = "print the completion script of a shell",
    .arguments = "bash | zsh | fish",
    .details = "",
    .options = options,
    .examples = examples,
    .choices = shells,
    .words_min = 1,
    .words_max = 1,
    .options_bytes = sizeof(completion_options),
    .run = completion_run,
};
