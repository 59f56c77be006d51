#include "unit/context.h"

tesela_context *context;

int context_set_up(void **state) {
  const tesela_context_desc desc = {.device = "cpu"};
  (void)state;
  return tesela_context_create(&desc, &context) != TESELA_OK;
}

int context_tear_down(void **state) {
  (void)state;
  tesela_context_destroy(context);
  return 0;
}
