/* Control groups: where the kernel says how much of the machine a process may use. */
#ifndef TSL_BASE_CGROUP_H
#define TSL_BASE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

/* Called for one cgroup: `version` is 1 or 2, `folder` holds its files. */
typedef void (*tsl_cgroup_visit)(void *argument, int version, const char *folder);

/* Visits the cgroups that a process is in, those of `controller` ("cpu") in version 1, and all above them up
 * to each hierarchy's root. `root` is as /sys/fs/cgroup, `self_cgroup_file` as /proc/self/cgroup. Inside a
 * container names may be the host's: a folder that is visited need not be there, and may come twice. */
void tsl_cgroup_walk(const char *root, const char *self_cgroup_file, const char *controller,
                     tsl_cgroup_visit visit, void *argument);

/* The start of a small file of the kernel's as text, at most size - 1 bytes; false when it is empty or cannot
 * be read. */
bool tsl_file_start(const char *path, char *text, size_t size);
/* The same for folder/file. */
bool tsl_cgroup_read(const char *folder, const char *file, char *text, size_t size);

#endif
