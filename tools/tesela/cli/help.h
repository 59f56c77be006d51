/* Makes help texts from the command descriptors. Lists of commands are in the order of the help
 * text and end with NULL. */
#ifndef TSL_TOOL_CLI_HELP_H
#define TSL_TOOL_CLI_HELP_H

#include "cli/tool.h"

void tsl_help_overview(const tsl_command *const *commands, tsl_text *out, int width, bool colour);
/* Appends the help of a command. `brief`: the first clause of each option's text and two examples, one
 * screen. */
void tsl_help_command(const tsl_command *command, bool brief, tsl_text *out, int width, bool colour);
/* Appends a reference text: "environment" (the variables) or "plan" (the keys of a plan's text).
 * `markdown`: as a page of docs/. Returns false for an unknown name. */
bool tsl_help_reference(const char *name, tsl_text *out, int width, bool colour, bool markdown);
void tsl_help_manual(const tsl_command *const *commands, tsl_text *out);
/* Returns the command of this name, or NULL with a message that suggests the nearest name. */
const tsl_command *tsl_command_find(const tsl_command *const *commands, const char *name);

#endif
