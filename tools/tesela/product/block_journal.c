/* Describes a run in its journal: the version, the operation with types and factors, the state of
 * each input, and the plans of the blocks. */
#include "product/blocks.h"

#include "core/status.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char tsl_blocks_kept[] =
    "\ntesela: interrupted; the finished blocks are kept: the same command with --resume continues\n";

static const struct {
  const char *word;
  size_t feed;
} inputs[] = {{"a", offsetof(tsl_product, a)},
              {"b", offsetof(tsl_product, b)},
              {"c0", offsetof(tsl_product, c0)},
              {"", offsetof(tsl_product, expected)}};
/* READ counts all files that are read; INPUTS leaves out the expected file, from which no block is
 * computed. */
enum { READ = sizeof inputs / sizeof *inputs, INPUTS = READ - 1 };

static const tsl_matrix_source *input_at(const tsl_product *product, int index) {
  return (const tsl_matrix_source *)((const char *)product + inputs[index].feed);
}

/* Appends "8388736 1790000000.000000000 /data/a.npy": size, time of change and path when the file
 * was opened. */
static void add_input(const tsl_matrix_source *feed, tsl_text *out) {
  char *const path = realpath(feed->path, NULL);
  tsl_text_add(out, "%" PRIu64 " %" PRId64 ".%09" PRId64 " ", feed->state.size, feed->state.seconds,
               feed->state.nanoseconds);
  for (const char *at = path ? path : feed->path; *at; at++)
    tsl_text_add_bytes(out, *at == '\n' ? "?" : at, 1);
  free(path);
}

static void block_journal_add_result(const tsl_product *product, tsl_text *out) {
  const tsl_product_request *request = &product->request;
  const double *const factors[] = {request->alpha, request->beta};
  tsl_text_add(out, "%s %" PRId64 " x %" PRId64 " over %" PRId64 " ",
               request->op == TSL_OP_GEMM ? "product" : "transpose", product->m, product->n, product->k);
  tsl_types_print(request->op, &product->types, out);
  for (int i = 0; i < 2; i++)
    for (int component = 0; component < 2; component++) {
      tsl_text_add(out, " ");
      tsl_text_add_double(out, factors[i][component]);
    }
  tsl_text_add(out, " %s%s%s%s", request->transpose_a ? "t" : "-", request->conjugate_a ? "c" : "-",
               request->transpose_b ? "t" : "-", request->conjugate_b ? "c" : "-");
}

tesela_status tsl_blocks_describe(const tsl_product *product, tsl_text *lines) {
  const tsl_blocks *blocks = product->blocks;
  tsl_text_add(lines, "version %s\nresult ", tesela_version());
  block_journal_add_result(product, lines);
  for (int i = 0; i < INPUTS; i++)
    if (input_at(product, i)->reader) {
      tsl_text_add(lines, "\n%s ", inputs[i].word);
      add_input(input_at(product, i), lines);
    }
  tsl_text_add(lines, "\nsize %" PRId64 " %" PRId64 " %d\nstrategy %s\ndevice %s\n", blocks->size.rows,
               blocks->size.cols, blocks->size.down_first, tsl_text_get(&blocks->like.strategy),
               tsl_text_get(&blocks->like.device));
  return tsl_text_status(lines);
}

/* Returns true if the journal has the line `word` with this text. */
static bool block_journal_says(const tsl_resumable *part, const char *word, const tsl_text *text) {
  const char *line = tsl_resumable_earlier_line(part, word);
  return line && strcmp(line, tsl_text_get(text)) == 0;
}

static tesela_status check_input(const tsl_product *product, const tsl_resumable *part, int index) {
  const tsl_matrix_source *feed = input_at(product, index);
  tsl_text now = {0};
  if (feed->reader)
    add_input(feed, &now);
  const bool same = feed->reader ? block_journal_says(part, inputs[index].word, &now)
                                 : !tsl_resumable_earlier_line(part, inputs[index].word);
  tsl_text_free(&now);
  if (same)
    return TESELA_OK;
  const char *was = tsl_resumable_earlier_line(part, inputs[index].word);
  return tsl_fail(
      TESELA_BAD_INPUT,
      "%s: the finished blocks have other inputs: %s changed (it was %s); remove %s to start again",
      product->request.output, feed->reader ? feed->path : inputs[index].word, was ? was : "none",
      tsl_resumable_journal_name(part));
}

tesela_status tsl_blocks_check(const tsl_product *product, const tsl_resumable *part) {
  tsl_text now = {0};
  const char *version = tsl_resumable_earlier_line(part, "version");
  if (!version || strcmp(version, tesela_version()) != 0)
    return tsl_fail(
        TESELA_BAD_INPUT,
        "%s: the finished blocks were made by tesela %s, and this is %s; remove %s to start again",
        product->request.output, version ? version : "of another time", tesela_version(),
        tsl_resumable_journal_name(part));
  for (int i = 0; i < INPUTS; i++)
    TSL_TRY(check_input(product, part, i));
  block_journal_add_result(product, &now);
  const bool same = block_journal_says(part, "result", &now);
  tsl_text_free(&now);
  if (same)
    return TESELA_OK;
  return tsl_fail(
      TESELA_BAD_INPUT,
      "%s: the finished blocks have another operation, type or factor (%s); remove %s to start again",
      product->request.output, tsl_resumable_earlier_line(part, "result"), tsl_resumable_journal_name(part));
}

tesela_status tsl_blocks_check_inputs(const tsl_product *product) {
  for (int i = 0; i < READ; i++) {
    const tsl_matrix_source *feed = input_at(product, i);
    if (!feed->reader)
      continue;
    const tsl_file_state now = tsl_reader_get_file_state(feed->reader);
    if (now.size != feed->state.size || now.seconds != feed->state.seconds ||
        now.nanoseconds != feed->state.nanoseconds)
      return tsl_fail(TESELA_BAD_INPUT, "%s: was changed while it was read", feed->path);
  }
  return TESELA_OK;
}
