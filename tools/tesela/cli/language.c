#include "cli/language.h"

#include "cli/catalogue.h"
#include "cli/sentence.h"
#include "core/env.h"

#include <ctype.h>
#include <string.h>

#include <po_es_po.h>
#include <po_hu_po.h>
#include <po_sl_po.h>
#include <po_zh_CN_po.h>

static int plural_always(int count) {
  (void)count;
  return 0;
}

static int plural_two(int count) {
  return count != 1;
}

static int plural_slovene(int count) {
  const int last = count % 100;
  return last == 1 ? 0 : last == 2 ? 1 : last == 3 || last == 4 ? 2 : 3;
}

/* A language: its code, its tag in HTML, its catalogue, and Plural-Forms of the catalogue. */
static const struct language {
  const char *code, *tag, *po;
  int (*plural)(int count);
} languages[] = {
    {"en", "en", NULL, plural_two},
    {"sl", "sl", po_sl_po, plural_slovene},
    {"es", "es", po_es_po, plural_two},
    {"hu", "hu", po_hu_po, plural_two},
    {"zh", "zh-CN", po_zh_CN_po, plural_always},
};
enum { LANGUAGES = sizeof languages / sizeof *languages };

static const struct language *used = &languages[0];
static tsl_catalogue catalogue;

/* Returns the language of a locale such as sl_SI.UTF-8; NULL: it is unknown. */
static const struct language *find_language(const char *name, size_t length) {
  const size_t code = strcspn(name, "_-.@:");
  const size_t own = code < length ? code : length;
  for (int i = 0; i < LANGUAGES; i++)
    if (own == strlen(languages[i].code) && strncmp(name, languages[i].code, own) == 0)
      return &languages[i];
  return NULL;
}

bool tsl_locale_is_known(const char *name, tsl_text *names) {
  for (int i = 0; i < LANGUAGES; i++)
    tsl_text_add(names, "%s%s", i ? ", " : "", languages[i].code);
  return find_language(name, strlen(name)) != NULL;
}

/* Returns the language that the environment asks for, by the rules of gettext: LANGUAGE is a list of
 * languages, and counts only where the locale is not C. */
static const struct language *language_of_environment(void) {
  static const char *const variables[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
  const char *locale = NULL, *list = tsl_env_foreign("LANGUAGE");
  for (size_t i = 0; i < sizeof variables / sizeof *variables && (!locale || !*locale); i++)
    locale = tsl_env_foreign(variables[i]);
  if (!locale || !*locale || strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0)
    return &languages[0];
  for (; list && *list; list += strcspn(list, ":"), list += *list == ':') {
    const struct language *found = find_language(list, strcspn(list, ":"));
    if (found)
      return found;
  }
  const struct language *found = find_language(locale, strlen(locale));
  return found ? found : &languages[0];
}

void tsl_locale_use(const char *name) {
  const struct language *found = name ? find_language(name, strlen(name)) : language_of_environment();
  if (!found || found == used)
    return;
  tsl_catalogue_free(&catalogue);
  used = found;
  if (found->po)
    catalogue = tsl_catalogue_parse(found->po);
}

const char *tsl_locale_tag(void) {
  return used->tag;
}

static bool has_translation(const tsl_catalogue_entry *entry) {
  return entry && *entry->one && entry->forms[0] && *entry->forms[0];
}

const char *tsl_tr(const char *message) {
  const tsl_catalogue_entry *entry = tsl_catalogue_find(&catalogue, message);
  return has_translation(entry) ? entry->forms[0] : message;
}

/* Returns the index of the form for a count. */
static int language_plural(long long count) {
  return used->plural((int)(count < 200 ? count : 100 + count % 100));
}

const char *tsl_tr_count(const char *singular, const char *plural, long long count) {
  const tsl_catalogue_entry *entry = tsl_catalogue_find(&catalogue, singular);
  const int form = language_plural(count);
  if (!has_translation(entry) || !entry->forms[form])
    return count == 1 ? singular : plural;
  return entry->forms[form];
}

/* --- sentences --- */

enum { DEPTH_MAX = 5, LETTERS_MIN = 4 };

static void add_sentence(const char *text, size_t length, int depth, tsl_text *out);

/* Appends a translation with the parts of a sentence at its places. */
static void add_filled(const char *format, const tsl_sentence_part *parts, int depth, tsl_text *out) {
  int next = 0;
  while (*format)
    if (*format == '%' && format[1] != '%') {
      char kind;
      int place;
      format = tsl_sentence_conversion(format, &kind, &place);
      const tsl_sentence_part *part = &parts[place > 0 ? place - 1 : next++];
      if (part->is_text)
        add_sentence(part->text, part->length, depth + 1, out);
      else if (part->text)
        tsl_text_add_bytes(out, part->text, part->length);
    } else {
      format += *format == '%';
      tsl_text_add_bytes(out, format++, 1);
    }
}

/* Returns true for words of the page's script alone, which are shorter than sentences. */
static bool is_of_page(const tsl_catalogue_entry *entry) {
  return entry->files && strstr(entry->files, ".html") && !strpbrk(entry->files, " ");
}

/* Returns the translation of the format with most letters that made the text; NULL: there is none. */
static const char *find_format(const char *text, tsl_sentence_part parts[TSL_SENTENCE_PARTS_MAX]) {
  const char *best = NULL;
  int most = LETTERS_MIN - 1;
  for (int i = 0; i < catalogue.count; i++) {
    const tsl_catalogue_entry *entry = &catalogue.entries[i];
    tsl_sentence_part found[TSL_SENTENCE_PARTS_MAX];
    const int letters = has_translation(entry) && !is_of_page(entry) ? tsl_sentence_letters(entry->one) : 0;
    if (letters > most && tsl_sentence_match(entry->one, text, found)) {
      most = letters;
      best = entry->forms[0];
      memcpy(parts, found, sizeof found);
    }
  }
  return best;
}

static void add_sentence(const char *sentence, size_t length, int depth, tsl_text *out) {
  static const char *const separators[] = {"; ", ": ", ", "};
  tsl_sentence_part parts[TSL_SENTENCE_PARTS_MAX];
  char text[2048];
  if (length >= sizeof text || depth > DEPTH_MAX) {
    tsl_text_add_bytes(out, sentence, length);
    return;
  }
  memcpy(text, sentence, length);
  text[length] = '\0';
  const tsl_catalogue_entry *entry = tsl_catalogue_find(&catalogue, text);
  const char *format = has_translation(entry) ? NULL : find_format(text, parts);
  if (has_translation(entry)) {
    tsl_text_add(out, "%s", entry->forms[0]);
    return;
  }
  if (format) {
    add_filled(format, parts, depth, out);
    return;
  }
  for (size_t i = 0; i < sizeof separators / sizeof *separators; i++) {
    const char *cut = strstr(text, separators[i]);
    if (!cut)
      continue;
    add_sentence(text, (size_t)(cut - text), depth, out);
    tsl_text_add(out, "%s", separators[i]);
    add_sentence(cut + 2, strlen(cut + 2), depth, out);
    return;
  }
  tsl_text_add_bytes(out, text, length);
}

void tsl_tr_sentence(const char *sentence, tsl_text *out) {
  add_sentence(sentence, strlen(sentence), 0, out);
}

/* --- pages --- */

json_t *tsl_locale_words(const char *file) {
  json_t *words = json_object();
  for (int i = 0; i < catalogue.count; i++) {
    const tsl_catalogue_entry *entry = &catalogue.entries[i];
    json_t *forms = json_array();
    for (int form = 0; form < TSL_CATALOGUE_FORMS && entry->forms[form]; form++)
      json_array_append_new(forms, json_string(entry->forms[form]));
    if (entry->files && strstr(entry->files, file) && has_translation(entry))
      json_object_set(words, entry->one, forms);
    json_decref(forms);
  }
  return words;
}

json_t *tsl_locale_plurals(void) {
  json_t *list = json_array();
  for (int count = 0; count < 200; count++)
    json_array_append_new(list, json_integer(used->plural(count)));
  return list;
}
