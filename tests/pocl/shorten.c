/* shorten LIBRARY WORDS INPUT OUTPUT: copies a library of PoCL's built-in functions, in LLVM's bitcode. The
 * copy has the functions whose names are in the file WORDS, and the functions that these call. LIBRARY is
 * libpocl, which loads LLVM. PoCL reads all 20,000 functions in every process that compiles a kernel. */
#include <ctype.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 1 << 16, LENGTH_MAX = 128, INTERNAL_LINKAGE = 8 };
static char words[WORDS_MAX][LENGTH_MAX];
static size_t word_count;

static int compare(const void *a, const void *b) {
  return strcmp(a, b);
}

/* Returns true if the words have the name, without PoCL's prefix and without a number at the end. */
static bool is_known(const char *name, size_t length) {
  char word[LENGTH_MAX];
  static const char prefix[] = "_cl_";
  const size_t skipped = strncmp(name, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0;
  while (length > skipped && isdigit((unsigned char)name[length - 1]))
    length--;
  snprintf(word, sizeof word, "%.*s", (int)(length - skipped), name + skipped);
  return bsearch(word, words, word_count, LENGTH_MAX, compare) != NULL;
}

static bool read_words(const char *path) {
  FILE *file = fopen(path, "r");
  while (file && word_count < WORDS_MAX && fgets(words[word_count], LENGTH_MAX, file)) {
    words[word_count][strcspn(words[word_count], "\n")] = '\0';
    word_count++;
  }
  if (file)
    fclose(file);
  qsort(words, word_count, LENGTH_MAX, compare);
  return word_count > 0;
}

/* Functions of LLVM's C interface. */
#define FUNCTIONS(X)                                                                                         \
  X(void *, LLVMContextCreate, (void))                                                                       \
  X(int, LLVMCreateMemoryBufferWithContentsOfFile, (const char *, void **, char **))                         \
  X(int, LLVMParseBitcodeInContext2, (void *, void *, void **))                                              \
  X(void *, LLVMGetFirstFunction, (void *))                                                                  \
  X(void *, LLVMGetNextFunction, (void *))                                                                   \
  X(const char *, LLVMGetValueName2, (void *, size_t *))                                                     \
  X(int, LLVMIsDeclaration, (void *))                                                                        \
  X(void, LLVMSetLinkage, (void *, int))                                                                     \
  X(void *, LLVMCreatePassBuilderOptions, (void))                                                            \
  X(void *, LLVMRunPasses, (void *, const char *, void *, void *))                                           \
  X(int, LLVMWriteBitcodeToFile, (void *, const char *))
#define DECLARE(result, name, arguments) static result(*name) arguments;
FUNCTIONS(DECLARE)

static bool load(const char *library) {
  void *handle = dlopen(library, RTLD_NOW);
  bool all = handle != NULL;
#define LOAD(result, name, arguments)                                                                        \
  if (all) {                                                                                                 \
    void *found = dlsym(handle, #name);                                                                      \
    memcpy(&name, &found, sizeof found);                                                                     \
    all = found != NULL;                                                                                     \
  }
  FUNCTIONS(LOAD)
  return all;
}

/* Unused functions with internal linkage are removed. A mangled name is _Z, the length, and the name. */
static void hide_unknown(void *module) {
  for (void *function = LLVMGetFirstFunction(module); function; function = LLVMGetNextFunction(function)) {
    size_t length;
    const char *name = LLVMGetValueName2(function, &length);
    char *rest;
    if (LLVMIsDeclaration(function) || strncmp(name, "_Z", 2) != 0 || !isdigit((unsigned char)name[2]))
      continue;
    const unsigned long characters = strtoul(name + 2, &rest, 10);
    if (!is_known(rest, characters))
      LLVMSetLinkage(function, INTERNAL_LINKAGE);
  }
}

int main(int argc, char **argv) {
  void *buffer, *module;
  char *message = NULL;
  if (argc != 5 || !load(argv[1]) || !read_words(argv[2]) ||
      LLVMCreateMemoryBufferWithContentsOfFile(argv[3], &buffer, &message) != 0 ||
      LLVMParseBitcodeInContext2(LLVMContextCreate(), buffer, &module) != 0) {
    fprintf(stderr, "shorten: %s is not shortened%s%s\n", argc > 3 ? argv[3] : "a library",
            message ? ": " : "", message ? message : "");
    return 1;
  }
  hide_unknown(module);
  return LLVMRunPasses(module, "globaldce,strip-dead-prototypes", NULL, LLVMCreatePassBuilderOptions()) ||
         LLVMWriteBitcodeToFile(module, argv[4]) != 0;
}
