#include "strategy/gemm/host/host_small/host_small_job.h"

#include "core/memory.h"
#include "core/scratch.h"
#include "core/status.h"
#include "dispatch/crossovers.h"
#include "host/host_view.h"
#include "host/int_math.h"

#include <math.h>

enum { LOCAL_BYTES = 32 << 10 }; /* of packed panels of B on the stack */

static int64_t host_small_vectors_of(const tsl_small_kernels *kernels, int64_t elements) {
  return (elements + kernels->lanes - 1) >> kernels->lanes_log2;
}

/* One of the two orientations of a product: vectors lie along the columns of this C. */
typedef struct orientation {
  int64_t rows, columns, depth;
  int64_t a_row, a_step, b_across, b_along, c_row, c_column;
  bool conjugates_b, differ; /* complex types: this B is conjugated; one of A and B is */
  const tsl_small_kernels *kernels;
} orientation;

static inline const tsl_small_set *set_for(tesela_type type, unsigned offers) {
#define SETS(isa, header, needs, ...)                                                                        \
  {&tsl_small_##isa##_f32, &tsl_small_##isa##_f64, &tsl_small_##isa##_c64, &tsl_small_##isa##_c128},
  static const tsl_small_set *const sets[][4] = {TSL_ISA_LIST(SETS)};
#undef SETS
  return sets[tsl_isa_best(offers)][type == TESELA_F32   ? 0
                                    : type == TESELA_F64 ? 1
                                    : type == TESELA_C64 ? 2
                                                         : 3];
}

static const tsl_small_kernels *host_small_kernels_for(tesela_type type, int64_t columns, unsigned offers) {
  const tsl_small_set *set = set_for(type, offers);
  const int64_t quarter = 16 / set->up_to[0]->size;
  if (columns <= 2 * quarter)
    return set->up_to[columns <= quarter ? 2 : 1];
  return set->wide && (set->wide_needs & ~offers) == 0 ? set->wide : set->up_to[0];
}

/* Sets *out member by member: a copy of a struct that was written in parts would wait for the stores. */
static void orient(const tsl_call *p, unsigned offers, bool swapped, orientation *out) {
  const int64_t m = p->m > 0 ? p->m : 1, n = p->n > 0 ? p->n : 1; /* empty products are never run */
  const int64_t depth = p->alpha_is_0 ? 0 : p->k, rows = swapped ? n : m, columns = swapped ? m : n;
  out->rows = rows;
  out->columns = columns;
  out->depth = depth;
  out->a_row = depth == 0 ? 0 : tsl_stride_or_alone(swapped ? p->b.col : p->a.row, rows, 0);
  out->a_step = tsl_stride_or_alone(swapped ? p->b.row : p->a.col, depth, 0);
  out->b_across = depth == 0 ? 1 : tsl_stride_or_alone(swapped ? p->a.row : p->b.col, columns, 1);
  out->b_along = tsl_stride_or_alone(swapped ? p->a.col : p->b.row, depth, 0);
  out->c_row = tsl_stride_or_alone(swapped ? p->c.col : p->c.row, rows, 0);
  out->c_column = tsl_stride_or_alone(swapped ? p->c.row : p->c.col, columns, 1);
  out->conjugates_b = swapped ? p->a.conjugate : p->b.conjugate;
  out->differ = p->a.conjugate != p->b.conjugate;
  out->kernels = host_small_kernels_for(p->type, columns, offers);
}

/* Sums that a tile needs so that its multiply-adds do not wait. */
enum { LATENCY = 4 };
static int64_t count_independent_sums(const orientation *seen) {
  const int64_t vectors = host_small_vectors_of(seen->kernels, seen->columns),
                wide = seen->kernels->rows[1] > 0 ? 2 : 1;
  return seen->rows * seen->kernels->parts * (vectors < wide ? vectors : wide);
}

/* Returns true if the rest of a row fits half a vector and half vectors are faster: two a clock, not one. */
static bool has_narrow_rest(const orientation *seen) {
  const int64_t lanes = seen->kernels->lanes, rest = seen->columns & (lanes - 1);
  return seen->kernels->brief[0] && seen->kernels->rows[1] == 0 && seen->columns > lanes && rest > 0 &&
         2 * rest <= lanes;
}

/* Returns the predicted vector multiply-adds, with epilogues, packing of B, and element-wise stores to C. */
static double host_small_clocks_of(const orientation *seen) {
  const double rows = (double)seen->rows, columns = (double)seen->columns, depth = (double)seen->depth;
  const double vectors = (double)host_small_vectors_of(seen->kernels, seen->columns) -
                         (has_narrow_rest(seen) ? 0.46 : 0),
               chains = (double)count_independent_sums(seen),
               needed = seen->kernels->rows[1] > 0 ? 2 * LATENCY : LATENCY; /* by two multiply-adds a clock */
  double clocks = rows * vectors * (depth * fmax(1, needed / chains) + 1.5);
  if (seen->b_across != 1)
    clocks += columns * depth * (seen->b_along == 1 ? 0.9 : 1.5);
  if (seen->c_column != 1)
    clocks += 3.5 * rows * columns;
  return (double)seen->kernels->parts * clocks + 12;
}

/* Sets alpha and beta. For depth 0 alpha is not used, as infinity times an empty sum must be 0. */
static void host_small_scale(tsl_small_tile *tile, const tsl_call *product) {
  tile->alpha[0] = product->alpha[0];
  tile->beta[0] = product->beta[0];
  tile->scales = tile->depth > 0 && !product->alpha_is_1;
  tile->adds = !product->beta_is_0;
}

enum { BRIEF_STEPS = 24 }; /* steps up to which a partial vector is faster with a brief tile */

/* Returns the micro-kernel of a tile: for exactly its depth if there is one, else brief or general. */
static tsl_small_function kernel_of(const orientation *seen, const tsl_small_tile *tile, int64_t rows,
                                    int64_t vectors, bool brief) {
  const tsl_small_kernels *kernels = seen->kernels;
  if (tile->last == kernels->lanes && seen->a_step == 1 && seen->c_column == 1 && !tile->scales)
    for (int i = 0; i < TSL_SMALL_EXACT_MAX; i++) {
      const tsl_small_exact *exact = &kernels->exact[i];
      if (exact->rows == rows && exact->vectors == vectors && exact->depth == seen->depth)
        return exact->multiply;
    }
  if (brief)
    return kernels->brief[(rows - 1) / 2];
  return kernels->multiply[vectors - 1][rows - 1];
}

/* Fills in a panel of `vectors` vectors, the last with `last` elements, and divides its rows into tiles. */
static void make_panel(const orientation *seen, const tsl_call *product, int64_t vectors, int64_t last,
                       int64_t size, tsl_small_panel *out) {
  const int64_t most = seen->kernels->rows[vectors - 1];
  const bool brief = seen->kernels->brief[0] && vectors == 1 && last < seen->kernels->lanes &&
                     seen->rows <= TSL_SMALL_ROWS_MAX && seen->c_column == 1 && seen->depth <= BRIEF_STEPS;
  const int64_t tiles = seen->rows <= most || brief ? 1 : tsl_ceil_div(seen->rows, most);
  const int64_t height = tiles == 1 ? seen->rows : tsl_ceil_div(seen->rows, tiles);
  out->tile.depth = seen->depth;
  out->tile.a_row = seen->a_row * size;
  out->tile.a_step = seen->a_step * size;
  out->tile.b_step = seen->b_along * size;
  out->tile.c_row = seen->c_row;
  out->tile.c_column = seen->c_column;
  out->tile.last = last;
  host_small_scale(&out->tile, product);
  if (seen->kernels->parts == 2) {
    out->tile.alpha[1] = product->alpha[1];
    out->tile.beta[1] = product->beta[1];
    out->tile.signs[0] = seen->differ ? -1 : 1;
    out->tile.signs[1] = seen->conjugates_b ? -1 : 1;
  }
  out->height = height;
  out->lowers = tiles * height - seen->rows;
  out->tallers = tiles - out->lowers;
  out->tile.rows = height;
  out->taller = kernel_of(seen, &out->tile, height, vectors, brief);
  out->lower = height > 1 ? kernel_of(seen, &out->tile, height - 1, vectors, false) : NULL;
  out->width = vectors << seen->kernels->lanes_log2;
}

/* Returns true if no orientation can be better: no packing, and vectors that are mostly full. */
static bool host_small_is_plain(const orientation *seen) {
  return seen->b_across == 1 && seen->c_column == 1 && 2 * seen->columns > seen->kernels->lanes;
}

/* Chooses the better orientation; returns true if it is the transposed one. */
static bool host_small_choose(const tsl_call *product, unsigned offers, orientation *seen) {
  orientation other;
  orient(product, offers, false, seen);
  if (host_small_is_plain(seen))
    return false;
  orient(product, offers, true, &other);
  const bool swapped =
      host_small_is_plain(&other) || host_small_clocks_of(&other) < host_small_clocks_of(seen);
  if (swapped)
    orient(product, offers, true, seen);
  return swapped;
}

static tsl_small_function choose_run_function(const tsl_small_job *job);

/* Vectors of each panel but the last, and number of panels. `narrow`: the last panel has narrower vectors. */
typedef struct panel_cut {
  int64_t wide, panels;
  bool narrow;
} panel_cut;

static panel_cut host_small_cut(const orientation *seen, int64_t vectors) {
  const bool pairs = seen->kernels->rows[1] > 0;
  const int64_t wide = pairs ? 2 : 1;
  return (panel_cut){wide, vectors > wide ? vectors >> pairs : 1, has_narrow_rest(seen)};
}

/* Cuts C into panels as wide as possible. A partial last vector is narrow if one panel holds the rest. */
static panel_cut cut_far(const orientation *seen, int64_t vectors) {
  enum { MOST = TSL_SMALL_VECTORS_MAX };
  const int64_t lanes = seen->kernels->lanes, rest = seen->columns & (lanes - 1);
  if (rest > 0 && 2 * rest <= lanes && vectors > 1 && vectors - 1 <= MOST)
    return (panel_cut){vectors - 1, 2, true};
  const int64_t panels = tsl_ceil_div(vectors, MOST);
  return (panel_cut){tsl_ceil_div(vectors, panels), panels, false};
}

/* Makes the job; `far`: for operands in no cache. *clocks gets the predicted multiply-adds unless NULL. */
static void make_job(const tsl_call *product, unsigned offers, bool far, tsl_small_job *job, double *clocks) {
  orientation seen;
  job->is_swapped = host_small_choose(product, offers, &seen);
  if (clocks)
    *clocks = host_small_clocks_of(&seen);
  const int64_t lanes = seen.kernels->lanes, vectors = host_small_vectors_of(seen.kernels, seen.columns);
  const int64_t size = seen.kernels->size;
  const panel_cut by = far && seen.kernels->rows[TSL_SMALL_VECTORS_MAX - 1] > 0
                           ? cut_far(&seen, vectors)
                           : host_small_cut(&seen, vectors);
  const int64_t wide = by.wide, panels = by.panels;
  job->kernels = seen.kernels;
  job->size = size;
  job->depth = seen.depth;
  job->rows = seen.rows;
  job->columns = seen.columns;
  const int64_t first_rows = seen.kernels->rows[(panels > 1 ? wide : vectors) - 1];
  job->copies_b = seen.b_across != 1 || (!far && seen.rows > 2 * first_rows &&
                                         tsl_small_has_conflict(seen.b_along * size, seen.depth));
  job->waits = count_independent_sums(&seen) < LATENCY;
  job->b_across = seen.b_across;
  job->b_along = seen.b_along;
  job->panels = panels;
  if (panels > 1)
    make_panel(&seen, product, wide, lanes, size, &job->whole);
  const int64_t last = seen.columns - (vectors - 1) * lanes;
  if (by.narrow) /* the last panel alone uses these kernels */
    seen.kernels = host_small_kernels_for(product->type, last, offers);
  make_panel(&seen, product, vectors - wide * (panels - 1), last, size, &job->last);
  job->run = choose_run_function(job);
  if (job->copies_b) {
    if (panels > 1)
      job->whole.tile.b_step = job->whole.width * size;
    job->last.tile.b_step = job->last.width * size;
  }
}

void tsl_small_job_make(const tsl_call *product, unsigned offers, tsl_small_job *job, double *clocks) {
  make_job(product, offers, false, job, clocks);
}

bool tsl_small_job_make_far(const tsl_call *product, unsigned offers, tsl_small_job *job) {
  const tsl_small_set *set = set_for(product->type, offers);
  if (!set->wide)
    return false;
  make_job(product, offers | set->wide_needs, true, job, NULL);
  return true;
}

/* Multiplies all rows of a panel by tiles of at most `most` rows from the table `multiply`. */
static inline void run_rows(const tsl_small_function *multiply, int most, bool brief, tsl_small_tile *tile,
                            int rows, int64_t size, const char *a, const void *b, char *c) {
  tile->rows = rows;
  if (rows <= most) {
    (void)multiply[brief ? (rows - 1) / 2 : rows - 1](tile, a, b, c);
    return;
  }
  const int tiles = (rows + most - 1) / most, height = (rows + tiles - 1) / tiles;
  int taller = rows - tiles * (height - 1);
  for (int i = 0; i < tiles; i++, taller--) {
    const int tile_height = taller > 0 ? height : height - 1;
    tile->rows = tile_height;
    (void)multiply[brief ? (tile_height - 1) / 2 : tile_height - 1](tile, a, b, c);
    a += tile_height * tile->a_row;
    c += tile_height * tile->c_row * size;
  }
}

/* Multiplies one vector of columns after the other by brief tiles. */
static void run_briefly(const tsl_small_set *set, bool is_f64, tsl_small_tile *tile, int rows,
                        int64_t columns, const char *a, const char *b, char *c) {
  const int64_t lanes = set->up_to[0]->lanes, size = is_f64 ? 8 : 4;
  for (; columns > lanes; columns -= lanes) {
    tile->last = lanes;
    run_rows(set->up_to[0]->brief, TSL_SMALL_ROWS_MAX, true, tile, rows, size, a, b, c);
    b += lanes * size;
    c += lanes * size;
  }
  tile->last = columns;
  run_rows(set->up_to[2 * columns <= lanes]->brief, TSL_SMALL_ROWS_MAX, true, tile, rows, size, a, b, c);
}

static void run_tiles(const tsl_small_kernels *kernels, tsl_small_tile *tile, int rows, int64_t columns,
                      int64_t size, const char *a, const char *b, char *c) {
  const int64_t lanes = kernels->lanes, wide = kernels->rows[1] > 0 ? 2 : 1,
                most = wide > 1 ? 3 * lanes : lanes;
  for (; columns > most; columns -= wide * lanes) {
    tile->last = lanes;
    run_rows(kernels->multiply[wide - 1], kernels->rows[wide - 1], false, tile, rows, size, a, b, c);
    b += wide * lanes * size;
    c += wide * lanes * size;
  }
  const int64_t vectors = host_small_vectors_of(kernels, columns);
  tile->last = columns - ((vectors - 1) << kernels->lanes_log2);
  run_rows(kernels->multiply[vectors - 1], kernels->rows[vectors - 1], false, tile, rows, size, a, b, c);
}

bool tsl_small_run_direct(const tsl_call *p, unsigned offers) {
  const bool swapped = p->c.col != 1, is_f64 = p->type == TESELA_F64;
  const int64_t rows = swapped ? p->n : p->m, columns = swapped ? p->m : p->n, depth = p->k;
  const int64_t across = swapped ? p->a.row : p->b.col, c_column = swapped ? p->c.row : p->c.col;
  const int64_t longest = tsl_crossovers.tile_side;
  if (depth > longest || rows > longest || columns > longest || p->alpha_is_0 ||
      ((across != 1 || c_column != 1) && columns > 1) ||
      (rows < LATENCY && rows * columns * depth > tsl_crossovers.stall_volume))
    return false;
  const int64_t size = is_f64 ? 8 : 4;
  char *c = tsl_writable(p->c.data);
  const char *b = swapped ? p->a.data : p->b.data;
  const void *a = swapped ? p->b.data : p->a.data;
  tsl_small_tile tile;
  tile.depth = depth;
  tile.a_row = (swapped ? p->b.col : p->a.row) * size;
  tile.a_step = (swapped ? p->b.row : p->a.col) * size;
  tile.b_step = (swapped ? p->a.col : p->b.row) * size;
  tile.c_row = swapped ? p->c.col : p->c.row;
  tile.c_column = 1;
  host_small_scale(&tile, p);
  const tsl_small_set *set = set_for(p->type, offers);
  const tsl_small_kernels *full = set->up_to[0];
  const bool pairs = set->wide && (set->wide_needs & ~offers) == 0;
  if (full->brief[0] && (!pairs || (columns <= full->lanes && rows <= TSL_SMALL_ROWS_MAX)))
    run_briefly(set, is_f64, &tile, (int)rows, columns, a, b, c);
  else
    run_tiles(host_small_kernels_for(p->type, columns, offers), &tile, (int)rows, columns, size, a, b, c);
  return true;
}

static void host_small_run_panel(const tsl_small_panel *panel, int64_t size, const char *a, const void *b,
                                 char *c) {
  const int64_t a_jump = panel->height * panel->tile.a_row, c_jump = panel->height * panel->tile.c_row * size;
  for (int64_t i = 0; i < panel->tallers; i++, a += a_jump, c += c_jump)
    (void)panel->taller(&panel->tile, a, b, c);
  for (int64_t i = 0; i < panel->lowers;
       i++, a += a_jump - panel->tile.a_row, c += c_jump - panel->tile.c_row * size)
    (void)panel->lower(&panel->tile, a, b, c);
}

static void run_panels(const tsl_small_job *job, const void *a, const char *b, char *c, void *copy) {
  const int64_t width = job->panels > 1 ? job->whole.width : 0;
  for (int64_t i = 0; i < job->panels; i++) {
    const tsl_small_panel *panel = i == job->panels - 1 ? &job->last : &job->whole;
    const int64_t from = i * width, left = job->columns - from;
    const char *b_panel = b + from * job->b_across * job->size;
    if (copy)
      job->kernels->copy(b_panel, job->b_across, job->b_along, tsl_min(left, panel->width), job->depth,
                         panel->width, copy);
    host_small_run_panel(panel, job->size, a, copy ? copy : b_panel,
                         c + from * panel->tile.c_column * job->size);
  }
}

static __attribute__((noinline)) void run_on_stack(const tsl_small_job *job, const void *a, const void *b,
                                                   void *c) {
  _Alignas(64) char copy[LOCAL_BYTES];
  run_panels(job, a, b, c, copy);
}

static int64_t host_small_copy_bytes(const tsl_small_job *job) {
  const int64_t width =
      job->panels > 1 && job->last.width < job->whole.width ? job->whole.width : job->last.width;
  return width * job->depth * job->size;
}

bool tsl_small_job_may_fail(const tsl_small_job *job) {
  return job->copies_b && host_small_copy_bytes(job) > LOCAL_BYTES;
}

static __attribute__((noinline)) tesela_status run_copying(const tsl_small_job *job, const void *a,
                                                           const void *b, void *c) {
  const int64_t bytes = host_small_copy_bytes(job);
  void *copy;
  if (bytes <= LOCAL_BYTES) {
    run_on_stack(job, a, b, c);
    return TESELA_OK;
  }
  TSL_TRY(tsl_scratch_take((size_t)bytes, "a copy of a panel of B", &copy));
  run_panels(job, a, b, c, copy);
  tsl_scratch_give(copy);
  return TESELA_OK;
}

static tesela_status run_swapped_tile(const void *job, const void *a, const void *b, void *c) {
  return ((const tsl_small_job *)job)->last.taller(job, b, a, c);
}

static tesela_status run_one_panel(const void *state, const void *a, const void *b, void *c) {
  const tsl_small_job *job = state;
  host_small_run_panel(&job->last, job->size, job->is_swapped ? b : a, job->is_swapped ? a : b, c);
  return TESELA_OK;
}

static tesela_status run_any(const void *state, const void *a, const void *b, void *c) {
  const tsl_small_job *job = state;
  const void *left = job->is_swapped ? b : a, *right = job->is_swapped ? a : b;
  if (job->depth == 0) /* unused pointers are advanced too and must be valid */
    left = right = c;
  if (job->copies_b)
    return run_copying(job, left, right, c);
  run_panels(job, left, right, c, NULL);
  return TESELA_OK;
}

static tsl_small_function choose_run_function(const tsl_small_job *job) {
  if (job->panels > 1 || job->depth == 0 || job->copies_b)
    return run_any;
  if (job->last.tallers + job->last.lowers > 1)
    return run_one_panel;
  return job->is_swapped ? run_swapped_tile : job->last.taller;
}
