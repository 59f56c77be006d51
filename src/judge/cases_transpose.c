#include "judge/case_parts.h"

static void make_transpose_problem(tsl_case *out, int64_t m, int64_t n, tesela_type type, int a, int c,
                                   int64_t pad) {
  out->problem = tsl_problem_transpose(m, n, type);
  tsl_case_set_layout(&out->problem.a, a, pad);
  tsl_case_set_layout(&out->problem.c, c, pad + 1);
}

static void make_transpose_in_place(tsl_case *out, int64_t size, tesela_type type, int layout, int64_t pad) {
  make_transpose_problem(out, size, size, type, TSL_LAYOUT_DENSE, layout, pad);
  out->problem.in_place = true;
  out->problem.a = out->problem.c;
}

static const int64_t sizes[][2] = {{0, 0},     {0, 5},     {5, 0},    {1, 1},    {1, 7},     {7, 1},
                                   {3, 2},     {8, 8},     {15, 16},  {16, 17},  {31, 33},   {32, 32},
                                   {33, 31},   {63, 65},   {64, 64},  {65, 63},  {1, 1000},  {1000, 1},
                                   {2, 777},   {777, 3},   {100, 7},  {5, 129},  {128, 64},  {127, 257},
                                   {130, 130}, {200, 300}, {4, 4096}, {4096, 4}, {256, 256}, {511, 65}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void make_transpose_of_size(int index, tesela_type type, tsl_case *out) {
  make_transpose_problem(out, sizes[index][0], sizes[index][1], type, TSL_LAYOUT_DENSE, TSL_LAYOUT_DENSE, 0);
  out->data = (tsl_data)(index % TSL_DATA_COUNT);
  out->repeats = 2;
}

static void make_transpose_of_layouts(int index, tesela_type type, tsl_case *out) {
  make_transpose_problem(out, 45, 70, type, index % TSL_LAYOUTS, index / TSL_LAYOUTS, 3);
  out->data = TSL_DATA_SPECIAL;
}

static void make_wide_transpose(int index, tesela_type type, tsl_case *out) {
  make_transpose_problem(out, 160, 96, type, index % TSL_LAYOUTS, index / 2 % TSL_LAYOUTS_OF_C, 16);
  out->data = TSL_DATA_NORMAL;
}

static void make_in_place_of_size(int index, tesela_type type, tsl_case *out) {
  static const int64_t edges[] = {0, 1, 2, 7, 16, 31, 32, 33, 63, 64, 65, 96, 100, 129, 200};
  make_transpose_in_place(out, edges[index], type, TSL_LAYOUT_DENSE, 0);
  out->data = TSL_DATA_SPECIAL;
  out->repeats = 2;
}

static void make_in_place_of_layout(int index, tesela_type type, tsl_case *out) {
  make_transpose_in_place(out, index < TSL_LAYOUTS_OF_C ? 67 : 128, type, index % TSL_LAYOUTS_OF_C, 4);
}

static void set_alpha_of_f32_or_f64(tsl_case *out, double alpha) {
  const tesela_type type = out->problem.c.type;
  if (type == TESELA_F32 || type == TESELA_F64)
    tsl_case_set_scalars(out, alpha, 0);
}

static void make_scaled_transpose(int index, tesela_type type, tsl_case *out) {
  static const double values[] = {0, -1, 1.5, 0.1};
  if (index < 8)
    make_transpose_problem(out, 37, 50, type, index % 3, index % 2, 5);
  else
    make_transpose_in_place(out, 50, type, index % 3, 5);
  out->data = index % 2 ? TSL_DATA_SPECIAL : TSL_DATA_NORMAL;
  set_alpha_of_f32_or_f64(out, values[index % 4]);
}

static const tsl_case_group groups[] = {
    {SIZES, make_transpose_of_size},
    {TSL_LAYOUTS * TSL_LAYOUTS_OF_C, make_transpose_of_layouts},
    {2 * TSL_LAYOUTS, make_wide_transpose},
    {15, make_in_place_of_size},
    {2 * TSL_LAYOUTS_OF_C, make_in_place_of_layout},
    {16, make_scaled_transpose},
    {0, NULL},
};

static void make_random_transpose(tsl_dice *dice, tesela_type type, tsl_case *out) {
  const int64_t m = tsl_dice_roll_size(dice), n = tsl_dice_roll_size(dice);
  const int a = (int)tsl_dice_roll(dice, TSL_LAYOUTS), c = (int)tsl_dice_roll(dice, TSL_LAYOUTS_OF_C);
  const int64_t pad = tsl_dice_roll(dice, 20);
  if (tsl_dice_roll(dice, 3) == 0)
    make_transpose_in_place(out, m, type, c, pad);
  else
    make_transpose_problem(out, m, n, type, a, c, pad);
  out->data = (tsl_data)tsl_dice_roll(dice, TSL_DATA_COUNT);
  out->repeats = 1 + (int)tsl_dice_roll(dice, 2);
  if (tsl_dice_roll(dice, 2))
    set_alpha_of_f32_or_f64(out, tsl_dice_roll_scalar(dice));
}

const tsl_case_lists tsl_cases_transpose = {groups, make_random_transpose};
