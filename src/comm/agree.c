#include "comm/agree.h"

#include "base/status.h"

#include <string.h>

tesela_status tsl_agree(tsl_ranks *ranks, tesela_status status) {
  struct {
    int status;
    tsl_status_saved saved;
  } message = {.status = status};
  double lowest = 0;
  tsl_status_save(&message.saved);
  TSL_TRY(ranks->ops->least(ranks, status == TESELA_OK ? ranks->size : ranks->rank, &lowest));
  if (lowest >= ranks->size)
    return TESELA_OK;
  const int rank = (int)lowest;
  TSL_TRY(ranks->ops->broadcast(ranks, rank, &message, sizeof message));
  return tsl_fail((tesela_status)message.status, "rank %d: %s", rank, message.saved.sentence);
}

tesela_status tsl_agree_said(tsl_ranks *ranks, const tsl_said *said, int count) {
  uint64_t first[TSL_SAID_MAX + 1] = {(uint64_t)count};
  for (int i = 0; i < count; i++)
    first[1 + i] = said[i].value;
  TSL_TRY(ranks->ops->broadcast(ranks, 0, first, sizeof first));
  for (int i = 0; i < count; i++)
    if (first[1 + i] != said[i].value)
      return tsl_fail(TESELA_BAD_CALL, "its %s is not that of rank 0 (%lld here, %lld there)", said[i].name,
                      (long long)said[i].value, (long long)first[1 + i]);
  return TESELA_OK;
}

tesela_status tsl_agree_start(tsl_ranks *ranks, tesela_status status, const tsl_said *said, int count) {
  tsl_status_saved saved;
  tsl_status_save(&saved);
  const tesela_status alike = tsl_agree_said(ranks, said, count);
  if (status != TESELA_OK)
    tsl_status_restore(&saved);
  return tsl_agree(ranks, status != TESELA_OK ? status : alike);
}

/* FNV-1a. */
uint64_t tsl_said_bytes(const void *bytes, size_t count) {
  const unsigned char *byte = bytes;
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < count; i++)
    hash = (hash ^ byte[i]) * 0x100000001b3u;
  return hash;
}

uint64_t tsl_said_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
