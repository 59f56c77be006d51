/* The command-line tool: a list of subcommands, each one const descriptor in its own cmd_<name>.c. */
#ifndef TSL_TOOL_CLI_COMMANDS_H
#define TSL_TOOL_CLI_COMMANDS_H

#include "cli/tool.h"

/* Subcommands in the order of the help text. X(name): cmd_<name>.c defines `const tsl_command
 * tsl_command_<name>`. */
#define TSL_COMMAND_LIST(X)                                                                                  \
  X(devices)                                                                                                 \
  X(strategies)                                                                                              \
  X(multiply)                                                                                                \
  X(dot)                                                                                                     \
  X(solve)                                                                                                   \
  X(transpose)                                                                                               \
  X(generate)                                                                                                \
  X(explain)                                                                                                 \
  X(explore)                                                                                                 \
  X(sweep)                                                                                                   \
  X(compare)                                                                                                 \
  X(check)                                                                                                   \
  X(course)                                                                                                  \
  X(lab)                                                                                                     \
  X(run)                                                                                                     \
  X(report)                                                                                                  \
  X(tune)                                                                                                    \
  X(wisdom)                                                                                                  \
  X(cache)                                                                                                   \
  X(help)                                                                                                    \
  X(completion)

/* Runs the tool and returns its exit code. */
int tsl_tool_main(int argc, char **argv);

#endif
