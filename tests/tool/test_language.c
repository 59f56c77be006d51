/* Translations: plural forms, sentences compared with formats, and columns of wide characters. */
#include "unit/unit.h"

#include <string.h>

#include "cli/catalogue.h"
#include "cli/language.h"
#include "cli/sentence.h"
#include "cli/table.h"

static void test_plurals(void **state) {
  static const struct {
    const char *locale;
    long long count;
    const char *expected;
  } rows[] = {
      {"en", 1, "%d shape was right before"},           {"en", 2, "%d shapes were right before"},
      {"sl", 1, "%d primer je bil prej pravilen"},      {"sl", 2, "%d primera sta bila prej pravilna"},
      {"sl", 4, "%d primeri so bili prej pravilni"},    {"sl", 5, "%d primerov je bilo prej pravilnih"},
      {"sl", 101, "%d primer je bil prej pravilen"},    {"sl", 11, "%d primerov je bilo prej pravilnih"},
      {"sl", 302, "%d primera sta bila prej pravilna"}, {"es", 1, "%d caso fue correcto antes"},
      {"es", 101, "%d casos fueron correctos antes"},   {"hu", 3, "előtte %d eset helyes volt"},
      {"zh_CN.UTF-8", 1, "此前 %d 个用例正确"}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tsl_locale_use(rows[i].locale);
    assert_string_equal(
        tsl_tr_count("%d shape was right before", "%d shapes were right before", rows[i].count),
        rows[i].expected);
  }
  tsl_locale_use("en");
}

static void sentence_becomes(const char *sentence, const char *expected) {
  tsl_text out = {0};
  tsl_tr_sentence(sentence, &out);
  assert_string_equal(tsl_text_get(&out), expected);
  tsl_text_free(&out);
}

static void test_sentences(void **state) {
  (void)state;
  sentence_becomes("line 7", "line 7");
  tsl_locale_use("sl");
  sentence_becomes("line 7", "vrstica 7");
  /* Parts are sentences themselves; clauses stand between separators. */
  sentence_becomes(
      "@@: a_tile[1][2] is written by item (2, 1) and, without a barrier between, by item (0, 1) at @4f",
      "@@: a_tile[1][2]: zapiše nit (2, 1) in, brez prepreke vmes, še nit (0, 1) (@4f)");
  sentence_becomes(
      "loads 2 numbers for each multiply-add; the fastest loads 1.5; it has 3 barriers, element has 4",
      "za vsak množi-prištej naloži 2 števil; najhitrejša naloži 1.5; ima 3 preprek, element pa 4");
  sentence_becomes("predicted 1.5: it has 2.12 load instructions for each multiply-add, element has 4; the "
                   "elements of its vectors are loaded one by one",
                   "napovedano 1.5: za vsak množi-prištej ima 2.12 ukazov za nalaganje, element pa 4; "
                   "elementi njegovih vektorjev se nalagajo posamič");
  sentence_becomes("measured no faster: it has 8 work-items, which fill 2% of the device; element has 16 "
                   "work-items; fewer work-items hide less of the waits for memory",
                   "izmerjeno enako hitro: ima 8 niti, ki zapolnijo 2% naprave; element ima 16 niti; "
                   "manj niti skrije manj čakanja na pomnilnik");
  sentence_becomes("nobody translates this", "nobody translates this");
  /* Chinese changes the order of the parts. */
  tsl_locale_use("zh");
  sentence_becomes("main memory moves 2.5 times the bytes of element", "主存移动的字节是 element 的 2.5 倍");
  tsl_locale_use("en");
}

static void test_match(void **state) {
  tsl_sentence_part parts[TSL_SENTENCE_PARTS_MAX];
  (void)state;
  assert_true(tsl_sentence_match("%s loads %.3g", "the fastest loads 1e-05", parts));
  assert_int_equal(parts[0].length, strlen("the fastest"));
  assert_int_equal(parts[1].length, strlen("1e-05"));
  assert_true(parts[0].is_text && !parts[1].is_text);
  assert_true(tsl_sentence_match("%d of 5%%", "3 of 5%", parts));
  assert_false(tsl_sentence_match("%d of 5%%", "3 of 5", parts));
  assert_true(tsl_sentence_match("%s of %d%% of %s", "half of 5% of of", parts));
  assert_false(tsl_sentence_match("%s of %s in %s", "loads in lines of C", parts));
  assert_false(tsl_sentence_match("line %d", "line x", parts));
  assert_false(tsl_sentence_match("line %d", "line 7 and more", parts));
  assert_int_equal(tsl_sentence_letters("%.3gx %2$s: it"), 3);
}

static void test_catalogue(void **state) {
  static const char po[] =
      "# comment\nmsgid \"\"\nmsgstr \"\"\n\"Language: xx\\n\"\n\n"
      "#: a.c b.html\n#, c-format\nmsgid \"one \\\"%d\\\"\"\nmsgid_plural \"\"\n\"many \"\n"
      "\"%d\"\nmsgstr[0] \"ena\\n\"\nmsgstr[1] \"ve\"\n\"č\"\n\n#~ msgid \"gone\"\n";
  tsl_catalogue catalogue = tsl_catalogue_parse(po);
  const tsl_catalogue_entry *entry = tsl_catalogue_find(&catalogue, "one \"%d\"");
  (void)state;
  assert_int_equal(catalogue.count, 2);
  assert_non_null(entry);
  assert_string_equal(entry->files, "a.c b.html");
  assert_string_equal(entry->many, "many %d");
  assert_string_equal(entry->forms[0], "ena\n");
  assert_string_equal(entry->forms[1], "več");
  assert_null(entry->forms[2]);
  assert_null(tsl_catalogue_find(&catalogue, "gone"));
  tsl_catalogue_free(&catalogue);
}

static void test_columns(void **state) {
  tsl_text out = {0};
  (void)state;
  assert_int_equal(tsl_text_columns("abc"), 3);
  assert_int_equal(tsl_text_columns("pomnilnik \xc4\x8d"), 11);
  assert_int_equal(tsl_text_columns("内核 a，"), 8);
  /* Lines break between wide characters, but not before a comma. */
  tsl_text_add_wrapped(&out, "全局内存，线程块 ab", 0, 2, 8);
  assert_string_equal(tsl_text_get(&out), "全局内\n  存，线\n  程块\n  ab");
  tsl_text_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_plurals), cmocka_unit_test(test_sentences),
                                     cmocka_unit_test(test_match), cmocka_unit_test(test_catalogue),
                                     cmocka_unit_test(test_columns)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
