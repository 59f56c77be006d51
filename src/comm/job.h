/* Facts that are equal on all ranks, and the calling rank's own data. */
#ifndef TSL_COMM_JOB_H
#define TSL_COMM_JOB_H

#include "comm/comm.h"
#include "comm/gpu_transport.h"
#include "comm/layout.h"
#include "comm/rank_memory.h"
#include "core/types.h"

typedef struct tsl_rank_part {
  const tsl_type_info *type;
  tsl_rank_layout layout; /* transposes are applied */
  tsl_host_copy mirror;   /* the calling rank's elements */
  void *data;             /* elements of `mirror` in host memory; written for C only */
  bool conjugate;
  tsl_order order;      /* order within messages; equal on all ranks */
  bool between_devices; /* messages (C: sums) go from device to device; equal on all ranks */
} tsl_rank_part;

enum { TSL_PART_A, TSL_PART_B, TSL_PART_C, TSL_PARTS };

typedef struct tsl_job {
  tsl_ranks *ranks;
  tesela_context *context;
  int64_t m, n, k;
  tsl_rank_part part[TSL_PARTS];
  const tsl_type_info *sums;            /* type of the sums of products */
  double alpha[2], beta[2];             /* converted to the type `sums` */
  const char *device, *strategy, *bits; /* for local products; `bits` is equal on all ranks */
  bool any_steps;                       /* C's bits may depend on transport; equal on all ranks */
  tsl_rank_device rank_device;          /* where the calling rank multiplies */
  tsl_gpu_transport *transport;         /* transport between devices; NULL: none */
  bool on_devices;                      /* all ranks multiply on devices; equal on all ranks */
  /* Equal on all ranks. `stores_on_device`: sums are added and stored on the devices (comm/device_store.h).
   * `travels`: some part of C has another owner than the computing rank, or several layers. */
  bool stores_on_device, travels;
  int64_t memory; /* limit of bytes per rank; equal on all ranks */
} tsl_job;

#endif
