/* Buffers of the public calls. */
#ifndef TSL_TESTS_FAKE_BUFFERS_H
#define TSL_TESTS_FAKE_BUFFERS_H

#include "unit/unit.h"

#include <tesela/tesela.h>

/* Makes buffers filled with zeros. */
static inline void buffers_for(tesela_context *context, const char *device, tesela_buffer **buffer,
                               size_t floats) {
  static const float zeros[3 * 4096];
  if (tesela_buffer_create(context, device, floats * 4, buffer) != TESELA_OK)
    fail_msg("%s", tesela_last_error());
  assert_int_equal(tesela_buffer_write(*buffer, 0, zeros, floats * 4), TESELA_OK);
}

#endif
