/* Parts of a page: escaped text, and the strategies' headers that it shows. */

#include "unit/unit.h"

#include "inventory/strategy_page.h"
#include "page/page.h"
#include "strategy/strategy_list.h"

#include <stdio.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

static void escapes_to(const char *text, const char *expected) {
  tsl_text out = {0};
  tsl_page_escape(text, &out);
  assert_string_equal(tsl_text_get(&out), expected);
  tsl_text_free(&out);
}

static void test_escape(void **state) {
  (void)state;
  escapes_to("", "");
  escapes_to("a < b & c > \"d\" 'e'", "a &lt; b &amp; c > \"d\" 'e'");
  escapes_to("</pre><script>", "&lt;/pre>&lt;script>");
  escapes_to("one\ntwo\tthree", "one\ntwo\tthree");
  escapes_to("\xce\xb1 \xe2\x80\x93 \xf0\x9f\x94\xb7", "\xce\xb1 \xe2\x80\x93 \xf0\x9f\x94\xb7");
  /* Control characters; a lone byte; a cut character; overlong forms of '<' and '/'; a surrogate; beyond
   * Unicode. */
  escapes_to("a\x01"
             "b\x7f",
             "a" REPLACEMENT "b" REPLACEMENT);
  escapes_to("a\x80z", "a" REPLACEMENT "z");
  escapes_to("\xe2\x80", REPLACEMENT REPLACEMENT);
  escapes_to("\xc0\xbc", REPLACEMENT REPLACEMENT);
  escapes_to("\xe0\x80\xaf", REPLACEMENT REPLACEMENT REPLACEMENT);
  escapes_to("\xed\xa0\x80", REPLACEMENT REPLACEMENT REPLACEMENT);
  escapes_to("\xf4\x90\x80\x80", REPLACEMENT REPLACEMENT REPLACEMENT REPLACEMENT);
  escapes_to("\xc2\x85", REPLACEMENT REPLACEMENT); /* a control character of two bytes */
}

/* Every strategy tells its idea and draws it: a block that begins with a blank. */
static void test_stories(void **state) {
  (void)state;
  const tsl_strategy *strategy;
  for (int i = 0; (strategy = tsl_strategy_at(i)) != NULL; i++) {
    tsl_text story = {0};
    assert_int_equal(tsl_strategy_story(strategy, &story), TESELA_OK);
    if (strncmp(tsl_text_get(&story), "Idea: ", 6) != 0 || !strstr(tsl_text_get(&story), "\n\n "))
      fail_msg("%s tells no idea, or draws no picture", strategy->name);
    tsl_text_free(&story);
  }
}

/* Copies the word after `phrase` and blanks, line ends or a backquote; "" if the text lacks the phrase. */
static void word_after(const char *text, const char *phrase, char *out, size_t size) {
  const char *found = strstr(text, phrase);
  *out = '\0';
  if (!found)
    return;
  found += strlen(phrase);
  found += strspn(found, " \n`");
  snprintf(out, size, "%.*s", (int)strspn(found, "abcdefghijklmnopqrstuvwxyz_0123456789"), found);
}

/* The header of a strategy names its partner. */
static void test_partners(void **state) {
  (void)state;
  const tsl_strategy *strategy;
  int named = 0;
  for (int i = 0; (strategy = tsl_strategy_at(i)) != NULL; i++) {
    tsl_text story = {0};
    char beyond[64], added[64];
    assert_int_equal(tsl_strategy_story(strategy, &story), TESELA_OK);
    word_after(tsl_text_get(&story), "Beyond", beyond, sizeof beyond);
    word_after(tsl_text_get(&story), "adds to", added, sizeof added);
    const char *name = *beyond ? beyond : added;
    if (tsl_strategy_find(strategy->op, name)) {
      named++;
      if (!strategy->partner || strcmp(strategy->partner, name) != 0)
        fail_msg("%s: the header names %s, the partner is %s", strategy->name, name,
                 strategy->partner ? strategy->partner : "none");
    } else if (strategy->rung > 1)
      fail_msg("%s: its header names no partner", strategy->name);
    tsl_text_free(&story);
  }
  assert_true(named > 12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_partners),
      cmocka_unit_test(test_escape),
      cmocka_unit_test(test_stories),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
