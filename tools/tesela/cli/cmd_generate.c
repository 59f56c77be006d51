/* tesela generate: seeded random matrices, written panel by panel. */
#include "cli/interrupt.h"
#include "cli/matrix_output.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/select.h"
#include "cli/tool.h"
#include "core/clock.h"
#include "core/kinds.h"
#include "core/memory.h"
#include "core/pool.h"
#include "core/status.h"

#include <string.h>

enum { PANEL_BYTES = 16 << 20, CHUNK_ELEMENTS = 1 << 16 };

typedef struct generate_options {
  const char *output, *format;
  tsl_kind distribution;
  int64_t seed;
  tesela_type type;
  bool json, quiet;
} generate_options;

static const tsl_option options[] = {
    {"output", 'o', TSL_VALUE_FILE, NULL,
     "write this file; the ending selects the format: .npy .mtx .csv .txt; - is standard output",
     offsetof(generate_options, output)},
    TSL_OPTION(generate_options, format, "format", FORMAT, NULL,
               "npy, mtx, csv or txt; needed for - and for names without such an ending"),
    TSL_OPTION(generate_options, distribution, "distribution", DISTRIBUTION, "normal",
               "distribution of the elements, such as normal or uniform; all: normal, uniform (-1 to 1), "
               "integer (-8 to 8), graded (over 24 powers of two); as programs have them: relu, softmax "
               "(rows), lognormal, kernel (Gaussian), identity, image, sparse90; as courses have them: ones, "
               "index (0, 1, 2, ... row by row), "
               "minus-index"),
    TSL_OPTION(generate_options, seed, "seed", SEED, "1",
               "seed; one seed gives the same matrix on every machine"),
    TSL_OPTION(generate_options, type, "type", TYPE, "f32", "type of the elements"),
    TSL_OPTION(generate_options, quiet, "quiet", FLAG, NULL, "print nothing on success"),
    TSL_OPTION_JSON(generate_options),
    TSL_OPTIONS_END,
};

static const tsl_example examples[] = {
    {"tesela generate 1000x700 -o a.npy", "a matrix of 1000 rows and 700 columns, standard normal, f32"},
    {"tesela generate 512x512 -o b.mtx --type f64 --distribution integer --seed 7",
     "small whole numbers, whose products are exact"},
    {NULL, NULL},
};

/* A panel that the thread pool fills in chunks. */
typedef struct generate_filling {
  const generate_options *given;
  const tsl_type_info *type;
  char *data;
  tsl_distribution drawn;
  uint64_t first;
  size_t count;
  /* for kinds that are made row by row: the panel's first row, and the sizes of the whole matrix */
  int64_t row, rows, cols;
  double *room; /* memory for one row for each worker */
} generate_filling;

static void fill_chunk(void *argument, int64_t index, int worker) {
  (void)worker;
  const generate_filling *what = argument;
  const size_t start = (size_t)index * CHUNK_ELEMENTS;
  const size_t count = what->count - start < CHUNK_ELEMENTS ? what->count - start : CHUNK_ELEMENTS;
  tsl_random_fill(what->drawn, (uint64_t)what->given->seed, what->first + start, what->type->type,
                  what->data + start * what->type->size, count);
}

static void generate_fill_row(void *argument, int64_t index, int worker) {
  const generate_filling *what = argument;
  tsl_kind_fill_row(what->given->distribution, (uint64_t)what->given->seed, what->row + index, what->rows,
                    what->cols, what->type->type, what->room + worker * 2 * what->cols,
                    what->data + (size_t)(index * what->cols) * what->type->size);
}

/* Fills a panel; rows are divided among threads if numbers do not depend on their row. */
static tesela_status fill_panel(generate_filling *what, int64_t count) {
  tsl_pool *pool = tsl_pool_shared();
  void *room;
  if (tsl_kind_is_drawn(what->given->distribution, &what->drawn)) {
    tsl_pool_run(pool, (int64_t)((what->count + CHUNK_ELEMENTS - 1) / CHUNK_ELEMENTS), fill_chunk, what);
    return TESELA_OK;
  }
  TSL_TRY(tsl_alloc((size_t)(tsl_pool_threads(pool) * 2 * what->cols) * sizeof(double), "rows of numbers",
                    &room));
  what->room = room;
  tsl_pool_run(pool, count, generate_fill_row, what);
  tsl_free(room);
  return TESELA_OK;
}

static tesela_status write_panels(const generate_options *settings, tsl_writer *writer, int64_t rows,
                                  int64_t cols, tsl_progress *progress) {
  const tsl_type_info *type = tsl_type(settings->type);
  const int64_t row_bytes = cols * (int64_t)type->size;
  int64_t panel = row_bytes > 0 ? PANEL_BYTES / row_bytes : rows;
  panel = panel < 1 ? 1 : panel > rows ? rows : panel;
  /* The fraction of the work before the commit. The commit waits for the disk, or writes everything
   * if the format stores columns. */
  const double share = tsl_writer_keeps_rows(writer) && panel < rows ? 0.2 : 0.9;
  const double started = tsl_clock();
  void *data;
  tesela_status status = tsl_alloc((size_t)(panel * row_bytes), "rows of the matrix", &data);
  if (status != TESELA_OK)
    return status;
  for (int64_t row = 0; row < rows; row += panel) {
    const int64_t count = rows - row < panel ? rows - row : panel;
    generate_filling what = {.given = settings,
                             .type = type,
                             .data = data,
                             .first = (uint64_t)row * (uint64_t)cols,
                             .count = (size_t)(count * cols),
                             .row = row,
                             .rows = rows,
                             .cols = cols};
    tsl_progress_at(progress, "writing", share * (double)row / (double)rows);
    TSL_GO(fill_panel(&what, count));
    TSL_GO(tsl_writer_rows(writer, count, data, cols, 1));
  }
  tsl_progress_at(progress, "writing to the disk", share);
  tsl_progress_creep(progress, 1 - share, (tsl_clock() - started) * (1 - share) / share);
  status = tsl_writer_commit(writer);
out:
  tsl_free(data);
  return status;
}

/* --- numbers that the type cannot hold --- */

/* Numbers of a kind whose magnitude does not depend on the matrix's size. */
static const struct {
  bool has_negative, has_fractions;
  double largest; /* magnitude that practically no number exceeds */
} generate_ranges[TSL_KIND_COUNT] = {
    [TSL_KIND_NORMAL] = {true, true, 6},       [TSL_KIND_UNIFORM] = {true, true, 1},
    [TSL_KIND_RELU] = {false, true, 6},        [TSL_KIND_SOFTMAX] = {false, true, 1},
    [TSL_KIND_LOGNORMAL] = {false, true, 1e5}, [TSL_KIND_KERNEL] = {false, true, 1},
    [TSL_KIND_IDENTITY] = {false, false, 1},   [TSL_KIND_GRADED] = {true, true, 2e4},
    [TSL_KIND_IMAGE] = {false, true, 1},       [TSL_KIND_SPARSE90] = {true, true, 6},
    [TSL_KIND_INTEGER] = {true, false, 8},     [TSL_KIND_ONES] = {false, false, 1},
};

/* Returns the smallest whole number of a type: 0 for u8, -128 for i8. */
static double generate_lowest(const tsl_type_info *type) {
  return type->type == TESELA_U8 ? 0 : type->is_integer ? -type->largest - 1 : -type->largest;
}

/* Returns the largest number of an index: a complex element has two. */
static double generate_last_index(const tsl_type_info *type, int64_t elements) {
  return (type->is_complex ? 2.0 : 1.0) * (double)elements - 1;
}

static bool generate_has_index(tsl_kind kind) {
  return kind == TSL_KIND_INDEX || kind == TSL_KIND_MINUS_INDEX;
}

/* Refuses indices beyond the type's largest number. */
static tesela_status generate_check_index(const generate_options *settings, int64_t elements) {
  const tsl_type_info *type = tsl_type(settings->type);
  const bool is_negative = settings->distribution == TSL_KIND_MINUS_INDEX;
  const double last = generate_last_index(type, elements);
  const double limit = is_negative ? -generate_lowest(type) : type->largest;
  if (!generate_has_index(settings->distribution) || last <= limit)
    return TESELA_OK;
  return tsl_fail(
      TESELA_BAD_CALL,
      "--distribution %s: the numbers go %s to %.0f, and %s ends at %.0f; a wider --type would be right, or "
      "at most %.0f element%s",
      tsl_kind_name(settings->distribution), is_negative ? "down" : "up", is_negative ? -last : last,
      type->name, is_negative ? 0 - limit : limit, limit + 1, limit > 0 ? "s" : "");
}

/* Appends the changes of numbers that the type cannot hold: "numbers above 2048 are rounded". */
static void generate_add_note(const generate_options *settings, int64_t elements, tsl_text *out) {
  const tsl_type_info *type = tsl_type(settings->type);
  const size_t before = out->length;
  if (generate_has_index(settings->distribution)) {
    if (type->unit_roundoff > 0 && generate_last_index(type, elements) > 1 / type->unit_roundoff)
      tsl_text_add(out, "numbers beyond %.0f are rounded", 1 / type->unit_roundoff);
    return;
  }
  const bool is_rounded = type->is_integer && generate_ranges[settings->distribution].has_fractions;
  if (is_rounded)
    tsl_text_add(out, "fractions are rounded to whole numbers");
  if (type->type == TESELA_U8 && generate_ranges[settings->distribution].has_negative)
    tsl_text_add(out, "%snegative numbers become 0", out->length > before ? ", " : "");
  if (generate_ranges[settings->distribution].largest > type->largest)
    tsl_text_add(out, "%snumbers beyond %.0f become %s", out->length > before ? ", " : "", type->largest,
                 type->is_integer            ? "the largest one"
                 : type->type == TESELA_E4M3 ? "NaN"
                                             : "infinite");
}

static tesela_status generate_report(const tsl_command_call *call, int64_t rows, int64_t cols) {
  const generate_options *given = call->options;
  tsl_text note = {0};
  generate_add_note(given, rows * cols, &note);
  const char *distribution = tsl_kind_name(given->distribution);
  if (given->json) {
    json_t *const object =
        json_pack("{s:s, s:I, s:I, s:s, s:s, s:I, s:s}", "output", given->output, "rows", (json_int_t)rows,
                  "columns", (json_int_t)cols, "type", tsl_type(given->type)->name, "distribution",
                  distribution, "seed", (json_int_t)given->seed, "note", tsl_text_get(&note));
    tsl_text_free(&note);
    return tsl_print_json(call, object);
  }
  tsl_text out = {0};
  if (!given->quiet)
    tsl_text_add(&out, "%s: %lld x %lld, %s, %s, seed %lld%s%s\n", given->output, (long long)rows,
                 (long long)cols, tsl_type(given->type)->name, distribution, (long long)given->seed,
                 note.length > 0 ? "; " : "", tsl_text_get(&note));
  tsl_text_free(&note);
  return tsl_matrix_report(given->output, &out);
}

static tesela_status generate_run(const tsl_command_call *call) {
  const generate_options *given = call->options;
  int64_t size[2], elements, bytes;
  if (!tsl_parse_sizes(call->words[0], size, 2))
    return tsl_fail(TESELA_BAD_CALL, "\"%s\" is not a size; write ROWSxCOLS, such as 1000x700",
                    call->words[0]);
  if (!given->output)
    return tsl_fail(TESELA_BAD_CALL, "no output is named; write -o FILE");
  TSL_TRY(tsl_matrix_check_json(given->output, given->json));
  if (!tsl_i64_mul(size[0], size[1], &elements) ||
      !tsl_i64_mul(elements, (int64_t)tsl_type(given->type)->size, &bytes))
    return tsl_fail(TESELA_BAD_CALL, "%lld x %lld elements of %s are more bytes than 63 bits count",
                    (long long)size[0], (long long)size[1], tsl_type(given->type)->name);
  TSL_TRY(generate_check_index(given, elements));
  tsl_writer *writer = NULL;
  tsl_progress *progress = NULL;
  tesela_status status = TESELA_OK;
  TSL_GO(tsl_matrix_output(given->output, given->format, size[0], size[1], given->type, &writer));
  progress = tsl_progress_start(false);
  TSL_GO(write_panels(given, writer, size[0], size[1], progress));
out:
  tsl_progress_end(progress);
  tsl_writer_close(writer);
  tsl_interrupt_guard(NULL);
  return status == TESELA_OK ? generate_report(call, size[0], size[1]) : status;
}

const tsl_command tsl_command_generate = {
    .name = "generate",
    .what = "write a seeded random matrix",
    .arguments = "ROWSxCOLS -o FILE",
    .details = "The matrix is made and written in panels of rows, so it may be larger than memory.",
    .options = options,
    .examples = examples,
    .words_min = 1,
    .words_max = 1,
    .options_bytes = sizeof(generate_options),
    .run = generate_run,
};
