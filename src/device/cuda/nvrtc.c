#include "device/cuda/nvrtc.h"

#include "core/env.h"
#include "core/library.h"
#include "core/log.h"
#include "core/status.h"
#include "device/cuda/nvrtc_api.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tsl_nvrtc_api nvrtc;

static const tsl_library_symbol symbols[] = {
#define SYMBOL(type, member, symbol, parameters) {#symbol, offsetof(tsl_nvrtc_api, member), 0},
    TSL_NVRTC_LIST(SYMBOL)
#undef SYMBOL
};

/* Newest first; folders of CUDA's packages. */
static const struct {
  int major;
  const char *name;
} sonames[] = {{13, "libnvrtc.so.13"}, {12, "libnvrtc.so.12"}, {11, "libnvrtc.so.11.2"}};
static const char *const home_variables[] = {"CUDA_HOME", "CUDA_PATH"};
static const char *const home_folders[] = {"lib64", "lib"};
static const char *const folders[] = {"/usr/local/cuda/lib64", "/usr/local/cuda/lib", "/opt/cuda/lib64",
                                      "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"};

static const char *const fixed_options[] = {"-std=c++17", "--fmad=true"};
#define LENGTH(array) (sizeof(array) / sizeof *(array))

#define CANDIDATES_MAX 64
typedef struct candidates {
  char *names[CANDIDATES_MAX + 1]; /* NULL-terminated */
  size_t count;
} candidates;

/* Adds folder/below/name if the file exists, or `name` alone if folder is NULL. */
static void add_candidate(candidates *all, const char *folder, const char *below, const char *name) {
  tsl_text path = {0};
  if (folder)
    tsl_text_add(&path, "%s%s%s/%s", folder, *below ? "/" : "", below, name);
  else
    tsl_text_add(&path, "%s", name);
  /* Missing files would lengthen the error message. */
  if (all->count < CANDIDATES_MAX && !path.failed && (!folder || access(path.data, R_OK) == 0))
    all->names[all->count++] = tsl_text_take(&path);
  tsl_text_free(&path);
}

static void add_in_all_folders(candidates *all, const char *name) {
  add_candidate(all, NULL, "", name);
  for (size_t v = 0; v < LENGTH(home_variables); v++) {
    const char *home = tsl_env_foreign(home_variables[v]);
    for (size_t f = 0; home && *home && f < LENGTH(home_folders); f++)
      add_candidate(all, home, home_folders[f], name);
  }
  for (size_t f = 0; f < LENGTH(folders); f++)
    add_candidate(all, folders[f], "", name);
}

static void list_candidates(candidates *all, int driver_version) {
  const int driver_major = driver_version > 0 ? driver_version / 1000 : INT_MAX;
  for (int newer = 0; newer <= 1; newer++)
    for (size_t i = 0; i < LENGTH(sonames); i++)
      if ((sonames[i].major > driver_major) == newer)
        add_in_all_folders(all, sonames[i].name);
  add_in_all_folders(all, "libnvrtc.so");
}

/* Loads libnvrtc-builtins from NVRTC's folder, because NVRTC opens it by its bare name. May fail. */
static void load_builtins(const tsl_nvrtc_api *api) {
  Dl_info info;
  int major = 0, minor = 0;
  void *address;
  memcpy(&address, &api->version, sizeof address);
  if (dladdr(address, &info) == 0 || api->version(&major, &minor) != TSL_NVRTC_SUCCESS)
    return;
  const char *slash = strrchr(info.dli_fname, '/');
  if (!slash)
    return;
  tsl_text path = {0};
  tsl_text_add_bytes(&path, info.dli_fname, (size_t)(slash + 1 - info.dli_fname));
  tsl_text_add(&path, "libnvrtc-builtins.so.%d.%d", major, minor);
  if (!path.failed)
    (void)dlopen(path.data, RTLD_LAZY | RTLD_LOCAL);
  tsl_text_free(&path);
}

tesela_status tsl_nvrtc_load(int driver_version) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static bool loaded;
  const char *chosen = tsl_env_get(TSL_ENV_NVRTC);
  candidates all = {.count = 0};
  tsl_nvrtc_api found;
  list_candidates(&all, driver_version);
  const tesela_status status =
      tsl_library_load("NVRTC", *chosen ? chosen : NULL, (const char *const *)all.names, symbols,
                       (int)LENGTH(symbols), &found);
  for (size_t i = 0; i < all.count; i++)
    free(all.names[i]);
  if (status != TESELA_OK)
    return status;
  pthread_mutex_lock(&lock);
  if (!loaded) {
    nvrtc = found;
    load_builtins(&nvrtc);
  }
  loaded = true;
  pthread_mutex_unlock(&lock);
  return TESELA_OK;
}

int tsl_nvrtc_version(void) {
  int major = 0, minor = 0;
  return nvrtc.version(&major, &minor) == TSL_NVRTC_SUCCESS ? 1000 * major + 10 * minor : 0;
}

/* Returns the newest known architecture that is at most `wanted_architecture`, or 0; sets the oldest and the
 * newest. */
static int best_architecture(int wanted_architecture, int *oldest, int *newest) {
  int known[256], count = 0, best = 0;
  *oldest = *newest = 0;
  if (nvrtc.architecture_count(&count) != TSL_NVRTC_SUCCESS || count < 1 || count > (int)LENGTH(known) ||
      nvrtc.architectures(known) != TSL_NVRTC_SUCCESS)
    return 0;
  *oldest = *newest = known[0];
  for (int i = 0; i < count; i++) {
    *oldest = known[i] < *oldest ? known[i] : *oldest;
    *newest = known[i] > *newest ? known[i] : *newest;
    if (known[i] <= wanted_architecture && known[i] > best)
      best = known[i];
  }
  return best;
}

tesela_status tsl_nvrtc_target_for(int architecture, tsl_nvrtc_target *target) {
  int oldest, newest;
  const int version = tsl_nvrtc_version(), best = best_architecture(architecture, &oldest, &newest);
  if (best == 0)
    return tsl_fail(
        TESELA_UNSUPPORTED,
        "NVRTC %d.%d compiles for sm_%d to sm_%d, not for sm_%d: an NVRTC of an earlier CUDA does "
        "(TESELA_NVRTC names it)",
        version / 1000, version % 1000 / 10, oldest, newest, architecture);
  /* Code with "a" runs on one architecture only; from CUDA 12.0 and sm_90 on. */
  const bool own = best >= 90 && version >= 12000;
  target->is_ptx = best != architecture;
  snprintf(target->name, sizeof target->name, "%s_%d%s", target->is_ptx ? "compute" : "sm", best,
           own && !target->is_ptx ? "a" : "");
  return TESELA_OK;
}

void tsl_nvrtc_describe(const tsl_nvrtc_target *target, tsl_text *text) {
  const int version = tsl_nvrtc_version();
  tsl_text_add(text, "NVRTC %d.%d --gpu-architecture=%s", version / 1000, version % 1000 / 10, target->name);
  for (size_t i = 0; i < LENGTH(fixed_options); i++)
    tsl_text_add(text, " %s", fixed_options[i]);
}

/* Options: the fixed ones, then the build's, cut out of a copy. */
typedef struct command_line {
  char target[48];
  char *build_options_copy;
  const char *options[64];
  int count;
} command_line;

static tesela_status make_command_line(const char *device_name, const tsl_nvrtc_target *target,
                                       const tsl_build *build, command_line *out) {
  *out = (command_line){.count = 0};
  snprintf(out->target, sizeof out->target, "--gpu-architecture=%s", target->name);
  out->options[out->count++] = out->target;
  for (size_t i = 0; i < LENGTH(fixed_options); i++)
    out->options[out->count++] = fixed_options[i];
  out->build_options_copy = strdup(build->options);
  if (!out->build_options_copy)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no host memory for the options of %s", device_name,
                    build->name);
  char *rest = NULL;
  for (char *word = strtok_r(out->build_options_copy, " \t\n", &rest); word;
       word = strtok_r(NULL, " \t\n", &rest)) {
    if (out->count == (int)LENGTH(out->options))
      return tsl_fail(TESELA_BAD_CALL, "%s: %s has more than %d compiler options", device_name, build->name,
                      out->count);
    out->options[out->count++] = word;
  }
  return TESELA_OK;
}

/* Returns the log, which the caller frees; NULL: none. */
static char *get_log(tsl_nvrtc_program program) {
  size_t bytes = 0;
  if (nvrtc.log_bytes(program, &bytes) != TSL_NVRTC_SUCCESS || bytes < 2)
    return NULL;
  char *log = calloc(bytes + 1, 1);
  if (log && nvrtc.log(program, log) != TSL_NVRTC_SUCCESS)
    log[0] = 0;
  return log;
}

static tesela_status nvrtc_fail(const char *device_name, const char *name, const char *call, int code) {
  const tesela_status status = code == TSL_NVRTC_OUT_OF_MEMORY ? TESELA_OUT_OF_MEMORY : TESELA_BUILD_FAILED;
  const char *hint =
      code == TSL_NVRTC_BUILTINS
          ? "; NVRTC needs libnvrtc-builtins of its own version, in its folder or in the loader's path"
          : "";
  return tsl_fail(status, "%s: %s: %s: %s%s", device_name, name, call, nvrtc.error_text(code), hint);
}

static tesela_status compile_fail(const char *device_name, const tsl_build *build,
                                  const tsl_nvrtc_target *target, const char *log) {
  const char *complaint = log ? strstr(log, "error") : NULL;
  while (complaint && complaint > log && complaint[-1] != '\n')
    complaint--;
  const int length = complaint ? (int)strcspn(complaint, "\n") : 0;
  return tsl_fail(TESELA_BUILD_FAILED, "%s: %s does not compile for %s%s%.*s", device_name, build->name,
                  target->name, complaint ? ": " : "", length > 300 ? 300 : length,
                  complaint ? complaint : "");
}

static tesela_status nvrtc_take_binary(const char *device_name, const tsl_build *build,
                                       const tsl_nvrtc_target *target, tsl_nvrtc_program program,
                                       tsl_binary *binary) {
  size_t bytes = 0;
  int code = target->is_ptx ? nvrtc.ptx_bytes(program, &bytes) : nvrtc.cubin_bytes(program, &bytes);
  if (code != TSL_NVRTC_SUCCESS)
    return nvrtc_fail(device_name, build->name, target->is_ptx ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize",
                      code);
  char *data = malloc(bytes ? bytes : 1);
  if (!data)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no host memory for the %zu bytes of %s", device_name, bytes,
                    build->name);
  code = target->is_ptx ? nvrtc.ptx(program, data) : nvrtc.cubin(program, data);
  if (code != TSL_NVRTC_SUCCESS) {
    free(data);
    return nvrtc_fail(device_name, build->name, target->is_ptx ? "nvrtcGetPTX" : "nvrtcGetCUBIN", code);
  }
  *binary = (tsl_binary){.data = data, .bytes = bytes};
  return TESELA_OK;
}

tesela_status tsl_nvrtc_compile(const char *device_name, const tsl_nvrtc_target *target,
                                const tsl_build *build, tsl_binary *binary) {
  tsl_nvrtc_program program = NULL;
  command_line command;
  char *log = NULL;
  tesela_status status;
  int code;
  *binary = (tsl_binary){NULL, 0};
  TSL_GO(make_command_line(device_name, target, build, &command));
  code = nvrtc.program_create(&program, build->text, build->name, 0, NULL, NULL);
  if (code != TSL_NVRTC_SUCCESS) {
    status = nvrtc_fail(device_name, build->name, "nvrtcCreateProgram", code);
    goto out;
  }
  code = nvrtc.compile(program, command.count, command.options);
  log = get_log(program);
  if (code == TSL_NVRTC_SUCCESS)
    status = nvrtc_take_binary(device_name, build, target, program, binary);
  else if (code == TSL_NVRTC_COMPILATION)
    status = compile_fail(device_name, build, target, log);
  else
    status = nvrtc_fail(device_name, build->name, "nvrtcCompileProgram", code);
  if (status == TESELA_BUILD_FAILED)
    tsl_status_keep_log(log ? log : "");
  else if (log && tsl_log_wants(TSL_LOG_DEVICE))
    tsl_log(TSL_LOG_DEVICE, "%s: compiler messages for %s: %s", device_name, build->name, log);
out:
  free(log);
  free(command.build_options_copy);
  if (program)
    nvrtc.program_destroy(&program);
  return status;
}
