/* Cases of dots. A vector's stride is the column stride of x and the row stride of y. */
#include "judge/case_parts.h"

static void make_dot_problem(tsl_case *out, int64_t terms, tesela_type type, int64_t x_step, int64_t y_step) {
  out->problem = tsl_problem_dot(terms, type);
  out->problem.a.col_stride = x_step;
  out->problem.b.row_stride = y_step;
}

/* Lengths near the sizes of groups and chunks, and above the limit of one launch. */
static const int64_t lengths[] = {0,     1,     2,     3,     7,      31,     32,    33,    63,
                                  64,    65,    255,   256,   257,    1000,   1023,  1024,  1025,
                                  4095,  4096,  4097,  8191,  8192,   8193,   8195,  16384, 16385,
                                  40000, 65535, 65536, 65537, 100003, 131073, 300000};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void make_dot_of_length(int index, tesela_type type, tsl_case *out) {
  make_dot_problem(out, lengths[index / 2], type, 1, 1);
  out->data = index % 2 ? TSL_DATA_INTEGER : TSL_DATA_NORMAL;
  out->repeats = 3;
}

static void make_graded_dot(int index, tesela_type type, tsl_case *out) {
  make_dot_problem(out, lengths[index], type, 1, 1);
  out->data = TSL_DATA_GRADED;
  tsl_case_set_scalars(out, index % 2 ? 1.5 : 1, index % 3 ? 0 : -0.5);
}

static void make_strided_dot(int index, tesela_type type, tsl_case *out) {
  static const int64_t values[] = {1, 2, 3, -1, -2, 7, 16, 0};
  make_dot_problem(out, 5003, type, values[index % 8], values[index / 8]);
  out->data = index % 3 ? TSL_DATA_NORMAL : TSL_DATA_INTEGER;
}

static void make_dot_with_scalars(int index, tesela_type type, tsl_case *out) {
  static const double values[] = {0, 1, -0.5, 1.5};
  make_dot_problem(out, 777, type, 1, 2);
  tsl_case_set_scalars(out, values[index % 4], values[index / 4 % 4]);
  out->data = index < 16 ? TSL_DATA_NORMAL : TSL_DATA_SPECIAL;
}

static void make_special_dot(int index, tesela_type type, tsl_case *out) {
  make_dot_problem(out, lengths[index % LENGTHS], type, 1, 1);
  out->data = TSL_DATA_SPECIAL;
  out->repeats = 2;
}

static const tsl_case_group groups[] = {
    {2 * LENGTHS, make_dot_of_length}, {LENGTHS, make_graded_dot},      {64, make_strided_dot},
    {32, make_dot_with_scalars},       {2 * LENGTHS, make_special_dot}, {0, NULL},
};

static void make_random_dot(tsl_dice *dice, tesela_type type, tsl_case *out) {
  static const int64_t sides[] = {10, 300, 5000, 100000};
  static const int64_t values[] = {1, 1, 1, 2, 3, -1, -5, 0};
  const int64_t terms = tsl_dice_roll(dice, sides[tsl_dice_roll(dice, 4)]);
  const int64_t x_step = values[tsl_dice_roll(dice, 8)];
  make_dot_problem(out, terms, type, x_step, values[tsl_dice_roll(dice, 8)]);
  out->data = (tsl_data)tsl_dice_roll(dice, TSL_DATA_COUNT);
  out->repeats = 1 + (int)tsl_dice_roll(dice, 2);
  const double alpha = tsl_dice_roll_scalar(dice);
  tsl_case_set_scalars(out, alpha, tsl_dice_roll(dice, 2) ? tsl_dice_roll_scalar(dice) : 0);
}

const tsl_case_lists tsl_cases_dot = {groups, make_random_dot};
