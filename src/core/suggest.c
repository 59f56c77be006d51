#include "core/suggest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A longer word is compared by its first 31 bytes. */
enum { LENGTH_MAX = 31 };

static int lower_ascii(char byte) {
  return byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte;
}

static int smaller_int(int a, int b) {
  return a < b ? a : b;
}

/* Returns the number of insertions, deletions, replacements and swaps of neighbours between two words,
 * letters in lower case (optimal string alignment; Damerau 1964). */
static int edit_distance(const char *a, int m, const char *b, int n) {
  int rows[LENGTH_MAX + 1][LENGTH_MAX + 1];
  for (int i = 0; i <= m; i++)
    rows[i][0] = i;
  for (int j = 0; j <= n; j++)
    rows[0][j] = j;
  for (int i = 1; i <= m; i++)
    for (int j = 1; j <= n; j++) {
      const int x = lower_ascii(a[i - 1]), y = lower_ascii(b[j - 1]);
      rows[i][j] =
          smaller_int(rows[i - 1][j - 1] + (x != y), smaller_int(rows[i - 1][j], rows[i][j - 1]) + 1);
      if (i > 1 && j > 1 && x == lower_ascii(b[j - 2]) && lower_ascii(a[i - 2]) == y)
        rows[i][j] = smaller_int(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  return rows[m][n];
}

const char *tsl_suggest(const char *word, const char *names, char out[TSL_SUGGESTION_BYTES]) {
  const int length = (int)strnlen(word, LENGTH_MAX);
  int smallest_distance = (length + 1) / 3 + 1; /* one edit in three letters */
  out[0] = '\0';
  for (names += strspn(names, ", "); *names; names += strspn(names, ", ")) {
    const int all = (int)strcspn(names, ", "), n = smaller_int(all, LENGTH_MAX);
    /* A word begins with the first or second letter of its name: gpu is not cpu. */
    const bool is_other =
        lower_ascii(*word) != lower_ascii(*names) && lower_ascii(*word) != lower_ascii(names[1]);
    const bool is_begun = length > 1 && length <= all && strncmp(names, word, (size_t)length) == 0;
    const int distance = is_begun ? 1 : edit_distance(word, length, names, n);
    if (!is_other && distance < smallest_distance) {
      smallest_distance = distance;
      snprintf(out, TSL_SUGGESTION_BYTES, "; did you mean %.*s?", smaller_int(all, TSL_SUGGESTION_BYTES - 20),
               names);
    }
    names += all;
  }
  return out;
}
