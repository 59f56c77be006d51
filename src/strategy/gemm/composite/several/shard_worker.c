#include "strategy/gemm/composite/several/shard_worker.h"

#include "core/log.h"
#include "core/memory.h"
#include "core/status.h"

#include <math.h>
#include <stdlib.h>

static tesela_status make_worker(const tsl_work *work, int member, tsl_shard_worker **worker) {
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof **worker, "a device's part of a product", &block));
  *worker = block;
  (*worker)->device = work->device->members[member];
  (*worker)->member = member;
  (*worker)->copier.device = work->device->members[member];
  return TESELA_OK;
}

static tesela_status get_or_make_worker(const tsl_work *work, tsl_several *self, int member,
                                        tsl_shard_worker **worker) {
  if (!self->workers[member])
    TSL_TRY(make_worker(work, member, &self->workers[member]));
  *worker = self->workers[member];
  return TESELA_OK;
}

static tesela_status shard_worker_make_children(const tsl_work *work, tsl_shard_worker *worker,
                                                const tsl_subplan *like) {
  for (int i = 0; i < worker->kind_count; i++) {
    tsl_several_kind *kind = &worker->kinds[i];
    const tsl_subplan_request request = {.problem = &kind->problem,
                                         .device = worker->device,
                                         .in_buffers = true,
                                         .workspace_most = UINT64_MAX,
                                         .most = tsl_accuracy_of_one_part(&work->problem, &kind->problem, 1),
                                         .like = like};
    const tesela_status status = work->subplans->make(work->subplans, &request, &kind->child);
    if (status != TESELA_OK)
      return tsl_fail_in(status, "the part of %s", worker->device->name);
    const uint64_t bytes = work->subplans->workspace(kind->child);
    worker->workspace = bytes > worker->workspace ? bytes : worker->workspace;
  }
  return TESELA_OK;
}

static void log_worker(const tsl_shard_worker *worker) {
  tsl_log(TSL_LOG_PLAN,
          "several: %s computes %d tiles of %d kinds; buffers of %zu bytes stay, %zu pass through, %zu of C",
          worker->device->name, worker->tile_count, worker->kind_count, worker->resident_bytes,
          worker->slab_bytes, worker->tile_bytes);
}

tesela_status tsl_several_build_workers(tsl_work *work, tsl_several *self) {
  TSL_TRY(tsl_several_cut_blocks(work, self));
  for (int i = 0; i < self->block_count; i++) {
    tsl_shard_worker *worker;
    tsl_traffic traffic;
    TSL_TRY(get_or_make_worker(work, self, self->blocks[i].member, &worker));
    TSL_TRY(tsl_several_cut_tiles(work, self, i, worker));
    tsl_several_traffic(work, &self->blocks[i].c, worker->member, &traffic);
    tsl_several_measure(work->device, worker->member, &traffic, &self->links);
  }
  for (int i = 0; i < work->device->member_count; i++)
    if (self->workers[i]) {
      self->workers[i]->blocks = self->blocks;
      self->workers[i]->block_count = self->block_count;
      TSL_TRY(shard_worker_make_children(work, self->workers[i], NULL));
      log_worker(self->workers[i]);
    }
  return TESELA_OK;
}

/* Cuts the failed worker's blocks into blocks and tiles for another member. */
static tesela_status cut_replacement(const tsl_work *work, const tsl_shard_worker *failed,
                                     tsl_shard_worker *worker) {
  tsl_several cut = {.count = 0};
  tesela_status status = TESELA_OK;
  int capacity = 0;
  for (int i = 0; i < failed->block_count && status == TESELA_OK; i++)
    if (failed->blocks[i].member == failed->member)
      status = tsl_several_add_block(work, &cut, &capacity,
                                     (tsl_several_block){.c = failed->blocks[i].c, .member = worker->member});
  worker->blocks = worker->replacement_blocks = cut.blocks;
  worker->block_count = cut.block_count;
  for (int i = 0; i < cut.block_count && status == TESELA_OK; i++)
    status = tsl_several_cut_tiles(work, &cut, i, worker);
  return status;
}

tesela_status tsl_several_build_replacement(const tsl_work *work, const tsl_shard_worker *failed, int member,
                                            const tsl_subplan *like, tsl_shard_worker **out) {
  TSL_TRY(make_worker(work, member, out));
  tesela_status status = cut_replacement(work, failed, *out);
  if (status == TESELA_OK)
    status = shard_worker_make_children(work, *out, like);
  if (status != TESELA_OK) {
    tsl_several_free_worker(work, *out);
    *out = NULL;
  }
  return status;
}

void tsl_several_free_worker(const tsl_work *work, tsl_shard_worker *worker) {
  if (!worker)
    return;
  tsl_several_free_worker(work, worker->replacement);
  tsl_shard_worker_release(worker);
  for (int kind = 0; kind < worker->kind_count; kind++)
    work->subplans->destroy(worker->kinds[kind].child);
  free(worker->kinds);
  free(worker->tiles);
  free(worker->replacement_blocks);
  tsl_free(worker);
}

void tsl_several_release_workers(const tsl_work *work, tsl_several *self) {
  for (int i = 0; i < TSL_MEMBERS_MAX; i++) {
    tsl_several_free_worker(work, self->workers[i]);
    self->workers[i] = NULL;
  }
  free(self->blocks);
  self->blocks = NULL;
  self->block_count = 0;
}

static double shard_worker_compute_seconds(const tsl_work *work, const tsl_shard_worker *worker, int block) {
  double seconds = 0;
  for (int i = 0; i < worker->tile_count; i++)
    if (worker->tiles[i].block == block)
      seconds += work->subplans->expected(worker->kinds[worker->tiles[i].kind].child);
  return seconds;
}

static const tsl_several_tile *first_tile(const tsl_shard_worker *worker, int block) {
  int i = 0;
  while (worker->tiles[i].block != block)
    i++;
  return &worker->tiles[i];
}

/* All copies overlap but for the resident operand and the first slab. */
double tsl_several_block_seconds(const tsl_work *work, int block) {
  const tsl_several *self = work->state;
  const tsl_several_block *owner_block = &self->blocks[block];
  const tsl_shard_worker *worker = self->workers[owner_block->member];
  tsl_traffic traffic, before;
  double first, unused;
  tsl_several_traffic(work, &owner_block->c, owner_block->member, &traffic);
  const double compute = shard_worker_compute_seconds(work, worker, block),
               copies = tsl_several_link_seconds(&traffic, &self->links, owner_block->member,
                                                 tsl_several_slab_bytes(work), &first);
  tsl_several_traffic_of(work, &owner_block->c, owner_block->member, owner_block->stays, &before);
  const double wait = tsl_several_link_seconds(&before, &self->links, owner_block->member,
                                               tsl_several_slab_bytes(work), &unused);
  return compute > 0 ? wait + fmax(compute + first, copies - wait) : 0;
}

bool tsl_several_describe_block(const tsl_work *work, int index, tsl_subplan_info *out) {
  const tsl_several *self = work->state;
  tsl_traffic traffic;
  if (index < 0 || index >= self->block_count)
    return false;
  const tsl_several_block *block = &self->blocks[index];
  const tsl_shard_worker *worker = self->workers[block->member];
  tsl_several_traffic(work, &block->c, block->member, &traffic);
  *out =
      (tsl_subplan_info){.device = worker->device->name,
                         .plan = work->subplans->text(worker->kinds[first_tile(worker, index)->kind].child),
                         .row = block->c.row,
                         .rows = block->c.rows,
                         .col = block->c.col,
                         .cols = block->c.cols,
                         .depth = work->problem.k,
                         .seconds = tsl_several_block_seconds(work, index)};
  for (int i = 0; i < work->device->member_count; i++) {
    if (traffic.in[i] == 0 && traffic.out[i] == 0)
      continue;
    out->links[out->link_count].device = work->device->members[i]->name;
    out->links[out->link_count].in_bytes = traffic.in[i];
    out->links[out->link_count].out_bytes = traffic.out[i];
    out->links[out->link_count++].rate =
        traffic.in[i] > 0 ? self->links.rates[i][block->member] : self->links.rates[block->member][i];
    out->in_bytes += traffic.in[i];
    out->out_bytes += traffic.out[i];
  }
  return true;
}
