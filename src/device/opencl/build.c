/* Compilation and loading of kernels. Plain OpenCL C 1.2: with -cl-mad-enable or fast-math options a
 * multiply-add could be rounded twice. Without -w, PoCL prints the number of its warnings. */
#include "device/opencl/opencl.h"

#include "core/hash.h"
#include "core/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* See tsl_opencl_seal(). */
enum { MAGIC_BYTES = 8, HEAD_BYTES = MAGIC_BYTES + sizeof(tsl_hash) };
static const char magic_binary[MAGIC_BYTES] = "tslCLbin", magic_source[MAGIC_BYTES] = "tslCLsrc";

static tsl_hash build_hash_of(const void *bytes, size_t count) {
  return tsl_hash_add(tsl_hash_start(), bytes, count);
}

tesela_status tsl_opencl_seal(bool is_source, const void *payload, size_t bytes, tsl_binary *binary) {
  *binary = (tsl_binary){NULL, 0};
  char *data = malloc(HEAD_BYTES + bytes);
  if (data == NULL)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for a compiled kernel of %zu bytes", bytes);
  const tsl_hash hash = build_hash_of(payload, bytes);
  memcpy(data, is_source ? magic_source : magic_binary, MAGIC_BYTES);
  memcpy(data + MAGIC_BYTES, &hash, sizeof hash);
  memcpy(data + HEAD_BYTES, payload, bytes);
  *binary = (tsl_binary){data, HEAD_BYTES + bytes};
  return TESELA_OK;
}

tesela_status tsl_opencl_seal_source(const tsl_build *build, tsl_binary *binary) {
  tsl_text both = {0};
  *binary = (tsl_binary){NULL, 0};
  tsl_text_add_bytes(&both, build->options, strlen(build->options) + 1);
  tsl_text_add_bytes(&both, build->text, strlen(build->text) + 1);
  tesela_status status = tsl_text_status(&both);
  if (status == TESELA_OK)
    status = tsl_opencl_seal(true, both.data, both.length, binary);
  tsl_text_free(&both);
  return status;
}

/* Returns the log, which the caller frees; NULL: none. */
static char *get_build_log(const tsl_device *device, cl_program program) {
  const cl_device_id id = tsl_opencl_of(device)->id;
  size_t bytes = 0;
  if (tsl_opencl.clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) != CL_SUCCESS)
    return NULL;
  char *log = calloc(bytes + 1, 1);
  if (log != NULL &&
      tsl_opencl.clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, bytes, log, NULL) == CL_SUCCESS)
    return log;
  free(log);
  return NULL;
}

/* Stores the log and fails with its first error line. */
static tesela_status fail_build(const tsl_device *device, const char *name, const char *text,
                                cl_program program, cl_int code) {
  char *raw = get_build_log(device, program);
  char *log = raw != NULL ? tsl_opencl_log_with_files(raw, text) : NULL;
  const char *line = log != NULL ? strstr(log, "error") : NULL;
  tsl_status_keep_log(log);
  while (line != NULL && line > log && line[-1] != '\n')
    line--;
  if (line != NULL)
    tsl_fail(TESELA_BUILD_FAILED, "%s: %s does not compile: %.*s", device->name, name,
             (int)strcspn(line, "\n"), line);
  else
    tsl_fail(TESELA_BUILD_FAILED, "%s: %s does not compile: clBuildProgram: %s", device->name, name,
             tsl_opencl_error_name(code));
  free(log);
  free(raw);
  return TESELA_BUILD_FAILED;
}

static tesela_status build_compile(const tsl_device *device, const char *name, const char *options,
                                   const char *text, cl_program *out) {
  const tsl_opencl_device *self = tsl_opencl_of(device);
  tsl_text all = {0};
  cl_int code = CL_SUCCESS;
  *out = NULL;
  cl_program program = tsl_opencl.clCreateProgramWithSource(self->context, 1, &text, NULL, &code);
  TSL_TRY(tsl_opencl_check(device, "clCreateProgramWithSource", code));
  tsl_text_add(&all, "%s %s", TSL_OPENCL_LANGUAGE, options);
  tesela_status status = tsl_text_status(&all);
  if (status != TESELA_OK)
    goto out;
  code = tsl_opencl.clBuildProgram(program, 1, &self->id, tsl_text_get(&all), NULL, NULL);
  if (code == CL_OUT_OF_HOST_MEMORY)
    status = tsl_opencl_fail(device, "clBuildProgram", code, name);
  else if (code != CL_SUCCESS)
    status = fail_build(device, name, text, program, code);
out:
  if (status == TESELA_OK)
    *out = program;
  else
    tsl_opencl.clReleaseProgram(program);
  tsl_text_free(&all);
  return status;
}

/* Creates every kernel: some vendors compile only then, and the binary would be incomplete. */
static tesela_status create_all_kernels(const tsl_device *device, cl_program program) {
  cl_uint count = 0;
  TSL_TRY(TSL_CL(device, clCreateKernelsInProgram, program, 0, NULL, &count));
  cl_kernel *kernels = calloc(count + 1, sizeof(cl_kernel));
  if (kernels == NULL)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no host memory for a list of kernels", device->name);
  const tesela_status status = TSL_CL(device, clCreateKernelsInProgram, program, count, kernels, NULL);
  for (cl_uint i = 0; status == TESELA_OK && i < count; i++)
    tsl_opencl.clReleaseKernel(kernels[i]);
  free(kernels);
  return status;
}

/* Gets the vendor's binary with a NUL, which the caller frees; NULL and TESELA_OK: none. */
static tesela_status build_take_binary(const tsl_device *device, cl_program program, unsigned char **data,
                                       size_t *bytes) {
  *data = NULL;
  TSL_TRY(TSL_CL(device, clGetProgramInfo, program, CL_PROGRAM_BINARY_SIZES, sizeof *bytes, bytes, NULL));
  if (*bytes == 0)
    return TESELA_OK;
  *data = calloc(*bytes + 1, 1);
  if (*data == NULL)
    return tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no host memory for a compiled kernel of %zu bytes",
                    device->name, *bytes);
  return TSL_CL(device, clGetProgramInfo, program, CL_PROGRAM_BINARIES, sizeof *data, data, NULL);
}

/* Seals a binary, with code for sm_90a enabled. */
static tesela_status seal_binary(const tsl_build *build, const unsigned char *data, size_t bytes,
                                 tsl_binary *binary) {
  if (!tsl_opencl_has_sm90a(build->text))
    return tsl_opencl_seal(false, data, bytes, binary);
  tsl_text text = {0};
  tesela_status status = tsl_opencl_enable_sm90a(build->name, data != NULL ? (const char *)data : "", &text);
  if (status == TESELA_OK)
    status = tsl_opencl_seal(false, tsl_text_get(&text), text.length + 1, binary);
  tsl_text_free(&text);
  return status;
}

tesela_status tsl_opencl_build(tsl_device *device, const tsl_build *build, tsl_binary *binary) {
  cl_program program = NULL;
  unsigned char *data = NULL;
  size_t bytes = 0;
  *binary = (tsl_binary){NULL, 0};
  TSL_TRY(build_compile(device, build->name, build->options, build->text, &program));
  const bool wanted = !tsl_opencl_of(device)->keeps_source;
  tesela_status status = wanted ? create_all_kernels(device, program) : TESELA_OK;
  if (status == TESELA_OK && wanted)
    status = build_take_binary(device, program, &data, &bytes);
  if (status == TESELA_OK)
    status = data != NULL || tsl_opencl_has_sm90a(build->text) ? seal_binary(build, data, bytes, binary)
                                                               : tsl_opencl_seal_source(build, binary);
  free(data);
  tsl_opencl.clReleaseProgram(program);
  return status;
}

tesela_status tsl_opencl_compiler(tsl_device *device, tsl_text *text) {
  const tsl_opencl_device *self = tsl_opencl_of(device);
  char platform[512], language[128];
  tsl_opencl_platform_text(self->platform, CL_PLATFORM_VERSION, platform, sizeof platform);
  tsl_opencl_text(self->id, CL_DEVICE_OPENCL_C_VERSION, language, sizeof language);
  tsl_text_add(text, "%s, %s, %s", platform, language, TSL_OPENCL_LANGUAGE);
  return tsl_text_status(text);
}

static tesela_status load_vendor_binary(const tsl_device *device, const char *name,
                                        const unsigned char *payload, size_t bytes, cl_program *out) {
  const tsl_opencl_device *self = tsl_opencl_of(device);
  cl_int code = CL_SUCCESS, taken = CL_SUCCESS;
  *out = NULL;
  cl_program program =
      tsl_opencl.clCreateProgramWithBinary(self->context, 1, &self->id, &bytes, &payload, &taken, &code);
  if (code == CL_SUCCESS && taken == CL_SUCCESS)
    code = tsl_opencl.clBuildProgram(program, 1, &self->id, "", NULL, NULL);
  if (code == CL_SUCCESS && taken == CL_SUCCESS) {
    *out = program;
    return TESELA_OK;
  }
  if (program != NULL)
    tsl_opencl.clReleaseProgram(program);
  return tsl_fail(TESELA_BUILD_FAILED, "%s: the driver refuses the compiled form of %s: %s", device->name,
                  name, tsl_opencl_error_name(code != CL_SUCCESS ? code : taken));
}

/* Checks the seal; loads the vendor's binary or compiles the source. */
static tesela_status load_program(const tsl_device *device, const char *name, const tsl_binary *binary,
                                  cl_program *program) {
  tsl_hash hash;
  const char *data = binary->data;
  const bool long_enough = binary->bytes > HEAD_BYTES;
  const bool is_binary = long_enough && memcmp(data, magic_binary, MAGIC_BYTES) == 0;
  const bool is_source = long_enough && memcmp(data, magic_source, MAGIC_BYTES) == 0;
  *program = NULL;
  if (!is_binary && !is_source)
    return tsl_fail(TESELA_BUILD_FAILED, "%s: the compiled form of %s is not from this library", device->name,
                    name);
  const char *payload = data + HEAD_BYTES;
  const size_t bytes = binary->bytes - HEAD_BYTES;
  const tsl_hash right = build_hash_of(payload, bytes);
  memcpy(&hash, data + MAGIC_BYTES, sizeof hash);
  if (hash.high != right.high || hash.low != right.low)
    return tsl_fail(TESELA_BUILD_FAILED, "%s: the compiled form of %s is damaged", device->name, name);
  if (is_binary)
    return load_vendor_binary(device, name, (const unsigned char *)payload, bytes, program);
  return build_compile(device, name, payload, payload + strlen(payload) + 1, program);
}

tesela_status tsl_opencl_module_load(tsl_device *device, const char *name, const tsl_binary *binary,
                                     tsl_module **module) {
  tesela_status status = TESELA_OK;
  *module = NULL;
  tsl_module *self = calloc(1, sizeof *self);
  char *copy = strdup(name);
  if (self == NULL || copy == NULL) {
    status = tsl_fail(TESELA_OUT_OF_MEMORY, "%s: no host memory for a module's record", device->name);
    goto out;
  }
  TSL_GO(load_program(device, name, binary, &self->program));
  self->device = device;
  self->name = copy;
  pthread_mutex_init(&self->lock, NULL);
  *module = self;
out:
  if (status != TESELA_OK) {
    free(copy);
    free(self);
  }
  return status;
}

void tsl_opencl_module_destroy(tsl_module *module) {
  tsl_opencl_kernels_free(module);
  tsl_opencl.clReleaseProgram(module->program);
  pthread_mutex_destroy(&module->lock);
  free(module->name);
  free(module);
}
