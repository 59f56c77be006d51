/* Chooses how many rows of C are computed at once, from the available memory. */
#include "core/checked.h"
#include "core/status.h"
#include "product/product.h"

enum { PANEL_MULTIPLE = 64 };

/* Multiplies with saturation: sizes beyond 64 bits exceed any memory. */
static uint64_t panels_product_of(uint64_t a, uint64_t b) {
  size_t result;
  return tsl_size_mul(a, b, &result) ? result : UINT64_MAX;
}

static uint64_t panels_sum_of(uint64_t a, uint64_t b) {
  size_t result;
  return tsl_size_add(a, b, &result) ? result : UINT64_MAX;
}

bool tsl_product_keeps_before(const tsl_product *product) {
  const tsl_product_request *request = &product->request;
  return !request->in_place && (request->beta[0] != 0 || request->beta[1] != 0) &&
         (request->verify || request->expected || request->repeat > 1);
}

/* Host bytes needed for any panel, and for each row of a panel. */
typedef struct need {
  uint64_t fixed, row;
} need;

static void add_feed(const tsl_matrix_source *feed, need *out) {
  if (!feed->reader)
    return;
  const int64_t length = feed->across && !feed->held ? feed->rows : feed->cols;
  const uint64_t row = panels_product_of((uint64_t)length, tsl_type(feed->as)->size);
  if (feed->held)
    out->fixed = panels_sum_of(out->fixed, panels_product_of((uint64_t)feed->rows, row));
  else
    out->row = panels_sum_of(out->row, row);
}

/* Returns the host memory needed. `doubled`: the device computes in host memory on copies of its
 * own. */
static need host_need(const tsl_product *product, bool doubled) {
  const uint64_t c_row = panels_product_of((uint64_t)product->n, tsl_type(product->type)->size);
  need out = {0};
  add_feed(&product->a, &out);
  add_feed(&product->b, &out);
  add_feed(&product->bias, &out);
  add_feed(&product->scales[0], &out);
  add_feed(&product->scales[1], &out);
  out.row = panels_sum_of(out.row, c_row);
  if (tsl_problem_needs_separate_sums(&product->whole))
    out.row = panels_sum_of(out.row, panels_product_of((uint64_t)product->n, sizeof(float)));
  if (doubled)
    out = (need){panels_product_of(2, out.fixed), panels_product_of(2, out.row)};
  if (product->c0.held)
    add_feed(&product->c0, &out);
  add_feed(&product->expected, &out);
  if (tsl_product_keeps_before(product))
    out.row = panels_sum_of(out.row, c_row);
  return out;
}

static uint64_t panels_bytes_of(const need *needed, int64_t rows) {
  return panels_sum_of(needed->fixed, panels_product_of((uint64_t)rows, needed->row));
}

/* Adds the memory that panels need in addition: some output formats keep all rows until the end. */
static need need_of_panels(const tsl_product *product, const need *whole) {
  need out = *whole;
  if (product->writer && tsl_writer_keeps_rows(product->writer))
    out.fixed = panels_sum_of(out.fixed,
                              panels_product_of(panels_product_of((uint64_t)product->m, (uint64_t)product->n),
                                                tsl_type(product->type)->size));
  return out;
}

/* Returns the number of rows of C that fit into memory. */
static int64_t panels_rows_within(const tsl_product *product, const need *needed) {
  if (product->request.in_place || tsl_product_is_structured(product) || needed->fixed >= product->memory)
    return 0;
  const uint64_t rows = (product->memory - needed->fixed) / needed->row;
  return rows < (uint64_t)product->m ? (int64_t)rows : product->m;
}

/* Appends "B (b.npy) and C0 (c.mtx)": the matrices that are held whole. */
static void name_held(const tsl_product *product, tsl_text *out) {
  const struct {
    const char *letter;
    const tsl_matrix_source *feed;
  } feeds[] = {{"A", &product->a},
               {"B", &product->b},
               {"C0", &product->c0},
               {"the bias", &product->bias},
               {"A's scales", &product->scales[0]},
               {"B's scales", &product->scales[1]},
               {"the expected result", &product->expected}};
  for (size_t i = 0; i < sizeof feeds / sizeof *feeds; i++)
    if (feeds[i].feed->held)
      tsl_text_add(out, "%s%s (%s)", out->length ? ", " : "", feeds[i].letter, feeds[i].feed->path);
  if (product->writer && tsl_writer_keeps_rows(product->writer))
    tsl_text_add(out, "%sthe output, which is written by columns", out->length ? ", " : "");
}

static tesela_status fail_panel(const tsl_product *product, const need *needed) {
  char fixed[32], row[32], allowed[32];
  tsl_text held = {0};
  name_held(product, &held);
  const tesela_status status = tsl_fail(
      TESELA_OUT_OF_MEMORY,
      "%s that must be held whole%s%s and %s for each row of the product do not fit into %s of memory%s",
      tsl_format_bytes(needed->fixed, fixed, sizeof fixed), held.length ? ": " : "", tsl_text_get(&held),
      tsl_format_bytes(needed->row, row, sizeof row),
      tsl_format_bytes(product->memory, allowed, sizeof allowed),
      product->request.memory ? "; allow more with --memory" : "");
  tsl_text_free(&held);
  return status;
}

/* Returns true if A leaves so little memory that its columns are better read again for each panel. */
static bool is_crowded(const tsl_product *product, int64_t rows) {
  const tsl_matrix_source *a = &product->a;
  return a->held && a->across && a->by_columns && !product->request.in_place &&
         !tsl_product_is_structured(product) && rows < product->m / 4 + 1;
}

tesela_status tsl_product_size_panel(tsl_product *product, bool doubled) {
  product->a.held = product->request.op == TSL_OP_DOT || tsl_product_is_structured(product) ||
                    product->a.across || !product->a.by_rows;
  need needed = host_need(product, doubled);
  product->panel = product->m;
  product->memory_needed = panels_bytes_of(&needed, product->m);
  product->memory_fixed = needed.fixed;
  if (product->memory_needed <= product->memory)
    return TESELA_OK;
  needed = need_of_panels(product, &needed);
  int64_t rows = panels_rows_within(product, &needed);
  if (is_crowded(product, rows)) {
    product->a.held = false;
    needed = host_need(product, doubled);
    needed = need_of_panels(product, &needed);
    rows = panels_rows_within(product, &needed);
  }
  if (rows == 0)
    return fail_panel(product, &needed);
  product->panel = rows < PANEL_MULTIPLE || rows == product->m ? rows : rows - rows % PANEL_MULTIPLE;
  product->memory_needed = panels_bytes_of(&needed, product->panel);
  product->memory_fixed = needed.fixed;
  return TESELA_OK;
}

bool tsl_product_halve_panel(tsl_product *product, bool doubled) {
  const need whole = host_need(product, doubled), needed = need_of_panels(product, &whole);
  if (product->panel <= PANEL_MULTIPLE || product->request.in_place || tsl_product_is_structured(product))
    return false;
  product->panel = (product->panel / 2 + PANEL_MULTIPLE - 1) / PANEL_MULTIPLE * PANEL_MULTIPLE;
  product->memory_needed = panels_bytes_of(&needed, product->panel);
  return product->memory_needed <= product->memory;
}

tesela_status tsl_product_hint(const tsl_product *product, tesela_status status) {
  enum { PARTS = 4 };
  const uint64_t fixed = product->memory_fixed, of_panel = product->memory_needed - fixed;
  const uint64_t mebibytes = (fixed + of_panel / PARTS) >> 20;
  tsl_status_saved saved;
  if (status != TESELA_OUT_OF_MEMORY || product->panel < PARTS || product->request.in_place ||
      tsl_product_is_structured(product) || fixed > of_panel || mebibytes == 0)
    return status;
  tsl_status_save(&saved);
  return tsl_fail(status, "%s; with --memory %lluMiB the product is computed by%s panels of rows",
                  saved.sentence, (unsigned long long)mebibytes,
                  product->panel < product->m ? " smaller" : "");
}
