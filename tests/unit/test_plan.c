/* Plans: their text, how operands travel, and runs on the cpu. */
#include "unit/cpu.h"
#include "unit/unit.h"

#include "copy/transfer.h"
#include "core/status.h"
#include "matrices.h"
#include "plan/plan.h"
#include "planner/subplan_choice.h"
#include "strategy/params.h"
#include "strategy/strategy_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tsl_plan *sequential_plan(const tsl_problem *problem, tsl_memory_place place) {
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "sequential");
  const tsl_config config = tsl_strategy_defaults(strategy);
  tsl_plan *plan;
  assert_int_equal(tsl_planner_create(problem, strategy, &config, cpu, place, &plan), TESELA_OK);
  return plan;
}

/* --- text --- */

static void same_shapes(const tsl_shape *a, const tsl_shape *b) {
  assert_int_equal(a->type, b->type);
  assert_int_equal(a->rows, b->rows);
  assert_int_equal(a->cols, b->cols);
  assert_int_equal(a->row_stride, b->row_stride);
  assert_int_equal(a->col_stride, b->col_stride);
}

static void text_round_trips(void **state) {
  (void)state;
  for (uint64_t i = 0; i < 400; i++) {
    tsl_case what;
    tsl_case_random(TSL_OP_GEMM, 99, i, i % 2 ? TESELA_F32 : TESELA_F64, &what);
    what.problem.alpha[0] = tsl_random_value(TSL_DRAW_GRADED, 5, i);
    what.problem.beta[0] = i % 3 ? tsl_random_value(TSL_DRAW_NORMAL, 6, i) : 0;
    if (i % 5 == 0) /* far beyond what could run */
      what.problem = tsl_problem_gemm((int64_t)1 << 30, 3, (int64_t)1 << 29, TESELA_F64);
    tsl_plan *plan = sequential_plan(&what.problem, i % 4 ? TSL_PLACE_HOST : TSL_PLACE_DEVICE), *again;
    assert_int_equal(tsl_planner_parse(devices, plan->text, &again), TESELA_OK);
    assert_string_equal(again->text, plan->text);
    assert_int_equal(again->place, plan->place);
    assert_ptr_equal(again->work.device, plan->work.device);
    assert_ptr_equal(again->work.strategy, plan->work.strategy);
    same_shapes(&again->work.problem.a, &plan->work.problem.a);
    same_shapes(&again->work.problem.b, &plan->work.problem.b);
    same_shapes(&again->work.problem.c, &plan->work.problem.c);
    assert_memory_equal(again->work.problem.alpha, plan->work.problem.alpha, sizeof plan->work.problem.alpha);
    assert_memory_equal(again->work.problem.beta, plan->work.problem.beta, sizeof plan->work.problem.beta);
    tsl_plan_destroy(again);
    tsl_plan_destroy(plan);
  }
}

/* A problem of each kind that has words of its own. */
static int problems_of_all_kinds(tsl_problem out[]) {
  int count = 0;
  tsl_problem *made = &out[count++];
  *made = tsl_problem_gemm(4, 3, 2, TESELA_C64);
  made->conjugate_a = true;
  made->alpha[1] = -0.5;
  made->beta[0] = 0.25;
  out[count] = *made;
  out[count++].conjugate_b = true;
  out[count] = *made;
  out[count].conjugate_a = false;
  out[count++].conjugate_b = true;
  out[count++] = tsl_problem_dot(1000, TESELA_F64);
  made = &out[count++];
  *made = tsl_problem_transpose(5, 5, TESELA_I32);
  made->in_place = true;
  made = &out[count++];
  *made = tsl_problem_gemm(4, 3, 2, TESELA_I8);
  made->batch = 7;
  made->b.row_stride = -3;
  made->alpha[0] = -2;
  for (int structure = TESELA_SYMMETRIC; structure <= TESELA_UNIT_TRIANGULAR; structure++) {
    made = &out[count++];
    *made = tsl_problem_gemm(4, 4, 4, TESELA_C128);
    tsl_shape *shape = structure % 2 ? &made->a : &made->b;
    shape->structure = (tesela_structure)structure;
    shape->triangle = structure < TESELA_TRIANGULAR ? TESELA_LOWER : TESELA_UPPER;
    made->in_place = structure == TESELA_UNIT_TRIANGULAR;
  }
  for (int structure = TESELA_GENERAL; structure < TESELA_STRUCTURES; structure++) {
    if (structure != TESELA_GENERAL && structure != TESELA_HERMITIAN && structure < TESELA_SYMMETRIC_SUM)
      continue;
    made = &out[count++];
    *made = tsl_problem_gemm(4, 4, 3, TESELA_C64);
    made->c.structure = (tesela_structure)structure;
    made->c.triangle = TESELA_UPPER;
  }
  for (int bits = TSL_REPRODUCIBILITY_RUN; bits <= TSL_REPRODUCIBILITY_DEVICES; bits++) {
    static const char *const words[] = {"1e-05", "tf32", "f32", "exact"};
    made = &out[count++];
    *made = tsl_problem_gemm(4, 3, 2, TESELA_F32);
    made->ask.bits = (tsl_reproducibility)bits;
    assert_int_equal(tsl_numeric_requirements_parse_accuracy(words[bits - 1], &made->ask), TESELA_OK);
  }
  for (int along = TESELA_NO_BIAS; along < TESELA_ALONGS; along++) {
    made = &out[count++];
    *made = tsl_problem_gemm(4, 3, 2, TESELA_BF16);
    made->activation = (tesela_activation)(TESELA_RELU + along);
    tsl_problem_add_bias(made, (tesela_bias_axis)along, along == TESELA_BIAS_ROW ? TESELA_F32 : TESELA_BF16,
                         along == TESELA_BIAS_ROW ? -2 : 1);
  }
  for (int scaling = TESELA_SCALE_TENSOR; scaling < TESELA_SCALINGS; scaling++) {
    made = &out[count++];
    *made = tsl_problem_gemm(4, 3, 2, TESELA_I8);
    made->c.type = TESELA_BF16;
    tsl_problem_add_scale(made, TSL_OPERAND_SCALE_A, (tesela_scaling)scaling, -2);
    tsl_problem_add_scale(made, TSL_OPERAND_SCALE_B, TESELA_SCALE_LINES, scaling);
  }
  return count;
}

/* One list of keys serves printing, parsing and explaining. A printed text parses to the same
 * problem, and some problem prints each key. */
static void every_key_parses(void **state) {
  enum { KINDS = 26 };
  tsl_problem problems[KINDS];
  unsigned printed = 0, known = 0;
  (void)state;
  const int count = problems_of_all_kinds(problems);
  for (int i = 0; i < count; i++) {
    tsl_text text = {0}, again = {0};
    tsl_record record;
    tsl_problem parsed;
    tsl_problem_print(&problems[i], &text);
    assert_int_equal(tsl_record_parse(tsl_text_get(&text), &record), TESELA_OK);
    if (tsl_problem_parse(&record, problems[i].op, &parsed) != TESELA_OK)
      fail_msg("%s: %s", tsl_text_get(&text), tesela_last_error());
    tsl_problem_print(&parsed, &again);
    assert_string_equal(tsl_text_get(&again), tsl_text_get(&text));
    assert_int_equal(parsed.batch, problems[i].batch);
    for (int operand = 0; operand < TSL_OPERANDS; operand++) {
      const tsl_shape *was = tsl_problem_shape(&problems[i], operand),
                      *is = tsl_problem_shape(&parsed, operand);
      assert_true(was->structure == is->structure && was->triangle == is->triangle);
    }
    assert_true(tsl_numeric_requirements_same(&parsed.ask, &problems[i].ask));
    assert_int_equal(parsed.activation, problems[i].activation);
    assert_int_equal(parsed.bias_axis, problems[i].bias_axis);
    assert_memory_equal(&parsed.bias, &problems[i].bias, sizeof parsed.bias);
    assert_int_equal(parsed.scaling_a, problems[i].scaling_a);
    assert_int_equal(parsed.scaling_b, problems[i].scaling_b);
    assert_memory_equal(&parsed.scale_a, &problems[i].scale_a, sizeof parsed.scale_a);
    assert_memory_equal(&parsed.scale_b, &problems[i].scale_b, sizeof parsed.scale_b);
    for (int key = 0; tsl_problem_key(key); key++)
      printed |= (unsigned)(tsl_record_get(&record, tsl_problem_key(key)->name) != NULL) << key;
    tsl_record_free(&record);
    tsl_text_free(&again);
    tsl_text_free(&text);
  }
  for (int key = 0; tsl_problem_key(key); key++) {
    known |= 1u << key;
    assert_true(strlen(tsl_problem_key(key)->what) > 0);
  }
  assert_true(known != 0 && printed == known);
}

/* Plans of batches, too: whether they run is asked for once they are read. */
static void plans_of_batches_parse(void **state) {
  tsl_plan *plan;
  (void)state;
  assert_int_equal(tsl_planner_parse(devices,
                                     "gemm sequential version=1 device=cpu place=host m=4 n=3 k=2 "
                                     "types=f32,f32,f32 batch=7",
                                     &plan),
                   TESELA_UNSUPPORTED);
  assert_null(plan);
  assert_non_null(strstr(tesela_last_error(), "sequential on cpu"));
}

static void text_reads_as_documented(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(4, 3, 2, TESELA_F32);
  tsl_plan *plan = sequential_plan(&problem, TSL_PLACE_HOST);
  assert_string_equal(plan->text,
                      "gemm sequential version=1 device=cpu place=host m=4 n=3 k=2 types=f32,f32,f32");
  tsl_plan_destroy(plan);
}

static const struct {
  const char *text;
  tesela_status status;
  const char *names; /* names that the error message must contain */
} bad_texts[] = {
    {"", TESELA_BAD_INPUT, "operation"},
    {"gemm", TESELA_BAD_INPUT, "strategy"},
    {"gemv sequential version=1 device=cpu place=host m=1 n=1 k=1 types=f32,f32,f32", TESELA_BAD_INPUT,
     "'gemv'"},
    {"gemm fastest version=1 device=cpu place=host m=1 n=1 k=1 types=f32,f32,f32", TESELA_BAD_INPUT,
     "'fastest'"},
    {"gemm sequential twice version=1 device=cpu place=host m=1 n=1 k=1 types=f32,f32,f32", TESELA_BAD_INPUT,
     "'twice'"},
    {"gemm sequential device=cpu place=host m=1 n=1 k=1 types=f32,f32,f32", TESELA_BAD_INPUT, "version="},
    {"gemm sequential version=0 device=cpu place=host m=1 n=1 k=1 types=f32,f32,f32", TESELA_BAD_INPUT,
     "version=0 of sequential is retired"},
    {"gemm sequential version=x device=cpu place=host m=1 n=1 k=1 types=f32,f32,f32", TESELA_BAD_INPUT,
     "version=x"},
    {"gemm sequential version=1 place=host m=1 n=1 k=1 types=f32,f32,f32", TESELA_BAD_INPUT, "device="},
    {"gemm sequential version=1 device=cpu place=host m=-1 n=1 k=1 types=f32,f32,f32", TESELA_BAD_INPUT,
     "m=-1 is not a size"},
    {"gemm sequential version=1 device=tpu:0 place=host m=1 n=1 k=1 types=f32,f32,f32", TESELA_BAD_INPUT,
     "tpu:0"},
    {"gemm sequential version=1 device=cpu:7 place=host m=1 n=1 k=1 types=f32,f32,f32", TESELA_NO_DEVICE,
     "cpu:7"},
    {"gemm sequential version=1 device=cpu m=1 n=1 k=1 types=f32,f32,f32", TESELA_BAD_INPUT, "place="},
    {"gemm sequential version=1 device=cpu place=moon m=1 n=1 k=1 types=f32,f32,f32", TESELA_BAD_INPUT,
     "place=moon"},
    {"gemm sequential version=1 device=cpu place=host m=1 n=1", TESELA_BAD_INPUT, "k="},
    {"gemm sequential version=1 device=cpu place=host m=-1 n=1 k=1 types=f32,f32,f32", TESELA_BAD_INPUT,
     "m=-1"},
    {"gemm sequential version=1 device=cpu place=host m=1 n=1 k=1", TESELA_BAD_INPUT, "types="},
    {"gemm sequential version=1 device=cpu place=host m=1 n=1 k=1 types=f32,f32", TESELA_BAD_INPUT,
     "types=f32,f32"},
    {"gemm sequential version=1 device=cpu place=host m=1 n=1 k=1 types=f32,f32,f32 strides=1,1",
     TESELA_BAD_INPUT, "strides=1,1"},
    {"gemm sequential version=1 device=cpu place=host m=2 n=2 k=1 types=f32,f32,f32 strides=1,1,2,1,0,1",
     TESELA_BAD_INPUT, "overlap"},
    {"gemm sequential version=1 device=cpu place=host m=1 n=1 k=1 types=f32,f32,f32 alpha=much",
     TESELA_BAD_INPUT, "alpha=much"},
    {"gemm sequential version=1 device=cpu place=host m=1 n=1 k=1 types=f32,f32,f32 alpha=1,2",
     TESELA_BAD_INPUT, "alpha"},
    {"gemm sequential version=1 device=cpu place=host m=1 n=1 k=1 types=f32,f32,f32 batch=x",
     TESELA_BAD_INPUT, "batch=x"},
    {"gemm sequential version=1 device=cpu place=host m=1 n=1 k=1 types=f32,f32,f32 batch=0",
     TESELA_BAD_INPUT, "batch=0"},
    {"gemm sequential version=1 device=cpu place=host m=1 n=1 k=1 types=f32,f32,f32 speed=9",
     TESELA_BAD_INPUT, "'speed'"},
    {"gemm sequential version=1 device=cpu place=host m=1 n=1 k=1 m=2", TESELA_BAD_INPUT, "m"},
    {"gemm tile_local version=1 device=cpu place=host m=1 n=1 k=1 types=f32,f32,f32", TESELA_BAD_INPUT,
     "tile="},
    {"gemm tile_local version=1 tile=700 device=cpu place=host m=1 n=1 k=1 types=f32,f32,f32",
     TESELA_BAD_INPUT, "tile=700"},
    {"gemm tile_local version=1 tile=16 device=cpu place=host m=1 n=1 k=1 types=f32,f32,f32",
     TESELA_UNSUPPORTED, "tile_local on cpu"},
    {"gemm sequential version=1 device=cpu place=host m=1 n=1 k=1 types=i8,i8,f32", TESELA_UNSUPPORTED, "i8"},
};

static void bad_text_is_named(void **state) {
  (void)state;
  int wrong = 0;
  for (size_t i = 0; i < sizeof bad_texts / sizeof *bad_texts; i++) {
    tsl_plan *plan;
    const tesela_status status = tsl_planner_parse(devices, bad_texts[i].text, &plan);
    assert_null(plan);
    if (status != bad_texts[i].status || !strstr(tesela_last_error(), bad_texts[i].names)) {
      print_error("'%s': %s, %s\n", bad_texts[i].text, tesela_status_name(status), tesela_last_error());
      wrong++;
    }
  }
  assert_int_equal(wrong, 0);
}

/* --- runs --- */

static void runs_on_the_cpu(void **state) {
  (void)state;
  for (int place = TSL_PLACE_HOST; place <= TSL_PLACE_DEVICE; place++) {
    tsl_problem problem = tsl_problem_gemm(2, 2, 2, TESELA_F32);
    problem.beta[0] = 1;
    tsl_plan *plan = sequential_plan(&problem, (tsl_memory_place)place);
    float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, c[] = {1, 1, 1, 1};
    const float expected[] = {20, 23, 44, 51};
    tsl_buffer *buffer;
    assert_int_equal(cpu->ops->buffer_create(cpu, 64, &buffer), TESELA_OK);
    memcpy((float *)buffer->host + 3, c, sizeof c);
    const tsl_operands host = {.a = {.host = a}, .b = {.host = b}, .c = {.host = c}};
    tsl_operands mixed = host;
    mixed.c = (tsl_operand){.buffer = buffer, .offset = 3};
    tsl_phases phases;
    assert_int_equal(tsl_plan_run(plan, place == TSL_PLACE_HOST ? &host : &mixed, &phases), TESELA_OK);
    assert_memory_equal(place == TSL_PLACE_HOST ? c : (float *)buffer->host + 3, expected, sizeof expected);
    assert_true(phases.total > 0 && phases.compute <= phases.total);
    assert_true(phases.copy_in == 0 && phases.copy_out == 0);
    cpu->ops->buffer_destroy(buffer);
    tsl_plan_destroy(plan);
  }
}

static void nothing_to_do_touches_nothing(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(0, 5, 5, TESELA_F32);
  tsl_plan *plan = sequential_plan(&problem, TSL_PLACE_HOST);
  const tsl_operands none = {0};
  tsl_phases phases;
  assert_int_equal(tsl_plan_run(plan, &none, &phases), TESELA_OK);
  assert_true(phases.total == 0);
  tsl_plan_destroy(plan);
}

static void bounds_and_bytes(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(10, 20, 30, TESELA_F32);
  tsl_problem unread = problem;
  tsl_device elsewhere = *cpu;
  tsl_plan *plan = sequential_plan(&problem, TSL_PLACE_HOST);
  assert_true(tsl_plan_error_bound(plan) >= 30 * 0x1p-24 && tsl_plan_error_bound(plan) < 40 * 0x1p-24);
  tsl_plan_destroy(plan);
  unread.alpha[0] = 0;
  elsewhere.capabilities = TSL_CAN_KERNELS;
  assert_int_equal(tsl_plan_device_bytes(&problem, cpu, TSL_PLACE_HOST), 0);
  assert_int_equal(tsl_plan_device_bytes(&problem, &elsewhere, TSL_PLACE_DEVICE), 0);
  assert_int_equal(tsl_plan_device_bytes(&problem, &elsewhere, TSL_PLACE_HOST), 4 * (300 + 600 + 200));
  assert_int_equal(tsl_plan_device_bytes(&unread, &elsewhere, TSL_PLACE_HOST), 4 * 200);
  tsl_problem vast = tsl_problem_gemm((int64_t)1 << 40, 1, (int64_t)1 << 40, TESELA_F64);
  vast.a.row_stride = 0;
  assert_true(tsl_plan_device_bytes(&vast, &elsewhere, TSL_PLACE_HOST) == UINT64_MAX);
}

static void refusals_fail_the_plan(void **state) {
  (void)state;
  const tsl_problem problem = tsl_problem_gemm(2, 2, 2, TESELA_F32);
  const tsl_strategy *strategy = tsl_strategy_find(TSL_OP_GEMM, "element");
  const tsl_config config = tsl_strategy_defaults(strategy);
  tsl_plan *plan;
  assert_int_equal(tsl_planner_create(&problem, strategy, &config, cpu, TSL_PLACE_HOST, &plan),
                   TESELA_UNSUPPORTED);
  assert_null(plan);
  assert_non_null(strstr(tesela_last_error(), "element on cpu: "));
}

/* --- how operands travel --- */

static tsl_shape shape_of(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride) {
  return (tsl_shape){
      .type = TESELA_F32, .rows = rows, .cols = cols, .row_stride = row_stride, .col_stride = col_stride};
}

static void routes(void **state) {
  (void)state;
  static const struct {
    int64_t shape[4];
    bool gathered;
    size_t rows, row_bytes, pitch;
  } expected[] = {
      {{10, 20, 20, 1}, false, 1, 800, 800}, /* dense: one row */
      {{10, 20, 32, 1}, false, 10, 80, 128}, /* padded: rows with a pitch */
      {{20, 10, 1, 20}, false, 1, 800, 800}, /* transposed */
      {{20, 10, 1, 25}, false, 10, 80, 100}, /* transposed and padded */
      {{10, 5, 8, 1}, true, 0, 0, 0},        /* rows too short to copy one by one */
      {{1, 50, 77, 1}, false, 1, 200, 200},  /* one row */
      {{50, 1, 1, 1}, false, 1, 200, 200},   /* one column */
      {{50, 1, 7, 1}, true, 0, 0, 0},        /* a column of a matrix */
      {{10, 20, -20, 1}, true, 0, 0, 0},     /* upside down */
      {{10, 20, 40, 2}, true, 0, 0, 0},      /* every other element */
      {{10, 20, 0, 1}, true, 0, 0, 0},       /* one row again and again */
      {{10, 20, 1, 1}, true, 0, 0, 0},       /* diagonals */
  };
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    const int64_t *s = expected[i].shape;
    const tsl_shape shape = shape_of(s[0], s[1], s[2], s[3]);
    tsl_transfer transfer;
    assert_true(tsl_transfer_plan(&shape, &transfer));
    assert_int_equal(transfer.bytes, (size_t)(4 * s[0] * s[1]));
    assert_int_equal(transfer.gathered, expected[i].gathered);
    assert_true(tsl_shape_is_dense(&transfer.packed));
    if (transfer.gathered)
      continue;
    assert_int_equal(transfer.rows, expected[i].rows);
    assert_int_equal(transfer.row_bytes, expected[i].row_bytes);
    assert_int_equal(transfer.host_pitch, expected[i].pitch);
  }
  const tsl_shape vast = shape_of((int64_t)1 << 40, (int64_t)1 << 40, 0, 1);
  tsl_transfer transfer;
  assert_false(tsl_transfer_plan(&vast, &transfer));
}

/* There and back, for the layouts of random cases: elements arrive, and gaps stay as they were. */
static void elements_travel_and_gaps_do_not(void **state) {
  (void)state;
  tsl_stream *stream;
  assert_int_equal(cpu->ops->stream_create(cpu, &stream), TESELA_OK);
  for (uint64_t i = 0; i < 300; i++) {
    tsl_case what;
    tsl_case_random(TSL_OP_GEMM, 3, i, i % 2 ? TESELA_F32 : TESELA_F64, &what);
    const tsl_shape *shape = &what.problem.c;
    if (shape->rows == 0 || shape->cols == 0)
      continue;
    const size_t size = tsl_type(shape->type)->size, extent = (size_t)tsl_shape_extent(shape) * size;
    void *from, *to;
    unsigned char *from_memory = test_matrix(shape, &from), *to_memory = test_matrix(shape, &to),
                  *expected = malloc(extent);
    const tsl_operand_series one = {.count = 1};
    tsl_transfer transfer;
    tsl_buffer *buffer;
    assert_true(tsl_transfer_plan(shape, &transfer));
    void *block = malloc(transfer.bytes);
    assert_int_equal(cpu->ops->buffer_create(cpu, transfer.bytes, &buffer), TESELA_OK);
    memset(from_memory, 0x11, extent);
    memset(to_memory, 0x77, extent);
    test_fill(shape, from, TSL_DRAW_NORMAL, i);
    memcpy(expected, to_memory, extent);
    for (int64_t r = 0; r < shape->rows; r++)
      for (int64_t c = 0; c < shape->cols; c++)
        test_set(shape, expected + tsl_shape_below(shape) * (int64_t)size, r, c, test_get(shape, from, r, c));
    assert_int_equal(tsl_transfer_in(shape, &transfer, one, from, buffer, stream, block), TESELA_OK);
    assert_true(test_get(&transfer.packed, buffer->host, shape->rows - 1, 0) ==
                test_get(shape, from, shape->rows - 1, 0));
    assert_int_equal(tsl_transfer_out(shape, &transfer, one, to, buffer, stream, block), TESELA_OK);
    assert_memory_equal(to_memory, expected, extent);
    cpu->ops->buffer_destroy(buffer);
    free(block);
    free(expected);
    free(from_memory);
    free(to_memory);
  }
  cpu->ops->stream_destroy(stream);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_round_trips),
      cmocka_unit_test(every_key_parses),
      cmocka_unit_test(plans_of_batches_parse),
      cmocka_unit_test(text_reads_as_documented),
      cmocka_unit_test(bad_text_is_named),
      cmocka_unit_test(runs_on_the_cpu),
      cmocka_unit_test(nothing_to_do_touches_nothing),
      cmocka_unit_test(bounds_and_bytes),
      cmocka_unit_test(refusals_fail_the_plan),
      cmocka_unit_test(routes),
      cmocka_unit_test(elements_travel_and_gaps_do_not),
  };
  return cmocka_run_group_tests(tests, cpu_set_up, cpu_tear_down);
}
