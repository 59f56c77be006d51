#include "judge/case_parts.h"

/* Forms of a triangle: bit 0 triangle, bit 1 unit diagonal, bit 2 in place. */
enum { FORMS = 8 };

static void set_form(tsl_case *out, int form) {
  tsl_problem *problem = &out->problem;
  problem->a.triangle = form & 1 ? TESELA_UPPER : TESELA_LOWER;
  problem->a.structure = form & 2 ? TESELA_UNIT_TRIANGULAR : TESELA_TRIANGULAR;
  problem->in_place = (form & 4) != 0;
  if (problem->in_place)
    problem->b = problem->c;
}

static void cases_solve_make(tsl_case *out, int64_t m, int64_t n, tesela_type type, int a, int b, int c,
                             int64_t pad) {
  out->problem = tsl_problem_of(TSL_OP_SOLVE, m, n, m, type);
  tsl_case_lay_out_all(out, a, b, c, pad);
}

static const int64_t sizes[][2] = {{0, 0},    {0, 5},    {5, 0},    {1, 1},   {1, 7},   {7, 1},    {2, 3},
                                   {5, 16},   {6, 8},    {7, 9},    {8, 17},  {12, 31}, {13, 33},  {15, 4},
                                   {16, 5},   {17, 64},  {31, 16},  {33, 1},  {48, 15}, {63, 40},  {64, 24},
                                   {65, 100}, {96, 7},   {97, 48},  {128, 2}, {191, 3}, {192, 33}, {193, 17},
                                   {200, 70}, {300, 20}, {389, 12}, {577, 5}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Covers every size in two forms, so that each form has every kind of data. */
static void cases_solve_all_sizes(int index, tesela_type type, tsl_case *out) {
  cases_solve_make(out, sizes[index / 2][0], sizes[index / 2][1], type,
                   index % 3 == 1 ? TSL_LAYOUT_TRANSPOSED : TSL_LAYOUT_DENSE, TSL_LAYOUT_DENSE,
                   index % 4 < 2 ? TSL_LAYOUT_DENSE : TSL_LAYOUT_TRANSPOSED, 0);
  set_form(out, (index / 2 + 3 * (index % 2)) % FORMS);
  out->data = (tsl_data)((index / 2 + index % 2 + index / 8) % TSL_DATA_COUNT);
  out->repeats = 2;
}

static void cases_solve_layouts(int index, tesela_type type, tsl_case *out) {
  const int layout = index % TSL_LAYOUTS_OF_C;
  cases_solve_make(out, 45, 37, type, layout, (layout + 3) % TSL_LAYOUTS,
                   (layout + index / TSL_LAYOUTS_OF_C) % TSL_LAYOUTS_OF_C, 3);
  if (out->problem.b.row_stride == 0 || out->problem.b.col_stride == 0 ||
      out->problem.b.row_stride == out->problem.b.col_stride)
    tsl_case_lay_out(&out->problem.b, TSL_LAYOUT_PADDED, 4); /* exact data are made in B itself */
  set_form(out, index / TSL_LAYOUTS_OF_C);
  out->data = (tsl_data)(index % TSL_DATA_COUNT);
}

static void cases_solve_graded(int index, tesela_type type, tsl_case *out) {
  cases_solve_make(out, 40 + 61 * (index / FORMS), 19, type, TSL_LAYOUT_PADDED, TSL_LAYOUT_DENSE,
                   index % 3 ? TSL_LAYOUT_TRANSPOSED_PADDED : TSL_LAYOUT_PADDED, 2);
  set_form(out, index % FORMS);
  out->data = TSL_DATA_GRADED;
}

static void cases_solve_special(int index, tesela_type type, tsl_case *out) {
  cases_solve_make(out, 30 + 5 * index, 24, type, TSL_LAYOUT_DENSE, TSL_LAYOUT_DENSE, TSL_LAYOUT_DENSE, 0);
  set_form(out, index % FORMS);
  out->data = TSL_DATA_SPECIAL;
}

static void cases_solve_scaled(int index, tesela_type type, tsl_case *out) {
  static const double values[] = {0, -1, 1.5, 0.1, 2, 0.25};
  cases_solve_make(out, 53, 29, type, TSL_LAYOUT_DENSE, TSL_LAYOUT_PADDED, TSL_LAYOUT_TRANSPOSED_PADDED, 5);
  set_form(out, index % FORMS);
  out->data = (tsl_data)(index % TSL_DATA_COUNT);
  tsl_case_set_scalars(out, values[index / 2 % 6], 0);
}

static const tsl_case_group groups[] = {
    {2 * SIZES, cases_solve_all_sizes}, {FORMS * TSL_LAYOUTS_OF_C, cases_solve_layouts},
    {3 * FORMS, cases_solve_graded},    {6 * FORMS, cases_solve_special},
    {24, cases_solve_scaled},           {0, NULL},
};

static void random_solve(tsl_dice *dice, tesela_type type, tsl_case *out) {
  const int64_t m = tsl_dice_size(dice), n = tsl_dice_size(dice);
  const int a = (int)tsl_dice_roll(dice, TSL_LAYOUTS_OF_C), b = (int)tsl_dice_roll(dice, TSL_LAYOUTS_OF_C);
  const int c = (int)tsl_dice_roll(dice, TSL_LAYOUTS_OF_C);
  cases_solve_make(out, m, n, type, a, b, c, tsl_dice_roll(dice, 20));
  set_form(out, (int)tsl_dice_roll(dice, FORMS));
  out->data = (tsl_data)tsl_dice_roll(dice, TSL_DATA_COUNT);
  out->repeats = 1 + (int)tsl_dice_roll(dice, 2);
  if (tsl_dice_roll(dice, 2))
    tsl_case_set_scalars(out, tsl_dice_scalar(dice), 0);
}

const tsl_case_lists tsl_cases_solve = {groups, random_solve};
