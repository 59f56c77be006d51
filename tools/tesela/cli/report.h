/* Parts of reports that several commands print. */
#ifndef TSL_TOOL_CLI_REPORT_H
#define TSL_TOOL_CLI_REPORT_H

#include "cli/table.h"

#include <jansson.h>

/* Write a number with three significant digits and a unit, such as "45.3 GFLOP/s" or "512 GB/s",
 * into `out` of `size` bytes. Return `out`. */
const char *tsl_format_flops(double flops_per_second, char *out, size_t size);
const char *tsl_format_bandwidth(double bytes_per_second, char *out, size_t size);
/* Writes "3.21", "0.00412" or "1.2e-07"; "-" for NaN. Returns `out`. */
const char *tsl_format_number(double value, char *out, size_t size);
/* Appends "C = 1.5 A^T B - 0.5 C0". `result` is the letter before the sign; `a` and `b` are the
 * factors' texts. */
void tsl_text_add_formula(tsl_text *out, const char *result, const double alpha[2], const char *a,
                          const char *b, const double beta[2]);

/* Appends a product's formula with its epilogue: "C = gelu(A B - 0.5 C0 + bias)". */
void tsl_text_add_product(tsl_text *out, const double alpha[2], const char *a, const char *b,
                          const double beta[2], tesela_bias_axis along, tesela_activation activation);

/* Appends "1.5-2i". */
void tsl_text_add_complex(tsl_text *out, const double value[2]);

/* Adds a row to a two-column table: name and text. */
void tsl_table_add_pair(tsl_table *table, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Returns an empty table of two columns, names and texts, without titles. */
tsl_table tsl_table_of_pairs(void);

/* Returns a number as JSON; null for infinity and NaN. */
json_t *tsl_json_real(double value);
/* Parses and frees JSON that the library wrote; NULL: memory ran out. */
json_t *tsl_json_parse(tsl_text *text);
/* Returns a scalar: a number, or for complex problems a list of two numbers. */
json_t *tsl_json_scalar(bool complex, const double value[2]);

#endif
