#include "unit/calls.h"

#include <string.h>

void must(tesela_status status) {
  if (status != TESELA_OK)
    fail_msg("%s: %s\n%s", tesela_status_name(status), tesela_last_error(), tesela_last_log());
}

void expect(tesela_status status, tesela_status expected, const char *names) {
  if (status != expected || !strstr(tesela_last_error(), names))
    fail_msg("%s instead of %s, '%s' should name '%s'", tesela_status_name(status),
             tesela_status_name(expected), tesela_last_error(), names);
}

tesela_buffer *filled(tesela_context *context, const char *device, const void *from, size_t bytes) {
  tesela_buffer *made;
  must(tesela_buffer_create(context, device, bytes, &made));
  must(tesela_buffer_write(made, 0, from, bytes));
  return made;
}
