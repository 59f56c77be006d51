/* Detector of faults: compiles the kernel with the system's compiler, instrumented, and runs it item by item
 * (detector/). */
#include "lab/lab.h"

#include "cli/language.h"
#include "core/status.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lab_detector_h.h>
#include <lab_detector_memory_c.h>
#include <lab_detector_shim_h.h>
#include <lab_detector_work_c.h>

static const double compile_seconds = 60, run_seconds = 20;

static bool is_word_letter(char letter) {
  return isalnum((unsigned char)letter) || letter == '_';
}

/* --- the kernel's text --- */

/* Returns the length of a word that declares local memory; 0: it is another one. */
static size_t detect_local_word(tsl_lab_language language, const char *text) {
  static const char *const words[][4] = {[TSL_LAB_OPENCL] = {"__local", "local", "TSL_LOCAL", NULL},
                                         [TSL_LAB_CUDA] = {"__shared__", NULL},
                                         [TSL_LAB_C] = {NULL}};
  for (int i = 0; words[language][i]; i++) {
    const size_t length = strlen(words[language][i]);
    if (strncmp(text, words[language][i], length) == 0 && !is_word_letter(text[length]))
      return length;
  }
  return 0;
}

/* Appends a call that tells the detector of a local array: name, and "[0]" for each of its dimensions. */
static void detect_add_register(const char *name, size_t length, int dimensions, tsl_text *out) {
  const char *row = dimensions > 1 ? "[0]" : "", *element[] = {"", "[0]", "[0][0]", "[0][0][0]"};
  tsl_text_add(out, " lab_register(\"%.*s\", (void *)&%.*s, sizeof %.*s, sizeof %.*s%s, sizeof %.*s%s);",
               (int)length, name, (int)length, name, (int)length, name, (int)length, name, row, (int)length,
               name, element[dimensions < 3 ? dimensions : 3]);
}

/* Appends a declaration of local arrays, up to its semicolon, as static arrays that are registered. Returns
 * the text after it; NULL: it declares a pointer. */
static const char *detect_add_local(const char *text, tsl_text *out) {
  const char *name = NULL;
  size_t length = 0;
  int depth = 0, dimensions = 0;
  tsl_text calls = {0};
  const char *end = text;
  for (; *end && *end != ';'; end++) {
    if (*end == '*' && depth == 0) {
      tsl_text_free(&calls);
      return NULL;
    }
    if (*end == '[' && depth++ == 0)
      dimensions++;
    else if (*end == ']')
      depth--;
    else if (*end == ',' && depth == 0) {
      detect_add_register(name ? name : "", length, dimensions, &calls);
      dimensions = 0;
    } else if (is_word_letter(*end) && depth == 0 && dimensions == 0 && !is_word_letter(end[-1])) {
      name = end;
      length = strspn(end, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    }
  }
  if (name)
    detect_add_register(name, length, dimensions, &calls);
  tsl_text_add(out, "static __attribute__((aligned(4096)))%.*s;%s", (int)(end - text), text,
               tsl_text_get(&calls));
  tsl_text_free(&calls);
  return *end ? end + 1 : end;
}

/* Returns true for a word in a line of the preprocessor. */
static bool detect_is_directive(const char *text, const char *word) {
  while (word > text && word[-1] != '\n')
    word--;
  return word[strspn(word, " \t")] == '#';
}

/* Returns the text after a comment that begins here; otherwise the same text. */
static const char *detect_skip_comment(const char *text) {
  if (text[0] != '/' || (text[1] != '/' && text[1] != '*'))
    return text;
  const char *end = text[1] == '/' ? text + strcspn(text, "\n") : strstr(text + 2, "*/");
  return !end ? text + strlen(text) : end + (text[1] == '*' ? 2 : 0);
}

void tsl_lab_add_registered(tsl_lab_language language, const char *text, tsl_text *out) {
  int depth = 0;
  const char *at = text;
  while (*at) {
    const char *const comment = detect_skip_comment(at);
    const size_t word = at == text || !is_word_letter(at[-1]) ? detect_local_word(language, at) : 0;
    if (comment > at) {
      tsl_text_add_bytes(out, at, (size_t)(comment - at));
      at = comment;
    } else if (word > 0) {
      const bool is_macro = detect_is_directive(text, at);
      const char *end = depth == 0 && !is_macro ? detect_add_local(at + word, out) : NULL;
      if (is_macro) /* shared by the items, but not recorded */
        tsl_text_add(out, "static");
      at = end ? end : at + word;
    } else {
      depth += (*at == '(') - (*at == ')');
      tsl_text_add_bytes(out, at++, 1);
    }
  }
}

/* Appends the function that calls the kernel with the detector's operands. */
static void detect_add_call(const tsl_lab_kernel *kernel, tsl_text *out) {
  const char *real = kernel->type == TESELA_F64 ? "double" : "float";
  int locals = 0;
  tsl_text_add(out, "\n#line 1 \"call\"\nvoid lab_call(void) {\n  %s(", kernel->function);
  for (int i = 0; i < kernel->argument_count; i++) {
    const tsl_lab_argument *argument = &kernel->arguments[i];
    static const char *const names[TSL_LAB_MEANINGS] = {
        [TSL_LAB_ARG_A] = "a", [TSL_LAB_ARG_B] = "b", [TSL_LAB_ARG_C] = "c",
        [TSL_LAB_ARG_X] = "x", [TSL_LAB_ARG_Y] = "y", [TSL_LAB_ARG_SUMS] = "sums"};
    tsl_text_add(out, "%s", i ? ", " : "");
    switch (tsl_lab_role_of(argument->meaning)) {
    case TSL_LAB_SIZE:
      tsl_text_add(out, "lab_sizes[%d]", (int)argument->meaning);
      break;
    case TSL_LAB_SCALAR:
      tsl_text_add(out, "lab_scalars[%d]", argument->meaning == TSL_LAB_ARG_BETA);
      break;
    case TSL_LAB_OPERAND:
      tsl_text_add(out, "(%s *)lab_operand(\"%s\")", real, names[argument->meaning]);
      break;
    case TSL_LAB_LOCAL:
      tsl_text_add(out, "(%s *)lab_local_argument(\"%s\", lab_local_counts[%d] * sizeof(%s), sizeof(%s))",
                   real, argument->name, locals++, real, real);
    }
  }
  tsl_text_add(out, ");\n}\n");
}

/* --- the program --- */

static tesela_status detect_write(const char *folder, const char *name, const char *text,
                                  char path[TSL_LAB_PATH_MAX]) {
  snprintf(path, TSL_LAB_PATH_MAX, "%.480s/%s", folder, name);
  return tsl_lab_write_new(path, text);
}

/* Keeps the first error of a compiler as the reason why nothing was detected. */
static void detect_give_up(const char *program, int code, const tsl_text *output, tsl_lab_report *report) {
  const char *missing = strstr(tsl_text_get(output), "undefined reference");
  const char *error = missing ? missing : strstr(tsl_text_get(output), "error");
  if (code == 127 && !error)
    snprintf(report->undetected, sizeof report->undetected, N_("there is no compiler %s"), program);
  else
    snprintf(report->undetected, sizeof report->undetected, "%s: %.*s", program,
             error ? (int)strcspn(error, "\n") : 40, error ? error : N_("the compiler failed"));
}

tesela_status tsl_lab_compile_recorded(const char *folder, const char *headers, tsl_lab_language language,
                                       const char *text, const char *work_text,
                                       char program[TSL_LAB_PATH_MAX], tsl_text *output, int *code) {
  static const char *const macros[] = {
      [TSL_LAB_OPENCL] = "-DLAB_OPENCL", [TSL_LAB_CUDA] = "-DLAB_CUDA", [TSL_LAB_C] = "-DLAB_C"};
  const bool is_cuda = language == TSL_LAB_CUDA;
  char unit[TSL_LAB_PATH_MAX], shim[TSL_LAB_PATH_MAX], memory[TSL_LAB_PATH_MAX], work[TSL_LAB_PATH_MAX],
      header[TSL_LAB_PATH_MAX], object[TSL_LAB_PATH_MAX];
  snprintf(object, sizeof object, "%.480s/kernel.o", folder);
  snprintf(program, TSL_LAB_PATH_MAX, "%.480s/detect", folder);
  TSL_TRY(detect_write(folder, is_cuda ? "unit.cc" : "unit.c", text, unit));
  TSL_TRY(detect_write(folder, "shim.h", lab_detector_shim_h, shim));
  TSL_TRY(detect_write(folder, "detector.h", lab_detector_h, header));
  TSL_TRY(detect_write(folder, "memory.c", lab_detector_memory_c, memory));
  TSL_TRY(detect_write(folder, "work.c", work_text, work));
  const char *const compile[] = {is_cuda ? "c++" : "cc",
                                 is_cuda ? "-std=gnu++17" : "-std=gnu11",
                                 "-g",
                                 "-O0",
                                 "-w",
                                 "-fno-pie",
                                 is_cuda ? "-fno-exceptions" : "-w",
                                 is_cuda ? "-fno-threadsafe-statics" : "-w",
                                 "-fsanitize=thread,bounds",
                                 macros[language],
                                 "-iquote",
                                 headers,
                                 "-include",
                                 shim,
                                 "-c",
                                 unit,
                                 "-o",
                                 object,
                                 NULL};
  TSL_TRY(tsl_lab_command(compile, compile_seconds, output, code));
  if (*code != 0)
    return TESELA_OK;
  /* The program runs for less time than a compiler optimises it. */
  const char *const link[] = {"cc", "-std=gnu11", "-O0", "-w",    "-fno-pie", "-no-pie", memory,
                              work, object,       "-o",  program, "-lm",      NULL};
  return tsl_lab_command(link, compile_seconds, output, code);
}

/* Compiles kernel and runtime to a program. *is_made is false, with a reason in the report, if that fails. */
static tesela_status detect_compile(const tsl_lab_kernel *kernel, const char *folder,
                                    char program[TSL_LAB_PATH_MAX], bool *is_made, tsl_lab_report *report) {
  const bool is_cuda = kernel->language == TSL_LAB_CUDA;
  tsl_text text = {0}, output = {0};
  int code = 0;
  tesela_status status;
  *is_made = false;
  tsl_text_add(&text, "#line 1 \"%s\"\n", kernel->base);
  if (is_cuda)
    tsl_text_add(&text, "extern \"C\" void lab_call(void);\n#line 1 \"%s\"\n", kernel->base);
  tsl_lab_add_registered(kernel->language, kernel->text, &text);
  detect_add_call(kernel, &text);
  TSL_GO(tsl_text_status(&text));
  TSL_GO(tsl_lab_compile_recorded(folder, kernel->folder, kernel->language, tsl_text_get(&text),
                                  lab_detector_work_c, program, &output, &code));
  *is_made = code == 0;
  if (!*is_made)
    detect_give_up(is_cuda ? "c++" : "cc", code, &output, report);
out:
  tsl_text_free(&text);
  tsl_text_free(&output);
  return status;
}

/* --- the runs --- */

typedef struct detect_run {
  int64_t m, n, k;
  int gap;
  double alpha, beta;
  bool backwards, is_real;
} detect_run;

/* Faults of one run, before code addresses become lines. */
typedef struct detect_found {
  tsl_lab_fault faults[24];
  char codes[24][20];
  int count;
  bool has_guess, is_certain; /* a guess from the result; a fault that explains everything */
  double counts[7];
  bool has_counts;
} detect_found;

/* Sets the sentence that people see; places of code are resolved later, in both sentences. */
static void detect_translate(tsl_lab_fault *fault) {
  tsl_text shown = {0};
  tsl_tr_sentence(fault->text, &shown);
  snprintf(fault->shown, sizeof fault->shown, "%s", tsl_text_get(&shown));
  tsl_text_free(&shown);
}

static void detect_read_line(const char *line, size_t length, detect_found *found, tsl_lab_report *report) {
  const char *const bar = memchr(line + 2, '|', length > 2 ? length - 2 : 0);
  if (length < 3 || line[1] != '|')
    return;
  if (line[0] == 'C') {
    double *c = found->counts;
    found->has_counts =
        sscanf(line + 2, "%lg|%lg|%lg|%lg|%lg|%lg|%lg", &c[0], &c[1], &c[2], &c[3], &c[4], &c[5], &c[6]) == 7;
  } else if (line[0] == 'U') {
    snprintf(report->undetected, sizeof report->undetected, "%.*s", (int)(length - 2), line + 2);
  } else if (line[0] == 'A' && found->count > 0) {
    snprintf(found->codes[found->count - 1], sizeof found->codes[0], "%.*s", (int)(length - 2), line + 2);
  } else if (bar && found->count < 24) {
    tsl_lab_fault *fault = &found->faults[found->count++];
    snprintf(fault->kind, sizeof fault->kind, "%.*s", (int)(bar - line - 2), line + 2);
    snprintf(fault->text, sizeof fault->text, "%.*s", (int)(length - (size_t)(bar + 1 - line)), bar + 1);
    detect_translate(fault);
    found->has_guess |= line[0] == 'H';
    found->is_certain |=
        line[0] == 'F' && strncmp(fault->kind, "o", 1) != 0 && strcmp(fault->kind, "unwritten elements") != 0;
  }
}

static int64_t detect_tile(const tsl_lab_kernel *kernel) {
  const tsl_problem problem = tsl_problem_of(kernel->op, 64, 64, 64, kernel->type);
  tsl_lab_range range;
  if (kernel->language == TSL_LAB_C || tsl_lab_range_of(kernel, &problem, &range) != TESELA_OK)
    return 16;
  const int64_t edge = range.items[0] > range.items[1] ? range.items[0] : range.items[1];
  return edge > 32 || range.items[1] == 1 ? 16 : edge < 4 ? 4 : edge;
}

/* Makes run `index` for the kernel; false past the end. Square and whole tiles first, so that a mix-up of
 * indices stays inside of the operands; then sizes that all differ, then edges. */
static bool detect_make_run(const tsl_lab_kernel *kernel, int index, detect_run *run) {
  const int64_t t = detect_tile(kernel);
  const detect_run gemm[] = {
      {2 * t, 2 * t, 2 * t, 0, 1, 0, false, false},
      {t, 2 * t, 3 * t, 0, 1, 0, true, false},
      {2 * t, 3 * t, t, 0, 1, 0, false, false},
      {t + 3, t + 6, t + 5, 3, 2, -1, true, false},
      {3, 5, 2, 0, 1, 0, false, false},
      {t + 2, t + 1, t + 7, 1, 1, 0, false, true},
  };
  const detect_run transpose[] = {{2 * t, 2 * t, 0, 0, 1, 0, false, false},
                                  {t + 3, 2 * t + 5, 0, 3, 1, 0, true, false},
                                  {3, 2 * t, 0, 1, 1, 0, false, false}};
  const detect_run dot[] = {{1, 1, 40037, 0, 1, 0, false, false},
                            {1, 1, 5, 0, 1, 0, true, false},
                            {1, 1, 4099, 0, 1, 0, true, true}};
  const detect_run *runs = kernel->op == TSL_OP_GEMM ? gemm : kernel->op == TSL_OP_DOT ? dot : transpose;
  const int count = kernel->op == TSL_OP_GEMM ? 6 : 3;
  if (index >= count)
    return false;
  *run = runs[index];
  if (!tsl_lab_takes(kernel, TSL_LAB_ARG_ALPHA))
    run->alpha = 1;
  if (!tsl_lab_takes(kernel, TSL_LAB_ARG_BETA))
    run->beta = 0;
  return true;
}

enum { WORDS_MAX = 32 };

/* Adds the fault of a run that ended before its first line, with the exit code `code`. */
static void detect_add_end(const tsl_lab_kernel *kernel, const detect_run *run, int code, detect_found *found,
                           tsl_lab_report *report) {
  const bool is_endless = code == 128 + SIGKILL || code == 128 + SIGXCPU;
  tsl_lab_fault *fault = &found->faults[found->count++];
  found->is_certain = report->hangs = true;
  snprintf(fault->kind, sizeof fault->kind, "%s", is_endless ? N_("endless loop") : N_("crash"));
  snprintf(fault->text, sizeof fault->text,
           is_endless
               ? N_("%s: the kernel did not end where m = %lld, n = %lld, k = %lld, run item by item")
               : N_("%s: the kernel ended its process where m = %lld, n = %lld, k = %lld, run item by item"),
           kernel->base, (long long)run->m, (long long)run->n, (long long)run->k);
  detect_translate(fault);
}

static tesela_status detect_run_once(const tsl_lab_kernel *kernel, const char *program, const detect_run *run,
                                     detect_found *found, tsl_lab_report *report) {
  tsl_problem problem = tsl_problem_of(kernel->op, run->m, run->n, run->k, kernel->type);
  tsl_lab_range range = {.groups = {1, 1, 1}, .items = {1, 1, 1}};
  char numbers[WORDS_MAX][32];
  const char *words[WORDS_MAX + 1] = {program};
  tsl_text output = {0};
  int count = 0, code = 0;
  if (tsl_lab_takes(kernel, TSL_LAB_ARG_LDA))
    problem.a.row_stride += run->gap;
  if (tsl_lab_takes(kernel, TSL_LAB_ARG_LDB))
    problem.b.row_stride += run->gap ? run->gap + 1 : 0;
  if (tsl_lab_takes(kernel, TSL_LAB_ARG_LDC))
    problem.c.row_stride += run->gap ? run->gap + 2 : 0;
  if (kernel->language != TSL_LAB_C)
    TSL_TRY(tsl_lab_range_of(kernel, &problem, &range));
  const int64_t values[] = {(int64_t)tsl_type(kernel->type)->size,
                            problem.m,
                            problem.n,
                            problem.k,
                            problem.a.row_stride,
                            problem.b.row_stride,
                            problem.c.row_stride};
  snprintf(numbers[count++], sizeof *numbers, "%c", *tsl_op_name(kernel->op));
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    snprintf(numbers[count++], sizeof *numbers, "%lld", (long long)values[i]);
  snprintf(numbers[count++], sizeof *numbers, "%g", run->alpha);
  snprintf(numbers[count++], sizeof *numbers, "%g", run->beta);
  for (int d = 0; d < 6; d++)
    snprintf(numbers[count++], sizeof *numbers, "%lld",
             (long long)(d < 3 ? range.groups[d] : range.items[d - 3]));
  snprintf(numbers[count++], sizeof *numbers, "%s", run->backwards ? "backwards" : "forwards");
  snprintf(numbers[count++], sizeof *numbers, "%s", run->is_real ? "real" : "whole");
  snprintf(numbers[count++], sizeof *numbers, "%lld", (long long)detect_tile(kernel));
  for (int i = 0; i < kernel->argument_count && count < WORDS_MAX; i++)
    if (kernel->arguments[i].meaning == TSL_LAB_ARG_LOCAL) {
      int64_t elements;
      TSL_TRY(tsl_lab_evaluate(kernel, kernel->arguments[i].local, &problem, &elements));
      snprintf(numbers[count++], sizeof *numbers, "%lld", (long long)elements);
    }
  for (int i = 0; i < count; i++)
    words[i + 1] = numbers[i];
  tesela_status status = tsl_lab_command(words, run_seconds, &output, &code);
  for (const char *line = tsl_text_get(&output); status == TESELA_OK && *line;) {
    const size_t length = strcspn(line, "\n");
    detect_read_line(line, length, found, report);
    line += length + (line[length] == '\n');
  }
  tsl_text_free(&output);
  if (status == TESELA_OK && found->count == 0 && !found->has_counts && !*report->undetected)
    detect_add_end(kernel, run, code, found, report);
  return status;
}

/* --- lines --- */

/* Returns the line of a code address: that of the call before it; 0 if addr2line does not tell. */
static int detect_line(const char *program, const char *code) {
  char address[32];
  tsl_text output = {0};
  int exit_code = 0, line = 0;
  snprintf(address, sizeof address, "0x%llx", strtoull(code, NULL, 16) - 1);
  const char *const words[] = {"addr2line", "-e", program, address, NULL};
  if (tsl_lab_command(words, 10, &output, &exit_code) == TESELA_OK && exit_code == 0) {
    const char *colon = strrchr(tsl_text_get(&output), ':');
    line = colon ? atoi(colon + 1) : 0;
  }
  tsl_text_free(&output);
  return line;
}

/* Appends the name of the array whose index stands at a line and column: the word before its brackets; or
 * `unknown`. */
static void detect_add_name(const tsl_lab_kernel *kernel, int line, int column, const char *unknown,
                            tsl_text *out) {
  const char *start = kernel->text;
  for (int i = 1; i < line && start; i++)
    start = strchr(start, '\n') ? strchr(start, '\n') + 1 : NULL;
  const size_t length = start ? strcspn(start, "\n") : 0;
  size_t at = column > 0 && (size_t)column <= length ? (size_t)column - 1 : 0;
  int depth = 0;
  while (at > 0 && (depth > 0 || !is_word_letter(start[at]))) {
    depth += (start[at] == ']') - (start[at] == '[' && depth > 0);
    at--;
  }
  size_t end = at;
  while (at > 0 && is_word_letter(start[at - 1]))
    at--;
  while (end < length && is_word_letter(start[end]))
    end++;
  if (end > at)
    tsl_text_add(out, "%.*s", (int)(end - at), start + at);
  else
    tsl_text_add(out, "%s", unknown);
}

/* Puts files and lines in place of the addresses of a sentence, in English or as shown. */
static void detect_resolve(const tsl_lab_kernel *kernel, const char *program, const char *code, bool is_shown,
                           char *text, size_t size) {
  tsl_text out = {0};
  int line, column;
  for (const char *at = text; *at;) {
    if (strncmp(at, "@@", 2) == 0) {
      line = *code ? detect_line(program, code) : 0;
      tsl_text_add(&out, line > 0 ? "%s:%d" : "%s", kernel->base, line);
      at += 2;
    } else if (*at == '@' && isxdigit((unsigned char)at[1])) {
      line = detect_line(program, at + 1);
      tsl_text_add(&out, is_shown ? tsl_tr("line %d") : "line %d", line);
      at++;
      at += strspn(at, "0123456789abcdef");
    } else if (*at == '{' && sscanf(at, "{%d:%d}", &line, &column) == 2) {
      detect_add_name(kernel, line, column, is_shown ? tsl_tr("an array") : "an array", &out);
      at += strcspn(at, "}") + 1;
    } else
      tsl_text_add_bytes(&out, at++, 1);
  }
  snprintf(text, size, "%s", tsl_text_get(&out));
  tsl_text_free(&out);
}

/* --- the whole --- */

static bool detect_is_kind(const tsl_lab_fault *fault, const char *kind) {
  return strcmp(fault->kind, kind) == 0;
}

/* Puts a run's faults into the report. A guess that explains the result, and a barrier that some items
 * leave out, which causes races, stand first. Unread elements are
 * reported only without a guess. */
static void detect_keep(const tsl_lab_kernel *kernel, const char *program, detect_found *found,
                        tsl_lab_report *report) {
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < found->count; i++) {
      tsl_lab_fault *fault = &found->faults[i];
      const bool is_guess = detect_is_kind(fault, "swapped indices") ||
                            detect_is_kind(fault, "wrong stride") ||
                            detect_is_kind(fault, "float for double");
      const bool is_first = is_guess || detect_is_kind(fault, "barrier not reached");
      if (is_first != (pass == 0) || (is_guess && found->is_certain) ||
          (found->has_guess && !found->is_certain && strncmp(fault->kind, "un", 2) == 0))
        continue;
      detect_resolve(kernel, program, found->codes[i], false, fault->text, sizeof fault->text);
      detect_resolve(kernel, program, found->codes[i], true, fault->shown, sizeof fault->shown);
      tsl_lab_add_fault(report, fault);
    }
}

static void detect_all_runs(const tsl_lab_kernel *kernel, const char *program, tsl_lab_report *report) {
  detect_found *kept = NULL;
  detect_run run;
  for (int i = 0; detect_make_run(kernel, i, &run); i++) {
    detect_found *found = calloc(1, sizeof *found);
    if (!found || detect_run_once(kernel, program, &run, found, report) != TESELA_OK) {
      snprintf(report->undetected, sizeof report->undetected, "%s",
               found ? tesela_last_error() : N_("no memory"));
      free(found);
      break;
    }
    if (i == 0 && found->has_counts) {
      report->global_reads = found->counts[0];
      report->global_writes = found->counts[1];
      report->local_reads = found->counts[2];
      report->local_writes = found->counts[3];
      report->barriers = found->counts[4];
      report->products = found->counts[5];
      report->lines = kernel->language == TSL_LAB_C ? 0 : found->counts[6];
    }
    if (found->count > 0 && (!kept || (found->has_guess && !found->is_certain))) {
      free(kept);
      kept = found;
    } else
      free(found);
    if (kept && (kept->is_certain || kept->has_guess))
      break;
  }
  if (kept)
    detect_keep(kernel, program, kept, report);
  free(kept);
}

/* Runs the shape that the judge found wrong. */
static void detect_one_problem(const tsl_lab_kernel *kernel, const char *program, const tsl_problem *problem,
                               tsl_lab_report *report) {
  const bool has_gaps = kernel->op != TSL_OP_DOT && problem->c.row_stride > problem->c.cols;
  const detect_run run = {.m = problem->m,
                          .n = problem->n,
                          .k = problem->k,
                          .gap = has_gaps ? 3 : 0,
                          .alpha = problem->alpha[0],
                          .beta = problem->beta[0]};
  detect_found *found = calloc(1, sizeof *found);
  if (found && detect_run_once(kernel, program, &run, found, report) == TESELA_OK)
    detect_keep(kernel, program, found, report);
  free(found);
}

/* Returns a word of the kernel that C lacks; NULL: there is none. */
static const char *detect_find_unknown(const tsl_lab_kernel *kernel) {
  static const char *const opencl[] = {"float2",  "float3", "float4", "float8",    "float16", "double2",
                                       "double4", "int2",   "int4",   "uint4",     "vload4",  "vstore4",
                                       "half",    "half4",  "vload8", "image2d_t", NULL};
  static const char *const cuda[] = {"float2", "float3", "float4", "double2", "int2", "int4",
                                     "__half", "half2",  "asm",    "wmma",    NULL};
  const char *const *words = kernel->language == TSL_LAB_CUDA ? cuda : opencl;
  for (const char *text = kernel->text; *(text = detect_skip_comment(text)); text++)
    for (int i = 0; words[i] && (text == kernel->text || !is_word_letter(text[-1])); i++) {
      const size_t length = strlen(words[i]);
      if (strncmp(text, words[i], length) == 0 && !is_word_letter(text[length]))
        return words[i];
    }
  return NULL;
}

void tsl_lab_detect(const tsl_lab_kernel *kernel, const tsl_problem *problem, tsl_lab_report *report) {
  const char *unknown = kernel->language == TSL_LAB_C ? NULL : detect_find_unknown(kernel);
  if (unknown) {
    snprintf(report->undetected, sizeof report->undetected, N_("it does not know the word \"%s\""), unknown);
    return;
  }
  char folder[TSL_LAB_PATH_MAX], program[TSL_LAB_PATH_MAX];
  bool made = false;
  if (tsl_lab_temporary(folder) != TESELA_OK) {
    snprintf(report->undetected, sizeof report->undetected, "%s", tesela_last_error());
    return;
  }
  if (detect_compile(kernel, folder, program, &made, report) != TESELA_OK)
    snprintf(report->undetected, sizeof report->undetected, "%s", tesela_last_error());
  else if (made && problem)
    detect_one_problem(kernel, program, problem, report);
  else if (made)
    detect_all_runs(kernel, program, report);
  tsl_lab_remove(folder);
}
