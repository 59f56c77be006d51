#include <string.h>
#include <strings.h>

#include "io/io_format.h"
#include "io/io_list.h"

#define TSL_FORMAT_DECLARE(name) extern const tsl_format tsl_format_##name;
TSL_FORMAT_LIST(TSL_FORMAT_DECLARE)
#undef TSL_FORMAT_DECLARE

#define TSL_FORMAT_ROW(name) &tsl_format_##name,
static const tsl_format *const formats[] = {TSL_FORMAT_LIST(TSL_FORMAT_ROW)};
#undef TSL_FORMAT_ROW
enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

const tsl_format *tsl_format_of_name(const char *path) {
  const char *const slash = strrchr(path, '/');
  const char *const ending = strrchr(slash != NULL ? slash : path, '.');
  if (ending == NULL)
    return NULL;
  const size_t length = strlen(ending);
  for (int i = 0; i < FORMAT_COUNT; i++)
    for (const char *at = formats[i]->endings; *at != '\0'; at = strchr(at, ' ') + 1)
      if (strncasecmp(at, ending, length) == 0 && at[length] == ' ')
        return formats[i];
  return NULL;
}

const tsl_format *tsl_format_find(const char *name) {
  for (int i = 0; i < FORMAT_COUNT; i++)
    if (strcmp(formats[i]->name, name) == 0)
      return formats[i];
  return NULL;
}

bool tsl_io_has_format(const char *name) {
  return tsl_format_find(name) != NULL;
}

const char *tsl_io_endings(void) {
#define TSL_FORMAT_ENDING(name) ", ." #name
  return &TSL_FORMAT_LIST(TSL_FORMAT_ENDING)[2];
#undef TSL_FORMAT_ENDING
}

const char *tsl_io_formats(void) {
#define TSL_FORMAT_NAME(name) ", " #name
  return &TSL_FORMAT_LIST(TSL_FORMAT_NAME)[2];
#undef TSL_FORMAT_NAME
}

const tsl_format *tsl_format_recognise(const tsl_input *in, bool marked) {
  const size_t waiting = in->end - in->at;
  for (int i = 0; i < FORMAT_COUNT; i++)
    if ((formats[i]->marked || !marked) &&
        formats[i]->recognise(in->block + in->at, waiting < 4096 ? waiting : 4096))
      return formats[i];
  return NULL;
}
