#include "strategy/gemm/composite/several/shard_worker.h"

#include "core/log.h"
#include "core/memory.h"
#include "core/status.h"

#include <math.h>
#include <stdlib.h>

static tesela_status make_site(const tsl_work *work, int member, tsl_site **site) {
  void *block;
  TSL_TRY(tsl_alloc_zeroed(sizeof **site, "a device's part of a product", &block));
  *site = block;
  (*site)->device = work->device->members[member];
  (*site)->member = member;
  (*site)->carrier.device = work->device->members[member];
  return TESELA_OK;
}

static tesela_status get_or_make_site(const tsl_work *work, tsl_several *self, int member, tsl_site **site) {
  if (!self->sites[member])
    TSL_TRY(make_site(work, member, &self->sites[member]));
  *site = self->sites[member];
  return TESELA_OK;
}

static tesela_status shard_worker_make_children(const tsl_work *work, tsl_site *site,
                                                const tsl_subplan *like) {
  for (int i = 0; i < site->kind_count; i++) {
    tsl_several_kind *kind = &site->kinds[i];
    const tsl_subplan_request request = {.problem = &kind->problem,
                                         .device = site->device,
                                         .in_buffers = true,
                                         .workspace_most = UINT64_MAX,
                                         .most = tsl_accuracy_of_one_part(&work->problem, &kind->problem, 1),
                                         .like = like};
    const tesela_status status = work->subplans->make(work->subplans, &request, &kind->child);
    if (status != TESELA_OK)
      return tsl_fail_in(status, "the part of %s", site->device->name);
    const uint64_t bytes = work->subplans->workspace(kind->child);
    site->workspace = bytes > site->workspace ? bytes : site->workspace;
  }
  return TESELA_OK;
}

static void log_site(const tsl_site *site) {
  tsl_log(TSL_LOG_PLAN,
          "several: %s computes %d tiles of %d kinds; buffers of %zu bytes stay, %zu pass through, %zu of C",
          site->device->name, site->tile_count, site->kind_count, site->stay_bytes, site->slab_bytes,
          site->tile_bytes);
}

tesela_status tsl_several_build_sites(tsl_work *work, tsl_several *self) {
  TSL_TRY(tsl_several_cut_blocks(work, self));
  for (int i = 0; i < self->block_count; i++) {
    tsl_site *site;
    tsl_traffic traffic;
    TSL_TRY(get_or_make_site(work, self, self->blocks[i].member, &site));
    TSL_TRY(tsl_several_cut_tiles(work, self, i, site));
    tsl_several_traffic(work, &self->blocks[i].c, site->member, &traffic);
    tsl_several_measure(work->device, site->member, &traffic, &self->links);
  }
  for (int i = 0; i < work->device->member_count; i++)
    if (self->sites[i]) {
      self->sites[i]->blocks = self->blocks;
      self->sites[i]->block_count = self->block_count;
      TSL_TRY(shard_worker_make_children(work, self->sites[i], NULL));
      log_site(self->sites[i]);
    }
  return TESELA_OK;
}

static tesela_status cut_instead(const tsl_work *work, const tsl_site *failed, tsl_site *site) {
  tsl_several cut = {.count = 0};
  tesela_status status = TESELA_OK;
  int room = 0;
  for (int i = 0; i < failed->block_count && status == TESELA_OK; i++)
    if (failed->blocks[i].member == failed->member)
      status = tsl_several_add_block(work, &cut, &room,
                                     (tsl_several_block){.c = failed->blocks[i].c, .member = site->member});
  site->blocks = site->own_blocks = cut.blocks;
  site->block_count = cut.block_count;
  for (int i = 0; i < cut.block_count && status == TESELA_OK; i++)
    status = tsl_several_cut_tiles(work, &cut, i, site);
  return status;
}

tesela_status tsl_several_build_instead(const tsl_work *work, const tsl_site *failed, int member,
                                        const tsl_subplan *like, tsl_site **out) {
  TSL_TRY(make_site(work, member, out));
  tesela_status status = cut_instead(work, failed, *out);
  if (status == TESELA_OK)
    status = shard_worker_make_children(work, *out, like);
  if (status != TESELA_OK) {
    tsl_several_free_site(work, *out);
    *out = NULL;
  }
  return status;
}

void tsl_several_free_site(const tsl_work *work, tsl_site *site) {
  if (!site)
    return;
  tsl_several_free_site(work, site->instead);
  tsl_site_release(site);
  for (int kind = 0; kind < site->kind_count; kind++)
    work->subplans->destroy(site->kinds[kind].child);
  free(site->kinds);
  free(site->tiles);
  free(site->own_blocks);
  tsl_free(site);
}

void tsl_several_release_sites(const tsl_work *work, tsl_several *self) {
  for (int i = 0; i < TSL_MEMBERS_MAX; i++) {
    tsl_several_free_site(work, self->sites[i]);
    self->sites[i] = NULL;
  }
  free(self->blocks);
  self->blocks = NULL;
  self->block_count = 0;
}

static double shard_worker_compute_seconds(const tsl_work *work, const tsl_site *site, int block) {
  double seconds = 0;
  for (int i = 0; i < site->tile_count; i++)
    if (site->tiles[i].block == block)
      seconds += work->subplans->expected(site->kinds[site->tiles[i].kind].child);
  return seconds;
}

static const tsl_several_tile *first_tile(const tsl_site *site, int block) {
  int i = 0;
  while (site->tiles[i].block != block)
    i++;
  return &site->tiles[i];
}

/* Returns the expected seconds of a block. All copies overlap but for the resident operand and first slab. */
static double block_seconds(const tsl_work *work, int block, const tsl_traffic *traffic) {
  const tsl_several *self = work->state;
  const tsl_several_block *owner_block = &self->blocks[block];
  const tsl_site *site = self->sites[owner_block->member];
  tsl_traffic before;
  double first, unused;
  const double compute = shard_worker_compute_seconds(work, site, block),
               copies = tsl_several_link_seconds(traffic, &self->links, owner_block->member,
                                                 tsl_several_slab(work), &first);
  tsl_several_traffic_of(work, &owner_block->c, owner_block->member, owner_block->stays, &before);
  const double wait =
      tsl_several_link_seconds(&before, &self->links, owner_block->member, tsl_several_slab(work), &unused);
  return compute > 0 ? wait + fmax(compute + first, copies - wait) : 0;
}

bool tsl_several_share_of_block(const tsl_work *work, int index, tsl_subplan_info *out) {
  const tsl_several *self = work->state;
  tsl_traffic traffic;
  if (index < 0 || index >= self->block_count)
    return false;
  const tsl_several_block *block = &self->blocks[index];
  const tsl_site *site = self->sites[block->member];
  tsl_several_traffic(work, &block->c, block->member, &traffic);
  *out = (tsl_subplan_info){.device = site->device->name,
                            .plan = work->subplans->text(site->kinds[first_tile(site, index)->kind].child),
                            .row = block->c.row,
                            .rows = block->c.rows,
                            .col = block->c.col,
                            .cols = block->c.cols,
                            .depth = work->problem.k,
                            .seconds = block_seconds(work, index, &traffic)};
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
