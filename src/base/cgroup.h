/* Control groups, which limit how much of the machine a process may use. */
#ifndef TSL_BASE_CGROUP_H
#define TSL_BASE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

/* Callback for one cgroup. `version` is 1 or 2; `folder` holds the cgroup's files. */
typedef void (*tsl_cgroup_visit)(void *argument, int version, const char *folder);

/* Visits the cgroups of this process and all their ancestors up to each hierarchy's root. In version 1
 * only cgroups of `controller` ("cpu") are visited. `root` is /sys/fs/cgroup and `self_cgroup_file`
 * /proc/self/cgroup, or copies in tests. Inside a container names may be the host's, so a visited
 * folder may not exist, or be visited twice. */
void tsl_cgroup_walk(const char *root, const char *self_cgroup_file, const char *controller,
                     tsl_cgroup_visit visit, void *argument);

/* Reads the start of a small kernel file as text, at most size - 1 bytes. Returns false if it is empty
 * or unreadable. */
bool tsl_file_start(const char *path, char *text, size_t size);
/* Reads the start of folder/file as tsl_file_start() does. */
bool tsl_cgroup_read(const char *folder, const char *file, char *text, size_t size);

#endif
