#include "device/jit_disk.h"

#include "core/env.h"
#include "core/safe_open.h"
#include "core/status.h"
#include "core/warnings.h"
#include "device/jit_cache.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

tesela_status tsl_jit_folder(tsl_text *folder) {
  const char *chosen = tsl_env_get(TSL_ENV_CACHE_DIR);
  const char *cache = tsl_env_foreign("XDG_CACHE_HOME"), *home = tsl_env_foreign("HOME");
  if (chosen[0] != '\0')
    tsl_text_add(folder, "%s", chosen);
  else if (cache != NULL && cache[0] == '/') /* the XDG specification ignores others */
    tsl_text_add(folder, "%s/tesela/kernels", cache);
  else if (home != NULL && home[0] != '\0')
    tsl_text_add(folder, "%s/.cache/tesela/kernels", home);
  else
    return tsl_fail(TESELA_IO_FAILED, "there is no folder for compiled kernels: neither TESELA_CACHE_DIR nor "
                                      "XDG_CACHE_HOME nor HOME is set");
  return tsl_text_status(folder);
}

uint64_t tsl_jit_size_limit(void) {
  uint64_t limit = 0;
  if (tsl_parse_bytes(tsl_env_get(TSL_ENV_CACHE_SIZE), &limit))
    return limit;
  const char *fallback = tsl_env_info_at(TSL_ENV_CACHE_SIZE)->fallback;
  tsl_log(TSL_LOG_CACHE, "TESELA_CACHE_SIZE is \"%s\" and no size like 256MiB; %s is used instead",
          tsl_env_get(TSL_ENV_CACHE_SIZE), fallback);
  return tsl_parse_bytes(fallback, &limit) ? limit : 0;
}

/* Makes a folder and its parents, for this user alone; open() reports failures. */
static void jit_folder_make_folders(char *path) {
  for (char *at = path + 1; *at != '\0'; at++)
    if (*at == '/') {
      *at = '\0';
      mkdir(path, 0700);
      *at = '/';
    }
  mkdir(path, 0700);
}

int tsl_jit_folder_open(bool create, char *why, size_t size) {
  tsl_text path = {0};
  tsl_status_saved saved;
  int folder = -1, reason = 0;
  tsl_status_save(&saved);
  if (tsl_jit_folder(&path) != TESELA_OK) {
    snprintf(why, size, "%s", tesela_last_error());
    tsl_status_restore(&saved);
  } else {
    if (create)
      jit_folder_make_folders(path.data);
    const char *refused;
    folder = tsl_trusted_folder(path.data, &refused);
    reason = folder < 0 ? errno : 0;
    if (folder < 0)
      snprintf(why, size, "%s: %s", path.data, refused);
    if (folder < 0 && reason == 0)
      tsl_notice(TSL_LOG_CACHE, "compiled kernels are not kept in %s: %s", path.data, refused);
  }
  tsl_text_free(&path);
  errno = reason;
  return folder;
}
