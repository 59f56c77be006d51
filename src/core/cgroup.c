#include "core/cgroup.h"

#include "core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tsl_file_read_start(const char *path, char *text, size_t size) {
  FILE *stream = fopen(path, "re");
  if (!stream)
    return false;
  const size_t length = fread(text, 1, size - 1, stream);
  fclose(stream);
  text[length] = '\0';
  return length > 0;
}

bool tsl_cgroup_read(const char *folder, const char *file, char *text, size_t size) {
  tsl_text path = {0};
  tsl_text_add(&path, "%s/%s", folder, file);
  const bool read = !path.failed && tsl_file_read_start(tsl_text_get(&path), text, size);
  tsl_text_free(&path);
  return read;
}

/* Visits the cgroup `group` ("/a/b") of the hierarchy at root/mount, and its ancestors. */
static void visit_group_and_ancestors(const char *root, const char *mount, const char *group, int version,
                                      tsl_cgroup_visit visit, void *argument) {
  tsl_text folder = {0};
  tsl_text_add(&folder, "%s/%s", root, mount);
  const size_t top = folder.length;
  tsl_text_add(&folder, "%s", group);
  while (!folder.failed) {
    visit(argument, version, tsl_text_get(&folder));
    if (folder.length <= top)
      break;
    while (folder.length > top && folder.data[folder.length - 1] != '/')
      folder.length--;
    if (folder.length > top)
      folder.length--;
    folder.data[folder.length] = '\0';
  }
  tsl_text_free(&folder);
}

static bool comma_list_contains(const char *controllers, const char *controller) {
  const size_t wanted = strlen(controller);
  for (const char *at = controllers;; at++) {
    const size_t length = strcspn(at, ",");
    if (length == wanted && memcmp(at, controller, wanted) == 0)
      return true;
    at += length;
    if (*at == '\0')
      return false;
  }
}

/* Visits cgroups of a line of /proc/self/cgroup: "0::/a/b" (version 2) or "4:cpu,cpuacct:/a/b" (1). */
static void visit_groups_of_line(const char *root, char *line, const char *controller, tsl_cgroup_visit visit,
                                 void *argument) {
  char *controllers = strchr(line, ':');
  char *group = controllers ? strchr(controllers + 1, ':') : NULL;
  if (!group || group[1] != '/')
    return;
  *controllers++ = '\0';
  *group++ = '\0';
  if (strstr(group, "/..")) /* outside of the cgroup namespace, of which only the root is visible */
    group[1] = '\0';
  if (controllers[0] == '\0') {
    visit_group_and_ancestors(root, "", group, 2, visit, argument);
    visit_group_and_ancestors(root, "unified", group, 2, visit, argument);
  } else if (comma_list_contains(controllers, controller)) {
    visit_group_and_ancestors(root, controllers, group, 1, visit, argument);
    visit_group_and_ancestors(root, controller, group, 1, visit, argument);
  }
}

void tsl_cgroup_walk(const char *root, const char *self_cgroup_file, const char *controller,
                     tsl_cgroup_visit visit, void *argument) {
  FILE *file = fopen(self_cgroup_file, "re");
  if (!file)
    return;
  char *line = NULL;
  size_t size = 0;
  while (getline(&line, &size, file) > 0) {
    line[strcspn(line, "\n")] = '\0';
    visit_groups_of_line(root, line, controller, visit, argument);
  }
  free(line);
  fclose(file);
}
