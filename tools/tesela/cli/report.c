#include "cli/report.h"

#include "problem/problem.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *tsl_format_number(double value, char *out, size_t size) {
  if (isnan(value))
    snprintf(out, size, "-");
  else if (value != 0 && (fabs(value) < 1e-3 || fabs(value) >= 1e6))
    snprintf(out, size, "%.2e", value);
  else {
    const double magnitude = fabs(value);
    snprintf(out, size, "%.*f",
             magnitude >= 99.95    ? 0
             : magnitude >= 9.995  ? 1
             : magnitude >= 0.9995 ? 2
                                   : 3,
             value);
  }
  return out;
}

static const char *report_scaled(double value, const char *unit, char *out, size_t size) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
  char number[32];
  size_t i = 0;
  for (; value >= 999.5 && i + 1 < sizeof prefixes / sizeof *prefixes; i++)
    value /= 1000;
  snprintf(out, size, "%s %s%s", tsl_format_number(value, number, sizeof number), prefixes[i], unit);
  return out;
}

const char *tsl_format_flops(double flops_per_second, char *out, size_t size) {
  return report_scaled(flops_per_second, "FLOP/s", out, size);
}

const char *tsl_format_bandwidth(double bytes_per_second, char *out, size_t size) {
  return report_scaled(bytes_per_second, "B/s", out, size);
}

void tsl_text_add_complex(tsl_text *out, const double value[2]) {
  tsl_text_add_double(out, value[0]);
  tsl_text_add(out, signbit(value[1]) ? "-" : "+");
  tsl_text_add_double(out, fabs(value[1]));
  tsl_text_add(out, "i");
}

static void add_factor(tsl_text *out, double real, double imaginary) {
  if (imaginary != 0) {
    tsl_text_add(out, "(");
    tsl_text_add_complex(out, (const double[]){real, imaginary});
    tsl_text_add(out, ") ");
  } else if (real != 1) {
    tsl_text_add_double(out, real);
    tsl_text_add(out, " ");
  }
}

/* Appends the right-hand side of the formula. */
static void add_sum(tsl_text *out, const char *result, const double alpha[2], const char *a, const char *b,
                    const double beta[2]) {
  add_factor(out, alpha[0], alpha[1]);
  tsl_text_add(out, "%s%s", a, b);
  if (beta[0] != 0 || beta[1] != 0) {
    const bool minus = beta[0] < 0 && beta[1] == 0;
    tsl_text_add(out, minus ? " - " : " + ");
    add_factor(out, minus ? -beta[0] : beta[0], beta[1]);
    tsl_text_add(out, "%s0", result);
  }
}

void tsl_text_add_formula(tsl_text *out, const char *result, const double alpha[2], const char *a,
                          const char *b, const double beta[2]) {
  tsl_text_add(out, "%s = ", result);
  add_sum(out, result, alpha, a, b, beta);
}

void tsl_text_add_product(tsl_text *out, const double alpha[2], const char *a, const char *b,
                          const double beta[2], tesela_bias_axis along, tesela_activation activation) {
  const bool wrapped = activation != TESELA_NO_ACTIVATION;
  tsl_text_add(out, "C = %s%s", tsl_activation_name(activation), wrapped ? "(" : "");
  add_sum(out, "C", alpha, a, b, beta);
  tsl_text_add(out, "%s%s", along == TESELA_NO_BIAS ? "" : " + bias", wrapped ? ")" : "");
}

tsl_table tsl_table_of_pairs(void) {
  tsl_table table = {.bare = true};
  TSL_TABLE_COLUMNS(&table, "", "~");
  return table;
}

void tsl_table_add_pair(tsl_table *table, const char *name, const char *format, ...) {
  va_list arguments;
  tsl_table_add_painted(table, TSL_PAINT_FAINT, "%s", name);
  va_start(arguments, format);
  tsl_table_add_list(table, TSL_PAINT_NONE, format, arguments);
  va_end(arguments);
}

json_t *tsl_json_real(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

json_t *tsl_json_parse(tsl_text *text) {
  json_t *const value = text->failed ? NULL : json_loads(tsl_text_get(text), JSON_DECODE_ANY, NULL);
  tsl_text_free(text);
  return value;
}

json_t *tsl_json_scalar(bool complex, const double value[2]) {
  return complex ? json_pack("[o, o]", tsl_json_real(value[0]), tsl_json_real(value[1]))
                 : tsl_json_real(value[0]);
}
