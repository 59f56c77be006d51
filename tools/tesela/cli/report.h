/* Pieces that several commands' reports share. */
#ifndef TSL_TOOL_CLI_REPORT_H
#define TSL_TOOL_CLI_REPORT_H

#include "cli/table.h"
#include "device/devices.h"
#include "explain/explain_values.h"
#include "judge/judge.h"
#include "strategy/strategy.h"

/* Numbers with three digits that count and a unit: "45.3 GFLOP/s", "512 GB/s". Writes at most `size` bytes
 * and returns `out`. */
const char *tsl_format_flops(double flops_per_second, char *out, size_t size);
const char *tsl_format_bandwidth(double bytes_per_second, char *out, size_t size);
/* "3.21", "0.00412", "1.2e-07"; "-" for NaN. */
const char *tsl_format_number(double value, char *out, size_t size);
/* "1000 x 700". */
const char *tsl_format_size(int64_t rows, int64_t cols, char *out, size_t size);
/* "C = 1.5 A^T B - 0.5 C0": the result's letter, and the two factors as they shall look. */
void tsl_text_add_formula(tsl_text *out, const char *result, const double alpha[2], const char *a,
                          const char *b, const double beta[2]);

/* The same of a product, with what is done last: "C = gelu(A B - 0.5 C0 + bias)". */
void tsl_text_add_product(tsl_text *out, const double alpha[2], const char *a, const char *b,
                          const double beta[2], tesela_bias_axis along, tesela_activation activation);

/* "1.5-2i" */
void tsl_text_add_complex(tsl_text *out, const double value[2]);

/* A row of a two-column list: name, text. */
void tsl_table_add_pair(tsl_table *table, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A list of names and texts, without titles. */
tsl_table tsl_table_of_pairs(void);

/* Name, label and driver of a device; more with `all`. */
json_t *tsl_json_device(const tsl_device *device, bool all);
/* Kinds that have no device, with the reason: `kind`, `what`, `reason`. */
json_t *tsl_json_missing(tsl_devices *devices);
/* A factor: a number, or of complex problems a list of its two parts. */
json_t *tsl_json_scalar(bool complex, const double value[2]);
json_t *tsl_json_verdict(const tsl_verdict *verdict);

#endif
