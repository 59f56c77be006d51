#include "lab/lab_kernel.h"

#include "core/status.h"
#include "core/types.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
  const char *word, *extension, *title;
} languages[] = {
#define LANGUAGE_ROW(name, word, extension, title) {word, extension, title},
    TSL_LAB_LANGUAGE_LIST(LANGUAGE_ROW)
#undef LANGUAGE_ROW
};

static const struct {
  const char *word;
  tsl_lab_role role;
} meanings[] = {
#define MEANING_ROW(name, word, role, what) {word, TSL_LAB_##role},
    TSL_LAB_ARGUMENT_LIST(MEANING_ROW)
#undef MEANING_ROW
};

const char *tsl_lab_language_word(tsl_lab_language language) {
  return languages[language].word;
}

const char *tsl_lab_language_title(tsl_lab_language language) {
  return languages[language].title;
}

const char *tsl_lab_language_extension(tsl_lab_language language) {
  return languages[language].extension;
}

tsl_lab_language tsl_lab_language_find(const char *word) {
  int i = 0;
  while (i < TSL_LAB_LANGUAGES && strcmp(languages[i].word, word) != 0)
    i++;
  return (tsl_lab_language)i;
}

tsl_lab_role tsl_lab_role_of(tsl_lab_meaning meaning) {
  return meanings[meaning].role;
}

#define BYTE_ORDER_MARK "\xef\xbb\xbf" /* of UTF-8, as some editors write it */

tesela_status tsl_lab_read_file(const char *path, char **text) {
  tsl_text all = {0};
  char block[4096];
  size_t count;
  struct stat state;
  *text = NULL;
  if (stat(path, &state) == 0 && !S_ISREG(state.st_mode)) /* a pipe may never end */
    return tsl_fail(TESELA_BAD_INPUT, "%s: this is no text file", path);
  FILE *file = fopen(path, "rb");
  if (!file)
    return tsl_fail(TESELA_BAD_INPUT, "%s: %s", path, strerror(errno));
  while ((count = fread(block, 1, sizeof block, file)) > 0)
    tsl_text_add_bytes(&all, block, count);
  const bool failed = ferror(file) != 0;
  fclose(file);
  if (failed || (all.data && strlen(all.data) != all.length)) {
    tsl_text_free(&all);
    return tsl_fail(TESELA_BAD_INPUT, "%s: this is no text file", path);
  }
  if (!all.data)
    tsl_text_add(&all, "%s", "");
  else if (strncmp(all.data, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0)
    memset(all.data, ' ', strlen(BYTE_ORDER_MARK));
  *text = tsl_text_take(&all);
  return *text ? TESELA_OK : tsl_fail(TESELA_OUT_OF_MEMORY, "no memory for %s", path);
}

/* --- the parameters file --- */

/* One line "name = value". */
typedef struct lab_line {
  const char *path;
  int number;
  char name[TSL_LAB_WORD_MAX], value[256];
} lab_line;

static tesela_status lab_fail_line(const lab_line *line, const char *right) {
  return tsl_fail(TESELA_BAD_INPUT, "%s:%d: \"%s = %s\": %s", line->path, line->number, line->name,
                  line->value, right);
}

/* Copies a text without the blanks around it. */
static void lab_trim(const char *from, size_t length, char *out, size_t size) {
  while (length > 0 && isspace((unsigned char)*from))
    from++, length--;
  while (length > 0 && isspace((unsigned char)from[length - 1]))
    length--;
  snprintf(out, size, "%.*s", (int)length, from);
}

/* Splits the next line of the file. *more is false after the last; an empty line has the name "". */
static tesela_status lab_next_line(const char **rest, lab_line *line, bool *more) {
  const size_t length = strcspn(*rest, "\n"), used = strcspn(*rest, "\n#");
  const char *const text = *rest, *const equals = memchr(text, '=', used);
  char whole[256];
  line->number++;
  *more = **rest != '\0';
  *rest += length + (text[length] == '\n');
  line->name[0] = '\0';
  lab_trim(text, used, whole, sizeof whole);
  if (!*whole)
    return TESELA_OK;
  if (!equals)
    return tsl_fail(TESELA_BAD_INPUT, "%s:%d: \"%s\": write a name, \"=\" and a value", line->path,
                    line->number, whole);
  lab_trim(text, (size_t)(equals - text), line->name, sizeof line->name);
  lab_trim(equals + 1, used - (size_t)(equals + 1 - text), line->value, sizeof line->value);
  if (!*line->name)
    return lab_fail_line(line, "the name is missing");
  return *line->value ? TESELA_OK : lab_fail_line(line, "the value is missing");
}

static tesela_status lab_read_dimensions(const lab_line *line, char words[3][TSL_LAB_WORD_MAX]) {
  const char *at = line->value;
  int count = 0;
  memset(words, 0, 3 * sizeof *words);
  while (*(at += strspn(at, " \t,"))) {
    const size_t length = strcspn(at, " \t,");
    if (count == 3 || length >= TSL_LAB_WORD_MAX)
      return lab_fail_line(line, "write one to three short words, one a dimension, such as \"n m\"");
    memcpy(words[count++], at, length);
    at += length;
  }
  return TESELA_OK;
}

static tesela_status lab_read_op(const lab_line *line, tsl_op *op) {
  static const tsl_op ops[] = {TSL_OP_GEMM, TSL_OP_DOT, TSL_OP_TRANSPOSE};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (strcmp(line->value, tsl_op_name(ops[i])) == 0) {
      *op = ops[i];
      return TESELA_OK;
    }
  return lab_fail_line(line, "operations are gemm, dot and transpose");
}

/* Names of the kernel's own arguments: "Mdim = m", "Bwrk = local k". Resolved after the signature is known.
 */
typedef struct lab_aliases {
  lab_line lines[TSL_LAB_ARGUMENTS_MAX];
  int count;
} lab_aliases;

static tesela_status lab_read_parameter(const lab_line *line, tsl_lab_kernel *kernel, lab_aliases *aliases) {
  if (strcmp(line->name, "operation") == 0)
    return lab_read_op(line, &kernel->op);
  if (strcmp(line->name, "items") == 0)
    return lab_read_dimensions(line, kernel->items);
  if (strcmp(line->name, "group") == 0)
    return lab_read_dimensions(line, kernel->group);
  if (strcmp(line->name, "kernel") == 0)
    snprintf(kernel->function, sizeof kernel->function, "%.63s", line->value);
  else if (strcmp(line->name, "from") == 0)
    snprintf(kernel->from, sizeof kernel->from, "%.63s", line->value);
  else if (strcmp(line->name, "type") == 0) {
    if (strcmp(line->value, "f32") != 0 && strcmp(line->value, "f64") != 0)
      return lab_fail_line(line, "types are f32 and f64");
    kernel->type = strcmp(line->value, "f32") == 0 ? TESELA_F32 : TESELA_F64;
  } else if (aliases->count == TSL_LAB_ARGUMENTS_MAX)
    return lab_fail_line(line, "these are too many lines");
  else
    aliases->lines[aliases->count++] = *line;
  return TESELA_OK;
}

static tesela_status lab_read_parameters(const char *path, const char *text, tsl_lab_kernel *kernel,
                                         lab_aliases *aliases) {
  lab_line line = {.path = path};
  bool more = true;
  while (true) {
    TSL_TRY(lab_next_line(&text, &line, &more));
    if (!more)
      return TESELA_OK;
    if (*line.name)
      TSL_TRY(lab_read_parameter(&line, kernel, aliases));
  }
}

/* --- the signature --- */

static bool is_word_letter(char letter) {
  return isalnum((unsigned char)letter) || letter == '_';
}

/* Returns the text after the word, if it is a whole word there; else NULL. */
static const char *lab_skip_word(const char *text, const char *word) {
  const size_t length = strlen(word);
  return strncmp(text, word, length) == 0 && !is_word_letter(text[length]) ? text + length : NULL;
}

/* Returns the text after its first comment, or after its first letter. */
static const char *lab_skip_comment(const char *text) {
  if (text[0] == '/' && text[1] == '/')
    return text + strcspn(text, "\n");
  if (text[0] == '/' && text[1] == '*') {
    const char *end = strstr(text + 2, "*/");
    return end ? end + 2 : text + strlen(text);
  }
  return text + 1;
}

/* Returns the parenthesis of the function's definition or declaration; NULL: the file has none. */
static const char *lab_find_signature(const char *text, const char *function) {
  for (const char *at = text; *at; at = lab_skip_comment(at)) {
    if (at > text && is_word_letter(at[-1]))
      continue;
    const char *after = lab_skip_word(at, function);
    if (after && *(after += strspn(after, " \t\r\n")) == '(')
      return after;
  }
  return NULL;
}

/* Returns the text after the parenthesis that closes this one. */
static const char *lab_skip_parentheses(const char *text) {
  int depth = 0;
  for (; *text; text++) {
    depth += (*text == '(') - (*text == ')');
    if (depth == 0)
      return text + 1;
  }
  return text;
}

/* Returns the first kernel's name in OpenCL and CUDA, the first void function that is not static in C. */
static void lab_guess_function(const tsl_lab_kernel *kernel, char *name, size_t size) {
  static const char *const marks[] = {"__kernel", "kernel", "__global__", NULL};
  const char *start = NULL;
  *name = '\0';
  for (const char *at = kernel->text; *at && !start; at = lab_skip_comment(at))
    for (int i = 0; marks[i] && !start; i++)
      if ((at == kernel->text || !is_word_letter(at[-1])) && lab_skip_word(at, marks[i]))
        start = at;
  bool is_static = false; /* a helper's */
  for (const char *at = kernel->text; kernel->language == TSL_LAB_C && *at && !start;
       at = lab_skip_comment(at)) {
    const bool is_word = at == kernel->text || !is_word_letter(at[-1]);
    is_static = *at != ';' && *at != '}' && (is_static || (is_word && lab_skip_word(at, "static")));
    if (is_word && !is_static && lab_skip_word(at, "void"))
      start = at;
  }
  for (const char *at = start; at && *at && *at != '{'; at = lab_skip_comment(at)) {
    const char *end = at;
    while (is_word_letter(*end))
      end++;
    const bool is_attribute = lab_skip_word(at, "__attribute__") || lab_skip_word(at, "__launch_bounds__");
    const char *open = end + strspn(end, " \t\n");
    if (end > at && is_attribute && *open == '(') {
      at = lab_skip_parentheses(open) - 1;
      continue;
    }
    if (end > at && *open == '(') {
      snprintf(name, size, "%.*s", (int)(end - at), at);
      return;
    }
    while (is_word_letter(*at) && is_word_letter(at[1]))
      at++;
  }
}

static tesela_status lab_set_meaning(const tsl_lab_kernel *kernel, const lab_aliases *aliases,
                                     tsl_lab_argument *argument) {
  const char *word = argument->name;
  const lab_line *line = NULL;
  for (int i = 0; i < aliases->count; i++)
    if (strcmp(aliases->lines[i].name, argument->name) == 0)
      word = (line = &aliases->lines[i])->value;
  if (line && strncmp(word, "local ", 6) == 0) {
    argument->meaning = TSL_LAB_ARG_LOCAL;
    snprintf(argument->local, sizeof argument->local, "%.63s", word + 6 + strspn(word + 6, " "));
    return TESELA_OK;
  }
  int i = 0;
  while (i < TSL_LAB_ARG_LOCAL && strcasecmp(meanings[i].word, word) != 0)
    i++;
  argument->meaning = (tsl_lab_meaning)i;
  if (i < TSL_LAB_ARG_LOCAL)
    return TESELA_OK;
  if (line)
    return lab_fail_line(line, "write one of m, n, k, lda, ldb, ldc, alpha, beta, a, b, c, x, y, sums, rows, "
                               "cols, or \"local N\"");
  return tsl_fail(TESELA_BAD_INPUT,
                  "%s: argument \"%s\" of %s is unknown; its meaning is missing in %s/parameters, such as "
                  "\"%s = m\"",
                  kernel->file, argument->name, kernel->function, kernel->folder, argument->name);
}

/* Reads one argument, "__global const float *a". */
static tesela_status lab_read_argument(tsl_lab_kernel *kernel, const lab_aliases *aliases, const char *from,
                                       size_t length) {
  static const struct {
    const char *word;
    int bytes;
    bool is_float;
  } types[] = {{"long", 8, false},      {"ulong", 8, false},    {"int64_t", 8, false}, {"size_t", 8, false},
               {"ptrdiff_t", 8, false}, {"uint64_t", 8, false}, {"float", 4, true},    {"double", 8, true}};
  tsl_lab_argument argument = {.bytes = 4};
  const bool is_pointer = memchr(from, '*', length) || memchr(from, '[', length);
  for (size_t i = 0; i < length;) {
    if (from[i] == '[')
      break;
    size_t end = i;
    while (end < length && is_word_letter(from[end]))
      end++;
    if (end == i) {
      i++;
      continue;
    }
    snprintf(argument.name, sizeof argument.name, "%.*s", (int)(end - i), from + i);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
      if (strcmp(argument.name, types[t].word) == 0) {
        argument.bytes = types[t].bytes;
        argument.is_float |= types[t].is_float;
      }
    i = end;
  }
  if (!*argument.name || (strcmp(argument.name, "void") == 0 && !is_pointer))
    return TESELA_OK;
  if (kernel->argument_count == TSL_LAB_ARGUMENTS_MAX)
    return tsl_fail(TESELA_BAD_INPUT, "%s: %s has more than %d arguments", kernel->file, kernel->function,
                    TSL_LAB_ARGUMENTS_MAX);
  TSL_TRY(lab_set_meaning(kernel, aliases, &argument));
  const tsl_lab_role role = tsl_lab_role_of(argument.meaning);
  if (is_pointer != (role == TSL_LAB_OPERAND || role == TSL_LAB_LOCAL))
    return tsl_fail(TESELA_BAD_INPUT, "%s: argument \"%s\" of %s is %s; %s would be right", kernel->file,
                    argument.name, kernel->function, is_pointer ? N_("a pointer") : N_("no pointer"),
                    is_pointer ? N_("a number") : N_("a pointer"));
  if (is_pointer && argument.is_float && (argument.bytes == 8) != (kernel->type == TESELA_F64))
    return tsl_fail(TESELA_BAD_INPUT,
                    "%s: argument \"%s\" of %s is of %s; \"type = %s\" in %s/parameters would "
                    "be right",
                    kernel->file, argument.name, kernel->function,
                    argument.bytes == 8 ? N_("doubles") : N_("floats"), argument.bytes == 8 ? "f64" : "f32",
                    kernel->folder);
  kernel->arguments[kernel->argument_count++] = argument;
  return TESELA_OK;
}

/* Checks that the kernel's operands fit to its operation. */
static tesela_status lab_check_arguments(const tsl_lab_kernel *kernel) {
  static const struct {
    tsl_op op;
    tsl_lab_meaning needed[4];
    int count;
    const char *words;
  } rows[] = {{TSL_OP_GEMM, {TSL_LAB_ARG_A, TSL_LAB_ARG_B, TSL_LAB_ARG_C}, 3, N_("a, b and c")},
              {TSL_OP_DOT, {TSL_LAB_ARG_X, TSL_LAB_ARG_Y, TSL_LAB_ARG_SUMS}, 3, N_("x, y and sums")},
              {TSL_OP_TRANSPOSE, {TSL_LAB_ARG_A, TSL_LAB_ARG_C}, 2, N_("a and c")}};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
    for (int i = 0; rows[r].op == kernel->op && i < rows[r].count; i++)
      if (!tsl_lab_takes(kernel, rows[r].needed[i]))
        return tsl_fail(TESELA_BAD_INPUT, "%s: %s lacks the argument \"%s\"; a %s needs %s", kernel->file,
                        kernel->function, meanings[rows[r].needed[i]].word, tsl_op_name(kernel->op),
                        rows[r].words);
  return TESELA_OK;
}

/* Refuses a line of the parameters that names no argument, such as a misspelt one. */
static tesela_status lab_check_aliases(const tsl_lab_kernel *kernel, const lab_aliases *aliases) {
  for (int i = 0; i < aliases->count; i++) {
    bool is_known = false;
    for (int j = 0; j < kernel->argument_count; j++)
      is_known |= strcmp(kernel->arguments[j].name, aliases->lines[i].name) == 0;
    if (!is_known)
      return lab_fail_line(&aliases->lines[i], "the kernel has no such argument; other lines are operation, "
                                               "kernel, type, items, group and from");
  }
  return TESELA_OK;
}

static tesela_status lab_read_signature(tsl_lab_kernel *kernel, const lab_aliases *aliases) {
  if (!*kernel->function)
    lab_guess_function(kernel, kernel->function, sizeof kernel->function);
  const char *at = *kernel->function ? lab_find_signature(kernel->text, kernel->function) : NULL;
  if (!at)
    return tsl_fail(TESELA_BAD_INPUT,
                    "%s: there is no function \"%s\"; \"kernel = NAME\" in %s/parameters "
                    "names the kernel",
                    kernel->file, kernel->function, kernel->folder);
  int depth = 0;
  const char *start = ++at;
  for (; *at; at++) {
    if (*at == ')' && depth == 0)
      break;
    depth += (*at == '(') - (*at == ')');
    if (*at == ',' && depth == 0) {
      TSL_TRY(lab_read_argument(kernel, aliases, start, (size_t)(at - start)));
      start = at + 1;
    }
  }
  TSL_TRY(lab_read_argument(kernel, aliases, start, (size_t)(at - start)));
  TSL_TRY(lab_check_aliases(kernel, aliases));
  return lab_check_arguments(kernel);
}

/* --- the folder --- */

static tesela_status lab_find_file(tsl_lab_kernel *kernel) {
  int found = 0;
  for (int i = 0; i < TSL_LAB_LANGUAGES; i++) {
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/kernel.%s", kernel->folder, languages[i].extension);
    if (access(path, R_OK) != 0)
      continue;
    found++;
    kernel->language = (tsl_lab_language)i;
    snprintf(kernel->file, sizeof kernel->file, "%.*s", (int)sizeof kernel->file - 1, path);
    snprintf(kernel->base, sizeof kernel->base, "kernel.%s", languages[i].extension);
  }
  if (found == 1)
    return TESELA_OK;
  return found == 0 ? tsl_fail(TESELA_BAD_INPUT,
                               "%s: this folder has no kernel.cl, kernel.cu or kernel.c; \"tesela lab new "
                               "NAME\" makes a folder with one",
                               kernel->folder)
                    : tsl_fail(TESELA_BAD_INPUT, "%s: this folder has several kernel files; one is right",
                               kernel->folder);
}

static tesela_status lab_kernel_fill(tsl_lab_kernel *kernel) {
  char path[PATH_MAX + 16], *text = NULL;
  lab_aliases aliases = {.count = 0};
  snprintf(path, sizeof path, "%s/parameters", kernel->folder);
  TSL_TRY(lab_find_file(kernel));
  TSL_TRY(tsl_lab_read_file(kernel->file, &kernel->text));
  TSL_TRY(tsl_lab_read_file(path, &text));
  kernel->hash = tsl_hash_add(tsl_hash_start(), kernel->text, strlen(kernel->text) + 1);
  kernel->hash = tsl_hash_add(kernel->hash, text, strlen(text));
  tesela_status status = lab_read_parameters(path, text, kernel, &aliases);
  free(text);
  TSL_TRY(status);
  if (kernel->language != TSL_LAB_C && (!*kernel->items[0] || !*kernel->group[0]))
    return tsl_fail(TESELA_BAD_INPUT,
                    "%s: the line \"%s = ...\" is missing: the work-items %s, such as \"%s\"", path,
                    *kernel->items[0] ? "group" : "items",
                    *kernel->items[0] ? N_("of a group in each dimension") : N_("in each dimension"),
                    *kernel->items[0] ? "group = 16 16" : "items = n m");
  return lab_read_signature(kernel, &aliases);
}

tesela_status tsl_lab_kernel_read(const char *folder, tsl_lab_kernel *kernel) {
  *kernel = (tsl_lab_kernel){.op = TSL_OP_GEMM, .type = TESELA_F32};
  size_t length = strlen(folder);
  while (length > 1 && folder[length - 1] == '/')
    length--;
  if (length == 0 || length > PATH_MAX - 64)
    return tsl_fail(TESELA_BAD_INPUT, "\"%.40s\" is no folder", folder);
  snprintf(kernel->folder, sizeof kernel->folder, "%.*s", (int)length, folder);
  const char *slash = strrchr(kernel->folder, '/');
  snprintf(kernel->name, sizeof kernel->name, "%.100s", slash && slash[1] ? slash + 1 : kernel->folder);
  const tesela_status status = lab_kernel_fill(kernel);
  if (status != TESELA_OK)
    tsl_lab_kernel_free(kernel);
  return status;
}

void tsl_lab_kernel_free(tsl_lab_kernel *kernel) {
  free(kernel->text);
  kernel->text = NULL;
}

bool tsl_lab_takes(const tsl_lab_kernel *kernel, tsl_lab_meaning meaning) {
  for (int i = 0; i < kernel->argument_count; i++)
    if (kernel->arguments[i].meaning == meaning)
      return true;
  return false;
}

/* --- sizes --- */

int64_t tsl_lab_size(const tsl_problem *problem, tsl_lab_meaning meaning) {
  const bool is_dot = problem->op == TSL_OP_DOT;
  switch (meaning) {
  case TSL_LAB_ARG_M:
    return problem->m;
  case TSL_LAB_ARG_N:
    return is_dot ? problem->k : problem->n;
  case TSL_LAB_ARG_K:
    return problem->k;
  case TSL_LAB_ARG_ROWS:
    return problem->op == TSL_OP_TRANSPOSE ? problem->n : problem->m;
  case TSL_LAB_ARG_COLS:
    return problem->op == TSL_OP_TRANSPOSE ? problem->m : problem->n;
  case TSL_LAB_ARG_LDA:
    return problem->a.row_stride;
  case TSL_LAB_ARG_LDB:
    return problem->b.row_stride;
  case TSL_LAB_ARG_LDC:
    return problem->c.row_stride;
  default:
    return 0;
  }
}

/* Finds "#define NAME NUMBER" in the kernel's text; the number may stand in parentheses. */
static bool lab_find_define(const char *text, const char *word, size_t length, int64_t *value) {
  for (const char *at = text; (at = strstr(at, "#define")) != NULL; at++) {
    const char *name = at + 7 + strspn(at + 7, " \t");
    if (strncmp(name, word, length) == 0 && !is_word_letter(name[length])) {
      const char *number = name + length + strspn(name + length, " \t(");
      char *end;
      *value = strtoll(number, &end, 0);
      const char *rest = end + strspn(end, "uUlL) \t\r");
      return end > number && (*rest == '\0' || *rest == '\n' || lab_skip_comment(rest) > rest + 1);
    }
  }
  return false;
}

static bool lab_read_factor(const tsl_lab_kernel *kernel, const char *word, size_t length,
                            const tsl_problem *problem, int64_t *value) {
  char *end;
  if (isdigit((unsigned char)*word)) {
    *value = strtoll(word, &end, 10);
    return end == word + length;
  }
  if (lab_find_define(kernel->text, word, length, value))
    return true;
  for (int i = 0; i < TSL_LAB_MEANINGS; i++)
    if (meanings[i].role == TSL_LAB_SIZE && strlen(meanings[i].word) == length &&
        strncasecmp(meanings[i].word, word, length) == 0) {
      *value = tsl_lab_size(problem, (tsl_lab_meaning)i);
      return true;
    }
  return false;
}

tesela_status tsl_lab_evaluate(const tsl_lab_kernel *kernel, const char *expression,
                               const tsl_problem *problem, int64_t *value) {
  const char *at = expression;
  char operation = '*';
  *value = 1;
  while (true) {
    const size_t length = strcspn(at, "*/");
    int64_t factor = 0;
    if (length == 0 || !lab_read_factor(kernel, at, length, problem, &factor) || factor < 0 ||
        (operation == '/' && factor == 0) || factor > INT32_MAX || *value > INT32_MAX)
      return tsl_fail(TESELA_BAD_INPUT,
                      "%s/parameters: \"%s\" cannot be computed: write numbers, sizes such as m and n, and "
                      "numbers that %s defines, with * and /",
                      kernel->folder, expression, kernel->base);
    *value = operation == '*' ? *value * factor : (*value + factor - 1) / factor;
    at += length;
    if (!*at)
      return TESELA_OK;
    operation = *at++;
  }
}

tesela_status tsl_lab_range_of(const tsl_lab_kernel *kernel, const tsl_problem *problem,
                               tsl_lab_range *range) {
  int64_t groups = 1;
  for (int d = 0; d < 3; d++) {
    int64_t items = 1, group = 1;
    if (*kernel->items[d])
      TSL_TRY(tsl_lab_evaluate(kernel, kernel->items[d], problem, &items));
    if (*kernel->group[d])
      TSL_TRY(tsl_lab_evaluate(kernel, kernel->group[d], problem, &group));
    if (group < 1)
      return tsl_fail(TESELA_BAD_INPUT, "%s/parameters: a group of %lld items is empty; 1 or more is right",
                      kernel->folder, (long long)group);
    range->items[d] = group;
    range->groups[d] = items > group ? (items + group - 1) / group : 1;
    if (range->groups[d] > INT32_MAX / groups)
      return tsl_fail(TESELA_BAD_INPUT, "%s/parameters: \"items\" has more than %d groups", kernel->folder,
                      INT32_MAX);
    groups *= range->groups[d];
  }
  return TESELA_OK;
}
