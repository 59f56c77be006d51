/* The time that tesela explain tells of a product by ranks, and the words, against a simulation of each
 * message (simulation.h).
 *
 *   test_comm_time        some numbers of ranks, and three products on 1,024
 *   test_comm_time all    2 to 64, more on 1,024, and a table
 */
#include "unit/unit.h"

#include "comm/simulation.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

static const int64_t shapes[][3] = {
    {4096, 4096, 4096}, {8192, 8192, 1024}, {1024, 8192, 8192},  {8192, 1024, 8192},  {992, 992, 100000},
    {100000, 992, 992}, {992, 100000, 992}, {16384, 16384, 256}, {256, 16384, 16384}, {16384, 256, 16384},
    {65536, 512, 512},  {512, 65536, 512},  {512, 512, 65536},   {20000, 2000, 192},  {192, 2000, 20000},
    {2000, 192, 20000}, {3000, 5000, 7000}, {7904, 6000, 4000},  {30000, 30000, 64},  {16, 50000, 50000}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static bool all;

/* Told over simulated. */
static double ratio_of(const int64_t *shape, int ranks, int64_t memory) {
  const simulated o = simulate(shape, ranks, memory);
  return o.told / o.seconds;
}

typedef struct row {
  double sum, least, most;
  int count, least_ranks, most_ranks;
} row;

static void add(row *r, double ratio, int ranks) {
  if (r->count == 0 || ratio < r->least) {
    r->least = ratio;
    r->least_ranks = ranks;
  }
  if (r->count == 0 || ratio > r->most) {
    r->most = ratio;
    r->most_ranks = ranks;
  }
  r->sum += log(ratio);
  r->count++;
}

static void show(const char *name, const row *r) {
  if (all)
    print_message("| %s | %.3f | %.3f (%d) | %.3f (%d) |\n", name, exp(r->sum / r->count), r->least,
                  r->least_ranks, r->most, r->most_ranks);
}

static void as_told(void **state) {
  (void)state;
  static const int some[] = {2, 3, 6, 7, 16, 31, 64};
  row total = {0};
  for (int s = 0; s < SHAPES; s++) {
    row r = {0};
    char name[64];
    for (int ranks = 2, i = 0; all ? ranks <= MOST : i < (int)(sizeof some / sizeof *some); ranks++, i++) {
      const int p = all ? ranks : some[i];
      const double ratio = ratio_of(shapes[s], p, (int64_t)1 << 32);
      add(&r, ratio, p);
      add(&total, ratio, p);
    }
    snprintf(name, sizeof name, "%lld x %lld x %lld", (long long)shapes[s][0], (long long)shapes[s][1],
             (long long)shapes[s][2]);
    show(name, &r);
  }
  show("all", &total);
  assert_true(total.most <= 1.3);
  assert_true(total.least >= 1 / 1.3);
}

/* Products of a size for which there are clusters, with 64 GiB a rank: nearer. */
static void of_clusters(void **state) {
  (void)state;
  static const int64_t products[][3] = {{65536, 65536, 65536},
                                        {32768, 32768, 32768},
                                        {16384, 16384, 16384},
                                        {100000, 20000, 7000},
                                        {4096, 4096, 1000000}};
  static const int ranks[] = {64, 100, 128, 256};
  for (size_t i = 0; i < sizeof products / sizeof *products; i++)
    for (size_t j = 0; j < sizeof ranks / sizeof *ranks; j++) {
      const double ratio = ratio_of(products[i], ranks[j], (int64_t)64 << 30);
      if (all)
        print_message("%lld x %lld x %lld on %d: %.3f\n", (long long)products[i][0],
                      (long long)products[i][1], (long long)products[i][2], ranks[j], ratio);
      assert_true(fabs(ratio - 1) <= 0.06);
    }
}

/* With 1,024 ranks, the estimate is within 15% of the simulation, and the words of the busiest rank
 * within 2%, for any memory. */
static void of_many(void **state) {
  (void)state;
  static const struct {
    int64_t shape[3], memory;
  } products[] = {{{65536, 65536, 65536}, (int64_t)64 << 30},
                  {{4096, 4096, 1000000}, (int64_t)64 << 30},
                  {{65536, 65536, 65536}, (int64_t)300 << 20},
                  /* with "all" */
                  {{65536, 65536, 65536}, (int64_t)600 << 20},
                  {{65536, 65536, 65536}, (int64_t)150 << 20},
                  {{16384, 16384, 200000}, (int64_t)100 << 20},
                  {{32768, 32768, 32768}, (int64_t)64 << 30},
                  {{131072, 131072, 131072}, (int64_t)64 << 30},
                  {{131072, 131072, 131072}, (int64_t)1 << 30},
                  {{100000, 20000, 70000}, (int64_t)64 << 30},
                  {{100000, 20000, 70000}, (int64_t)200 << 20},
                  {{20000, 200000, 20000}, (int64_t)64 << 30},
                  {{1000000, 4096, 4096}, (int64_t)64 << 30},
                  {{200000, 200000, 2048}, (int64_t)64 << 30}};
  const size_t count = all ? sizeof products / sizeof *products : 3;
  for (size_t i = 0; i < count; i++) {
    const int64_t *shape = products[i].shape;
    const simulated o = simulate(shape, 1024, products[i].memory);
    const double time = o.told / o.seconds, words = (double)o.words / (double)o.most;
    if (all)
      print_message("%lld x %lld x %lld on 1024, %lld MiB: %d messages, %d steps in %d tiles; %.4g s told, "
                    "%.4g simulated, %.3f; words %.4f\n",
                    (long long)shape[0], (long long)shape[1], (long long)shape[2],
                    (long long)(products[i].memory >> 20), o.messages, o.steps, o.tiles, o.told, o.seconds,
                    time, words);
    assert_true(fabs(time - 1) <= 0.15);
    assert_true(fabs(words - 1) <= 0.02);
  }
}

int main(int argc, char **argv) {
  all = argc > 1 && strcmp(argv[1], "all") == 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_told), cmocka_unit_test(of_clusters),
                                     cmocka_unit_test(of_many)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
