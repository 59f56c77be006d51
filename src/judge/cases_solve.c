#include "judge/case_parts.h"

/* Forms of a triangle: bit 0 triangle, bit 1 unit diagonal, bit 2 in place. */
enum { FORMS = 8 };

static void set_triangle_form(tsl_case *out, int form) {
  tsl_problem *problem = &out->problem;
  problem->a.triangle = form & 1 ? TESELA_UPPER : TESELA_LOWER;
  problem->a.structure = form & 2 ? TESELA_UNIT_TRIANGULAR : TESELA_TRIANGULAR;
  problem->in_place = (form & 4) != 0;
  if (problem->in_place)
    problem->b = problem->c;
}

static void make_solve_problem(tsl_case *out, int64_t m, int64_t n, tesela_type type, int a, int b, int c,
                               int64_t pad) {
  out->problem = tsl_problem_of(TSL_OP_SOLVE, m, n, m, type);
  tsl_case_set_layouts(out, a, b, c, pad);
}

static const int64_t sizes[][2] = {{0, 0},    {0, 5},    {5, 0},    {1, 1},   {1, 7},   {7, 1},    {2, 3},
                                   {5, 16},   {6, 8},    {7, 9},    {8, 17},  {12, 31}, {13, 33},  {15, 4},
                                   {16, 5},   {17, 64},  {31, 16},  {33, 1},  {48, 15}, {63, 40},  {64, 24},
                                   {65, 100}, {96, 7},   {97, 48},  {128, 2}, {191, 3}, {192, 33}, {193, 17},
                                   {200, 70}, {300, 20}, {389, 12}, {577, 5}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Makes a case of each size in two forms; each form occurs with each kind of data. */
static void make_solve_of_size(int index, tesela_type type, tsl_case *out) {
  make_solve_problem(out, sizes[index / 2][0], sizes[index / 2][1], type,
                     index % 3 == 1 ? TSL_LAYOUT_TRANSPOSED : TSL_LAYOUT_DENSE, TSL_LAYOUT_DENSE,
                     index % 4 < 2 ? TSL_LAYOUT_DENSE : TSL_LAYOUT_TRANSPOSED, 0);
  set_triangle_form(out, (index / 2 + 3 * (index % 2)) % FORMS);
  out->data = (tsl_data)((index / 2 + index % 2 + index / 8) % TSL_DATA_COUNT);
  out->repeats = 2;
}

static void make_solve_of_layouts(int index, tesela_type type, tsl_case *out) {
  const int layout = index % TSL_LAYOUTS_OF_C;
  make_solve_problem(out, 45, 37, type, layout, (layout + 3) % TSL_LAYOUTS,
                     (layout + index / TSL_LAYOUTS_OF_C) % TSL_LAYOUTS_OF_C, 3);
  if (out->problem.b.row_stride == 0 || out->problem.b.col_stride == 0 ||
      out->problem.b.row_stride == out->problem.b.col_stride)
    tsl_case_set_layout(&out->problem.b, TSL_LAYOUT_PADDED, 4); /* exact data are made in B itself */
  set_triangle_form(out, index / TSL_LAYOUTS_OF_C);
  out->data = (tsl_data)(index % TSL_DATA_COUNT);
}

static void make_graded_solve(int index, tesela_type type, tsl_case *out) {
  make_solve_problem(out, 40 + 61 * (index / FORMS), 19, type, TSL_LAYOUT_PADDED, TSL_LAYOUT_DENSE,
                     index % 3 ? TSL_LAYOUT_TRANSPOSED_PADDED : TSL_LAYOUT_PADDED, 2);
  set_triangle_form(out, index % FORMS);
  out->data = TSL_DATA_GRADED;
}

static void make_special_solve(int index, tesela_type type, tsl_case *out) {
  make_solve_problem(out, 30 + 5 * index, 24, type, TSL_LAYOUT_DENSE, TSL_LAYOUT_DENSE, TSL_LAYOUT_DENSE, 0);
  set_triangle_form(out, index % FORMS);
  out->data = TSL_DATA_SPECIAL;
}

static void make_scaled_solve(int index, tesela_type type, tsl_case *out) {
  static const double values[] = {0, -1, 1.5, 0.1, 2, 0.25};
  make_solve_problem(out, 53, 29, type, TSL_LAYOUT_DENSE, TSL_LAYOUT_PADDED, TSL_LAYOUT_TRANSPOSED_PADDED, 5);
  set_triangle_form(out, index % FORMS);
  out->data = (tsl_data)(index % TSL_DATA_COUNT);
  tsl_case_set_scalars(out, values[index / 2 % 6], 0);
}

static const tsl_case_group groups[] = {
    {2 * SIZES, make_solve_of_size}, {FORMS * TSL_LAYOUTS_OF_C, make_solve_of_layouts},
    {3 * FORMS, make_graded_solve},  {6 * FORMS, make_special_solve},
    {24, make_scaled_solve},         {0, NULL},
};

static void make_random_solve(tsl_dice *dice, tesela_type type, tsl_case *out) {
  const int64_t m = tsl_dice_roll_size(dice), n = tsl_dice_roll_size(dice);
  const int a = (int)tsl_dice_roll(dice, TSL_LAYOUTS_OF_C), b = (int)tsl_dice_roll(dice, TSL_LAYOUTS_OF_C);
  const int c = (int)tsl_dice_roll(dice, TSL_LAYOUTS_OF_C);
  make_solve_problem(out, m, n, type, a, b, c, tsl_dice_roll(dice, 20));
  set_triangle_form(out, (int)tsl_dice_roll(dice, FORMS));
  out->data = (tsl_data)tsl_dice_roll(dice, TSL_DATA_COUNT);
  out->repeats = 1 + (int)tsl_dice_roll(dice, 2);
  if (tsl_dice_roll(dice, 2))
    tsl_case_set_scalars(out, tsl_dice_roll_scalar(dice), 0);
}

const tsl_case_lists tsl_cases_solve = {groups, make_random_solve};
