#ifndef TSL_STRATEGY_GEMM_SEVERAL_SHARD_WORKER_H
#define TSL_STRATEGY_GEMM_SEVERAL_SHARD_WORKER_H

#include "device/cross_copy.h"
#include "strategy/gemm/composite/several/several.h"

enum { RING_BUFFERS = 2 };

/* Buffer of the ring, and the event after its last use. */
typedef struct tsl_shard_worker_buffer {
  tsl_buffer *buffer;
  tsl_event *done; /* NULL: no stream_wait, and a single stream */
  bool is_recorded;
} tsl_shard_worker_buffer;

struct tsl_shard_worker {
  tsl_device *device;
  int member;
  const tsl_several_block *blocks; /* blocks of all members; the worker computes its member's */
  int block_count;
  tsl_several_block *replacement_blocks; /* `blocks` of a replacement, owned by it; NULL: the plan's */
  tsl_shard_worker *replacement;         /* replaces this one since its device failed; NULL: no failure */
  tsl_several_tile *tiles;
  int tile_count, tile_capacity;
  tsl_several_kind *kinds;
  int kind_count, kind_capacity;
  /* Bytes of the buffers of the resident operand, of a slab, and of a tile of C; 0: not needed. */
  size_t resident_bytes, slab_bytes, tile_bytes;
  int slabs_used, results_used; /* bit i: buffer i of the ring is used */
  uint64_t workspace;           /* maximum of all child plans, in bytes */

  /* Resources of runs; allocated by tsl_shard_worker_allocate(). */
  bool is_ready;
  tsl_stream *in, *compute, *out; /* one stream for all without stream_wait */
  tsl_shard_worker_buffer resident, slabs[RING_BUFFERS], results[RING_BUFFERS];
  tsl_buffer *scratch;
  tsl_event *arrived; /* after the copies that a tile needs; NULL: a single stream */
  tsl_device_copier copier;
};

/* Cuts C into blocks for the members; fails if memory is short. */
tesela_status tsl_several_cut_blocks(const tsl_work *work, tsl_several *self);
/* Appends a block, split until its resident operand fits the member's memory. *capacity: of the list. */
tesela_status tsl_several_add_block(const tsl_work *work, tsl_several *self, int *capacity,
                                    tsl_several_block block);
/* Appends a block's tiles and their kinds; child plans are made later. */
tesela_status tsl_several_cut_tiles(const tsl_work *work, const tsl_several *self, int block,
                                    tsl_shard_worker *worker);

/* Strides, in elements, and bytes of a rectangle of an operand in a buffer of its own. */
typedef struct tsl_buffer_layout {
  int64_t row_stride, col_stride;
  size_t bytes;
} tsl_buffer_layout;
/* Computes the layout of a rectangle in a buffer; fails if its bytes overflow. */
tesela_status tsl_several_layout(const tsl_work *work, int operand, const tsl_rect *rect,
                                 tsl_buffer_layout *out);

/* Makes a worker of `member` for a failed worker's blocks; `like` as in a request. The caller frees *out. */
tesela_status tsl_several_build_replacement(const tsl_work *work, const tsl_shard_worker *failed, int member,
                                            const tsl_subplan *like, tsl_shard_worker **out);
/* Frees a worker and its replacement; NULL is allowed. */
void tsl_several_free_worker(const tsl_work *work, tsl_shard_worker *worker);

/* Allocates the resources of a run unless they exist, before C is written: a failure leaves C unchanged. */
tesela_status tsl_shard_worker_allocate(tsl_shard_worker *worker);
/* Returns the memory of a run to the device's pool (device/memory_pool.h). No work may be pending. */
void tsl_shard_worker_release_memory(tsl_shard_worker *worker);
/* Releases all resources of a worker. No work may be pending. */
void tsl_shard_worker_release(tsl_shard_worker *worker);

#endif
