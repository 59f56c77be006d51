#include "strategy/model_constants.h"

#include <stddef.h>
#include <string.h>

static tsl_model_constants rows[] = {
#include "strategy/model_constants_table.h"
};
enum { ROWS = sizeof rows / sizeof *rows };

static const struct described_constant {
  tsl_model_constant constant;
  size_t offset;
} constants[] = {
/* clang-format off */
#define CONSTANT(f, name, max, meaning) {{#f "." #name, max}, offsetof(tsl_model_constants, f.name)},
#define FAMILY(member, family, list) list(CONSTANT, member)
    TSL_MODEL_FAMILY_LIST(FAMILY)
#undef FAMILY
#undef CONSTANT
    /* clang-format on */
};
enum { CONSTANTS = sizeof constants / sizeof *constants };

/* Returns true if the labels differ by blanks only, in place of which files of measurements have "-". */
static bool is_label(const char *row, const char *label) {
  while (*row && *label && (*row == *label || (*row == '-' && *label == ' ')))
    row++, label++;
  return !*row && !*label;
}

/* Returns the label of the row of a device. Processors are measured by instruction set. */
static const char *model_label(const tsl_device *device) {
  if (device->capabilities & TSL_CAN_AVX512_PAIRS)
    return "AVX-512 with two multiply-adds";
  return (device->capabilities & (TSL_CAN_AVX2 | TSL_CAN_AVX512)) == TSL_CAN_AVX2 ? "AVX2" : device->label;
}

const tsl_model_constants *tsl_model_constants_of(const tsl_device *device) {
  const char *label = model_label(device);
  for (int i = 0; i < ROWS; i++)
    if (is_label(rows[i].label, label))
      return &rows[i];
  return rows;
}

tsl_model_constant tsl_model_constant_at(int index) {
  return index >= 0 && index < CONSTANTS ? constants[index].constant : (tsl_model_constant){.name = NULL};
}

double tsl_model_constant_value(const tsl_device *device, int index) {
  return *(const double *)((const char *)tsl_model_constants_of(device) + constants[index].offset);
}

bool tsl_model_constants_set(const char *name, double value) {
  for (int i = 0; i < CONSTANTS; i++) {
    if (strcmp(constants[i].constant.name, name) != 0)
      continue;
    if (!(value >= 0) || (constants[i].constant.max > 0 && value > constants[i].constant.max))
      return false;
    for (int row = 0; row < ROWS; row++)
      *(double *)((char *)&rows[row] + constants[i].offset) = value;
    return true;
  }
  return false;
}
