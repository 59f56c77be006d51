#include "judge/case_parts.h"

static void make_tiny_product(int index, tesela_type type, tsl_case *out) {
  static const int64_t sizes[] = {0, 1, 7};
  out->problem = tsl_problem_gemm(sizes[index / 9], sizes[index / 3 % 3], sizes[index % 3], type);
  out->data = index % 2 ? TSL_DATA_INTEGER : TSL_DATA_NORMAL;
  tsl_case_set_scalars(out, 1.5, index % 4 < 2 ? 0 : -0.5);
}

enum { EDGES = 12 };
static const int64_t edges[EDGES] = {7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65};

static void make_cube(int index, tesela_type type, tsl_case *out) {
  out->problem = tsl_problem_gemm(edges[index], edges[index], edges[index], type);
}

static void make_product_near_tile_edges(int index, tesela_type type, tsl_case *out) {
  out->problem = tsl_problem_gemm(edges[index], edges[(index + 5) % EDGES], edges[(index + 7) % EDGES], type);
  out->data = TSL_DATA_INTEGER;
  tsl_case_set_scalars(out, -0.5, 1.5);
}

static const int64_t uneven[][3] = {
    {1, 1, 1000},  {1, 257, 3},     {257, 1, 3},  {3, 2, 1000}, {2, 3, 2049}, {127, 1, 127},
    {1, 127, 127}, {101, 103, 107}, {13, 17, 19}, {200, 3, 5},  {3, 200, 5},  {5, 7, 400},
    {129, 65, 33}, {64, 256, 1},    {256, 64, 2}, {48, 80, 96}, {2, 2, 2},    {71, 73, 2},
};
enum { UNEVEN = sizeof uneven / sizeof *uneven };

static void make_uneven_product(int index, tesela_type type, tsl_case *out) {
  const int64_t *size = uneven[index / 2];
  out->problem = tsl_problem_gemm(size[0], size[1], size[2], type);
  out->data = index % 2 ? TSL_DATA_INTEGER : TSL_DATA_GRADED;
  tsl_case_set_scalars(out, 1, index % 4 < 2 ? 0 : 1);
}

static void make_product_of_layouts(int index, tesela_type type, tsl_case *out) {
  out->problem = tsl_problem_gemm(21, 34, 19, type);
  tsl_case_set_scalars(out, 1.5, index % 3 ? -0.5 : 0);
  out->data = index % 2 ? TSL_DATA_INTEGER : TSL_DATA_NORMAL;
  if (index < TSL_LAYOUTS)
    tsl_case_set_layouts(out, index, TSL_LAYOUT_DENSE, TSL_LAYOUT_DENSE, 3);
  else if (index < 2 * TSL_LAYOUTS)
    tsl_case_set_layouts(out, TSL_LAYOUT_DENSE, index - TSL_LAYOUTS, TSL_LAYOUT_DENSE, 3);
  else if (index < 2 * TSL_LAYOUTS + TSL_LAYOUTS_OF_C)
    tsl_case_set_layouts(out, TSL_LAYOUT_DENSE, TSL_LAYOUT_DENSE, index - 2 * TSL_LAYOUTS, 3);
  else
    tsl_case_set_layouts(out, index % TSL_LAYOUTS, (index + 3) % TSL_LAYOUTS, (index + 7) % TSL_LAYOUTS_OF_C,
                         16);
}
enum { LAYOUT_CASES = 3 * TSL_LAYOUTS + TSL_LAYOUTS_OF_C };

static void make_product_with_scalars(int index, tesela_type type, tsl_case *out) {
  static const double values[] = {0, 1, -0.5, 1.5};
  out->problem = tsl_problem_gemm(18, 20, 33, type);
  tsl_case_set_scalars(out, values[index % 4], values[index / 4 % 4]);
  out->data = index < 16 ? TSL_DATA_NORMAL : TSL_DATA_SPECIAL;
  tsl_case_set_layouts(out, TSL_LAYOUT_DENSE, TSL_LAYOUT_TRANSPOSED, TSL_LAYOUT_PADDED, 2);
}

static void make_product_of_data_kind(int index, tesela_type type, tsl_case *out) {
  static const int64_t sizes[][3] = {{16, 16, 16}, {37, 29, 70}, {64, 48, 130}, {40, 50, 1}};
  const int64_t *size = sizes[index / TSL_DATA_COUNT % 4];
  const int layout = index < 4 * TSL_DATA_COUNT ? TSL_LAYOUT_DENSE : TSL_LAYOUT_TRANSPOSED_PADDED;
  out->problem = tsl_problem_gemm(size[0], size[1], size[2], type);
  out->data = (tsl_data)(index % TSL_DATA_COUNT);
  out->repeats = 3;
  tsl_case_set_layouts(out, layout, layout, layout, 4);
  tsl_case_set_scalars(out, 1, layout == TSL_LAYOUT_DENSE ? 0 : 1.5);
}

/* Makes a case of each epilogue and kind of data, with and without a read C, near a block of the epilogue. */
static void make_product_with_epilogue(int index, tesela_type type, tsl_case *out) {
  static const int64_t sizes[][3] = {{21, 34, 19}, {5, 300, 12}, {270, 3, 33},
                                     {33, 65, 0},  {1, 40, 9},   {48, 1, 70}};
  static const int64_t strides[] = {1, 1, 3, -2};
  const int64_t *size = sizes[index % 6];
  const int step = index % 11 + 1; /* never without an epilogue */
  out->problem = tsl_problem_gemm(size[0], size[1], size[2], type);
  out->data = (tsl_data)(index / 2 % TSL_DATA_COUNT);
  out->repeats = index % 5 == 0 ? 2 : 1;
  tsl_case_set_layouts(out, index % TSL_LAYOUTS, TSL_LAYOUT_DENSE, index % TSL_LAYOUTS_OF_C, 3);
  tsl_case_set_scalars(out, index % 7 == 3 ? 0 : index % 3 ? 1.5 : 1, index / 3 % 2 ? -0.5 : 0);
  out->problem.activation = (tesela_activation)(step % TESELA_ACTIVATIONS);
  tsl_problem_add_bias(&out->problem, (tesela_bias_axis)(step / TESELA_ACTIVATIONS % TESELA_ALONGS), type,
                       strides[index / 5 % 4]);
}
enum { EPILOGUE_CASES = 22 };

/* Makes a case of each pair of scales, with sums in C or in separate memory, partly with an epilogue. */
static void make_product_with_scales(int index, tesela_type type, tsl_case *out) {
  static const int64_t sizes[][3] = {{21, 34, 19}, {70, 33, 40}, {270, 3, 33}, {33, 65, 0}, {1, 300, 9}};
  static const int64_t strides[] = {1, 3, -2};
  const int64_t *size = sizes[index % 5];
  const int step = index % 8 + 1; /* never without scales */
  out->problem = tsl_problem_gemm(size[0], size[1], size[2], type);
  out->data = (tsl_data)(index / 2 % TSL_DATA_COUNT);
  out->repeats = index % 4 == 0 ? 2 : 1;
  tsl_case_set_layouts(out, TSL_LAYOUT_DENSE, index % TSL_LAYOUTS, (index + 1) % TSL_LAYOUTS_OF_C, 3);
  tsl_case_set_scalars(out, index == 6 ? 0 : index % 3 ? 1 : 1.5, index / 3 % 2 ? -0.5 : 0);
  tsl_problem_add_scale(&out->problem, TSL_OPERAND_SCALE_A, (tesela_scaling)(step % TESELA_SCALINGS),
                        strides[index % 3]);
  tsl_problem_add_scale(&out->problem, TSL_OPERAND_SCALE_B, (tesela_scaling)(step / TESELA_SCALINGS),
                        strides[index / 3 % 3]);
  if (index % 4 != 3)
    return;
  out->problem.activation = (tesela_activation)(index / 4 % TESELA_ACTIVATIONS);
  tsl_problem_add_bias(&out->problem, (tesela_bias_axis)(1 + index % 2), type, 1);
}
enum { SCALE_CASES = 12 };

/* Makes a case of an epilogue with C not read and rows of whole 16-byte chunks, stored in another way. */
static void make_product_with_chunked_epilogue(int index, tesela_type type, tsl_case *out) {
  static const int64_t sizes[][3] = {{70, 72, 24}, {136, 48, 16}, {33, 144, 24}};
  const int64_t *size = sizes[index % 3];
  const int step =
      /* GELU with a row bias, GELU by tanh with a column bias, ... */
      (5 * index + 6) % (TESELA_ACTIVATIONS * TESELA_ALONGS);
  out->problem = tsl_problem_gemm(size[0], size[1], size[2], type);
  out->data = index % 4 == 3 ? TSL_DATA_SPECIAL : TSL_DATA_NORMAL;
  tsl_case_set_layouts(out, TSL_LAYOUT_DENSE, index % 2 ? TSL_LAYOUT_TRANSPOSED : TSL_LAYOUT_DENSE,
                       TSL_LAYOUT_DENSE, 3);
  tsl_case_set_scalars(out, index % 4 == 1 ? 1.5 : 1, 0);
  out->problem.activation = (tesela_activation)(step % TESELA_ACTIVATIONS);
  tsl_problem_add_bias(&out->problem, (tesela_bias_axis)(step / TESELA_ACTIVATIONS), type, 1);
}
enum { CHUNKED_EPILOGUE_CASES = TESELA_ACTIVATIONS * TESELA_ALONGS / 2 };

static const tsl_case_group groups[] = {
    {27, make_tiny_product},
    {EDGES, make_cube},
    {EDGES, make_product_near_tile_edges},
    {2 * UNEVEN, make_uneven_product},
    {LAYOUT_CASES, make_product_of_layouts},
    {32, make_product_with_scalars},
    {8 * TSL_DATA_COUNT, make_product_of_data_kind},
    {EPILOGUE_CASES, make_product_with_epilogue},
    {SCALE_CASES, make_product_with_scales},
    {CHUNKED_EPILOGUE_CASES, make_product_with_chunked_epilogue},
    {0, NULL},
};

static void make_random_product(tsl_dice *dice, tesela_type type, tsl_case *out) {
  enum { MULTIPLY_ADDS_MAX = 1000000 };
  const int64_t m = tsl_dice_roll_size(dice), n = tsl_dice_roll_size(dice);
  int64_t k = tsl_dice_roll_size(dice);
  if (m * n * k > MULTIPLY_ADDS_MAX)
    k = MULTIPLY_ADDS_MAX / (m * n);
  out->repeats = 1 + (int)tsl_dice_roll(dice, 2);
  out->problem = tsl_problem_gemm(m, n, k, type);
  out->data = (tsl_data)tsl_dice_roll(dice, TSL_DATA_COUNT);
  const int a = (int)tsl_dice_roll(dice, TSL_LAYOUTS), b = (int)tsl_dice_roll(dice, TSL_LAYOUTS),
            c = (int)tsl_dice_roll(dice, TSL_LAYOUTS_OF_C);
  tsl_case_set_layouts(out, a, b, c, tsl_dice_roll(dice, 20));
  const double alpha = tsl_dice_roll_scalar(dice);
  tsl_case_set_scalars(out, alpha, tsl_dice_roll_scalar(dice));
  if (tsl_dice_roll(dice, 8) != 0)
    return;
  out->problem.activation = (tesela_activation)tsl_dice_roll(dice, TESELA_ACTIVATIONS);
  const tesela_bias_axis along = (tesela_bias_axis)tsl_dice_roll(dice, TESELA_ALONGS);
  tsl_problem_add_bias(&out->problem, along, type, 1 + tsl_dice_roll(dice, 3));
  for (int i = TSL_OPERAND_SCALE_A; i <= TSL_OPERAND_SCALE_B; i++) {
    const tesela_scaling scaling = (tesela_scaling)tsl_dice_roll(dice, TESELA_SCALINGS);
    tsl_problem_add_scale(&out->problem, i, scaling, 1 + tsl_dice_roll(dice, 3));
  }
}

const tsl_case_lists tsl_cases_gemm = {groups, make_random_product};
