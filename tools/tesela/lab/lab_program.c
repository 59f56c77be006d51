#include "lab/lab_program.h"

#include "cli/tool.h"
#include "core/status.h"
#include "lab/lab_templates.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <lab_program_c_txt.h>
#include <lab_program_cuda_txt.h>
#include <lab_program_opencl_txt.h>

typedef struct program_operand {
  const char *name, *elements, *access; /* NULL ends the list; `elements` is an expression of C */
} program_operand;

/* Work of the host for an operation, as text of C. */
typedef struct program_op {
  const char *usage, *sizes;
  program_operand operands[4];
  const char *arguments[12]; /* of the kernel, in order; NULL ends the list */
  const char *operations;    /* of one run: floating-point operations, or bytes */
  const char *unit, *check;
} program_op;

static const char check_product[] =
    "  long wrong = 0;\n"
    "  for (int row = 0; row < m; row++)\n"
    "    for (int col = 0; col < n; col++) {\n"
    "      double sum = 0;\n"
    "      for (int l = 0; l < k; l++)\n"
    "        sum += (double)a[(size_t)row * lda + l] * b[(size_t)l * ldb + col];\n"
    "      if (sum != c[(size_t)row * ldc + col] && wrong++ == 0)\n"
    "        printf(\"wrong: C(%d, %d) is %g, %g would be right\\n\", row, col, (double)c[(size_t)row * "
    "ldc + col],\n"
    "               sum);\n"
    "    }\n"
    "  if (wrong == 0)\n"
    "    printf(\"right: all %d x %d elements\\n\", m, n);\n";

/* The product whose B is an image: rows of whole texels. */
static const program_op image_product = {
    " [m n k]",
    "  const int m = count > 3 ? atoi(words[1]) : 500;\n"
    "  const int n = count > 3 ? atoi(words[2]) : 400;\n"
    "  const int k = count > 3 ? atoi(words[3]) : 300;\n"
    "  const int lda = k, ldb = (n + 3) / 4 * 4, ldc = n;\n"
    "  if (m < 1 || n < 1 || k < 1) {\n"
    "    fprintf(stderr, \"sizes must be 1 or more\\n\");\n"
    "    return 2;\n"
    "  }\n",
    {{"a", "(size_t)m * k", "in"}, {"b", "(size_t)k * ldb", "image"}, {"c", "(size_t)m * n", "out"}},
    {"m", "n", "k", "a", "lda", "b", "c", "ldc"},
    "2.0 * m * n * k",
    "GFLOP/s",
    check_product};

static const program_op ops[] = {
    [TSL_OP_GEMM] = {" [m n k]",
                     "  const int m = count > 3 ? atoi(words[1]) : 500;\n"
                     "  const int n = count > 3 ? atoi(words[2]) : 400;\n"
                     "  const int k = count > 3 ? atoi(words[3]) : 300;\n"
                     "  const int lda = k, ldb = n, ldc = n;\n"
                     "  const real alpha = 1, beta = 0;\n"
                     "  if (m < 1 || n < 1 || k < 1) {\n"
                     "    fprintf(stderr, \"sizes must be 1 or more\\n\");\n"
                     "    return 2;\n"
                     "  }\n",
                     {{"a", "(size_t)m * k", "in"},
                      {"b", "(size_t)k * n", "in"},
                      {"c", "(size_t)m * n", "out"}},
                     {"m", "n", "k", "alpha", "a", "lda", "b", "ldb", "beta", "c", "ldc"},
                     "2.0 * m * n * k",
                     "GFLOP/s",
                     check_product},
    [TSL_OP_DOT] = {" [n]",
                    "  const int n = count > 1 ? atoi(words[1]) : 1000000;\n"
                    "  if (n < 1) {\n"
                    "    fprintf(stderr, \"the length must be 1 or more\\n\");\n"
                    "    return 2;\n"
                    "  }\n",
                    {{"x", "(size_t)n", "in"}, {"y", "(size_t)n", "in"}, {"sums", "GROUPS", "out"}},
                    {"n", "x", "y", "sums"},
                    "2.0 * n",
                    "GFLOP/s",
                    "  double sum = 0, expected = 0;\n"
                    "  for (int i = 0; i < GROUPS; i++)\n"
                    "    sum += sums[i];\n"
                    "  for (int i = 0; i < n; i++)\n"
                    "    expected += (double)x[i] * y[i];\n"
                    "  const long wrong = sum != expected;\n"
                    "  printf(wrong ? \"wrong: the sum is %g, %g would be right\\n\" : \"right: the sum is "
                    "%g\\n\", sum, "
                    "expected);\n"},
    [TSL_OP_TRANSPOSE] =
        {" [rows cols]",
         "  const int rows = count > 2 ? atoi(words[1]) : 1000;\n"
         "  const int cols = count > 2 ? atoi(words[2]) : 1500;\n"
         "  const int lda = cols, ldc = rows;\n"
         "  if (rows < 1 || cols < 1) {\n"
         "    fprintf(stderr, \"sizes must be 1 or more\\n\");\n"
         "    return 2;\n"
         "  }\n",
         {{"a", "(size_t)rows * cols", "in"}, {"c", "(size_t)rows * cols", "out"}},
         {"rows", "cols", "a", "lda", "c", "ldc"},
         "2.0 * sizeof(real) * rows * cols",
         "GB/s",
         "  long wrong = 0;\n"
         "  for (int row = 0; row < rows; row++)\n"
         "    for (int col = 0; col < cols; col++)\n"
         "      if (c[(size_t)col * ldc + row] != a[(size_t)row * lda + col] && wrong++ == 0)\n"
         "        printf(\"wrong: C(%d, %d) is not A(%d, %d)\\n\", col, row, row, col);\n"
         "  if (wrong == 0)\n"
         "    printf(\"right: all %d x %d elements\\n\", cols, rows);\n"},
};

/* One program to make. */
typedef struct program_job {
  const tsl_lab_template *model;
  const program_op *op;
  tsl_lab_language language;
  tesela_type type;
  const char *file;
  const char *kernel; /* the kernel's text */
} program_job;

/* Returns true if the kernel has an argument of this name: "alpha," or "alpha)". */
static bool program_takes(const program_job *job, const char *name) {
  const char *open = strstr(job->kernel, tsl_lab_function(job->model->op));
  const char *const end = open ? strchr(open, ')') : NULL;
  const size_t length = strlen(name);
  for (const char *at = open; end && at < end; at++)
    if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == ')') &&
        (at[-1] == ' ' || at[-1] == '*'))
      return true;
  return false;
}

static bool program_is_image(const program_operand *operand) {
  return strcmp(operand->access, "image") == 0;
}

static bool program_is_output(const program_operand *operand) {
  return strcmp(operand->access, "out") == 0;
}

static const program_operand *program_operand_named(const program_op *op, const char *name) {
  for (const program_operand *operand = op->operands; operand->name; operand++)
    if (strcmp(operand->name, name) == 0)
      return operand;
  return NULL;
}

/* --- the sections of a program, in the order of their names below --- */

static void add_title(const program_job *job, tsl_text *out) {
  tsl_text_add(out, "%s %s: a program of host and kernel, by \"tesela strategies\".",
               tsl_op_name(job->model->op), job->model->strategy);
}

static void add_file(const program_job *job, tsl_text *out) {
  tsl_text_add(out, "%s", job->file);
}

static void add_openmp(const program_job *job, tsl_text *out) {
  tsl_text_add(out, "%s", strstr(job->kernel, "#pragma omp") ? " -fopenmp" : "");
}

static void add_usage(const program_job *job, tsl_text *out) {
  tsl_text_add(out, "%s", job->op->usage);
}

static void add_function(const program_job *job, tsl_text *out) {
  tsl_text_add(out, "%s", tsl_lab_function(job->model->op));
}

/* Appends the kernel; for OpenCL as strings, a line each. */
static void add_kernel(const program_job *job, tsl_text *out) {
  if (job->language != TSL_LAB_OPENCL) {
    tsl_text_add(out, "%s", job->kernel);
    return;
  }
  for (const char *line = job->kernel; *line;) {
    const size_t length = strcspn(line, "\n");
    tsl_text_add(out, "    \"");
    for (size_t i = 0; i < length; i++)
      tsl_text_add(out, line[i] == '"' || line[i] == '\\' ? "\\%c" : "%c", line[i]);
    line += length + (line[length] == '\n');
    tsl_text_add(out, *line ? "\\n\"\n" : "\\n\"");
  }
}

/* Appends the host's type, and for OpenCL the numbers that the kernel defines. */
static void add_defines(const program_job *job, tsl_text *out) {
  for (const char *line = job->kernel; job->language == TSL_LAB_OPENCL && *line;) {
    const size_t length = strcspn(line, "\n");
    if (strncmp(line, "#define ", 8) == 0)
      tsl_text_add(out, "%.*s\n", (int)length, line);
    line += length + (line[length] == '\n');
  }
  if (job->language == TSL_LAB_OPENCL)
    tsl_text_add(out, "#define DIMENSIONS %d\n", strchr(job->model->items, ' ') ? 2 : 1);
  if (job->language == TSL_LAB_C && job->model->op == TSL_OP_DOT)
    tsl_text_add(out, "#define GROUPS 1\n");
  tsl_text_add(out, "typedef %s real;", job->type == TESELA_F64 ? "double" : "float");
}

/* Appends the sizes, without the line of alpha and beta if the kernel has none. */
static void add_sizes(const program_job *job, tsl_text *out) {
  bool is_first = true;
  for (const char *line = job->op->sizes; *line;) {
    const size_t length = strcspn(line, "\n");
    if (strncmp(line, "  const real alpha", 18) != 0 || program_takes(job, "alpha")) {
      tsl_text_add(out, "%s%.*s", is_first ? "" : "\n", (int)length, line);
      is_first = false;
    }
    line += length + (line[length] == '\n');
  }
}

static void add_matrices(const program_job *job, tsl_text *out) {
  int first = 1;
  for (const program_operand *operand = job->op->operands; operand->name; operand++)
    tsl_text_add(out, "%s  real *%s = new_matrix(%s, %d);", operand == job->op->operands ? "" : "\n",
                 operand->name, operand->elements, first++);
}

static void add_buffers(const program_job *job, tsl_text *out) {
  for (const program_operand *operand = job->op->operands; operand->name; operand++) {
    tsl_text_add(out, "%s", operand == job->op->operands ? "" : "\n");
    if (job->language == TSL_LAB_CUDA)
      tsl_text_add(out,
                   "  real *device_%s;\n"
                   "  check(cudaMalloc(&device_%s, %s * sizeof(real)), \"cudaMalloc %s\");",
                   operand->name, operand->name, operand->elements, operand->name);
    else if (program_is_image(operand))
      tsl_text_add(out,
                   "  const cl_image_format format = {CL_RGBA, CL_FLOAT};\n"
                   "  const cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D,\n"
                   "                               .image_width = (size_t)ldb / 4,\n"
                   "                               .image_height = (size_t)k};\n"
                   "  cl_mem device_%s = clCreateImage(context, CL_MEM_READ_ONLY, &format, &shape, NULL, "
                   "&code);\n"
                   "  check(code, \"clCreateImage %s\");",
                   operand->name, operand->name);
    else
      tsl_text_add(out,
                   "  cl_mem device_%s =\n"
                   "      clCreateBuffer(context, %s, %s * sizeof(real), NULL, &code);\n"
                   "  check(code, \"clCreateBuffer %s\");",
                   operand->name, program_is_output(operand) ? "CL_MEM_READ_WRITE" : "CL_MEM_READ_ONLY",
                   operand->elements, operand->name);
  }
}

/* Appends copies of the inputs to the device, or of the result from it. */
static void add_copies(const program_job *job, bool to_device, tsl_text *out) {
  bool is_first = true;
  for (const program_operand *operand = job->op->operands; operand->name; operand++) {
    const char *name = operand->name;
    if (program_is_output(operand) == to_device)
      continue;
    tsl_text_add(out, "%s", is_first ? "" : "\n");
    is_first = false;
    if (job->language == TSL_LAB_CUDA)
      tsl_text_add(out, "  check(cudaMemcpy(%s%s, %s%s, %s * sizeof(real), %s),\n        \"cudaMemcpy %s\");",
                   to_device ? "device_" : "", name, to_device ? "" : "device_", name, operand->elements,
                   to_device ? "cudaMemcpyHostToDevice" : "cudaMemcpyDeviceToHost", name);
    else if (program_is_image(operand))
      tsl_text_add(out,
                   "  const size_t origin[] = {0, 0, 0}, region[] = {(size_t)ldb / 4, (size_t)k, 1};\n"
                   "  check(clEnqueueWriteImage(queue, device_%s, CL_TRUE, origin, region, (size_t)ldb * "
                   "sizeof(real), 0, %s,\n"
                   "                            0, NULL, NULL),\n"
                   "        \"clEnqueueWriteImage %s\");",
                   name, name, name);
    else
      tsl_text_add(out,
                   "  check(clEnqueue%sBuffer(queue, device_%s, CL_TRUE, 0, %s * sizeof(real), %s, 0, NULL, "
                   "NULL),\n        \"clEnqueue%sBuffer %s\");",
                   to_device ? "Write" : "Read", name, operand->elements, name, to_device ? "Write" : "Read",
                   name);
  }
}

static void add_copy_in(const program_job *job, tsl_text *out) {
  add_copies(job, true, out);
}

static void add_copy_out(const program_job *job, tsl_text *out) {
  add_copies(job, false, out);
}

/* Appends word `index` of a list with blanks; NULL past the end. */
static bool add_word(const char *words, int index, tsl_text *out) {
  while (index-- > 0) {
    words += strcspn(words, " ");
    words += strspn(words, " ");
  }
  tsl_text_add(out, "%.*s", (int)strcspn(words, " "), words);
  return *words != '\0';
}

/* Appends the call of the kernel. */
static void add_arguments(const program_job *job, tsl_text *out) {
  const int dimensions = strchr(job->model->items, ' ') ? 2 : 1;
  if (job->language == TSL_LAB_OPENCL) {
    for (int i = 0; job->op->arguments[i]; i++) {
      const char *name = job->op->arguments[i];
      if (!program_takes(job, name))
        continue;
      const char *prefix = program_operand_named(job->op, name) ? "device_" : "";
      tsl_text_add(out,
                   "  check(clSetKernelArg(kernel, index++, sizeof %s%s, &%s%s), \"clSetKernelArg %s\");\n",
                   prefix, name, prefix, name, name);
    }
    for (int side = 0; side < 2; side++) {
      tsl_text_add(out, side ? "  const size_t items[] = {" : "  const size_t group[] = {");
      for (int d = 0; d < dimensions; d++) {
        tsl_text_add(out, "%s%s", d ? ", " : "", side ? "round_up((size_t)" : "");
        add_word(side ? job->model->items : job->model->group, d, out);
        if (side)
          tsl_text_add(out, ", group[%d])", d);
      }
      tsl_text_add(out, side ? "};" : "};\n");
    }
    return;
  }
  if (job->language == TSL_LAB_CUDA) {
    tsl_text_add(out, "  const dim3 block(");
    for (int d = 0; d < dimensions; d++)
      tsl_text_add(out, "%s", d ? ", " : ""), add_word(job->model->group, d, out);
    tsl_text_add(out, ");\n  const dim3 grid(");
    for (int d = 0; d < dimensions; d++) {
      tsl_text_add(out, "%sgroups_of(", d ? ", " : "");
      add_word(job->model->items, d, out);
      tsl_text_add(out, ", block.%c)", "xy"[d]);
    }
    tsl_text_add(out, ");\n  %s<<<grid, block>>>(", tsl_lab_function(job->model->op));
  } else
    tsl_text_add(out, "  %s(", tsl_lab_function(job->model->op));
  for (int i = 0; job->op->arguments[i]; i++)
    if (program_takes(job, job->op->arguments[i]))
      tsl_text_add(out, "%s%s%s", i ? ", " : "",
                   job->language == TSL_LAB_CUDA && program_operand_named(job->op, job->op->arguments[i])
                       ? "device_"
                       : "",
                   job->op->arguments[i]);
  tsl_text_add(out, ");");
}

static void add_rate(const program_job *job, tsl_text *out) {
  tsl_text_add(out,
               "  printf(\"  the kernel alone: %%.3f ms, %%.3g %s\\n\", 1e3 * device_seconds,\n"
               "         1e-9 * %s / device_seconds);",
               job->op->unit, job->op->operations);
}

static void add_release(const program_job *job, tsl_text *out) {
  for (const program_operand *operand = job->op->operands; operand->name; operand++) {
    tsl_text_add(out, "%s", operand == job->op->operands ? "" : "\n");
    if (job->language == TSL_LAB_CUDA)
      tsl_text_add(out, "  check(cudaFree(device_%s), \"cudaFree %s\");", operand->name, operand->name);
    else
      tsl_text_add(out, "  clReleaseMemObject(device_%s);", operand->name);
  }
}

static void add_check(const program_job *job, tsl_text *out) {
  tsl_text_add(out, "%s", job->op->check);
  for (const program_operand *operand = job->op->operands; operand->name; operand++)
    tsl_text_add(out, "  free(%s);\n", operand->name);
  tsl_text_add(out, "  return wrong > 0;");
}

static const struct {
  const char *name;
  void (*add)(const program_job *job, tsl_text *out);
} sections[] = {{"TITLE", add_title},       {"FILE", add_file},         {"OPENMP", add_openmp},
                {"USAGE", add_usage},       {"FUNCTION", add_function}, {"KERNEL", add_kernel},
                {"DEFINES", add_defines},   {"SIZES", add_sizes},       {"MATRICES", add_matrices},
                {"BUFFERS", add_buffers},   {"COPY_IN", add_copy_in},   {"ARGUMENTS", add_arguments},
                {"COPY_OUT", add_copy_out}, {"RATE", add_rate},         {"RELEASE", add_release},
                {"CHECK", add_check}};

/* Appends a program's text, its sections "{{NAME}}" filled in. */
static void program_add(const program_job *job, const char *text, tsl_text *out) {
  const char *open;
  while ((open = strstr(text, "{{")) != NULL) {
    const char *end = strstr(open, "}}");
    tsl_text_add_bytes(out, text, (size_t)(open - text));
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
      if (strlen(sections[i].name) == (size_t)(end - open - 2) &&
          strncmp(sections[i].name, open + 2, (size_t)(end - open - 2)) == 0)
        sections[i].add(job, out);
    text = end + 2;
  }
  tsl_text_add(out, "%s", text);
}

static tesela_status program_write(const char *path, tsl_text *text) {
  TSL_TRY(tsl_text_status(text));
  FILE *file = fopen(path, "wb");
  const bool written = file && fwrite(tsl_text_get(text), 1, text->length, file) == text->length;
  if (!file || fclose(file) != 0 || !written)
    return tsl_fail(TESELA_IO_FAILED, "%s: %s", path, strerror(errno));
  return TESELA_OK;
}

tesela_status tsl_lab_program(const char *strategy, const char *language, tesela_type type,
                              const char *output) {
  static const char *const texts[] = {[TSL_LAB_OPENCL] = lab_program_opencl_txt,
                                      [TSL_LAB_CUDA] = lab_program_cuda_txt,
                                      [TSL_LAB_C] = lab_program_c_txt};
  static const char *const files[] = {"lab.c", "lab.cu", "lab.c"};
  program_job job = {.language = tsl_lab_language_find(language), .type = type};
  tsl_text kernel = {0}, out = {0};
  if (job.language == TSL_LAB_LANGUAGES)
    return tsl_fail(TESELA_BAD_CALL, "--program: \"%s\" is none; there are opencl, cuda and c", language);
  if (type != TESELA_F32 && type != TESELA_F64)
    return tsl_fail(TESELA_BAD_CALL, "--type: programs compute in f32 or f64");
  TSL_TRY(tsl_lab_template_find(strategy, job.language, &job.model));
  const char *slash = output ? strrchr(output, '/') : NULL;
  job.file = slash ? slash + 1 : output ? output : files[job.language];
  job.op = job.model->has_image ? &image_product : &ops[job.model->op];
  if (job.model->has_image && type != TESELA_F32)
    return tsl_fail(TESELA_UNSUPPORTED, "--type: texels of images are f32");
  tsl_lab_template_add(job.model, job.language, type, &kernel);
  job.kernel = tsl_text_get(&kernel);
  program_add(&job, texts[job.language], &out);
  tsl_text_free(&kernel);
  if (!output)
    return tsl_print(&out);
  const tesela_status status = program_write(output, &out);
  tsl_text_free(&out);
  return status;
}
