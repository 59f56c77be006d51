#include "api/struct_abi.h"

#include <string.h>

tesela_status tsl_api_struct_import(const char *name, const void *argument, size_t size, size_t least,
                                    void *own_struct, size_t own_size) {
  const unsigned char *bytes = argument;
  if (size < least)
    return tsl_fail(TESELA_BAD_CALL, "%s has %zu bytes, but at least %zu are needed: pass sizeof *%s", name,
                    size, least, name);
  for (size_t i = own_size; i < size; i++)
    if (bytes[i] != 0)
      return tsl_fail(TESELA_UNSUPPORTED,
                      "%s has a nonzero field after the %zu bytes that tesela " TESELA_VERSION
                      " knows: the program was built for a later version",
                      name, own_size);
  memset(own_struct, 0, own_size);
  memcpy(own_struct, argument, size < own_size ? size : own_size);
  return TESELA_OK;
}

void tsl_api_struct_export(void *argument, size_t size, const void *own_struct, size_t own_size) {
  memcpy(argument, own_struct, size < own_size ? size : own_size);
  if (size > own_size)
    memset((unsigned char *)argument + own_size, 0, size - own_size);
}
