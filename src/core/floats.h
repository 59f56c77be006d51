/* Floating-point environment of a thread: mode (rounding, subnormals, traps) and flags (raised exceptions).
 * See docs/ACCURACY.md for the mode of each call and the flags that it leaves. Code that relies on rounding
 * to nearest declares TSL_DEFAULT_FLOATS. */
#ifndef TSL_CORE_FLOATS_H
#define TSL_CORE_FLOATS_H

#include <fenv.h>
#include <stdint.h>

/* MXCSR on x86-64. On AArch64 FPCR, with the flags of FPSR in the five highest bits. */
typedef uint32_t tsl_floats;

#if defined(__x86_64__)

#define TSL_FLOATS_FLAGS 0x3fu
#define TSL_FLOATS_MASKS 0x1f80u /* an exception whose bit is set does not trap */
#define TSL_FLOATS_MODES 0xe040u /* rounding, subnormal results, subnormal operands */
#define TSL_FLOATS_FLUSH 0x8040u /* subnormal results and operands are replaced by 0 */
#define TSL_FLOATS_INVALID 1u
#define TSL_FLOATS_DIVISION 4u
#define TSL_FLOATS_OVERFLOW 8u

static inline tsl_floats tsl_floats_read(void) {
  return __builtin_ia32_stmxcsr();
}
static inline void tsl_floats_write(tsl_floats floats) {
  __builtin_ia32_ldmxcsr(floats);
}
/* Masks every exception and clears the flags. */
static inline tsl_floats tsl_floats_masked(tsl_floats floats) {
  return (floats & ~TSL_FLOATS_FLAGS) | TSL_FLOATS_MASKS;
}

#elif defined(__aarch64__)

enum { TSL_FLOATS_SHIFT = 27 };
#define TSL_FLOATS_FLAGS (0x1fu << TSL_FLOATS_SHIFT)
#define TSL_FLOATS_TRAPS 0x9f00u /* an exception whose bit is set traps */
#define TSL_FLOATS_MODES                                                                                     \
  0x7c80007u /* rounding, subnormal numbers, default NaN, and what newer processors add */
#define TSL_FLOATS_FLUSH (1u << 24)
#define TSL_FLOATS_INVALID (1u << TSL_FLOATS_SHIFT)
#define TSL_FLOATS_DIVISION (2u << TSL_FLOATS_SHIFT)
#define TSL_FLOATS_OVERFLOW (4u << TSL_FLOATS_SHIFT)

static inline tsl_floats tsl_floats_read(void) {
  uint64_t control, status;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  __asm__ volatile("mrs %0, fpsr" : "=r"(status));
  return (tsl_floats)control | (tsl_floats)status << TSL_FLOATS_SHIFT;
}
static inline void tsl_floats_write(tsl_floats floats) {
  const uint64_t control = floats & ~TSL_FLOATS_FLAGS;
  uint64_t status;
  __asm__ volatile("mrs %0, fpsr" : "=r"(status));
  status = (status & ~UINT64_C(0x1f)) | floats >> TSL_FLOATS_SHIFT;
  __asm__ volatile("msr fpcr, %0" : : "r"(control));
  __asm__ volatile("msr fpsr, %0" : : "r"(status));
}
static inline tsl_floats tsl_floats_masked(tsl_floats floats) {
  return floats & ~(TSL_FLOATS_FLAGS | TSL_FLOATS_TRAPS);
}

#else

/* Portable fallback: rounding and the flags used here, no traps. */
#define TSL_FLOATS_FLUSH 0u
#define TSL_FLOATS_INVALID (1u << 29)
#define TSL_FLOATS_DIVISION (1u << 30)
#define TSL_FLOATS_OVERFLOW (1u << 31)
#define TSL_FLOATS_FLAGS (TSL_FLOATS_INVALID | TSL_FLOATS_DIVISION | TSL_FLOATS_OVERFLOW)
#define TSL_FLOATS_MODES (~TSL_FLOATS_FLAGS)

static inline tsl_floats tsl_floats_read(void) {
  return (tsl_floats)(fegetround() - FE_TONEAREST) | (fetestexcept(FE_INVALID) ? TSL_FLOATS_INVALID : 0) |
         (fetestexcept(FE_DIVBYZERO) ? TSL_FLOATS_DIVISION : 0) |
         (fetestexcept(FE_OVERFLOW) ? TSL_FLOATS_OVERFLOW : 0);
}
static inline void tsl_floats_write(tsl_floats floats) {
  fesetround((int)(floats & TSL_FLOATS_MODES) + FE_TONEAREST);
  feclearexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
  feraiseexcept((floats & TSL_FLOATS_INVALID ? FE_INVALID : 0) |
                (floats & TSL_FLOATS_DIVISION ? FE_DIVBYZERO : 0) |
                (floats & TSL_FLOATS_OVERFLOW ? FE_OVERFLOW : 0));
}
static inline tsl_floats tsl_floats_masked(tsl_floats floats) {
  return floats & ~TSL_FLOATS_FLAGS;
}

#endif

/* Returns C's default mode: rounding to nearest, subnormal numbers kept, nothing traps. */
static inline tsl_floats tsl_floats_default(tsl_floats floats) {
  return tsl_floats_masked(floats & ~TSL_FLOATS_MODES);
}

/* Sets mode and flags to `mode`, whose flags are usually clear; writes nothing if they are set. */
static inline void tsl_floats_write_if_changed(tsl_floats mode) {
  if (tsl_floats_read() != mode)
    tsl_floats_write(mode);
}

/* Raises flags without a trap. */
static inline void tsl_floats_raise(tsl_floats flags) {
  const tsl_floats now = tsl_floats_read();
  if ((flags & TSL_FLOATS_FLAGS & ~now) != 0)
    tsl_floats_write(now | (flags & TSL_FLOATS_FLAGS));
}

typedef struct tsl_floats_before {
  tsl_floats floats; /* mode and flags */
  int rounding; /* rounding of printf() and strtod(); the C library on x86-64 uses another register for it */
} tsl_floats_before;

/* Sets C's default environment and returns the previous one. */
tsl_floats_before tsl_floats_hold(void);
/* Restores mode, flags and the C library's rounding. */
void tsl_floats_restore(const tsl_floats_before *before);

/* Gives the thread the default environment until the end of the block, then restores mode and flags. */
#define TSL_DEFAULT_FLOATS                                                                                   \
  __attribute__((cleanup(tsl_floats_restore), unused)) const tsl_floats_before floats_before =               \
      tsl_floats_hold()

#endif
