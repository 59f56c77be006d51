/* How much stack a process's first calls need: threads may have little. */
#include "unit/unit.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/host_cases.h"
#include "unit/sanitizers.h"
#include "unit/stack.h"

/* Only the cpu: drivers of other devices use their own amount of stack. */
static const tesela_context_desc on_cpu = {.device = "cpu"};
enum { MOST = 48 << 10 };

/* A first call: its name, and the thread's function, which returns its argument on success. */
typedef struct first_call {
  const char *name;
  void *(*body)(void *argument);
  const host_case *of;
} first_call;

static void *run_case(void *argument) {
  const first_call *call = argument;
  tesela_context *context;
  void *memory[3];
  host_case_memory(memory);
  if (tesela_context_create(&on_cpu, &context) != TESELA_OK)
    return NULL;
  const tesela_status status = host_case_run(context, call->of, memory);
  return status == TESELA_OK || status == TESELA_UNSUPPORTED ? argument : NULL;
}

static void *make_context(void *argument) {
  tesela_context *context;
  if (tesela_context_create(&on_cpu, &context) != TESELA_OK)
    return NULL;
  tesela_context_destroy(context);
  return argument;
}

static void *use_buffer(void *argument) {
  tesela_context *context;
  tesela_buffer *buffer;
  char bytes[16] = {0};
  if (tesela_context_create(&on_cpu, &context) != TESELA_OK ||
      tesela_buffer_create(context, "cpu", sizeof bytes, &buffer) != TESELA_OK ||
      tesela_buffer_write(buffer, 0, bytes, sizeof bytes) != TESELA_OK ||
      tesela_buffer_read(buffer, 0, bytes, sizeof bytes) != TESELA_OK)
    return NULL;
  tesela_buffer_destroy(buffer);
  return argument;
}

static void *parse_plan(void *argument) {
  tesela_context *context;
  tesela_plan *plan;
  if (tesela_context_create(&on_cpu, &context) != TESELA_OK ||
      tesela_plan_parse(context, "gemm sequential version=1 device=cpu place=host m=2 n=2 k=2", &plan) !=
          TESELA_BAD_INPUT) /* a key is missing: the parser frees the keys before it */
    return NULL;
  return argument;
}

/* In a child, where nothing was called yet: whether a thread's stack stays small. */
static bool is_frugal(const first_call *call) {
  char text[128];
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    first_call own = *call;
    const size_t used = stack_used(own.body, &own);
    if (used == 0 || used > MOST)
      print_error("%s: %zu bytes of stack\n", own.of ? host_case_name(own.of, text) : own.name, used);
    _exit(used > 0 && used <= MOST ? 0 : 1);
  }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void first_calls_need_little(void **state) {
  static const first_call calls[] = {
      {"a context", make_context, NULL}, {"a buffer", use_buffer, NULL}, {"a plan's text", parse_plan, NULL}};
  int wrong = 0;
  (void)state;
  if (ADDRESS_SANITIZER || THREAD_SANITIZER) {
    print_message("sanitizers put more on stacks\n");
    skip();
  }
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    wrong += !is_frugal(&calls[i]);
  for (int i = 0; i < host_cases_count; i++)
    wrong += !is_frugal(&(first_call){NULL, run_case, &host_cases[i]});
  assert_int_equal(wrong, 0);
}

/* Tests the measurement itself: a thread that writes a known amount of stack, and a thread that
 * does nothing. */
static void *write_much(void *argument) {
  volatile char much[100000];
  for (size_t i = 0; i < sizeof much; i += 64)
    much[i] = 1;
  return argument;
}
static void *write_nothing(void *argument) {
  return argument;
}

static void stacks_are_measured(void **state) {
  (void)state;
  if (ADDRESS_SANITIZER || THREAD_SANITIZER)
    skip();
  const size_t little = stack_used(write_nothing, state), much = stack_used(write_much, state);
  assert_true(little > 0 && little < 16 << 10);
  /* A thread's own end may need more than its body, and does not come on top of the body. */
  assert_true(much > 100000 && much < little + 102000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stacks_are_measured),
      cmocka_unit_test(first_calls_need_little),
  };
  setenv("TESELA_THREADS", "2", 1);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
