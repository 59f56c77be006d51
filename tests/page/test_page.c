/* Parts of a page: text in HTML, other programs through pipes, numbers. */

#include "unit/unit.h"

#include "core/clock.h"
#include "core/status.h"
#include "inventory/strategy_page.h"
#include "page/html.h"
#include "page/process.h"
#include "page/sections.h"
#include "strategy/strategy_list.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPLACEMENT "\xef\xbf\xbd"

static void escapes_to(const char *text, const char *expected) {
  tsl_text out = {0};
  tsl_html_add(&out, text);
  assert_string_equal(tsl_text_get(&out), expected);
  tsl_text_free(&out);
}

static void test_html(void **state) {
  (void)state;
  escapes_to("", "");
  escapes_to("a < b & c > \"d\" 'e'", "a &lt; b &amp; c &gt; &quot;d&quot; &#39;e&#39;");
  escapes_to("</title><script>", "&lt;/title&gt;&lt;script&gt;");
  escapes_to("one\ntwo\tthree", "one two three");
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

/* In single quotes gnuplot replaces nothing, and a quote is written twice. */
static void test_gnuplot_strings(void **state) {
  (void)state;
  tsl_text out = {0};
  tsl_picture_add_string(&out, "it's `date` \"$x\"\n{/Bold y}");
  assert_string_equal(tsl_text_get(&out), "'it''s `date` \"$x\" {/Bold y}'");
  tsl_text_free(&out);
}

static void number_is(double value, const char *expected) {
  char text[64];
  assert_string_equal(tsl_sheet_number(value, text, sizeof text), expected);
}

static void test_numbers(void **state) {
  (void)state;
  number_is(NAN, "\xe2\x80\x93");
  number_is(0, "0.000");
  number_is(0.5, "0.500");
  number_is(1, "1.00");
  number_is(53.94, "53.9");
  number_is(9.996, "10.0");
  number_is(1234.4, "1234");
  number_is(65500, "65\xe2\x80\xaf"
                   "500");
  number_is(1234567, "1\xe2\x80\xaf"
                     "234\xe2\x80\xaf"
                     "567");
  number_is(1.2e-7, "1.2e-07");
  tsl_digits column = {0};
  tsl_text out = {0};
  tsl_digits_see(&column, 1.5);
  tsl_digits_see(&column, NAN);
  tsl_digits_add(&column, 150, &out);
  assert_string_equal(tsl_text_get(&out),
                      "150<i class=\"pad\">.</i><i class=\"pad\">0</i><i class=\"pad\">0</i>");
  tsl_text_free(&out);
}

/* --- stories --- */

static void story_becomes(const char *story, const char *expected) {
  tsl_text out = {0};
  tsl_page_add_story(story, &out);
  assert_string_equal(tsl_text_get(&out), expected);
  tsl_text_free(&out);
}

/* Prose flows and has its code; a picture keeps lines, blanks and backquotes. */
static void test_story(void **state) {
  (void)state;
  story_becomes("", "");
  story_becomes("Idea: a < b\nand so on.\n", "<p>Idea: a &lt; b\nand so on.</p>\n");
  story_becomes("Idea: one.\nWhat it adds to `row`: two.\n",
                "<p>Idea: one.\n</p>\n<p>What it adds to <code>row</code>: two.</p>\n");
  story_becomes("one\n\n  A ->\n  `C` |\n\n\ntwo",
                "<p>one</p>\n<pre class=\"scroll\" tabindex=\"0\">  A -&gt;\n  `C` |</pre>\n<p>two</p>\n");
  story_becomes("a ` alone, `b` and `c", "<p>a <code> alone, </code>b<code> and </code>c</p>\n");
  story_becomes("a ` alone", "<p>a ` alone</p>\n");
}

/* Every strategy tells its idea and draws it. */
static void test_stories(void **state) {
  (void)state;
  const tsl_strategy *strategy;
  for (int i = 0; (strategy = tsl_strategy_at(i)) != NULL; i++) {
    tsl_text story = {0}, out = {0};
    assert_int_equal(tsl_strategy_story(strategy, &story), TESELA_OK);
    tsl_page_add_story(tsl_text_get(&story), &out);
    if (strncmp(tsl_text_get(&out), "<p>Idea: ", 9) != 0 || !strstr(tsl_text_get(&out), "<pre "))
      fail_msg("%s tells no idea, or draws no picture", strategy->name);
    tsl_text_free(&story);
    tsl_text_free(&out);
  }
}

/* --- processes --- */

static tesela_status run_shell(const char *script, const char *input, double seconds, size_t most,
                               tsl_text *out) {
  const char *const arguments[] = {"sh", "-c", script, NULL};
  bool found = false;
  const tesela_status status = tsl_process_run(&(tsl_process){arguments, input, seconds, most}, out, &found);
  assert_true(found);
  return status;
}

static void test_process(void **state) {
  (void)state;
  tsl_text out = {0};
  assert_int_equal(run_shell("cat; echo done", "one\ntwo\n", 10, 1000, &out), TESELA_OK);
  assert_string_equal(tsl_text_get(&out), "one\ntwo\ndone\n");
  tsl_text_free(&out);
  /* More than any pipe holds, both ways at once. */
  char *large = malloc((1 << 20) + 1);
  assert_non_null(large);
  memset(large, 'x', 1 << 20);
  large[1 << 20] = '\0';
  assert_int_equal(run_shell("cat", large, 20, 2 << 20, &out), TESELA_OK);
  assert_int_equal(out.length, 1 << 20);
  tsl_text_free(&out);
  /* The program does not read its input: no signal, and no failure by itself. */
  assert_int_equal(run_shell("exec <&-; sleep 0.1; echo kept", large, 10, 1000, &out), TESELA_OK);
  assert_string_equal(tsl_text_get(&out), "kept\n");
  tsl_text_free(&out);
  free(large);
  sigset_t pending;
  sigpending(&pending);
  assert_int_equal(sigismember(&pending, SIGPIPE), 0);
}

static void fails(const char *script, double seconds, size_t most, const char *words) {
  tsl_text out = {0};
  assert_int_equal(run_shell(script, "", seconds, most, &out), TESELA_IO_FAILED);
  if (!strstr(tesela_last_error(), words))
    fail_msg("\"%s\" lacks \"%s\"", tesela_last_error(), words);
  tsl_text_free(&out);
}

static void test_process_failures(void **state) {
  (void)state;
  fails("echo first >&2; echo '  the reason ' >&2; echo >&2; exit 3", 10, 1000, "exit code 3: the reason");
  fails("exit 4", 10, 1000, "exit code 4");
  fails("printf 'a\\033[1mb' >&2; exit 1", 10, 1000, "a [1mb");
  fails("kill -SEGV $$", 10, 1000, "signal 11");
  fails("yes", 10, 100000, "more than 100000 bytes");
  /* Programs that hang, with their children, with their outputs open or closed. */
  const double start = tsl_clock();
  fails("sleep 30", 0.2, 1000, "longer than 0.2 s");
  fails("sleep 30 & sleep 30", 0.2, 1000, "longer than 0.2 s");
  fails("exec >&- 2>&-; sleep 30", 0.2, 1000, "longer than 0.2 s");
  assert_true(tsl_clock() - start < 15);
}

static void test_process_missing(void **state) {
  (void)state;
  const char *const arguments[] = {"no-such-program-anywhere", NULL};
  tsl_text out = {0};
  bool found = true;
  assert_int_equal(tsl_process_run(&(tsl_process){arguments, "", 1, 1000}, &out, &found), TESELA_OK);
  assert_false(found);
  assert_int_equal(out.length, 0);
}

/* A caller without standard streams, such as a daemon, gets the program's output too. */
static void test_process_without_streams(void **state) {
  (void)state;
  const int kept = dup(STDIN_FILENO);
  tsl_text out = {0};
  close(STDIN_FILENO);
  const tesela_status status = run_shell("cat", "text", 10, 1000, &out);
  if (kept >= 0) {
    dup2(kept, STDIN_FILENO);
    close(kept);
  }
  assert_int_equal(status, TESELA_OK);
  assert_string_equal(tsl_text_get(&out), "text");
  tsl_text_free(&out);
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
      cmocka_unit_test(test_partners),        cmocka_unit_test(test_html),
      cmocka_unit_test(test_gnuplot_strings), cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_story),           cmocka_unit_test(test_stories),
      cmocka_unit_test(test_process),         cmocka_unit_test(test_process_failures),
      cmocka_unit_test(test_process_missing), cmocka_unit_test(test_process_without_streams),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
