/* The products that benchmark programs are given: words like 512x512x512, and files with one "M N K" a line,
 * where what follows a # is left out. As many as there are; they live as long as the program. */
#ifndef TSL_BENCH_SHAPES_H
#define TSL_BENCH_SHAPES_H

#include "problem/problem.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct shape_list {
  int64_t (*items)[3]; /* m, n, k */
  int count, capacity;
} shape_list;

/* Appends a shape; returns NULL, or a message. */
static const char *shapes_append(shape_list *list, const int64_t shape[3]) {
  if (list->count == list->capacity) {
    const int capacity = list->capacity ? 2 * list->capacity : 32;
    int64_t(*grown)[3] = realloc(list->items, (size_t)capacity * sizeof *grown);
    if (!grown)
      return "no memory for so many products";
    list->items = grown;
    list->capacity = capacity;
  }
  memcpy(list->items[list->count++], shape, 3 * sizeof *shape);
  return NULL;
}

static const char *shapes_add(shape_list *list, const char *text) {
  int64_t shape[3];
  int end = 0;
  if (sscanf(text, "%" SCNd64 "%*[x ]%" SCNd64 "%*[x ]%" SCNd64 " %n", &shape[0], &shape[1], &shape[2],
             &end) != 3 ||
      text[end] || shape[0] < 0 || shape[1] < 0 || shape[2] < 0)
    return "not a product like 512x512x512";
  return shapes_append(list, shape);
}

static inline const char *shapes_read(shape_list *list, const char *path) {
  char line[256];
  const char *why = NULL;
  FILE *file = fopen(path, "re");
  if (!file)
    return "cannot be read";
  while (!why && fgets(line, sizeof line, file)) {
    line[strcspn(line, "#\n")] = '\0';
    if (line[strspn(line, " \t")])
      why = shapes_add(list, line);
  }
  fclose(file);
  return why;
}

/* Returns true if a product takes at most `most` * 10^9 operations. */
static inline bool shape_is_within(const int64_t shape[3], tesela_type type, double most) {
  const tsl_problem problem = tsl_problem_gemm(shape[0], shape[1], shape[2], type);
  return 1e-9 * tsl_problem_flops(&problem) <= most;
}

#endif
