/* The tool's entry. Everything else is in files that tests link as well. */
#include "cli/commands.h"

int main(int argc, char **argv) {
  return tsl_tool_main(argc, argv);
}
