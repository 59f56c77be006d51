#include "cases_structured.h"

#include "judge/case_parts.h"

/* Kinds: each structure, triangle and side, in place where possible, and each triangle of C. */

enum { SIDES = 2, STRUCTURES = 4, TRIANGLES = 2, FACTORS = SIDES * STRUCTURES * TRIANGLES };
enum { IN_PLACE = SIDES * 2 * TRIANGLES, RESULTS = 4 * TRIANGLES, KINDS = FACTORS + IN_PLACE + RESULTS };

static tesela_triangle triangle_of_kind(int kind) {
  return kind % TRIANGLES ? TESELA_UPPER : TESELA_LOWER;
}

static const tesela_structure structures_of_c[] = {TESELA_GENERAL, TESELA_HERMITIAN, TESELA_SYMMETRIC_SUM,
                                                   TESELA_HERMITIAN_SUM};

/* Sets out->problem; the structured operand is `depth` x `depth`, the other size is `lines`. */
static void make_structured_problem(int kind, int64_t depth, int64_t lines, tesela_type type, tsl_case *out) {
  const bool of_c = kind >= FACTORS + IN_PLACE, in_place = !of_c && kind >= FACTORS, by_a = kind / 2 % 2 == 0;
  out->problem = of_c   ? tsl_problem_gemm(depth, depth, lines, type)
                 : by_a ? tsl_problem_gemm(depth, lines, depth, type)
                        : tsl_problem_gemm(lines, depth, depth, type);
  out->problem.in_place = in_place;
  tsl_shape *shape = of_c ? &out->problem.c : by_a ? &out->problem.a : &out->problem.b;
  shape->triangle = triangle_of_kind(kind);
  if (of_c)
    shape->structure = structures_of_c[(kind - FACTORS - IN_PLACE) / TRIANGLES];
  else
    shape->structure = (tesela_structure)((in_place ? TESELA_TRIANGULAR : TESELA_SYMMETRIC) +
                                          (kind - (in_place ? FACTORS : 0)) / (SIDES * TRIANGLES));
}

/* Sets the layouts; structured operands repeat no element. In place, the general factor has C's strides. */
static void set_structured_layouts(tsl_case *out, int factor, int general, int c, int64_t pad) {
  tsl_problem *problem = &out->problem;
  const bool by_b = problem->b.structure != TESELA_GENERAL, by_a = problem->a.structure != TESELA_GENERAL;
  const int factor_layout = factor % TSL_LAYOUTS_OF_C;
  tsl_case_set_layouts(out, by_a ? factor_layout : general % TSL_LAYOUTS,
                       by_b ? factor_layout : (general + 3) % TSL_LAYOUTS, c % TSL_LAYOUTS_OF_C, pad);
  if (!problem->in_place)
    return;
  tsl_shape *overwritten = by_a ? &problem->b : &problem->a;
  overwritten->row_stride = problem->c.row_stride;
  overwritten->col_stride = problem->c.col_stride;
}

static const struct {
  int64_t depth, lines; /* rows of the structured operand; the other size */
  tsl_data data;
  double alpha, beta;
} variants[] = {
    {0, 3, TSL_DATA_NORMAL, 1, 0},        {3, 0, TSL_DATA_NORMAL, 1.5, -0.5},
    {1, 1, TSL_DATA_INTEGER, 1, 0},       {2, 5, TSL_DATA_INTEGER, -0.5, 1},
    {7, 9, TSL_DATA_INTEGER, 1.5, -0.5},  {16, 16, TSL_DATA_NORMAL, 1, 0},
    {17, 31, TSL_DATA_GRADED, -0.5, 1.5}, {33, 8, TSL_DATA_SPECIAL, 1, 0},
    {40, 21, TSL_DATA_SPECIAL, 1.5, 1},   {64, 65, TSL_DATA_INTEGER, 1, 1},
    {65, 13, TSL_DATA_NORMAL, 0, -0.5},   {97, 30, TSL_DATA_NORMAL, 1.5, -0.5},
    {129, 17, TSL_DATA_INTEGER, 1, 0},    {150, 2, TSL_DATA_GRADED, 1, 1},
    {12, 260, TSL_DATA_NORMAL, -0.5, 0},  {140, 50, TSL_DATA_NORMAL, 1, 0},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

bool tsl_case_structured(int index, tesela_type type, tsl_case *out) {
  if (index < 0 || index >= KINDS * VARIANTS)
    return false;
  const int variant = index / KINDS, kind = index % KINDS;
  *out = (tsl_case){
      .seed = (uint64_t)index + 1, .data = variants[variant].data, .repeats = variant % 4 == 3 ? 3 : 1};
  make_structured_problem(kind, variants[variant].depth, variants[variant].lines, type, out);
  set_structured_layouts(out, index, index / 3, index / 2, variant % 5);
  tsl_case_set_scalars(out, variants[variant].alpha, out->problem.in_place ? 0 : variants[variant].beta);
  tsl_case_set_types(out, &(tsl_types){type, type, type});
  return true;
}

void tsl_case_random_structured(uint64_t seed, uint64_t index, tesela_type type, tsl_case *out) {
  enum { MULTIPLY_ADDS_MAX = 1000000 };
  tsl_dice dice = {.seed = tsl_random_u64(seed, index)};
  *out = (tsl_case){.seed = dice.seed};
  const int64_t depth = tsl_dice_roll_size(&dice);
  int64_t lines = tsl_dice_roll_size(&dice);
  if (depth * depth * lines > MULTIPLY_ADDS_MAX)
    lines = MULTIPLY_ADDS_MAX / (depth * depth);
  make_structured_problem((int)tsl_dice_roll(&dice, KINDS), depth, lines, type, out);
  out->repeats = 1 + (int)tsl_dice_roll(&dice, 2);
  out->data = (tsl_data)tsl_dice_roll(&dice, TSL_DATA_COUNT);
  const int factor = (int)tsl_dice_roll(&dice, TSL_LAYOUTS), general = (int)tsl_dice_roll(&dice, TSL_LAYOUTS),
            c = (int)tsl_dice_roll(&dice, TSL_LAYOUTS);
  set_structured_layouts(out, factor, general, c, tsl_dice_roll(&dice, 20));
  const double alpha = tsl_dice_roll_scalar(&dice), beta = tsl_dice_roll_scalar(&dice);
  tsl_case_set_scalars(out, alpha, out->problem.in_place ? 0 : beta);
  tsl_case_set_types(out, &(tsl_types){type, type, type});
}
