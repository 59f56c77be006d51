/* A member's place in a product of operands in pieces: its tiles, and what a run works with. For sites*.c and
 * several_tiles.c. */
#ifndef TSL_STRATEGY_GEMM_SEVERAL_SHARD_WORKER_H
#define TSL_STRATEGY_GEMM_SEVERAL_SHARD_WORKER_H

#include "device/cross_copy.h"
#include "strategy/gemm/several/several.h"

enum { SITE_RING = 2 };

/* A buffer that copies fill and work empties, or the other way round, and the event behind its last user. */
typedef struct tsl_site_buffer {
  tsl_buffer *buffer;
  tsl_event *done; /* NULL on devices whose streams do not wait: then there is one stream */
  bool is_recorded;
} tsl_site_buffer;

struct tsl_site {
  tsl_device *device;
  int member;
  const tsl_several_block *blocks; /* of which it computes those of its member */
  int block_count;
  tsl_several_block
      *own_blocks;         /* the same, of a site that stands in for another one; NULL: they are the plan's */
  tsl_site *instead;       /* what does this site's part since its device failed; NULL: it never did */
  tsl_several_tile *tiles; /* in the order of computing */
  int tile_count, tile_room;
  tsl_several_kind *kinds;
  int kind_count, kind_room;
  /* Bytes of buffers: of the factor that stays, of the one that passes through, of C's tiles; 0: none is
   * needed. */
  size_t stay_bytes, slab_bytes, tile_bytes;
  int slabs_used, results_used; /* a bit for each of the ring's buffers */
  uint64_t workspace;

  /* From the first run on. */
  bool is_ready;
  tsl_stream *in, *compute, *out; /* all one where streams do not wait */
  tsl_site_buffer stay, slabs[SITE_RING], results[SITE_RING];
  tsl_buffer *scratch;
  tsl_event *arrived;
  tsl_device_copier carrier;
};

/* Cuts C into blocks. */
tesela_status tsl_several_cut_blocks(const tsl_work *work, tsl_several *self);
/* Adds one to them, cut into such as its member takes at a time; *room is that of the list. */
tesela_status tsl_several_add_block(const tsl_work *work, tsl_several *self, int *room,
                                    tsl_several_block block);
/* Adds a block's tiles; kinds are without children. */
tesela_status tsl_several_cut_tiles(const tsl_work *work, const tsl_several *self, int block, tsl_site *site);

/* How a rectangle of an operand lies in a buffer of its own: elements from row to row and from column to
 * column, and bytes. */
typedef struct tsl_lying {
  int64_t row_stride, col_stride;
  size_t bytes;
} tsl_lying;
tesela_status tsl_several_lying(const tsl_work *work, int operand, const tsl_rect *rect, tsl_lying *out);

/* A site of another member for all that a site computes; `like` as in tsl_subplan_request. */
tesela_status tsl_several_build_instead(const tsl_work *work, const tsl_site *failed, int member,
                                        const tsl_subplan *like, tsl_site **out);
/* Frees one, and what stands in for it. NULL is allowed. */
void tsl_several_free_site(const tsl_work *work, tsl_site *site);

/* Takes all that runs need, unless it is there: before C is touched, so that a lack of memory leaves it as it
 * was. */
tesela_status tsl_site_ready(tsl_site *site);
/* Gives the memory that runs took back to the device, which keeps it for others (device/memory_pool.h); and
 * all else, too. Nothing is pending. */
void tsl_site_rest(tsl_site *site);
void tsl_site_end(tsl_site *site);

#endif
