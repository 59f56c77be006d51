/* Tile registers: quads by TDPBUSD, A unsigned and B signed. */
#if defined(__x86_64__)
#include "strategy/gemm/host_amx/registers_words.h"
#define REGISTER_DOT(c, a, b) _tile_dpbusd(c, a, b)
#include "strategy/gemm/host_amx/registers.h"

tsl_amx_tile_function *const tsl_amx_registers_us[] = {multiply_16, multiply_32};
#else
typedef int tsl_no_registers_here;
#endif
