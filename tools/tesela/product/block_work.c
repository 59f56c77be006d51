#include "product/block_work.h"

bool tsl_block_await(tsl_block_work *work, const int64_t *count, int64_t least) {
  pthread_mutex_lock(&work->lock);
  while (*count < least && !work->ended)
    pthread_cond_wait(&work->changed, &work->lock);
  const bool go_on = !work->ended;
  pthread_mutex_unlock(&work->lock);
  return go_on;
}

void tsl_block_advance(tsl_block_work *work, int64_t *count) {
  pthread_mutex_lock(&work->lock);
  ++*count;
  pthread_cond_broadcast(&work->changed);
  pthread_mutex_unlock(&work->lock);
}

void tsl_block_end(tsl_block_work *work, tesela_status status) {
  pthread_mutex_lock(&work->lock);
  if (!work->ended && status != TESELA_OK) {
    work->status = status;
    tsl_status_save(&work->sentence);
  }
  work->ended = true;
  pthread_cond_broadcast(&work->changed);
  pthread_mutex_unlock(&work->lock);
}
