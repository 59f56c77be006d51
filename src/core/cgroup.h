#ifndef TSL_CORE_CGROUP_H
#define TSL_CORE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

/* Callback for one cgroup. `version` is 1 or 2; `folder` holds the cgroup's files. */
typedef void (*tsl_cgroup_visit)(void *argument, int version, const char *folder);

/* Visits this process's cgroups up to each root; in version 1 only cgroups of `controller` ("cpu"). `root` is
 * /sys/fs/cgroup, self_cgroup_file /proc/self/cgroup, or copies. A folder may be missing or repeated. */
void tsl_cgroup_walk(const char *root, const char *self_cgroup_file, const char *controller,
                     tsl_cgroup_visit visit, void *argument);

/* Reads at most size - 1 bytes of a small kernel file as text. Returns false if it is empty or unreadable. */
bool tsl_file_read_start(const char *path, char *text, size_t size);
/* Reads folder/file as tsl_file_read_start() does; false: it cannot be read. */
bool tsl_cgroup_read(const char *folder, const char *file, char *text, size_t size);

#endif
