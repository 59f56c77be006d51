/* Bulk conversion between f16 or bf16 and f32 in separate, unaligned ranges; steps in elements. */
#ifndef TSL_CORE_FP16_BULK_H
#define TSL_CORE_FP16_BULK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Converts f16 (is_f16) or bf16 to f32, exactly; a NaN becomes quiet. */
void tsl_halves_widen(bool is_f16, const void *source, int64_t source_step, void *target, int64_t target_step,
                      size_t count);
/* Rounds f32 to nearest even. A NaN keeps its sign and leading bits and becomes quiet. */
void tsl_halves_narrow(bool is_f16, const void *source, int64_t source_step, void *target,
                       int64_t target_step, size_t count);

#endif
