/* A product or transpose as all ranks know it, with what is this rank's own beside it. */
#ifndef TSL_COMM_JOB_H
#define TSL_COMM_JOB_H

#include "base/types.h"
#include "comm/comm.h"
#include "comm/gpu_transport.h"
#include "comm/layout.h"
#include "comm/rank_memory.h"

/* One operand. */
typedef struct tsl_rank_part {
  const tsl_type_info *type;
  tsl_rank_layout layout; /* of the operand as it takes part: transposes are turned already */
  tsl_host_copy mirror;   /* of the calling rank's elements ... */
  void *data;             /* ... in host memory; only C's is written */
  bool conjugate;
  tsl_order order; /* of messages, and of what is made of them: the same on all ranks */
  bool by_lane;    /* its messages go from device to device; of C, the sums: the same on all ranks */
} tsl_rank_part;

enum { TSL_PART_A, TSL_PART_B, TSL_PART_C, TSL_PARTS };

typedef struct tsl_job {
  tsl_ranks *ranks;
  tesela_context *context;
  int64_t m, n, k;
  tsl_rank_part part[TSL_PARTS];
  const tsl_type_info *sums;
  double alpha[2], beta[2];             /* as the type of the sums has them */
  const char *device, *strategy, *bits; /* of local products; bits: the same on all ranks */
  bool any_steps;                       /* bits may depend on how messages travel; the same on all ranks */
  tsl_rank_place place;                 /* of the calling rank's products */
  tsl_lane *lane;                       /* of the ranks' devices; NULL: there is none */
  bool on_devices;                      /* all ranks' products are made on devices; the same on all ranks */
  /* The same on all ranks: sums are added up and stored on the devices (comm/device_store.h), and whether
   * parts of C are made by other ranks than have them, or in several layers: else nothing of C is sent. */
  bool settles, travels;
  int64_t memory; /* bytes a rank may take; the same on all ranks */
} tsl_job;

#endif
