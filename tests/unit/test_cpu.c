/* The cpu device: copies with a pitch, refusals, shared memory, events, and how it describes its machine and
 * others. */
#include "unit.h"

#include "core/status.h"
#include "device/cpu/cpu.h"
#include "device/devices.h"
#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct on_cpu {
  tsl_devices *devices;
  tsl_device *device;
  tsl_stream *stream;
} on_cpu;

static on_cpu cpu_begin(void) {
  on_cpu cpu;
  assert_int_equal(tsl_devices_create(&cpu.devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(cpu.devices, "cpu", &cpu.device), TESELA_OK);
  assert_int_equal(tsl_device_open(cpu.device), TESELA_OK);
  assert_int_equal(cpu.device->ops->stream_create(cpu.device, &cpu.stream), TESELA_OK);
  return cpu;
}
static void cpu_end(on_cpu *cpu) {
  cpu->device->ops->stream_destroy(cpu->stream);
  tsl_devices_destroy(cpu->devices);
}

/* Copies rows with a pitch on both sides. Bytes between the rows are unchanged. */
static void test_rows(void **state) {
  on_cpu cpu = cpu_begin();
  const tsl_device_ops *with = cpu.device->ops;
  tsl_buffer *buffer;
  char in[] = "abc-def-ghi", out[] = "............";
  (void)state;
  assert_int_equal(with->buffer_create(cpu.device, 20, &buffer), TESELA_OK);
  assert_int_equal(with->fill(cpu.stream, buffer, 0, '_', 20), TESELA_OK);
  tsl_copy copy = {buffer, 2, 5, in, 4, 3, 3};
  assert_int_equal(with->write(cpu.stream, &copy), TESELA_OK);
  assert_memory_equal(buffer->host, "__abc__def__ghi_____", 20);
  copy = (tsl_copy){buffer, 2, 5, out, 4, 3, 3};
  assert_int_equal(with->read(cpu.stream, &copy), TESELA_OK);
  assert_string_equal(out, "abc.def.ghi.");
  assert_int_equal(with->copy(cpu.stream, buffer, 2, buffer, 15, 3), TESELA_OK);
  assert_memory_equal(buffer->host, "__abc__def__ghiabc__", 20);
  copy.row_bytes = 0;
  assert_int_equal(with->read(cpu.stream, &copy), TESELA_OK);
  with->buffer_destroy(buffer);
  cpu_end(&cpu);
}

static void test_refuses(void **state) {
  on_cpu cpu = cpu_begin();
  const tsl_device_ops *with = cpu.device->ops;
  tsl_buffer *buffer, *none;
  char bytes[64] = {0};
  (void)state;
  assert_int_equal(with->buffer_create(cpu.device, 20, &buffer), TESELA_OK);
  const tsl_copy outside[] = {{buffer, 18, 3, bytes, 3, 1, 3},
                              {buffer, 0, 9, bytes, 9, 3, 3},
                              {buffer, SIZE_MAX, 3, bytes, 3, 1, 3},
                              {buffer, 0, SIZE_MAX / 2, bytes, SIZE_MAX / 2, 4, 3},
                              {buffer, 0, 2, bytes, 3, 2, 3}};
  for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
    assert_int_equal(with->write(cpu.stream, &outside[i]), TESELA_BAD_CALL);
    assert_int_equal(with->read(cpu.stream, &outside[i]), TESELA_BAD_CALL);
    assert_memory_equal(tesela_last_error(), "cpu: ", 5);
  }
  assert_int_equal(with->fill(cpu.stream, buffer, 20, 0, 1), TESELA_BAD_CALL);
  assert_int_equal(with->fill(cpu.stream, buffer, 20, 0, 0), TESELA_OK);
  assert_int_equal(with->copy(cpu.stream, buffer, 0, buffer, 12, 9), TESELA_BAD_CALL);
  none = buffer;
  assert_int_equal(with->buffer_create(cpu.device, SIZE_MAX, &none), TESELA_OUT_OF_MEMORY);
  assert_null(none);
  assert_memory_equal(tesela_last_error(), "cpu: requested 16", 17);
  with->buffer_destroy(buffer);
  cpu_end(&cpu);
}

static void test_shares(void **state) {
  on_cpu cpu = cpu_begin();
  const tsl_device_ops *with = cpu.device->ops;
  tsl_buffer *buffer;
  char bytes[9] = "12345678";
  void *seen;
  (void)state;
  assert_int_equal(cpu.device->host_alignment, 1);
  assert_int_equal(with->buffer_wrap(cpu.device, bytes + 1, 7, &buffer), TESELA_OK);
  assert_ptr_equal(buffer->host, bytes + 1);
  assert_int_equal(with->fill(cpu.stream, buffer, 5, 'x', 2), TESELA_OK);
  assert_string_equal(bytes, "123456xx");
  assert_int_equal(with->buffer_map(cpu.stream, buffer, 1, &seen), TESELA_OK);
  assert_ptr_equal(seen, bytes + 1);
  assert_int_equal(with->buffer_unmap(cpu.stream, buffer, bytes), TESELA_BAD_CALL);
  assert_int_equal(with->buffer_unmap(cpu.stream, buffer, seen), TESELA_OK);
  with->buffer_destroy(buffer); /* and the caller's memory stays */
  assert_string_equal(bytes, "123456xx");
  assert_int_equal(with->buffer_create(cpu.device, 0, &buffer), TESELA_OK);
  with->buffer_destroy(buffer);
  cpu_end(&cpu);
}

static void test_events(void **state) {
  on_cpu cpu = cpu_begin();
  const tsl_device_ops *with = cpu.device->ops;
  tsl_event *begin, *end;
  double seconds = -1;
  (void)state;
  assert_int_equal(with->event_create(cpu.device, &begin), TESELA_OK);
  assert_int_equal(with->event_create(cpu.device, &end), TESELA_OK);
  assert_int_equal(with->event_record(cpu.stream, begin), TESELA_OK);
  assert_int_equal(with->event_seconds(begin, end, &seconds), TESELA_INTERNAL);
  const struct timespec pause = {.tv_nsec = 2000000};
  nanosleep(&pause, NULL);
  assert_int_equal(with->event_record(cpu.stream, end), TESELA_OK);
  assert_int_equal(with->event_seconds(begin, end, &seconds), TESELA_OK);
  assert_true(seconds >= 0.002);
  with->event_destroy(begin);
  with->event_destroy(end);
  cpu_end(&cpu);
}

static unsigned vectors_with(const char *isa) {
  setenv("TESELA_ISA", isa, 1);
  on_cpu cpu = cpu_begin();
  const unsigned capabilities = cpu.device->capabilities;
  assert_int_equal(capabilities & (TSL_CAN_HOST | TSL_CAN_F64 | TSL_CAN_SHARED_MEMORY | TSL_CAN_KERNELS),
                   TSL_CAN_HOST | TSL_CAN_F64 | TSL_CAN_SHARED_MEMORY);
  assert_null(strpbrk(cpu.device->key, " \t"));
  assert_true(cpu.device->clock_mhz > 0 && cpu.device->threads >= 1 && cpu.device->peak_f32 > 0);
  cpu_end(&cpu);
  unsetenv("TESELA_ISA");
  return capabilities & (TSL_CAN_AVX2 | TSL_CAN_AVX512 | TSL_CAN_AVX512_VNNI | TSL_CAN_AVX512_BF16 |
                         TSL_CAN_AMX | TSL_CAN_NEON | TSL_CAN_NEON_DOT | TSL_CAN_NEON_BF16);
}

static void test_instruction_sets(void **state) {
  (void)state;
  const unsigned all = vectors_with("");
  assert_int_equal(vectors_with("generic"), 0);
#if defined(TSL_PLAIN)
  const char *const list = "generic";
  assert_int_equal(all, 0);
#elif defined(__aarch64__)
  const char *const list = "generic, neon, neon_dot or neon_bf16";
  assert_int_equal(vectors_with("neon"), TSL_CAN_NEON);
  assert_int_equal(vectors_with("neon_dot"), all & (TSL_CAN_NEON | TSL_CAN_NEON_DOT));
  assert_int_equal(vectors_with("neon_bf16"), all);
#else
  const char *const list = "generic, avx2, avx512, avx512_vnni, avx512_bf16 or amx";
  assert_int_equal(vectors_with("avx2"), all & TSL_CAN_AVX2);
  assert_int_equal(vectors_with("avx512"), all & (TSL_CAN_AVX2 | TSL_CAN_AVX512));
  assert_int_equal(vectors_with("avx512_vnni"), all & (TSL_CAN_AVX2 | TSL_CAN_AVX512 | TSL_CAN_AVX512_VNNI));
  assert_int_equal(vectors_with("avx512_bf16"), all & ~(unsigned)TSL_CAN_AMX);
  assert_int_equal(vectors_with("amx"), all);
#endif
  char sentence[160];
  snprintf(sentence, sizeof sentence, "cpu: TESELA_ISA is \"sse9\"; it can be %s", list);
  setenv("TESELA_ISA", "sse9", 1);
  tsl_devices *devices;
  tsl_device *device;
  assert_int_equal(tsl_devices_create(&devices), TESELA_OK);
  assert_int_equal(tsl_devices_find(devices, "cpu", &device), TESELA_BAD_CALL);
  assert_string_equal(tesela_last_error(), sentence);
  tsl_devices_destroy(devices);
  unsetenv("TESELA_ISA");
}

/* --- descriptions of other machines --- */

/* CPUID's words of Zen 4, of Zen 5 with paths of 64 and of 32 bytes, and of one in a virtual machine that
 * hides them. */
static void test_vectors(void **state) {
  (void)state;
  assert_false(tsl_cpu_paths_of_64(0, 0));
  assert_false(tsl_cpu_paths_of_64(0x19, 6));
  assert_true(tsl_cpu_paths_of_64(0x1a, 0xa));
  assert_false(tsl_cpu_paths_of_64(0x1a, 6));
  assert_true(tsl_cpu_paths_of_64(0x1a, 2));
  assert_false(tsl_cpu_pairs_vectors() && tsl_cpu_halves_vectors());
}

static void expect_label(const scratch *s, const char *cpuinfo, const char *label, int clock) {
  char found[128];
  scratch_write(s, "proc/cpuinfo", cpuinfo);
  tsl_cpu_label_at(s->folder, found, sizeof found);
  assert_string_equal(found, label);
  assert_int_equal(tsl_cpu_clock_at(s->folder), clock);
}

static void test_descriptions(void **state) {
  scratch s;
  char found[128];
  (void)state;
  scratch_create(&s);
  tsl_cpu_label_at(s.folder, found, sizeof found);
  assert_string_equal(found, "processor without a name");
  assert_int_equal(tsl_cpu_clock_at(s.folder), 0);
  expect_label(&s, "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Some CPU @ 2.50GHz \ncpu MHz\t\t: 3100.5\n",
               "Some CPU @ 2.50GHz", 3100);
  expect_label(&s, "model name\t: Some CPU @ 2.50GHz\n", "Some CPU @ 2.50GHz", 2500);
  expect_label(&s, "model name\t: Some CPU @ home\n", "Some CPU @ home", 0);
  expect_label(&s, "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n",
               "arm64 processor, maker 0x41, part 0xd0c", 0);
  expect_label(&s, "a line without end and without colon", "processor without a name", 0);
  scratch_write(&s, "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "2800000\n");
  expect_label(&s, "model name\t: Some CPU @ 2.50GHz\ncpu MHz\t: 800\n", "Some CPU @ 2.50GHz", 2800);
  scratch_write(&s, "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "fast\n");
  expect_label(&s, "model name\t: Some CPU @ 2.50GHz\n", "Some CPU @ 2.50GHz", 2500);
  scratch_remove(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows),
      cmocka_unit_test(test_refuses),
      cmocka_unit_test(test_shares),
      cmocka_unit_test(test_events),
      cmocka_unit_test(test_instruction_sets),
      cmocka_unit_test(test_vectors),
      cmocka_unit_test(test_descriptions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
