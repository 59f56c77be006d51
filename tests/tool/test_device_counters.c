/* Counters of a CUDA device: the table of ncu as recorded, a program in its place, and reasons for none. */
#include "unit/unit.h"

#include "explain/device_counters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROW(id, metric, value)                                                                               \
  "\"" id "\",\"77\",\"tesela\",\"127.0.0.1\",\"tsl_gemm<16, \"\"a\"\">(int, float)\",\"1\",\"7\","          \
  "\"(16, 16, 1)\",\"" metric "\",\"inst\",\"" value "\"\n"
static const char recorded[] =
    "==PROF== Connected to process 77\n\n"
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\","
    "\"Block Size\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n" ROW(
        "0", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "1,000,000")
        ROW("0", "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "0")
            ROW("0", "smsp__inst_executed_op_global_ld.sum", "100") ROW("0", "dram__bytes_read.sum", "n/a")
                ROW("1", "smsp__inst_executed_op_global_ld.sum", "20") ROW("1", "unknown.sum", "5")
                    ROW("1", "lts__t_sectors_op_read.sum", "1,024");

static void holds(const tsl_device_counts *counts) {
  assert_string_equal(counts->why, "");
  assert_int_equal(counts->kernels, 2);
  assert_true(counts->value[TSL_DEVICE_COUNTER_MULTIPLY_ADDS] == 1e6);
  assert_true(counts->value[TSL_DEVICE_COUNTER_GLOBAL_LOADS] == 120 * 32);
  assert_true(counts->value[TSL_DEVICE_COUNTER_LAST_CACHE_BYTES] == 1024 * 32);
  assert_true(isnan(counts->value[TSL_DEVICE_COUNTER_MEMORY_BYTES]));
  assert_true(isnan(counts->value[TSL_DEVICE_COUNTER_LOCAL_LOADS]));
}

static void tables_are_read(void **state) {
  (void)state;
  tsl_device_counts counts;
  tsl_device_counters_parse(recorded, &counts);
  holds(&counts);
  tsl_device_counters_parse("==ERROR== nothing", &counts);
  assert_string_equal(counts.why, "ncu printed no table");
  tsl_device_counters_parse("\"ID\",\"Metric Name\",\"Metric Value\"\n\"0\",\"cut", &counts);
  assert_string_equal(counts.why, "ncu counted no kernel");
}

static void write_program(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "#!/bin/sh\n%s", text);
  fclose(file);
  assert_int_equal(chmod(path, 0755), 0);
}

/* A program named ncu prints the recorded table if it is started as it should be. */
static void ncu_is_started(void **state) {
  (void)state;
  static const tsl_device cuda = {.name = "cuda:0", .capabilities = TSL_CAN_CUDA},
                          other = {.name = "opencl:0"};
  char folder[] = "/tmp/tesela-ncu-XXXXXX", path[64], table[64], text[512], name[] = "explain", size[] = "8";
  char *const line[] = {name, size, size, size};
  const tsl_command_call call = {.line = line, .line_count = 4};
  char *const before = strdup(getenv("PATH"));
  tsl_device_counts counts;
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/ncu", folder);
  snprintf(table, sizeof table, "%s/table", folder);
  FILE *file = fopen(table, "w");
  assert_non_null(file);
  fputs(recorded, file);
  fclose(file);
  snprintf(text, sizeof text,
           "[ \"$TESELA_COUNTED_RUN\" ] || exit 3\ncase \"$*\" in\n"
           "*--csv*global_ld.sum*\" explain 8 8 8\") /bin/cat %s;;\n*) exit 4;;\nesac\n",
           table);
  write_program(path, text);
  setenv("PATH", folder, 1);
  tsl_device_counters_read(&call, &cuda, &counts);
  holds(&counts);
  tsl_device_counters_read(&call, &other, &counts);
  assert_non_null(strstr(counts.why, "ncu counts CUDA devices"));
  write_program(path, "echo '==ERROR== ERR_NVGPUCTRPERM - no permission'\nexit 1\n");
  tsl_device_counters_read(&call, &cuda, &counts);
  assert_string_equal(counts.why, "ncu: ERR_NVGPUCTRPERM - no permission");
  unlink(path);
  tsl_device_counters_read(&call, &cuda, &counts);
  assert_string_equal(counts.why, "ncu (NVIDIA Nsight Compute) is not on the PATH");
  setenv("PATH", before, 1);
  unlink(table);
  rmdir(folder);
  free(before);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tables_are_read), cmocka_unit_test(ncu_is_started)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
