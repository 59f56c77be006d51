/* Memory, streams and events of every device of this machine: the contract of device/device.h. */
#include "unit/conformance.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void described(tsl_device *device, tsl_stream *stream) {
  (void)stream;
  assert_non_null(device->ops);
  assert_true(strlen(device->name) > 0 && strlen(device->label) > 0 && strlen(device->platform) > 0);
  assert_true(strlen(device->key) > 0);
  assert_int_equal(strcspn(device->key, " \t\n"), strlen(device->key));
  assert_true(device->memory_bytes > 0 && device->compute_units > 0 && device->warp >= 1);
  assert_true(device->allocation_max > 0 && device->allocation_max <= device->memory_bytes);
  assert_true(device->peak_f32 > 0 && device->bandwidth > 0 && device->launch_seconds >= 0);
  if (device->capabilities & TSL_CAN_F64)
    assert_true(device->peak_f64 > 0);
  if (device->capabilities & TSL_CAN_KERNELS) {
    assert_true(device->group_items_max >= 1);
    for (int d = 0; d < 3; d++)
      assert_true(device->group_size_max[d] >= 1 && device->group_count_max[d] >= 1);
    assert_non_null(device->ops->dialect_folder);
    assert_non_null(device->ops->source_extension);
  }
  if (device->capabilities & TSL_CAN_SHARED_MEMORY)
    assert_true(device->ops->buffer_map && device->ops->buffer_unmap);
  assert_true(device->host_alignment == 0 || device->ops->buffer_wrap);
  if (device->capabilities & TSL_CAN_IMAGES) {
    assert_true(device->ops->image_create && device->ops->image_destroy);
    assert_true(device->image_width_max > 0 && device->image_height_max > 0);
    assert_true(device->image_offset_alignment > 0);
  }
}

static void round_trip(tsl_device *device, tsl_stream *stream) {
  const size_t size = 100003, offset = 77, count = 90001;
  unsigned char *in = patterned(size, 1), *patch = patterned(count, 200), *out = patterned(size, 9);
  tsl_buffer *buffer = buffer_of(stream, device, in, size);
  MUST(tsl_device_write(stream, buffer, offset, patch, count));
  MUST(tsl_device_read(stream, buffer, 0, out, size));
  memcpy(in + offset, patch, count);
  assert_memory_equal(in, out, size);
  memset(out, 0, size);
  MUST(tsl_device_read(stream, buffer, offset + 1, out + 5, 3));
  assert_memory_equal(out + 5, patch + 1, 3);
  assert_true(out[4] == 0 && out[8] == 0);
  device->ops->buffer_destroy(buffer);
  free(in), free(patch), free(out);
}

/* Copies rows with pitches. Bytes between rows are unchanged on both sides. */
static void pitched(tsl_device *device, tsl_stream *stream) {
  const size_t rows = 13, row_bytes = 28, device_pitch = 40, host_pitch = 33, offset = 3, size = 13 * 40 + 11;
  unsigned char *host = patterned(rows * host_pitch, 5), *expected = patterned(size, 60),
                *out = patterned(size, 0), *back = patterned(rows * host_pitch, 90);
  tsl_buffer *buffer = buffer_of(stream, device, expected, size);
  tsl_copy copy = {.buffer = buffer,
                   .offset = offset,
                   .device_pitch = device_pitch,
                   .host = host,
                   .host_pitch = host_pitch,
                   .rows = rows,
                   .row_bytes = row_bytes};
  MUST(device->ops->write(stream, &copy));
  for (size_t row = 0; row < rows; row++)
    memcpy(expected + offset + row * device_pitch, host + row * host_pitch, row_bytes);
  MUST(tsl_device_read(stream, buffer, 0, out, size));
  assert_memory_equal(out, expected, size);
  copy.host = back;
  MUST(device->ops->read(stream, &copy));
  for (size_t i = 0; i < rows * host_pitch; i++)
    assert_int_equal(back[i], i % host_pitch < row_bytes ? host[i] : pattern(i, 90));
  /* One row, whose pitches do not matter. */
  copy = (tsl_copy){
      .buffer = buffer, .device_pitch = 7, .host = back, .host_pitch = 7, .rows = 1, .row_bytes = 7};
  MUST(device->ops->read(stream, &copy));
  assert_memory_equal(back, expected, 7);
  device->ops->buffer_destroy(buffer);
  free(host), free(expected), free(out), free(back);
}

static void nothing(tsl_device *device, tsl_stream *stream) {
  unsigned char byte = 42, out = 0;
  tsl_buffer *empty = buffer_of(stream, device, NULL, 0), *other = buffer_of(stream, device, &byte, 1);
  const tsl_copy no_rows = {
      .buffer = other, .device_pitch = 1, .host = &out, .host_pitch = 1, .row_bytes = 1};
  const tsl_copy no_bytes = {.buffer = other, .host = &out, .rows = 5};
  MUST(device->ops->write(stream, &no_rows));
  MUST(device->ops->write(stream, &no_bytes));
  MUST(device->ops->read(stream, &no_rows));
  MUST(device->ops->read(stream, &no_bytes));
  assert_int_equal(out, 0);
  MUST(tsl_device_write(stream, empty, 0, &byte, 0));
  MUST(device->ops->fill(stream, other, 1, 7, 0));
  MUST(device->ops->copy(stream, empty, 0, other, 0, 0));
  MUST(tsl_device_read(stream, other, 0, &out, 1));
  assert_int_equal(out, 42);
  MUST(device->ops->finish(stream));
  device->ops->buffer_destroy(empty);
  device->ops->buffer_destroy(other);
}

static void fill_and_copy(tsl_device *device, tsl_stream *stream) {
  const size_t size = 4099;
  unsigned char *expected = patterned(size, 3), *out = patterned(size, 0);
  tsl_buffer *from = buffer_of(stream, device, expected, size), *to = buffer_of(stream, device, NULL, size);
  MUST(device->ops->fill(stream, to, 0, 0xa5, size));
  MUST(device->ops->fill(stream, from, 5, 0, 1001));
  MUST(device->ops->copy(stream, from, 3, to, 17, 3001));
  MUST(tsl_device_read(stream, to, 0, out, size));
  memset(expected + 5, 0, 1001);
  for (size_t i = 0; i < size; i++)
    assert_int_equal(out[i], i >= 17 && i < 17 + 3001 ? expected[i - 17 + 3] : 0xa5);
  device->ops->buffer_destroy(from);
  device->ops->buffer_destroy(to);
  free(expected), free(out);
}

/* write() has taken the bytes when it returns, also many of them. */
static void host_memory_is_free_again(tsl_device *device, tsl_stream *stream) {
  const size_t size = 8 << 20;
  unsigned char *host = patterned(size, 11), *out = malloc(size);
  assert_non_null(out);
  tsl_buffer *buffer = buffer_of(stream, device, NULL, size);
  MUST(tsl_device_write(stream, buffer, 0, host, size));
  memset(host, 0, size);
  MUST(tsl_device_read(stream, buffer, 0, out, size));
  for (size_t i = 0; i < size; i++)
    if (out[i] != pattern(i, 11))
      fail_msg("byte %zu was taken after write() had returned", i);
  device->ops->buffer_destroy(buffer);
  free(host), free(out);
}

/* By default, sanitizers end the process at an allocation that is too large. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
  return "allocator_may_return_null=1";
}

static void too_large(tsl_device *device, tsl_stream *stream) {
  (void)stream;
  tsl_buffer *buffer = (tsl_buffer *)device;
  MUST_FAIL(device, TESELA_OUT_OF_MEMORY, device->ops->buffer_create(device, SIZE_MAX / 4, &buffer));
  assert_null(buffer);
}

/* Device time of `count` fills, between two events that were perhaps recorded before. */
static double time_fills(tsl_stream *stream, tsl_buffer *buffer, tsl_event *begin, tsl_event *end,
                         int count) {
  tsl_device *device = buffer->device;
  double seconds = -1;
  MUST(device->ops->event_record(stream, begin));
  for (int i = 0; i < count; i++)
    MUST(device->ops->fill(stream, buffer, 0, (unsigned char)i, buffer->bytes));
  MUST(device->ops->event_record(stream, end));
  MUST(device->ops->event_seconds(begin, end, &seconds));
  assert_true(seconds > 0 && seconds < 60);
  return seconds;
}

static void events(tsl_device *device, tsl_stream *stream) {
  tsl_buffer *buffer = buffer_of(stream, device, NULL, 16 << 20);
  tsl_event *begin = NULL, *end = NULL;
  double one = 60;
  MUST(device->ops->event_create(device, &begin));
  MUST(device->ops->event_create(device, &end));
  for (int round = 0; round < 8; round++) {
    const double seconds = time_fills(stream, buffer, begin, end, 1);
    one = seconds < one ? seconds : one;
  }
  const double many = time_fills(stream, buffer, begin, end, 64);
  if (many < 8 * one)
    fail_msg("%s: one fill took %g s, 64 of them %g s", device->name, one, many);
  device->ops->event_destroy(begin);
  device->ops->event_destroy(end);
  device->ops->buffer_destroy(buffer);
}

static void two_streams(tsl_device *device, tsl_stream *first) {
  const size_t size = 1 << 16;
  unsigned char *in[2] = {patterned(size, 20), patterned(size, 21)}, *out = malloc(size);
  assert_non_null(out);
  tsl_stream *streams[2] = {first, NULL};
  tsl_buffer *from[2], *to[2];
  MUST(device->ops->stream_create(device, &streams[1]));
  for (int s = 0; s < 2; s++) {
    from[s] = buffer_of(streams[s], device, in[s], size);
    to[s] = buffer_of(streams[s], device, NULL, size);
  }
  for (int round = 0; round < 10; round++)
    for (int s = 0; s < 2; s++) {
      MUST(device->ops->fill(streams[s], to[s], 0, 0, size));
      MUST(device->ops->copy(streams[s], from[s], 0, to[s], 0, size));
    }
  MUST(device->ops->finish(streams[1]));
  for (int s = 0; s < 2; s++) {
    MUST(tsl_device_read(streams[s], to[s], 0, out, size));
    assert_memory_equal(out, in[s], size);
    device->ops->buffer_destroy(from[s]);
    device->ops->buffer_destroy(to[s]);
    free(in[s]);
  }
  device->ops->stream_destroy(streams[1]);
  free(out);
}

typedef struct worker {
  tsl_device *device;
  unsigned seed;
  const char *wrong; /* NULL: all was right */
  char sentence[256];
} worker;

static const char *worker_rounds(worker *self, tsl_stream *stream, unsigned char *in, unsigned char *out,
                                 size_t size) {
  const tsl_device_ops *ops = self->device->ops;
  for (unsigned round = 0; round < 50; round++) {
    tsl_buffer *a = NULL, *b = NULL;
    if (ops->buffer_create(self->device, size, &a) != TESELA_OK ||
        ops->buffer_create(self->device, size, &b) != TESELA_OK)
      return "buffer_create";
    in[round] = (unsigned char)round;
    if (tsl_device_write(stream, a, 0, in, size) != TESELA_OK ||
        ops->copy(stream, a, 0, b, 0, size) != TESELA_OK ||
        tsl_device_read(stream, b, 0, out, size) != TESELA_OK)
      return "a copy";
    if (memcmp(in, out, size) != 0)
      return "the bytes";
    ops->buffer_destroy(a);
    ops->buffer_destroy(b);
  }
  return NULL;
}

static void *work(void *argument) {
  worker *self = argument;
  const size_t size = 30011;
  unsigned char *in = malloc(size), *out = malloc(size);
  tsl_stream *stream = NULL;
  self->wrong = in && out ? NULL : "malloc";
  for (size_t i = 0; i < size && !self->wrong; i++)
    in[i] = pattern(i, self->seed);
  if (!self->wrong && self->device->ops->stream_create(self->device, &stream) != TESELA_OK)
    self->wrong = "stream_create";
  if (!self->wrong)
    self->wrong = worker_rounds(self, stream, in, out, size);
  snprintf(self->sentence, sizeof self->sentence, "%s", tesela_last_error());
  if (stream)
    self->device->ops->stream_destroy(stream);
  free(in);
  free(out);
  return NULL;
}

static void two_threads(tsl_device *device, tsl_stream *stream) {
  (void)stream;
  worker workers[2] = {{.device = device, .seed = 30}, {.device = device, .seed = 31}};
  pthread_t threads[2];
  for (int t = 0; t < 2; t++)
    assert_int_equal(pthread_create(&threads[t], NULL, work, &workers[t]), 0);
  for (int t = 0; t < 2; t++)
    pthread_join(threads[t], NULL);
  for (int t = 0; t < 2; t++)
    if (workers[t].wrong)
      fail_msg("%s: thread %d: %s: %s", device->name, t, workers[t].wrong, workers[t].sentence);
}

/* Memory that is handed back is taken again: all of it together is more than the device has. Of the host's
 * own memory this asks nothing that a leak checker does not see. */
static void memory_comes_back(tsl_device *device, tsl_stream *stream) {
  if (device->capabilities & TSL_CAN_HOST)
    return;
  const size_t piece = (size_t)(device->allocation_max / 8);
  for (int round = 0; round < 20; round++) {
    tsl_buffer *buffer = NULL;
    MUST(device->ops->buffer_create(device, piece, &buffer));
    MUST(device->ops->fill(stream, buffer, piece - 1, 1, 1));
    MUST(device->ops->finish(stream));
    device->ops->buffer_destroy(buffer);
  }
}

static void wrapped(tsl_device *device, tsl_stream *stream) {
  const size_t size = 16384;
  void *host = NULL;
  unsigned char *out = malloc(size);
  if (device->host_alignment == 0) {
    print_message("    (takes no host memory as it is)\n");
    free(out);
    return;
  }
  const size_t alignment = device->host_alignment < sizeof(void *) ? sizeof(void *) : device->host_alignment;
  assert_int_equal(posix_memalign(&host, alignment, size), 0);
  unsigned char *bytes = host;
  for (size_t i = 0; i < size; i++)
    bytes[i] = pattern(i, 40);
  tsl_buffer *buffer = NULL;
  MUST(device->ops->buffer_wrap(device, host, size, &buffer));
  MUST(tsl_device_read(stream, buffer, 0, out, size));
  for (size_t i = 0; i < size; i++)
    assert_int_equal(out[i], pattern(i, 40));
  MUST(device->ops->fill(stream, buffer, 100, 0x5a, 1000));
  MUST(device->ops->finish(stream));
  for (size_t i = 0; i < size; i++)
    assert_int_equal(bytes[i], i >= 100 && i < 1100 ? 0x5a : pattern(i, 40));
  device->ops->buffer_destroy(buffer);
  free(host);
  free(out);
}

static void mapped(tsl_device *device, tsl_stream *stream) {
  const size_t size = 5003;
  unsigned char *in = patterned(size, 50), *out = malloc(size);
  void *seen = NULL;
  assert_non_null(out);
  tsl_buffer *buffer = buffer_of(stream, device, in, size);
  MUST(device->ops->fill(stream, buffer, 0, 9, 1));
  MUST(device->ops->buffer_map(stream, buffer, 1, &seen));
  in[0] = 9;
  assert_memory_equal(seen, in, size);
  ((unsigned char *)seen)[size - 1] = in[size - 1] = 77;
  MUST(device->ops->buffer_unmap(stream, buffer, seen));
  MUST(tsl_device_read(stream, buffer, 0, out, size));
  assert_memory_equal(out, in, size);
  MUST(device->ops->buffer_map(stream, buffer, 0, &seen));
  assert_memory_equal(seen, in, size);
  MUST(device->ops->buffer_unmap(stream, buffer, seen));
  MUST(device->ops->finish(stream));
  device->ops->buffer_destroy(buffer);
  free(in), free(out);
}

/* Overlaps copies and computation: bytes go in on one stream, are copied on the device on a second,
 * and go out on a third. Only events keep the order. Rows have pitches, and all rounds use the same
 * memory. */
static void pinned(tsl_device *device, tsl_stream *stream) {
  enum { ROWS = 64, ROW = 40000, PITCH = 40960, ROUNDS = 8 };
  const tsl_device_ops *ops = device->ops;
  if (!ops->pinned_create) {
    assert_true(!ops->pinned_destroy && !ops->write_later && !ops->read_later && !ops->stream_wait &&
                !ops->event_wait);
    return;
  }
  tsl_pinned *memory = NULL;
  tsl_stream *out = NULL, *on = NULL;
  tsl_event *came = NULL, *copied = NULL, *gone = NULL;
  tsl_buffer *one = NULL, *two = NULL;
  MUST(ops->pinned_create(device, 2 * ROWS * ROW, &memory));
  assert_true(memory->device == device && memory->bytes == 2 * ROWS * ROW);
  MUST(ops->stream_create(device, &out));
  MUST(ops->stream_create(device, &on));
  MUST(ops->event_create(device, &came));
  MUST(ops->event_create(device, &copied));
  MUST(ops->event_create(device, &gone));
  MUST(ops->buffer_create(device, ROWS * PITCH, &one));
  MUST(ops->buffer_create(device, ROWS * PITCH, &two));
  unsigned char *in = memory->host, *back = in + ROWS * ROW;
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < ROWS * ROW; i++)
      in[i] = (unsigned char)(i * 7 + round);
    tsl_copy copy = {
        .buffer = one, .device_pitch = PITCH, .host = in, .host_pitch = ROW, .rows = ROWS, .row_bytes = ROW};
    MUST(ops->write_later(stream, &copy));
    MUST(ops->event_record(stream, came));
    MUST(ops->stream_wait(on, came));
    MUST(ops->copy(on, one, 0, two, 0, ROWS * PITCH));
    MUST(ops->event_record(on, copied));
    MUST(ops->stream_wait(out, copied));
    copy.buffer = two;
    copy.host = back;
    MUST(ops->read_later(out, &copy));
    MUST(ops->event_record(out, gone));
    MUST(ops->event_wait(gone));
    assert_memory_equal(in, back, ROWS * ROW);
  }
  ops->event_destroy(came), ops->event_destroy(copied), ops->event_destroy(gone);
  ops->stream_destroy(out), ops->stream_destroy(on);
  ops->buffer_destroy(one), ops->buffer_destroy(two);
  ops->pinned_destroy(memory);
}

/* Native handles, which vendors' libraries are called with: each stream and buffer has a handle of
 * its own. */
static void natives(tsl_device *device, tsl_stream *stream) {
  const tsl_device_ops *ops = device->ops;
  if (!(device->capabilities & (TSL_CAN_OPENCL | TSL_CAN_CUDA)))
    return;
  tsl_buffer *one = NULL, *two = NULL;
  assert_non_null(ops->native_stream(stream));
  MUST(ops->buffer_create(device, 64, &one));
  MUST(ops->buffer_create(device, 64, &two));
  assert_non_null(ops->native_buffer(one));
  assert_ptr_not_equal(ops->native_buffer(one), ops->native_buffer(two));
  if (device->capabilities & TSL_CAN_CUDA) {
    MUST(ops->enter(device));
    ops->leave(device);
  }
  ops->buffer_destroy(one);
  ops->buffer_destroy(two);
}

/* X(test, capabilities it needs) */
#define CONFORMANCE_LIST(X)                                                                                  \
  X(described, 0)                                                                                            \
  X(round_trip, 0)                                                                                           \
  X(pitched, 0)                                                                                              \
  X(nothing, 0)                                                                                              \
  X(fill_and_copy, 0)                                                                                        \
  X(host_memory_is_free_again, 0)                                                                            \
  X(too_large, 0)                                                                                            \
  X(events, 0)                                                                                               \
  X(two_streams, 0)                                                                                          \
  X(two_threads, 0)                                                                                          \
  X(memory_comes_back, 0)                                                                                    \
  X(wrapped, 0)                                                                                              \
  X(mapped, TSL_CAN_SHARED_MEMORY)                                                                           \
  X(pinned, 0)                                                                                               \
  X(natives, 0)

#define CONFORMANCE_TEST(name, needs)                                                                        \
  static void test_##name(void **state) {                                                                    \
    (void)state;                                                                                             \
    on_each_device(needs, name);                                                                             \
  }
CONFORMANCE_LIST(CONFORMANCE_TEST)

int main(void) {
#define CONFORMANCE_ROW(name, needs) cmocka_unit_test(test_##name),
  const struct CMUnitTest tests[] = {CONFORMANCE_LIST(CONFORMANCE_ROW)};
  return cmocka_run_group_tests(tests, find_devices, close_devices);
}
