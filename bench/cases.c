#include "cases.h"

#include "core/random.h"
#include "judge/data.h"
#include "judge/judge.h"
#include "strategy/accuracy.h"

bench_case_list bench_cases;
tsl_kind bench_kinds[TSL_KIND_COUNT] = {TSL_KIND_NORMAL};
int bench_kind_count = 1;
double bench_gflop_max = INFINITY;

static const char *const layouts[] = {"NN", "NT", "TN", "TT"};

/* --- given products --- */

/* Sets the layout that a word names; returns false if it is none. */
static bool parse_layout(const char *word, bench_case *out) {
  for (int i = 0; i < COUNT_OF(layouts); i++)
    if (strcmp(word, layouts[i]) == 0) {
      memcpy(out->layout, layouts[i], sizeof out->layout);
      return true;
    }
  return false;
}

bool bench_case_parse(const char *word, bench_case *out) {
  int end = 0;
  *out = (bench_case){.batch = 1, .layout = "NN"};
  int64_t *size = out->size;
  const char *batch = strchr(word, '*');
  for (const char *rest = word; out->sizes < 3;) {
    if (sscanf(rest, "%" SCNd64 "%n", &size[out->sizes], &end) != 1 || size[out->sizes] < 0)
      return false;
    out->sizes++;
    rest += end;
    rest += strspn(rest, " \t");
    if (batch && *rest == '*')
      return (out->sizes == 1 || out->sizes == 3) && sscanf(rest, "*%" SCNd64, &out->batch) == 1 &&
             out->batch > 0 && (out->sizes == 3 || (size[1] = size[2] = size[0]) >= 0);
    if (!*rest)
      break;
    if (*rest == 'x')
      rest++;
    if (out->sizes == 3)
      return parse_layout(rest, out);
  }
  if (out->sizes == 1)
    size[1] = size[0];
  if (out->sizes < 3)
    size[2] = size[0];
  return true;
}

void bench_case_add(const bench_case *item) {
  if (bench_cases.count == bench_cases.capacity) {
    bench_cases.capacity = bench_cases.capacity ? 2 * bench_cases.capacity : 32;
    bench_cases.items = realloc(bench_cases.items, (size_t)bench_cases.capacity * sizeof *item);
    if (!bench_cases.items)
      bench_stop("memory", "there is not enough");
  }
  bench_cases.items[bench_cases.count++] = *item;
}

void bench_take_case(char *word) {
  bench_case item;
  if (!bench_case_parse(word, &item))
    bench_stop(word, "not a product like 512x512x512");
  bench_case_add(&item);
}

void bench_take_case_or_word(char *word) {
  bench_case item;
  if (bench_case_parse(word, &item))
    bench_case_add(&item);
  else
    bench_take_word(word);
}

void bench_take_shapes(const char *path) {
  char line[256];
  FILE *file = fopen(path, "re");
  if (!file)
    bench_stop(path, "cannot be read");
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "#\n")] = '\0';
    for (size_t end = strlen(line); end > 0 && (line[end - 1] == ' ' || line[end - 1] == '\t');)
      line[--end] = '\0';
    if (line[strspn(line, " \t")])
      bench_take_case(line);
  }
  fclose(file);
}

void bench_take_data(const char *list) {
  bench_kind_count = tsl_kinds_parse(list, bench_kinds);
  if (bench_kind_count == 0)
    bench_stop(list, tsl_kind_names());
}

/* --- drawn products --- */

/* Layers of models: the hidden size, the columns of the fused projection of query, key and value, and the
 * rows of the projection after attention. The last is the size of the feed-forward layer. X(name, hidden,
 * qkv, attention, forward, source) */
#define MODEL_LIST(X)                                                                                        \
  X("GPT-2 XL", 1600, 4800, 1600, 6400, "OpenAI 2019, gpt-2 hparams")                                        \
  X("ViT-H/14", 1280, 3840, 1280, 5120, "arXiv 2010.11929")                                                  \
  X("BERT large", 1024, 3072, 1024, 4096, "arXiv 1810.04805")                                                \
  X("GPT-3", 12288, 36864, 12288, 49152, "arXiv 2005.14165")                                                 \
  X("GPT-NeoX 20B", 6144, 18432, 6144, 24576, "arXiv 2204.06745")                                            \
  X("OPT 66B", 9216, 27648, 9216, 36864, "arXiv 2205.01068")                                                 \
  X("BLOOM", 14336, 43008, 14336, 57344, "arXiv 2211.05100")                                                 \
  X("Pythia 6.9B", 4096, 12288, 4096, 16384, "arXiv 2304.01373")                                             \
  X("LLaMA 7B", 4096, 12288, 4096, 11008, "arXiv 2302.13971")                                                \
  X("LLaMA 65B", 8192, 24576, 8192, 22016, "arXiv 2302.13971")                                               \
  X("Llama 2 70B", 8192, 10240, 8192, 28672, "arXiv 2307.09288")                                             \
  X("Llama 3 8B", 4096, 6144, 4096, 14336, "arXiv 2407.21783")                                               \
  X("Llama 3 405B", 16384, 18432, 16384, 53248, "arXiv 2407.21783")                                          \
  X("Falcon 40B", 8192, 9216, 8192, 32768, "arXiv 2311.16867")                                               \
  X("Mixtral 8x22B", 6144, 8192, 6144, 16384, "mistralai/Mixtral-8x22B config.json")                         \
  X("Gemma 7B", 3072, 12288, 4096, 24576, "arXiv 2403.08295")                                                \
  X("Phi-3 mini", 3072, 9216, 3072, 8192, "arXiv 2404.14219")                                                \
  X("Qwen2 7B", 3584, 4608, 3584, 18944, "arXiv 2407.10671")                                                 \
  X("Qwen2 72B", 8192, 10240, 8192, 29568, "arXiv 2407.10671")                                               \
  X("DeepSeek-V3", 7168, 2112, 16384, 18432, "arXiv 2412.19437, latent attention and dense layers")

static const struct {
  const char *name, *source;
  int64_t hidden, qkv, attention, forward;
} models[] = {
#define MODEL_ROW(name, hidden, qkv, attention, forward, source)                                             \
  {name, source, hidden, qkv, attention, forward},
    MODEL_LIST(MODEL_ROW)
#undef MODEL_ROW
};

enum { DRAWN_MAX = 8192, DRAWS = 8 };

/* Returns a number from 1 to 8192, log-uniform. */
static int64_t spread_size(uint64_t random) {
  return (int64_t)floor(exp((double)(random >> 11) * 0x1p-53 * log(DRAWN_MAX + 1)));
}

static void draw_layer(const uint64_t random[DRAWS], int64_t size[3]) {
  const int model = (int)(random[3] % (uint64_t)COUNT_OF(models));
  const int64_t hidden = models[model].hidden, layers[4][2] = {{models[model].qkv, hidden},
                                                               {hidden, models[model].attention},
                                                               {models[model].forward, hidden},
                                                               {hidden, models[model].forward}};
  size[0] = spread_size(random[0]);
  size[1] = layers[random[4] % 4][0];
  size[2] = layers[random[4] % 4][1];
}

void bench_take_draw(const char *seed, const char *count) {
  const uint64_t key = strtoull(seed, NULL, 10);
  for (int i = 0; i < atoi(count); i++) {
    uint64_t random[DRAWS];
    for (int j = 0; j < DRAWS; j++)
      random[j] = tsl_random_u64(key, (uint64_t)DRAWS * (uint64_t)i + (uint64_t)j);
    bench_case item = {.batch = 1, .sizes = 3, .is_drawn = true, .type = random[5]};
    for (int j = 0; j < 3; j++) {
      item.size[j] = spread_size(random[j]);
      if (i % 4 == 1)
        item.size[j] = (item.size[j] + 7) / 8 * 8;
    }
    if (i % 4 == 3)
      draw_layer(random, item.size);
    memcpy(item.layout, layouts[random[6] % 4], sizeof item.layout);
    bench_case_add(&item);
  }
}

/* --- types and problems --- */

int bench_types_parse(const char *list, tsl_types *types, int max) {
  char word[32];
  int count = 0;
  while (bench_next_word(&list, ", ", word, sizeof word)) {
    if (count == max)
      bench_stop(word, "is one type too many");
    if (!tsl_types_parse(TSL_OP_GEMM, word, &types[count++]))
      bench_stop(word, "is no type");
  }
  return count;
}

bool bench_case_has_type(const bench_case *item, int index, int count) {
  return !item->is_drawn || item->type % (uint64_t)count == (uint64_t)index;
}

tsl_problem bench_case_problem(const bench_case *item, const tsl_types *types) {
  const int64_t *size = item->size;
  tsl_problem problem = tsl_problem_gemm(size[0], size[1], size[2], types->a);
  problem.b.type = types->b, problem.c.type = types->c;
  problem.batch = item->batch > 1 ? item->batch : 0;
  if (item->layout[0] == 'T')
    problem.a.row_stride = 1, problem.a.col_stride = size[0];
  if (item->layout[1] == 'T')
    problem.b.row_stride = 1, problem.b.col_stride = size[2];
  return problem;
}

bool bench_is_within(const tsl_problem *problem) {
  return 1e-9 * tsl_problem_flops(problem) <= bench_gflop_max;
}

void bench_case_name(const bench_case *item, char *text, size_t size) {
  int used =
      snprintf(text, size, "%" PRId64 "x%" PRId64 "x%" PRId64, item->size[0], item->size[1], item->size[2]);
  if (item->batch > 1)
    used += snprintf(text + used, size - (size_t)used, "*%" PRId64, item->batch);
  if (strcmp(item->layout, "NN") != 0)
    snprintf(text + used, size - (size_t)used, " %s", item->layout);
}

/* --- operands in host memory --- */

size_t bench_bytes(const tsl_shape *shape) {
  return (size_t)tsl_shape_extent(shape) * tsl_type(shape->type)->size;
}

void *bench_matrix(const tsl_shape *shape, tsl_kind kind, uint64_t seed) {
  void *memory = bench_allocate(bench_bytes(shape), 1);
  const bool is_turned = shape->row_stride == 1 && shape->col_stride != 1;
  bench_must(kind == TSL_KIND_NORMAL
                 ? tsl_data_fill(TSL_DATA_NORMAL, seed, shape, 1, memory)
                 : tsl_kind_fill(kind, seed, is_turned ? shape->cols : shape->rows,
                                 is_turned ? shape->rows : shape->cols, shape->type, memory),
             "a matrix");
  return memory;
}

bool bench_is_right(const char *name, const tsl_problem *problem, const void *a, const void *b, const void *c,
                    double factor) {
  const tsl_judge judge = {
      .factor = factor * tsl_accuracy_of_sum(problem->k).factor, .operations_max = 1 << 22, .seed = 1};
  tsl_verdict verdict;
  bench_must(tsl_judge_gemm(problem, a, b, NULL, c, &judge, &verdict), name);
  if (!verdict.right)
    printf("%s is wrong: %s\n", name, verdict.why);
  return verdict.right;
}

double bench_difference(const void *x, const void *y, size_t bytes, tesela_type type) {
  const size_t size = tsl_type(type)->size;
  double apart = 0, all = 0;
  for (size_t at = 0; at + size <= bytes; at += size) {
    double one[2], other[2];
    tsl_type_load(type, (const unsigned char *)x + at, one);
    tsl_type_load(type, (const unsigned char *)y + at, other);
    for (int part = 0; part < 2; part++) {
      apart += (one[part] - other[part]) * (one[part] - other[part]);
      all += other[part] * other[part];
    }
  }
  return apart == 0 ? 0 : sqrt(apart / all);
}
