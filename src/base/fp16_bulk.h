/* f16 (else bf16) from and to f32, of tsl_type_convert(): any addresses, any steps, ranges that do not
 * overlap. */
#ifndef TSL_BASE_FP16_BULK_H
#define TSL_BASE_FP16_BULK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void tsl_halves_widen(bool is_f16, const void *source, int64_t source_step, void *target, int64_t target_step,
                      size_t count);
/* To nearest even; a NaN keeps its sign and leading bits and is made quiet. */
void tsl_halves_narrow(bool is_f16, const void *source, int64_t source_step, void *target,
                       int64_t target_step, size_t count);

#endif
