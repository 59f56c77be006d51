/* Help, made from the descriptors of commands, which come in the order of the help text; NULL ends them. */
#ifndef TSL_TOOL_CLI_HELP_H
#define TSL_TOOL_CLI_HELP_H

#include "cli/tool.h"

void tsl_help_overview(const tsl_command *const *commands, tsl_text *out, int width, bool colour);
void tsl_help_command(const tsl_command *command, tsl_text *out, int width, bool colour);
/* "environment": the variables; "plan": the keys of a plan's text. As a page of docs/ where `markdown`. False
 * for another name. */
bool tsl_help_reference(const char *name, tsl_text *out, int width, bool colour, bool markdown);
void tsl_help_manual(const tsl_command *const *commands, tsl_text *out);
/* By name, or NULL after setting the sentence that names the nearest. */
const tsl_command *tsl_command_find(const tsl_command *const *commands, const char *name);

#endif
