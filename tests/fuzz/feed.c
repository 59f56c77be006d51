/* Passes each file of folders, in a format: feed FORMAT FOLDER..., to the fuzzers' entry, so that faults
 * found earlier are tested under every compiler. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/fuzz_reader.h"

static int feed_file(const char *path) {
  FILE *const file = fopen(path, "rb");
  if (file == NULL)
    return 0; /* a folder in the folder */
  enum { MOST = 1 << 20 };
  uint8_t *const bytes = malloc(MOST);
  const size_t size = bytes != NULL ? fread(bytes, 1, MOST, file) : 0;
  fclose(file);
  if (bytes != NULL)
    LLVMFuzzerTestOneInput(bytes, size);
  free(bytes);
  return 1;
}

static int feed_folder(const char *name) {
  DIR *const folder = opendir(name);
  if (folder == NULL)
    return 0;
  int count = 0;
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", name, entry->d_name);
    if (entry->d_name[0] != '.')
      count += feed_file(path);
  }
  closedir(folder);
  return count;
}

int main(int argc, char **argv) {
  fuzz_format = argc > 1 ? argv[1] : NULL;
  for (int i = 2; i < argc; i++) {
    const int count = feed_folder(argv[i]);
    printf("%s: %d files\n", argv[i], count);
    if (count == 0) {
      fprintf(stderr, "%s: no files\n", argv[i]);
      return 1;
    }
  }
  return 0;
}
