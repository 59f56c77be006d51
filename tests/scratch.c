#include "scratch.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void scratch_require(int holds, const char *what) {
  if (holds)
    return;
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(1);
}

void scratch_create(scratch *s) {
  snprintf(s->folder, sizeof s->folder, "%s/scratch.XXXXXX", TESELA_BINARY_DIR);
  scratch_require(mkdtemp(s->folder) != NULL, s->folder);
}

static int scratch_remove_one(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)info, (void)type, (void)walk;
  return remove(path);
}

void scratch_remove(scratch *s) {
  nftw(s->folder, scratch_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *scratch_path(const scratch *s, const char *name) {
  static char paths[4][PATH_MAX + 256];
  static unsigned turn;
  char *path = paths[turn++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", s->folder, name);
  return path;
}

void scratch_write(const scratch *s, const char *name, const char *text) {
  char path[PATH_MAX + 256];
  snprintf(path, sizeof path, "%s/%s", s->folder, name);
  for (char *slash = path + strlen(s->folder) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = '\0';
    scratch_require(mkdir(path, 0777) == 0 || errno == EEXIST, path);
    *slash = '/';
  }
  FILE *file = fopen(path, "w");
  scratch_require(file != NULL, path);
  scratch_require(fputs(text, file) >= 0 && fclose(file) == 0, path);
}
