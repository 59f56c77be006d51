#include "as_c/device.h"

#include "core/status.h"

#include <ctype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

extern const tsl_device_kind tsl_device_kind_cpu;

fence_side as_c_side;
bool as_c_backwards;
int as_c_complaints, as_c_launches;
const char *as_c_complaint = "";

enum { ITEMS_MOST = 1024, STACK = 1 << 18, ARGUMENTS_MOST = 16, KERNELS_MOST = 8 };

/* As dialect_impl.h has them. */
typedef struct as_c_image {
  const char *data;
  long pitch, width, height;
} as_c_image;
typedef struct as_c_place {
  int group[3], groups[3], item[3], items[3];
  int run;
  void (*barrier)(void);
  void (*complain)(const char *what);
} as_c_place;

typedef void entry(const void *const *arguments);
struct tsl_kernel {
  tsl_module *module;
  entry *run;
};
struct tsl_module {
  tsl_device *device;
  int file; /* of the library */
  void *library;
  as_c_place *place;
  tsl_kernel kernels[KERNELS_MOST];
  int count;
};
struct tsl_image {
  as_c_image shown;
};

static void complain(const char *what) {
  as_c_complaints++;
  as_c_complaint = what;
}

/* --- buffers --- */

static bool taken[FENCE_PLACES];

typedef struct as_c_buffer {
  tsl_buffer base;
  int place;
} as_c_buffer;

/* As a device's memory: aligned to 16 bytes, nothing of it known. */
static tesela_status buffer_create(tsl_device *device, size_t bytes, tsl_buffer **buffer) {
  int place = 0;
  while (place < FENCE_PLACES && taken[place])
    place++;
  void *host = place < FENCE_PLACES ? fence_block(place, bytes, 16, as_c_side) : NULL;
  as_c_buffer *made = host ? calloc(1, sizeof *made) : NULL;
  *buffer = NULL;
  if (!made)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no protected memory of %zu bytes", device->name, bytes);
  memset(host, 0xff, bytes);
  taken[place] = true;
  *made = (as_c_buffer){.base = {.device = device, .bytes = bytes, .host = host}, .place = place};
  *buffer = &made->base;
  return TESELA_OK;
}

static void buffer_destroy(tsl_buffer *buffer) {
  taken[((as_c_buffer *)buffer)->place] = false;
  free(buffer);
}

/* --- images --- */

static tesela_status image_create(tsl_stream *stream, const tsl_image_layout *layout, tsl_image **image) {
  (void)stream;
  *image = NULL;
  TSL_TRY(tsl_image_check(layout));
  tsl_image *made = calloc(1, sizeof *made);
  if (!made)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for an image's record");
  made->shown = (as_c_image){(const char *)layout->buffer->host + layout->offset, (long)layout->pitch,
                             (long)layout->width, (long)layout->height};
  *image = made;
  return TESELA_OK;
}

static void image_destroy(tsl_image *image) {
  free(image);
}

/* --- compiling --- */

static tesela_status compiler(tsl_device *device, tsl_text *text) {
  (void)device;
  tsl_text_add(text, "%s %s", AS_C_COMPILER, __VERSION__);
  return tsl_text_status(text);
}

/* Comments become blanks. */
static void blank_comments(char *text) {
  for (char *at = strstr(text, "/*"); at; at = strstr(at, "/*")) {
    char *end = strstr(at, "*/");
    memset(at, ' ', end ? (size_t)(end + 2 - at) : strlen(at));
  }
}

/* The type in front of a parameter's name. */
static void add_parameter(tsl_text *text, const char *begin, const char *end, int index) {
  while (end > begin && isspace((unsigned char)end[-1]))
    end--;
  while (end > begin && (isalnum((unsigned char)end[-1]) || end[-1] == '_'))
    end--;
  tsl_text_add(text, "%s*(%.*s *)p[%d]", index > 0 ? ", " : "", (int)(end - begin), begin, index);
}

/* A function for each kernel that takes the addresses of its arguments. */
static void add_entries(const char *text, tsl_text *text_in) {
  static const char word[] = "\nTSL_KERNEL";
  tsl_text_add(text_in, "\n");
  for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
    const char *name =
        strchr(strchr(at, '('), ')') + 1; /* behind the macro's arguments, which have no parentheses */
    while (isspace((unsigned char)*name))
      name++;
    const char *list = strchr(name, '(');
    if (!list)
      return;
    tsl_text_add(text_in, "void as_c_run_%.*s(const void *const *p) { %.*s(", (int)(list - name), name,
                 (int)(list - name), name);
    int index = 0;
    for (const char *begin = list + 1, *end = begin;; end++)
      if (*end == ',' || *end == ')') {
        add_parameter(text_in, begin, end, index++);
        begin = end + 1;
        if (*end == ')')
          break;
      }
    tsl_text_add(text_in, "); }\n");
  }
}

static bool write_all(int file, const char *data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t count = write(file, data, bytes);
    if (count <= 0)
      return false;
    data += count;
    bytes -= (size_t)count;
  }
  return true;
}

/* Calls the compiler; its complaints go to standard error. */
static bool compile(const char *source, const char *library) {
  const pid_t child = vfork(); /* a copy of this process's tables takes longer than a compiler's start */
  if (child == 0) {
    execlp(AS_C_COMPILER, AS_C_COMPILER, "-std=gnu11", "-O0", "-w", "-Wno-psabi", "-ffp-contract=off",
           "-shared", "-fPIC", "-o", library, source, "-lm", (char *)NULL);
    _exit(127);
  }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Reads a file that ends where it ends now. */
static bool read_all(const char *path, tsl_binary *binary) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const off_t bytes = file >= 0 ? lseek(file, 0, SEEK_END) : 0;
  void *data = bytes > 0 ? malloc((size_t)bytes) : NULL;
  const bool good = data && pread(file, data, (size_t)bytes, 0) == bytes;
  if (file >= 0)
    close(file);
  if (good)
    *binary = (tsl_binary){data, (size_t)bytes};
  else
    free(data);
  return good;
}

/* Where the compiler refuses a text, the file stays to be looked at. */
static tesela_status build(tsl_device *device, const tsl_build *what, tsl_binary *binary) {
  char source[] = "/tmp/tesela-as-c-XXXXXX.c", library[] = "/tmp/tesela-as-c-XXXXXX.so";
  tsl_text text = {0};
  *binary = (tsl_binary){NULL, 0};
  const int file = mkstemps(source, 2), made = mkstemps(library, 3);
  tsl_text_add_bytes(&text, what->text, strlen(what->text));
  char *plain = strdup(what->text);
  if (plain) {
    blank_comments(plain);
    add_entries(plain, &text);
  }
  free(plain);
  const bool good = file >= 0 && made >= 0 &&
                    write_all(file, tsl_text_get(&text), strlen(tsl_text_get(&text))) &&
                    compile(source, library) && read_all(library, binary);
  tsl_text_free(&text);
  close(file);
  close(made);
  unlink(library);
  if (!good)
    return tsl_fail(TESELA_BUILD_FAILED, "%s: %s: the C compiler refuses %s", device->name, what->name,
                    source);
  unlink(source);
  return TESELA_OK;
}

/* From memory: the loader takes two files for one where the second has the number that the first gave
 * back. */
static tesela_status module_load(tsl_device *device, const char *name, const tsl_binary *binary,
                                 tsl_module **module) {
  char path[64];
  *module = NULL;
  tsl_module *made = calloc(1, sizeof *made);
  if (!made)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no memory for a module", device->name);
  made->file = memfd_create("as_c", MFD_CLOEXEC);
  snprintf(path, sizeof path, "/proc/self/fd/%d", made->file);
  if (made->file >= 0 && write_all(made->file, binary->data, binary->bytes))
    made->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!made->library) {
    close(made->file);
    free(made);
    return tsl_fail(TESELA_BUILD_FAILED, "%s: %s: cannot be loaded: %s", device->name, name, dlerror());
  }
  made->device = device;
  made->place = dlsym(made->library, "as_c_here");
  *module = made;
  return TESELA_OK;
}

static void module_destroy(tsl_module *module) {
  dlclose(module->library);
  close(module->file);
  free(module);
}

static tesela_status kernel_get(tsl_module *module, const char *name, tsl_kernel **kernel) {
  char whole[128];
  *kernel = NULL;
  snprintf(whole, sizeof whole, "as_c_run_%s", name);
  void *address = dlsym(module->library, whole);
  entry *run;
  memcpy(&run, &address, sizeof run);
  int at = 0;
  while (at < module->count && module->kernels[at].run != run)
    at++;
  if (!address || at == KERNELS_MOST)
    return tsl_fail(TESELA_BUILD_FAILED, "%s: there is no kernel %s", module->device->name, name);
  module->kernels[at] = (tsl_kernel){module, run};
  module->count += at == module->count;
  *kernel = &module->kernels[at];
  return TESELA_OK;
}

static int kernel_items_max(tsl_kernel *kernel) {
  (void)kernel;
  return ITEMS_MOST;
}

/* --- items that take turns --- */

static ucontext_t scheduler, contexts[ITEMS_MOST];
static char *stacks;
static bool done[ITEMS_MOST];
static int turn;
static entry *run_now;
static const void *const *arguments_now;

static void barrier(void) {
  swapcontext(&contexts[turn], &scheduler);
}

static void start(int who) {
  run_now(arguments_now);
  done[who] = true;
}

/* A function of its own, since getcontext() may return twice for all that a compiler knows. */
static void prepare(int who) {
  done[who] = false;
  getcontext(&contexts[who]);
  contexts[who].uc_stack.ss_sp = stacks + (size_t)who * STACK;
  contexts[who].uc_stack.ss_size = STACK;
  contexts[who].uc_link = &scheduler;
  makecontext(&contexts[who], (void (*)(void))start, 1, who);
}

/* All items go on to their next barrier, or their end, in order. */
static void run_group(as_c_place *place) {
  const int count = place->items[0] * place->items[1] * place->items[2];
  place->run++;
  for (int who = 0; who < count; who++)
    prepare(who);
  for (int left = count; left > 0;) {
    const int before = left;
    for (int i = 0; i < count; i++) {
      turn = as_c_backwards ? count - 1 - i : i;
      if (done[turn])
        continue;
      place->item[0] = turn % place->items[0];
      place->item[1] = turn / place->items[0] % place->items[1];
      place->item[2] = turn / place->items[0] / place->items[1];
      swapcontext(&scheduler, &contexts[turn]);
      left -= done[turn];
    }
    if (left > 0 && left < before)
      complain("items end while others wait at a barrier");
  }
}

static tesela_status launch(tsl_stream *stream, tsl_kernel *kernel, const tsl_grid *grid,
                            const tsl_argument *arguments, int count) {
  const void *values[ARGUMENTS_MOST], *addresses[ARGUMENTS_MOST];
  as_c_place *place = kernel->module->place;
  (void)stream;
  if (count > ARGUMENTS_MOST)
    return tsl_fail(TESELA_INTERNAL, "%d arguments", count);
  for (int i = 0; i < count; i++) {
    values[i] = arguments[i].image    ? &arguments[i].image->shown
                : arguments[i].buffer ? arguments[i].buffer->host
                                      : NULL;
    addresses[i] = arguments[i].image || arguments[i].buffer ? &values[i] : arguments[i].value;
  }
  place->barrier = barrier;
  place->complain = complain;
  run_now = kernel->run;
  arguments_now = addresses;
  as_c_launches++;
  for (int d = 0; d < 3; d++) {
    place->groups[d] = (int)grid->groups[d];
    place->items[d] = grid->items[d];
  }
  for (int z = 0; z < place->groups[2]; z++)
    for (int y = 0; y < place->groups[1]; y++)
      for (int x = 0; x < place->groups[0]; x++) {
        place->group[0] = x;
        place->group[1] = y;
        place->group[2] = z;
        run_group(place);
      }
  return TESELA_OK;
}

/* --- the device --- */

static tsl_device_ops ops;

static void take(void *argument, const tsl_device *device) {
  *(tsl_device *)argument = *device;
}

static tesela_status list(void (*found)(void *argument, const tsl_device *device), void *argument) {
  tsl_device device;
  stacks = mmap(NULL, (size_t)ITEMS_MOST * STACK, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks == MAP_FAILED)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for stacks");
  TSL_TRY(tsl_device_kind_cpu.list(take, &device));
  ops = *device.ops;
  ops.dialect_folder = TESELA_SOURCE_DIR "/tests/as_c";
  ops.source_extension = "c";
  ops.relaxed_option = "";
  ops.buffer_create = buffer_create;
  ops.buffer_destroy = buffer_destroy;
  ops.image_create = image_create;
  ops.image_destroy = image_destroy;
  ops.build = build;
  ops.compiler = compiler;
  ops.module_load = module_load;
  ops.module_destroy = module_destroy;
  ops.kernel_get = kernel_get;
  ops.kernel_items_max = kernel_items_max;
  ops.launch = launch;
  device.ops = &ops;
  device.capabilities = TSL_CAN_KERNELS | TSL_CAN_LOCAL | TSL_CAN_F64 | TSL_CAN_IMAGES | TSL_CAN_ASYNC_COPY;
  device.is_cpu = 0;
  device.compute_units = 4;
  device.clock_mhz = 2000;
  device.local_bytes = 65536;
  device.group_items_max = 256;
  for (int d = 0; d < 3; d++) {
    device.group_size_max[d] = 256;
    device.group_count_max[d] = d == 0 ? 1 << 20 : 3; /* few, so that groups go on to further rows */
  }
  device.image_width_max = device.image_height_max = 4096;
  device.image_offset_alignment = device.image_pitch_alignment = 16;
  device.image_pitch_max = 4096 * 16;
  device.peak_f32 = device.peak_f64 = 1e12;
  device.bandwidth = 1e11;
  device.link_bandwidth = 1e10;
  device.launch_seconds = 1e-5;
  snprintf(device.label, sizeof device.label, "kernels as C");
  snprintf(device.key, sizeof device.key, "as_c/1");
  found(argument, &device);
  return TESELA_OK;
}

const tsl_device_kind as_c_kind = {
    .kind = "as_c", .what = "kernels that the C compiler compiles", .list = list};
