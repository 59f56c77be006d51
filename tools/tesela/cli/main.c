/* The entry of the tool. All other files are also linked into tests. */
#include "cli/commands.h"

int main(int argc, char **argv) {
  return tsl_tool_main(argc, argv);
}
