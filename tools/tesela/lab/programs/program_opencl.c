/* {{TITLE}}
 *
 * Compile: cc {{FILE}} -lOpenCL -lm      Run: ./a.out{{USAGE}}
 *
 * The host makes matrices of small whole numbers, so that sums are exact, runs the kernel on the first OpenCL
 * device, times each phase, and compares every element with plain loops. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The kernel's text, which the device's driver compiles. */
static const char *kernel_text =
{{KERNEL}};

{{DEFINES}}

/* Ends the program with the name of the call that failed. */
static void check(cl_int code, const char *call) {
  if (code != CL_SUCCESS) {
    fprintf(stderr, "%s failed: OpenCL error %d\n", call, code);
    exit(1);
  }
}

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Prints the time since *start, and starts again. */
static void phase(const char *name, double *start) {
  const double end = seconds();
  printf("  %-10s %9.3f ms\n", name, 1e3 * (end - *start));
  *start = seconds();
}

static real *new_matrix(size_t elements, int first) {
  real *matrix = malloc((elements + 1) * sizeof *matrix);
  if (!matrix) {
    fprintf(stderr, "no memory for %zu elements\n", elements);
    exit(1);
  }
  for (size_t i = 0; i < elements; i++)
    matrix[i] = (real)((int)((i * 7 + (size_t)first) % 9) - 4);
  return matrix;
}

static size_t round_up(size_t items, size_t group) {
  return (items + group - 1) / group * group;
}

static cl_program compile(cl_context context, cl_device_id device) {
  cl_int code;
  cl_program program = clCreateProgramWithSource(context, 1, &kernel_text, NULL, &code);
  check(code, "clCreateProgramWithSource");
  code = clBuildProgram(program, 1, &device, "", NULL, NULL);
  if (code != CL_SUCCESS) {
    static char log[20000];
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    fprintf(stderr, "the kernel does not compile:\n%s\n", log);
    exit(1);
  }
  return program;
}

int main(int count, char **words) {
{{SIZES}}
  cl_platform_id platform;
  cl_device_id device;
  cl_int code;
  char name[256] = "";
  double start = seconds();

  check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  check(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name - 1, name, NULL), "clGetDeviceInfo");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  check(code, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
  check(code, "clCreateCommandQueue");
  printf("{{FUNCTION}} on %s\n", name);
  phase("device", &start);

  cl_program program = compile(context, device);
  cl_kernel kernel = clCreateKernel(program, "{{FUNCTION}}", &code);
  check(code, "clCreateKernel");
  phase("compile", &start);

{{MATRICES}}
  phase("data", &start);

{{BUFFERS}}
  phase("allocate", &start);

{{COPY_IN}}
  check(clFinish(queue), "clFinish");
  phase("copy in", &start);

  cl_uint index = 0;
{{ARGUMENTS}}
  cl_event event;
  check(clEnqueueNDRangeKernel(queue, kernel, DIMENSIONS, NULL, items, group, 0, NULL, &event),
        "clEnqueueNDRangeKernel");
  check(clFinish(queue), "clFinish");
  cl_ulong begin = 0, end = 0;
  check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL),
        "clGetEventProfilingInfo");
  check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL),
        "clGetEventProfilingInfo");
  phase("compute", &start);
  const double device_seconds = 1e-9 * (double)(end - begin);

{{COPY_OUT}}
  phase("copy out", &start);
{{RATE}}

  clReleaseEvent(event);
{{RELEASE}}
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
{{CHECK}}
}
