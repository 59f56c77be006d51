/* Every operation of the vtable, forwarded to the inner device. A fake object holds the inner
 * object and the members that the vtable guarantees (tsl_buffer's fields). Both are made and
 * destroyed together. */
#include "fake/fake_internal.h"

#include "core/status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct fake_buffer {
  tsl_buffer base;
  tsl_buffer *inner;
  atomic_uint_fast64_t used; /* the number of the last work on it; 0: none */
  atomic_int used_by;        /* the place of that work's stream */
} fake_buffer;

struct tsl_stream {
  tsl_device *device;
  tsl_stream *inner;
  int place; /* in `waited_for` */
};

/* Number of the last work, and for each stream the number up to which a caller has waited. More
 * than PLACES streams share places, which hides some pending work and invents none. */
enum { PLACES = 256 };
static atomic_uint_fast64_t work_count, waited_for[PLACES];
static atomic_int stream_count;

struct tsl_image {
  tsl_device *device;
  tsl_image *inner;
};

struct tsl_event {
  tsl_device *device;
  tsl_event *inner;
  double when; /* by the clock of tests */
  int asked;   /* since it was recorded */
};

struct tsl_kernel {
  tsl_module *module;
  tsl_kernel *inner;
  tsl_kernel *next;
};

struct tsl_module {
  tsl_device *device;
  tsl_module *inner;
  pthread_mutex_t lock; /* of `kernels`, which live as long as the module */
  tsl_kernel *kernels;
};

static tsl_device *inner_of(const tsl_device *device) {
  return ((const fake_device *)device->impl)->inner;
}

static tsl_buffer *inner_buffer(tsl_buffer *buffer) {
  return buffer != NULL ? ((fake_buffer *)buffer)->inner : NULL;
}

/* A stream has work on a buffer (NULL: none). */
static void note_work(const tsl_stream *stream, tsl_buffer *buffer) {
  fake_buffer *self = (fake_buffer *)buffer;
  if (self == NULL)
    return;
  atomic_store(&self->used_by, stream->place);
  atomic_store(&self->used, atomic_fetch_add(&work_count, 1) + 1);
}
static void note_wait(const tsl_stream *stream) {
  atomic_store(&waited_for[stream->place], atomic_load(&work_count));
}

/* Replaces the inner device's name in its error by the name that the caller knows. */
static tesela_status passed_on(const tsl_device *device, tesela_status status) {
  return status == TESELA_OK ? TESELA_OK : tsl_fail_in(status, "%s", device->name);
}

static tesela_status no_record(const tsl_device *device) {
  return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no memory for a record", device->name);
}

/* --- life --- */

static tesela_status open_inner(tsl_device *device) {
  TSL_TRY(fake_demand(device, TESELA_FAKE_OPEN));
  return passed_on(device, tsl_device_open(inner_of(device)));
}

/* The inner device closes with its list of devices, when the fake one is forgotten. */
static void close_nothing(tsl_device *device) {
  (void)device;
}

/* --- buffers --- */

static tesela_status buffer_record(tsl_device *device, tsl_buffer *inner, tsl_buffer **buffer) {
  fake_buffer *self = calloc(1, sizeof *self);
  if (self == NULL) {
    inner->device->ops->buffer_destroy(inner);
    return no_record(device);
  }
  const fake_device *fake = device->impl;
  *self = (fake_buffer){.base = {.device = device,
                                 .bytes = inner->bytes,
                                 .host = fake->hides_host ? NULL : inner->host,
                                 .askew = inner->askew},
                        .inner = inner};
  fake_count_live(TESELA_FAKE_LIVE_BUFFER, 1);
  *buffer = &self->base;
  return TESELA_OK;
}

static tesela_status buffer_create(tsl_device *device, size_t bytes, tsl_buffer **buffer) {
  tsl_device *inner = inner_of(device);
  tsl_buffer *made;
  *buffer = NULL;
  TSL_TRY(fake_demand(device, TESELA_FAKE_ALLOCATION));
  TSL_TRY(passed_on(device, inner->ops->buffer_create(inner, bytes, &made)));
  return buffer_record(device, made, buffer);
}

static tesela_status buffer_wrap(tsl_device *device, void *host, size_t bytes, tsl_buffer **buffer) {
  tsl_device *inner = inner_of(device);
  tsl_buffer *made;
  *buffer = NULL;
  TSL_TRY(fake_demand(device, TESELA_FAKE_ALLOCATION));
  TSL_TRY(passed_on(device, inner->ops->buffer_wrap(inner, host, bytes, &made)));
  fake_count_wrap();
  return buffer_record(device, made, buffer);
}

static void buffer_destroy(tsl_buffer *buffer) {
  tsl_buffer *inner = inner_buffer(buffer);
  fake_buffer *self = (fake_buffer *)buffer;
  if (atomic_load(&self->used) > atomic_load(&waited_for[atomic_load(&self->used_by)]))
    fake_count_torn();
  inner->device->ops->buffer_destroy(inner);
  fake_count_live(TESELA_FAKE_LIVE_BUFFER, -1);
  free(buffer);
}

static tesela_status buffer_map(tsl_stream *stream, tsl_buffer *buffer, int write, void **host) {
  *host = NULL;
  TSL_TRY(fake_demand(stream->device, TESELA_FAKE_MAP));
  note_wait(stream);
  return passed_on(
      stream->device,
      inner_of(stream->device)->ops->buffer_map(stream->inner, inner_buffer(buffer), write, host));
}

static tesela_status buffer_unmap(tsl_stream *stream, tsl_buffer *buffer, void *host) {
  const tsl_device *device = stream->device;
  /* The inner one is unmapped in any case: a device that fails here has let go of the address all the same.
   */
  const tesela_status status = inner_of(device)->ops->buffer_unmap(stream->inner, inner_buffer(buffer), host);
  TSL_TRY(fake_demand(device, TESELA_FAKE_MAP));
  return passed_on(device, status);
}

/* --- streams --- */

static tesela_status stream_create(tsl_device *device, tsl_stream **stream) {
  tsl_device *inner = inner_of(device);
  *stream = NULL;
  TSL_TRY(fake_demand(device, TESELA_FAKE_STREAM));
  tsl_stream *self = calloc(1, sizeof *self);
  if (self == NULL)
    return no_record(device);
  const tesela_status status = inner->ops->stream_create(inner, &self->inner);
  if (status != TESELA_OK) {
    free(self);
    return passed_on(device, status);
  }
  self->device = device;
  self->place = atomic_fetch_add(&stream_count, 1) % PLACES;
  fake_count_live(TESELA_FAKE_LIVE_STREAM, 1);
  *stream = self;
  return TESELA_OK;
}

static void stream_destroy(tsl_stream *stream) {
  inner_of(stream->device)->ops->stream_destroy(stream->inner);
  note_wait(stream);
  fake_count_live(TESELA_FAKE_LIVE_STREAM, -1);
  free(stream);
}

/* Waits before it fails: the clean-up that follows must not destroy objects that a stream of the
 * inner device still uses. */
static tesela_status finish(tsl_stream *stream) {
  const tesela_status status = inner_of(stream->device)->ops->finish(stream->inner);
  note_wait(stream);
  TSL_TRY(fake_demand(stream->device, TESELA_FAKE_FINISH));
  return passed_on(stream->device, status);
}

/* --- copies --- */

static tesela_status write_rows(tsl_stream *stream, const tsl_copy *copy) {
  tsl_copy inner = *copy;
  inner.buffer = inner_buffer(copy->buffer);
  TSL_TRY(fake_demand(stream->device, TESELA_FAKE_COPY_IN));
  return passed_on(stream->device, inner_of(stream->device)->ops->write(stream->inner, &inner));
}

static tesela_status read_rows(tsl_stream *stream, const tsl_copy *copy) {
  const tsl_device_ops *ops = inner_of(stream->device)->ops;
  tsl_copy inner = *copy;
  inner.buffer = inner_buffer(copy->buffer);
  const tesela_status status = fake_demand(stream->device, TESELA_FAKE_COPY_OUT);
  if (status != TESELA_OK && !fake_fails_halfway())
    return status;
  if (status != TESELA_OK && inner.rows > 1)
    inner.rows /= 2;
  else if (status != TESELA_OK)
    inner.row_bytes /= 2;
  const tesela_status read = passed_on(stream->device, ops->read(stream->inner, &inner));
  if (status == TESELA_OK) {
    note_wait(stream);
    return read;
  }
  return tsl_fail(status, "%s: copy_out failed on demand, half done", stream->device->name);
}

/* --- copies that overlap with computation --- */

typedef struct fake_pinned {
  tsl_pinned base;
  tsl_pinned *inner;
} fake_pinned;

static tesela_status pinned_create(tsl_device *device, size_t bytes, tsl_pinned **pinned) {
  tsl_device *inner = inner_of(device);
  *pinned = NULL;
  TSL_TRY(fake_demand(device, TESELA_FAKE_PINNED));
  fake_pinned *self = calloc(1, sizeof *self);
  if (self == NULL)
    return no_record(device);
  const tesela_status status = inner->ops->pinned_create(inner, bytes, &self->inner);
  if (status != TESELA_OK) {
    free(self);
    return passed_on(device, status);
  }
  self->base = *self->inner;
  self->base.device = device;
  fake_count_live(TESELA_FAKE_LIVE_PINNED, 1);
  *pinned = &self->base;
  return TESELA_OK;
}

static void pinned_destroy(tsl_pinned *pinned) {
  inner_of(pinned->device)->ops->pinned_destroy(((fake_pinned *)pinned)->inner);
  fake_count_live(TESELA_FAKE_LIVE_PINNED, -1);
  free(pinned);
}

static tesela_status write_later(tsl_stream *stream, const tsl_copy *copy) {
  tsl_copy inner = *copy;
  inner.buffer = inner_buffer(copy->buffer);
  TSL_TRY(fake_demand(stream->device, TESELA_FAKE_COPY_IN));
  return passed_on(stream->device, inner_of(stream->device)->ops->write_later(stream->inner, &inner));
}

static tesela_status read_later(tsl_stream *stream, const tsl_copy *copy) {
  tsl_copy inner = *copy;
  inner.buffer = inner_buffer(copy->buffer);
  TSL_TRY(fake_demand(stream->device, TESELA_FAKE_COPY_OUT));
  return passed_on(stream->device, inner_of(stream->device)->ops->read_later(stream->inner, &inner));
}

static tesela_status copy_bytes(tsl_stream *stream, tsl_buffer *from, size_t from_offset, tsl_buffer *buffer,
                                size_t to_offset, size_t bytes) {
  TSL_TRY(fake_demand(stream->device, TESELA_FAKE_COPY_ON));
  return passed_on(stream->device, inner_of(stream->device)
                                       ->ops->copy(stream->inner, inner_buffer(from), from_offset,
                                                   inner_buffer(buffer), to_offset, bytes));
}

static tesela_status fill(tsl_stream *stream, tsl_buffer *buffer, size_t offset, unsigned char byte,
                          size_t bytes) {
  TSL_TRY(fake_demand(stream->device, TESELA_FAKE_COPY_ON));
  return passed_on(
      stream->device,
      inner_of(stream->device)->ops->fill(stream->inner, inner_buffer(buffer), offset, byte, bytes));
}

/* --- images --- */

static tesela_status image_create(tsl_stream *stream, const tsl_image_layout *layout, tsl_image **image) {
  tsl_device *device = stream->device;
  tsl_image_layout inner = *layout;
  inner.buffer = inner_buffer(layout->buffer);
  *image = NULL;
  TSL_TRY(fake_demand(device, TESELA_FAKE_IMAGE));
  tsl_image *self = calloc(1, sizeof *self);
  if (self == NULL)
    return no_record(device);
  const tesela_status status = inner_of(device)->ops->image_create(stream->inner, &inner, &self->inner);
  if (status != TESELA_OK) {
    free(self);
    return passed_on(device, status);
  }
  self->device = device;
  fake_count_live(TESELA_FAKE_LIVE_IMAGE, 1);
  *image = self;
  return TESELA_OK;
}

static void image_destroy(tsl_image *image) {
  inner_of(image->device)->ops->image_destroy(image->inner);
  fake_count_live(TESELA_FAKE_LIVE_IMAGE, -1);
  free(image);
}

/* --- events --- */

static tesela_status event_create(tsl_device *device, tsl_event **event) {
  tsl_device *inner = inner_of(device);
  *event = NULL;
  TSL_TRY(fake_demand(device, TESELA_FAKE_EVENT));
  tsl_event *self = calloc(1, sizeof *self);
  if (self == NULL)
    return no_record(device);
  const tesela_status status = inner->ops->event_create(inner, &self->inner);
  if (status != TESELA_OK) {
    free(self);
    return passed_on(device, status);
  }
  self->device = device;
  fake_count_live(TESELA_FAKE_LIVE_EVENT, 1);
  *event = self;
  return TESELA_OK;
}

static void event_destroy(tsl_event *event) {
  inner_of(event->device)->ops->event_destroy(event->inner);
  fake_count_live(TESELA_FAKE_LIVE_EVENT, -1);
  free(event);
}

static tesela_status event_record(tsl_stream *stream, tsl_event *event) {
  TSL_TRY(fake_demand(stream->device, TESELA_FAKE_EVENT));
  (void)fake_has_clock(&event->when);
  event->asked = 0;
  return passed_on(stream->device, inner_of(stream->device)->ops->event_record(stream->inner, event->inner));
}

static tesela_status stream_wait(tsl_stream *stream, tsl_event *event) {
  TSL_TRY(fake_demand(stream->device, TESELA_FAKE_EVENT));
  return passed_on(stream->device, inner_of(stream->device)->ops->stream_wait(stream->inner, event->inner));
}

static tesela_status event_wait(tsl_event *event) {
  TSL_TRY(fake_demand(event->device, TESELA_FAKE_EVENT));
  return passed_on(event->device, inner_of(event->device)->ops->event_wait(event->inner));
}

static tesela_status event_done(tsl_event *event, bool *done) {
  *done = false;
  TSL_TRY(fake_demand(event->device, TESELA_FAKE_EVENT));
  if (!fake_has_cards() && inner_of(event->device)->ops->event_done)
    return passed_on(event->device, inner_of(event->device)->ops->event_done(event->inner, done));
  *done = ++event->asked == 3;
  return *done && !fake_has_cards()
             ? passed_on(event->device, inner_of(event->device)->ops->event_wait(event->inner))
             : TESELA_OK;
}

static tesela_status event_seconds(tsl_event *begin, tsl_event *end, double *seconds) {
  double now;
  TSL_TRY(fake_demand(begin->device, TESELA_FAKE_EVENT));
  if (fake_has_clock(&now)) {
    *seconds = end->when - begin->when;
    return TESELA_OK;
  }
  return passed_on(begin->device,
                   inner_of(begin->device)->ops->event_seconds(begin->inner, end->inner, seconds));
}

/* --- kernels --- */

static tesela_status build_text(tsl_device *device, const tsl_build *build, tsl_binary *binary) {
  *binary = (tsl_binary){NULL, 0};
  TSL_TRY(fake_demand(device, TESELA_FAKE_BUILD));
  return passed_on(device, inner_of(device)->ops->build(inner_of(device), build, binary));
}

/* An armed failure of build or load gives each question a compiler of its own, which has no cached kernels.
 */
static tesela_status compiler(tsl_device *device, tsl_text *text) {
  static atomic_int question;
  tsl_text_add(text, "fake over ");
  if (fake_is_armed(TESELA_FAKE_BUILD) || fake_is_armed(TESELA_FAKE_LOAD))
    tsl_text_add(text, "(%ld, %d) ", (long)getpid(), atomic_fetch_add(&question, 1));
  return passed_on(device, inner_of(device)->ops->compiler(inner_of(device), text));
}

static tesela_status module_load(tsl_device *device, const char *name, const tsl_binary *binary,
                                 tsl_module **module) {
  tsl_device *inner = inner_of(device);
  *module = NULL;
  TSL_TRY(fake_demand(device, TESELA_FAKE_LOAD));
  tsl_module *self = calloc(1, sizeof *self);
  if (self == NULL)
    return no_record(device);
  const tesela_status status = inner->ops->module_load(inner, name, binary, &self->inner);
  if (status != TESELA_OK) {
    free(self);
    return passed_on(device, status);
  }
  self->device = device;
  pthread_mutex_init(&self->lock, NULL);
  fake_count_live(TESELA_FAKE_LIVE_MODULE, 1);
  *module = self;
  return TESELA_OK;
}

static void module_destroy(tsl_module *module) {
  inner_of(module->device)->ops->module_destroy(module->inner);
  for (tsl_kernel *kernel = module->kernels, *next; kernel != NULL; kernel = next) {
    next = kernel->next;
    free(kernel);
  }
  pthread_mutex_destroy(&module->lock);
  fake_count_live(TESELA_FAKE_LIVE_MODULE, -1);
  free(module);
}

static tesela_status kernel_get(tsl_module *module, const char *name, tsl_kernel **kernel) {
  const tsl_device *device = module->device;
  *kernel = NULL;
  TSL_TRY(fake_demand(device, TESELA_FAKE_LOAD));
  tsl_kernel *self = calloc(1, sizeof *self);
  if (self == NULL)
    return no_record(device);
  const tesela_status status = inner_of(device)->ops->kernel_get(module->inner, name, &self->inner);
  if (status != TESELA_OK) {
    free(self);
    return passed_on(device, status);
  }
  self->module = module;
  pthread_mutex_lock(&module->lock);
  self->next = module->kernels;
  module->kernels = self;
  pthread_mutex_unlock(&module->lock);
  *kernel = self;
  return TESELA_OK;
}

static int kernel_items_max(tsl_kernel *kernel) {
  return inner_of(kernel->module->device)->ops->kernel_items_max(kernel->inner);
}

static tesela_status kernel_local_bytes(tsl_kernel **kernel, size_t bytes) {
  tsl_device *device = (*kernel)->module->device;
  return passed_on(device, inner_of(device)->ops->kernel_local_bytes(&(*kernel)->inner, bytes));
}

static void kernel_early(tsl_kernel *kernel) {
  inner_of(kernel->module->device)->ops->kernel_early(kernel->inner);
}

static tesela_status tensor_map(const tsl_tensor *tensor, tsl_tensor_map *map) {
  tsl_device *device = tensor->buffer->device;
  tsl_tensor inner = *tensor;
  inner.buffer = inner_buffer(tensor->buffer);
  return passed_on(device, inner_of(device)->ops->tensor_map(&inner, map));
}

/* Flips the highest bit but one of the first four bytes of a launch's last buffer: an exponent's of f32. */
static tesela_status flip_result(tsl_stream *inner_stream, const tsl_argument *inner, int count) {
  unsigned char byte;
  for (int i = count - 1; i >= 0; i--) {
    if (inner[i].buffer == NULL || inner[i].buffer->bytes < 4)
      continue;
    TSL_TRY(tsl_device_read(inner_stream, inner[i].buffer, 3, &byte, 1));
    byte ^= 0x40;
    return tsl_device_write(inner_stream, inner[i].buffer, 3, &byte, 1);
  }
  return TESELA_OK;
}

static tesela_status launch(tsl_stream *stream, tsl_kernel *kernel, const tsl_grid *grid,
                            const tsl_argument *arguments, int count) {
  tsl_device *device = stream->device;
  TSL_TRY(fake_demand(device, TESELA_FAKE_LAUNCH));
  tsl_argument *inner = calloc((size_t)count + 1, sizeof *inner);
  if (inner == NULL)
    return no_record(device);
  for (int i = 0; i < count; i++) {
    inner[i] = arguments[i];
    note_work(stream, arguments[i].buffer);
    inner[i].buffer = inner_buffer(arguments[i].buffer);
    inner[i].image = arguments[i].image != NULL ? arguments[i].image->inner : NULL;
  }
  tesela_status status = inner_of(device)->ops->launch(stream->inner, kernel->inner, grid, inner, count);
  if (status == TESELA_OK && fake_demand(device, TESELA_FAKE_FLIP) != TESELA_OK)
    status = flip_result(stream->inner, inner, count);
  free(inner);
  return passed_on(device, status);
}

/* --- for vendors' libraries --- */

static void *native_stream(tsl_stream *stream) {
  return inner_of(stream->device)->ops->native_stream(stream->inner);
}

static void *native_buffer(tsl_buffer *buffer) {
  return inner_of(buffer->device)->ops->native_buffer(inner_buffer(buffer));
}

static tesela_status enter(tsl_device *device) {
  return passed_on(device, inner_of(device)->ops->enter(inner_of(device)));
}

static void leave(tsl_device *device) {
  inner_of(device)->ops->leave(inner_of(device));
}

/* Operations of cards over the cpu. */
static _Thread_local int entered;

int tesela_fake_entered(void) {
  return entered;
}

static void *card_stream(tsl_stream *stream) {
  return stream;
}

static void *card_buffer(tsl_buffer *buffer) {
  return inner_buffer(buffer)->host;
}

static tesela_status card_enter(tsl_device *device) {
  (void)device;
  entered++;
  return TESELA_OK;
}

static void card_leave(tsl_device *device) {
  (void)device;
  entered--;
}

tsl_device_ops fake_ops(const tsl_device *inner, unsigned hidden) {
  const tsl_device_ops *there = inner->ops;
  tsl_device_ops ops = {
      .open = open_inner,
      .close = close_nothing,
      .buffer_create = buffer_create,
      .buffer_destroy = buffer_destroy,
      .stream_create = stream_create,
      .stream_destroy = stream_destroy,
      .finish = finish,
      .write = write_rows,
      .read = read_rows,
      .copy = copy_bytes,
      .fill = fill,
      .event_create = event_create,
      .event_destroy = event_destroy,
      .event_record = event_record,
      .event_seconds = event_seconds,
  };
  if (there->buffer_wrap != NULL && (hidden & TSL_CAN_SHARED_MEMORY) == 0) {
    ops.buffer_wrap = buffer_wrap;
    ops.buffer_map = buffer_map;
    ops.buffer_unmap = buffer_unmap;
  }
  if (there->pinned_create != NULL) {
    ops.pinned_create = pinned_create;
    ops.pinned_destroy = pinned_destroy;
    ops.write_later = write_later;
    ops.read_later = read_later;
    ops.stream_wait = stream_wait;
    ops.event_wait = event_wait;
  }
  if (there->image_create != NULL && (hidden & TSL_CAN_IMAGES) == 0) {
    ops.image_create = image_create;
    ops.image_destroy = image_destroy;
  }
  if (there->build != NULL && (hidden & TSL_CAN_KERNELS) == 0) {
    ops.dialect_folder = there->dialect_folder;
    ops.source_extension = there->source_extension;
    ops.relaxed_option = there->relaxed_option;
    ops.build = build_text;
    ops.compiler = compiler;
    ops.module_load = module_load;
    ops.module_destroy = module_destroy;
    ops.kernel_get = kernel_get;
    ops.kernel_items_max = kernel_items_max;
    ops.launch = launch;
    ops.kernel_local_bytes = there->kernel_local_bytes ? kernel_local_bytes : NULL;
    ops.kernel_early = there->kernel_early ? kernel_early : NULL;
    ops.tensor_map = there->tensor_map ? tensor_map : NULL;
  }
  if (there->native_stream != NULL) {
    ops.native_stream = native_stream;
    ops.native_buffer = native_buffer;
  }
  if (fake_has_cards()) {
    ops.native_stream = card_stream;
    ops.native_buffer = card_buffer;
    ops.enter = card_enter;
    ops.leave = card_leave;
  }
  if (fake_has_cards() || fake_has_polls() || there->event_done != NULL)
    ops.event_done = event_done;
  if (there->enter != NULL) {
    ops.enter = enter;
    ops.leave = leave;
  }
  return ops;
}
