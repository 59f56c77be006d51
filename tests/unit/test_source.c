/* Embedded kernel sources, the include flattener and the content hash. */
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/status.h"
#include "device/source.h"
#include "scratch.h"

static scratch tree;

static int make_tree(void **state) {
  (void)state;
  scratch_create(&tree);
  setenv("TESELA_KERNEL_DIR", tree.folder, 1);
  return 0;
}

static int remove_tree(void **state) {
  (void)state;
  unsetenv("TESELA_KERNEL_DIR");
  scratch_remove(&tree);
  return 0;
}

static void expect_flat(const char *path, const char *expected) {
  static const char *const folders[] = {"shared", "device/x/include", NULL};
  tsl_text out = {0};
  const tesela_status status = tsl_source_flatten(path, folders, &out);
  if (status != TESELA_OK)
    fail_msg("%s", tesela_last_error());
  assert_string_equal(tsl_text_get(&out), expected);
  tsl_text_free(&out);
}

/* The call fails with every one of `words` in its sentence, and leaves `out` as it was. */
static void expect_failure(const char *path, tesela_status status, const char *const *words) {
  static const char *const folders[] = {"shared", NULL};
  tsl_text out = {0};
  tsl_text_add(&out, "before");
  assert_int_equal(tsl_source_flatten(path, folders, &out), status);
  for (; *words; words++)
    if (!strstr(tesela_last_error(), *words))
      fail_msg("\"%s\" is not in \"%s\"", *words, tesela_last_error());
  assert_string_equal(tsl_text_get(&out), "before");
  assert_int_equal(out.length, 6);
  tsl_text_free(&out);
}
#define EXPECT_FAILURE(path, status, ...)                                                                    \
  expect_failure(path, status, (const char *const[]){__VA_ARGS__, NULL})

/* --- embedded files --- */

static void embedded_files_are_the_tree(void **state) {
  (void)state;
  const tsl_source_file *file, *previous = NULL;
  int dialects = 0;
  for (int i = 0; (file = tsl_source_at(i)) != NULL; i++) {
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s/src/%s", TESELA_SOURCE_DIR, file->path);
    FILE *stream = fopen(name, "rb");
    assert_non_null(stream);
    char *text = malloc(file->length + 1);
    /* A C file's opening comment is removed. */
    const size_t path = strlen(file->path), more = strcmp(file->path + path - 2, ".c") == 0;
    assert_int_equal(fread(text, 1, file->length + 1, stream), file->length + more);
    if (more)
      assert_memory_equal(text + file->length - 3, "*/\n", 3);
    assert_memory_equal(text, file->text, file->length);
    assert_int_equal(file->text[file->length], 0);
    free(text);
    fclose(stream);
    if (previous)
      assert_true(strcmp(previous->path, file->path) < 0);
    previous = file;
    dialects += strcmp(file->path, "kernel/dialect.h") == 0 || strstr(file->path, "/dialect_impl.h") != NULL;
  }
  assert_int_equal(dialects, 3);
  assert_null(tsl_source_at(-1));
  assert_null(tsl_source_at(INT_MAX));
}

/* Every portable kernel can be put together for every device, and comes out the same from the source tree. */
static void kernels_flatten_from_memory_and_disk(void **state) {
  (void)state;
  static const char *const devices[] = {"device/opencl/include", "device/cuda/include"};
  const tsl_source_file *file;
  int kernels = 0;
  for (int i = 0; (file = tsl_source_at(i)) != NULL; i++) {
    if (strncmp(file->path, "strategy/", 9) != 0 || !strstr(file->path, ".cl"))
      continue;
    for (int d = 0; d < 2; d++) {
      const char *const folders[] = {"kernel", devices[d], NULL};
      tsl_text embedded = {0}, disk = {0};
      unsetenv("TESELA_KERNEL_DIR");
      assert_int_equal(tsl_source_flatten(file->path, folders, &embedded), TESELA_OK);
      setenv("TESELA_KERNEL_DIR", TESELA_SOURCE_DIR, 1);
      assert_int_equal(tsl_source_flatten(file->path, folders, &disk), TESELA_OK);
      unsetenv("TESELA_KERNEL_DIR");
      assert_string_equal(tsl_text_get(&embedded), tsl_text_get(&disk));
      assert_null(strstr(tsl_text_get(&embedded), "#include \""));
      assert_non_null(strstr(tsl_text_get(&embedded), devices[d]));
      tsl_text_free(&embedded);
      tsl_text_free(&disk);
      kernels++;
    }
  }
  assert_true(kernels > 0);
}

static void embedded_file_missing(void **state) {
  (void)state;
  EXPECT_FAILURE("strategy/none.cl", TESELA_BAD_INPUT, "strategy/none.cl");
}

/* --- flattening --- */

static void includes_are_replaced(void **state) {
  (void)state;
  scratch_write(&tree, "src/a/main.cl",
                "// main\n#include \"x.h\" // note\nint m;\n  #\tinclude \"shared.h\"\nint n;");
  scratch_write(&tree, "src/a/x.h", "int x;\n#include <stdio.h>\n");
  scratch_write(&tree, "src/shared/x.h", "the other x\n");
  scratch_write(&tree, "src/shared/shared.h", "int s;"); /* no newline at the end */
  expect_flat("a/main.cl", "#line 1 \"a/main.cl\"\n// main\n"
                           "#line 1 \"a/x.h\"\nint x;\n#include <stdio.h>\n"
                           "#line 2 \"a/main.cl\"\n // note\nint m;\n"
                           "#line 1 \"shared/shared.h\"\nint s;\n"
                           "#line 4 \"a/main.cl\"\n\nint n;");
}

static void files_come_once(void **state) {
  (void)state;
  scratch_write(&tree, "src/b/main.cl",
                "#include \"one.h\"\n#include \"two.h\"\n#include \"../b/./one.h\"\nint m;\n");
  scratch_write(&tree, "src/b/one.h", "int one;\n");
  scratch_write(&tree, "src/b/two.h", "#include\"one.h\"\nint two;\n");
  expect_flat("b/main.cl", "#line 1 \"b/main.cl\"\n"
                           "#line 1 \"b/one.h\"\nint one;\n"
                           "#line 1 \"b/main.cl\"\n\n"
                           "#line 1 \"b/two.h\"\n\nint two;\n"
                           "#line 2 \"b/main.cl\"\n\n\nint m;\n");
}

static void folders_are_searched_in_order(void **state) {
  (void)state;
  scratch_write(&tree, "src/c/main.cl",
                "#include \"both.h\"\n#include \"last.h\"\n#include \"sub/deep.h\"\n");
  scratch_write(&tree, "src/shared/both.h", "first\n");
  scratch_write(&tree, "src/device/x/include/both.h", "second\n");
  scratch_write(&tree, "src/device/x/include/last.h", "last\n");
  scratch_write(&tree, "src/shared/sub/deep.h", "#include \"near.h\"\n#include \"../both.h\"\n");
  scratch_write(&tree, "src/shared/sub/near.h", "near\n");
  expect_flat("c/main.cl", "#line 1 \"c/main.cl\"\n"
                           "#line 1 \"shared/both.h\"\nfirst\n"
                           "#line 1 \"c/main.cl\"\n\n"
                           "#line 1 \"device/x/include/last.h\"\nlast\n"
                           "#line 2 \"c/main.cl\"\n\n"
                           "#line 1 \"shared/sub/deep.h\"\n"
                           "#line 1 \"shared/sub/near.h\"\nnear\n"
                           "#line 1 \"shared/sub/deep.h\"\n\n\n"
                           "#line 3 \"c/main.cl\"\n\n");
}

static void other_lines_stay(void **state) {
  (void)state;
  static const char text[] = "#define include \"x.h\"\n#include NAME\n#include_next \"x.h\"\n"
                             "x #include \"x.h\"\n\"#include\"\r\n#\n\n#include";
  char expected[512];
  scratch_write(&tree, "src/d/main.cl", text);
  snprintf(expected, sizeof expected, "#line 1 \"d/main.cl\"\n%s", text);
  expect_flat("d/main.cl", expected);
  scratch_write(&tree, "src/d/empty.cl", "");
  expect_flat("d/empty.cl", "#line 1 \"d/empty.cl\"\n");
}

static void text_in_front_stays(void **state) {
  (void)state;
  scratch_write(&tree, "src/e.cl", "int e;\n");
  tsl_text out = {0};
  tsl_text_add(&out, "#define N 4");
  assert_int_equal(tsl_source_flatten("e.cl", NULL, &out), TESELA_OK);
  assert_string_equal(tsl_text_get(&out), "#define N 4\n#line 1 \"e.cl\"\nint e;\n");
  tsl_text_free(&out);
}

static void absolute_paths_are_read_from_disk(void **state) {
  (void)state;
  unsetenv("TESELA_KERNEL_DIR");
  scratch_write(&tree, "own/main.cl", "#include \"own.h\"\n#include \"kernel_epilogue.h\"\n");
  scratch_write(&tree, "own/own.h", "int own;\n");
  static const char *const folders[] = {"kernel", "device/opencl/include", NULL};
  tsl_text out = {0};
  assert_int_equal(tsl_source_flatten(scratch_path(&tree, "own/main.cl"), folders, &out), TESELA_OK);
  assert_non_null(strstr(tsl_text_get(&out), "int own;"));
  assert_non_null(strstr(tsl_text_get(&out), "#line 1 \"kernel/dialect.h\""));
  assert_non_null(strstr(tsl_text_get(&out), "#line 1 \"device/opencl/include/dialect_impl.h\""));
  tsl_text_free(&out);
  EXPECT_FAILURE("/no/such/kernel.cl", TESELA_BAD_INPUT, "/no/such/kernel.cl");
}

static void paths_are_simplified(void **state) {
  (void)state;
  scratch_write(&tree, "src/i/j/k.cl", "x\n");
  scratch_write(&tree, "up.cl", "y\n");
  scratch_write(&tree, "src/top.cl", "#include \"../other/../up.cl\"\n");
  expect_flat("./i//l/../j/./k.cl", "#line 1 \"i/j/k.cl\"\nx\n");
  char above[PATH_MAX], expected[PATH_MAX];
  snprintf(above, sizeof above, "../../%.99s/up.cl", strrchr(tree.folder, '/') + 1);
  snprintf(expected, sizeof expected, "#line 1 \"../../%.99s/up.cl\"\ny\n", strrchr(tree.folder, '/') + 1);
  expect_flat(above, expected);
  expect_flat("../up.cl", "#line 1 \"../up.cl\"\ny\n");
  expect_flat("top.cl", "#line 1 \"top.cl\"\n#line 1 \"../up.cl\"\ny\n#line 1 \"top.cl\"\n\n");
}

static void quotes_in_paths_are_escaped(void **state) {
  (void)state;
  scratch_write(&tree, "src/f/a\"b\\c.cl", "x\n");
  expect_flat("f/a\"b\\c.cl", "#line 1 \"f/a\\\"b\\\\c.cl\"\nx\n");
}

static void missing_files_are_named(void **state) {
  (void)state;
  scratch_write(&tree, "src/g/main.cl", "#include \"g.h\"\n");
  scratch_write(&tree, "src/g/g.h", "\n\n#include \"lost.h\"\n");
  EXPECT_FAILURE("g/main.cl", TESELA_BAD_INPUT, "g/g.h, line 3", "lost.h", "in its folder", "shared");
  EXPECT_FAILURE("g/none.cl", TESELA_BAD_INPUT, "g/none.cl", "TESELA_KERNEL_DIR");
  /* The embedded files do not fill the gaps of a source tree. */
  EXPECT_FAILURE("kernel/dialect.h", TESELA_BAD_INPUT, "kernel/dialect.h");
  scratch_write(&tree, "src/g/open.cl", "#include \"open\n");
  EXPECT_FAILURE("g/open.cl", TESELA_BAD_INPUT, "g/open.cl, line 1");
  scratch_write(&tree, "src/g/nameless.cl", "x\n#include \"\"\n");
  EXPECT_FAILURE("g/nameless.cl", TESELA_BAD_INPUT, "g/nameless.cl, line 2");
  scratch_write(&tree, "src/g/folder.cl", "#include \"../g\"\n");
  EXPECT_FAILURE("g/folder.cl", TESELA_IO_FAILED, "src/g");
}

static void circles_are_reported(void **state) {
  (void)state;
  scratch_write(&tree, "src/h/main.cl", "#include \"p.h\"\n");
  scratch_write(&tree, "src/h/p.h", "\n#include \"q.h\"\n");
  scratch_write(&tree, "src/h/q.h", "#include \"p.h\"\n");
  EXPECT_FAILURE("h/main.cl", TESELA_BAD_INPUT, "h/q.h, line 1", "h/p.h", "cycle");
  scratch_write(&tree, "src/h/self.cl", "#include \"self.cl\"\n");
  EXPECT_FAILURE("h/self.cl", TESELA_BAD_INPUT, "h/self.cl, line 1", "cycle");
}

/* --- hash --- */

static void expect_hash(const char *text, const char *expected) {
  char hash[33];
  tsl_hash_text(tsl_hash_add(tsl_hash_start(), text, strlen(text)), hash);
  assert_string_equal(hash, expected);
}

static void hash_is_fnv1a_128(void **state) {
  (void)state;
  expect_hash("", "6c62272e07bb014262b821756295c58d");
  expect_hash("a", "d228cb696f1a8caf78912b704e4a8964");
  expect_hash("foobar", "343e1662793c64bf6f0d3597ba446f18");
}

static void hash_continues(void **state) {
  (void)state;
  char hash[33];
  tsl_hash_text(tsl_hash_add(tsl_hash_add(tsl_hash_start(), "foo", 3), "bar", 3), hash);
  assert_string_equal(hash, "343e1662793c64bf6f0d3597ba446f18");
  const unsigned char zero[2] = {0, 0};
  const tsl_hash one = tsl_hash_add(tsl_hash_start(), zero, 1), two = tsl_hash_add(tsl_hash_start(), zero, 2);
  assert_true(one.high != two.high || one.low != two.low);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(embedded_files_are_the_tree),
      cmocka_unit_test(kernels_flatten_from_memory_and_disk),
      cmocka_unit_test(embedded_file_missing),
      cmocka_unit_test_setup_teardown(includes_are_replaced, make_tree, remove_tree),
      cmocka_unit_test_setup_teardown(files_come_once, make_tree, remove_tree),
      cmocka_unit_test_setup_teardown(folders_are_searched_in_order, make_tree, remove_tree),
      cmocka_unit_test_setup_teardown(other_lines_stay, make_tree, remove_tree),
      cmocka_unit_test_setup_teardown(text_in_front_stays, make_tree, remove_tree),
      cmocka_unit_test_setup_teardown(absolute_paths_are_read_from_disk, make_tree, remove_tree),
      cmocka_unit_test_setup_teardown(paths_are_simplified, make_tree, remove_tree),
      cmocka_unit_test_setup_teardown(quotes_in_paths_are_escaped, make_tree, remove_tree),
      cmocka_unit_test_setup_teardown(missing_files_are_named, make_tree, remove_tree),
      cmocka_unit_test_setup_teardown(circles_are_reported, make_tree, remove_tree),
      cmocka_unit_test(hash_is_fnv1a_128),
      cmocka_unit_test(hash_continues),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
