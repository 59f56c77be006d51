/* wgmma of every width, 8 to 256 columns in steps of 8. Macros, because inline PTX lists its operands one by
 * one. NAMES: the operands of the sums, N / 2 a thread. SUMS: the sums themselves. COUNTS: N / 2 and the
 * numbers of the next five operands. Needs sm90.h. */
#ifndef TSL_WGMMA_WIDTHS_H
#define TSL_WGMMA_WIDTHS_H

/* Sums: [j][i] of thread t is row 16 (t / 32) + t % 32 / 4 + 8 (i / 2), column 8 j + 2 (t % 4) + i % 2. */
#define WGMMA_SUMS_AT(R, s, j) "+" R((s)[j][0]), "+" R((s)[j][1]), "+" R((s)[j][2]), "+" R((s)[j][3])
/* Keeps accumulators from moving across the wait for their products. */
#define wgmma_fence_operand(R, s, j) asm volatile("" : WGMMA_SUMS_AT(R, s, j)::"memory")

/* clang-format off */
#define WGMMA_NAMES_4 "%0, %1, %2, %3"
#define WGMMA_NAMES_8 WGMMA_NAMES_4 ", %4, %5, %6, %7"
#define WGMMA_NAMES_12 WGMMA_NAMES_8 ", %8, %9, %10, %11"
#define WGMMA_NAMES_16 WGMMA_NAMES_12 ", %12, %13, %14, %15"
#define WGMMA_NAMES_20 WGMMA_NAMES_16 ", %16, %17, %18, %19"
#define WGMMA_NAMES_24 WGMMA_NAMES_20 ", %20, %21, %22, %23"
#define WGMMA_NAMES_28 WGMMA_NAMES_24 ", %24, %25, %26, %27"
#define WGMMA_NAMES_32 WGMMA_NAMES_28 ", %28, %29, %30, %31"
#define WGMMA_NAMES_36 WGMMA_NAMES_32 ", %32, %33, %34, %35"
#define WGMMA_NAMES_40 WGMMA_NAMES_36 ", %36, %37, %38, %39"
#define WGMMA_NAMES_44 WGMMA_NAMES_40 ", %40, %41, %42, %43"
#define WGMMA_NAMES_48 WGMMA_NAMES_44 ", %44, %45, %46, %47"
#define WGMMA_NAMES_52 WGMMA_NAMES_48 ", %48, %49, %50, %51"
#define WGMMA_NAMES_56 WGMMA_NAMES_52 ", %52, %53, %54, %55"
#define WGMMA_NAMES_60 WGMMA_NAMES_56 ", %56, %57, %58, %59"
#define WGMMA_NAMES_64 WGMMA_NAMES_60 ", %60, %61, %62, %63"
#define WGMMA_NAMES_68 WGMMA_NAMES_64 ", %64, %65, %66, %67"
#define WGMMA_NAMES_72 WGMMA_NAMES_68 ", %68, %69, %70, %71"
#define WGMMA_NAMES_76 WGMMA_NAMES_72 ", %72, %73, %74, %75"
#define WGMMA_NAMES_80 WGMMA_NAMES_76 ", %76, %77, %78, %79"
#define WGMMA_NAMES_84 WGMMA_NAMES_80 ", %80, %81, %82, %83"
#define WGMMA_NAMES_88 WGMMA_NAMES_84 ", %84, %85, %86, %87"
#define WGMMA_NAMES_92 WGMMA_NAMES_88 ", %88, %89, %90, %91"
#define WGMMA_NAMES_96 WGMMA_NAMES_92 ", %92, %93, %94, %95"
#define WGMMA_NAMES_100 WGMMA_NAMES_96 ", %96, %97, %98, %99"
#define WGMMA_NAMES_104 WGMMA_NAMES_100 ", %100, %101, %102, %103"
#define WGMMA_NAMES_108 WGMMA_NAMES_104 ", %104, %105, %106, %107"
#define WGMMA_NAMES_112 WGMMA_NAMES_108 ", %108, %109, %110, %111"
#define WGMMA_NAMES_116 WGMMA_NAMES_112 ", %112, %113, %114, %115"
#define WGMMA_NAMES_120 WGMMA_NAMES_116 ", %116, %117, %118, %119"
#define WGMMA_NAMES_124 WGMMA_NAMES_120 ", %120, %121, %122, %123"
#define WGMMA_NAMES_128 WGMMA_NAMES_124 ", %124, %125, %126, %127"

#define WGMMA_SUMS_4(R, s) WGMMA_SUMS_AT(R, s, 0)
#define WGMMA_SUMS_8(R, s) WGMMA_SUMS_4(R, s), WGMMA_SUMS_AT(R, s, 1)
#define WGMMA_SUMS_12(R, s) WGMMA_SUMS_8(R, s), WGMMA_SUMS_AT(R, s, 2)
#define WGMMA_SUMS_16(R, s) WGMMA_SUMS_12(R, s), WGMMA_SUMS_AT(R, s, 3)
#define WGMMA_SUMS_20(R, s) WGMMA_SUMS_16(R, s), WGMMA_SUMS_AT(R, s, 4)
#define WGMMA_SUMS_24(R, s) WGMMA_SUMS_20(R, s), WGMMA_SUMS_AT(R, s, 5)
#define WGMMA_SUMS_28(R, s) WGMMA_SUMS_24(R, s), WGMMA_SUMS_AT(R, s, 6)
#define WGMMA_SUMS_32(R, s) WGMMA_SUMS_28(R, s), WGMMA_SUMS_AT(R, s, 7)
#define WGMMA_SUMS_36(R, s) WGMMA_SUMS_32(R, s), WGMMA_SUMS_AT(R, s, 8)
#define WGMMA_SUMS_40(R, s) WGMMA_SUMS_36(R, s), WGMMA_SUMS_AT(R, s, 9)
#define WGMMA_SUMS_44(R, s) WGMMA_SUMS_40(R, s), WGMMA_SUMS_AT(R, s, 10)
#define WGMMA_SUMS_48(R, s) WGMMA_SUMS_44(R, s), WGMMA_SUMS_AT(R, s, 11)
#define WGMMA_SUMS_52(R, s) WGMMA_SUMS_48(R, s), WGMMA_SUMS_AT(R, s, 12)
#define WGMMA_SUMS_56(R, s) WGMMA_SUMS_52(R, s), WGMMA_SUMS_AT(R, s, 13)
#define WGMMA_SUMS_60(R, s) WGMMA_SUMS_56(R, s), WGMMA_SUMS_AT(R, s, 14)
#define WGMMA_SUMS_64(R, s) WGMMA_SUMS_60(R, s), WGMMA_SUMS_AT(R, s, 15)
#define WGMMA_SUMS_68(R, s) WGMMA_SUMS_64(R, s), WGMMA_SUMS_AT(R, s, 16)
#define WGMMA_SUMS_72(R, s) WGMMA_SUMS_68(R, s), WGMMA_SUMS_AT(R, s, 17)
#define WGMMA_SUMS_76(R, s) WGMMA_SUMS_72(R, s), WGMMA_SUMS_AT(R, s, 18)
#define WGMMA_SUMS_80(R, s) WGMMA_SUMS_76(R, s), WGMMA_SUMS_AT(R, s, 19)
#define WGMMA_SUMS_84(R, s) WGMMA_SUMS_80(R, s), WGMMA_SUMS_AT(R, s, 20)
#define WGMMA_SUMS_88(R, s) WGMMA_SUMS_84(R, s), WGMMA_SUMS_AT(R, s, 21)
#define WGMMA_SUMS_92(R, s) WGMMA_SUMS_88(R, s), WGMMA_SUMS_AT(R, s, 22)
#define WGMMA_SUMS_96(R, s) WGMMA_SUMS_92(R, s), WGMMA_SUMS_AT(R, s, 23)
#define WGMMA_SUMS_100(R, s) WGMMA_SUMS_96(R, s), WGMMA_SUMS_AT(R, s, 24)
#define WGMMA_SUMS_104(R, s) WGMMA_SUMS_100(R, s), WGMMA_SUMS_AT(R, s, 25)
#define WGMMA_SUMS_108(R, s) WGMMA_SUMS_104(R, s), WGMMA_SUMS_AT(R, s, 26)
#define WGMMA_SUMS_112(R, s) WGMMA_SUMS_108(R, s), WGMMA_SUMS_AT(R, s, 27)
#define WGMMA_SUMS_116(R, s) WGMMA_SUMS_112(R, s), WGMMA_SUMS_AT(R, s, 28)
#define WGMMA_SUMS_120(R, s) WGMMA_SUMS_116(R, s), WGMMA_SUMS_AT(R, s, 29)
#define WGMMA_SUMS_124(R, s) WGMMA_SUMS_120(R, s), WGMMA_SUMS_AT(R, s, 30)
#define WGMMA_SUMS_128(R, s) WGMMA_SUMS_124(R, s), WGMMA_SUMS_AT(R, s, 31)

#define WGMMA_COUNTS_8 4, 5, 6, 7, 8, 9
#define WGMMA_COUNTS_16 8, 9, 10, 11, 12, 13
#define WGMMA_COUNTS_24 12, 13, 14, 15, 16, 17
#define WGMMA_COUNTS_32 16, 17, 18, 19, 20, 21
#define WGMMA_COUNTS_40 20, 21, 22, 23, 24, 25
#define WGMMA_COUNTS_48 24, 25, 26, 27, 28, 29
#define WGMMA_COUNTS_56 28, 29, 30, 31, 32, 33
#define WGMMA_COUNTS_64 32, 33, 34, 35, 36, 37
#define WGMMA_COUNTS_72 36, 37, 38, 39, 40, 41
#define WGMMA_COUNTS_80 40, 41, 42, 43, 44, 45
#define WGMMA_COUNTS_88 44, 45, 46, 47, 48, 49
#define WGMMA_COUNTS_96 48, 49, 50, 51, 52, 53
#define WGMMA_COUNTS_104 52, 53, 54, 55, 56, 57
#define WGMMA_COUNTS_112 56, 57, 58, 59, 60, 61
#define WGMMA_COUNTS_120 60, 61, 62, 63, 64, 65
#define WGMMA_COUNTS_128 64, 65, 66, 67, 68, 69
#define WGMMA_COUNTS_136 68, 69, 70, 71, 72, 73
#define WGMMA_COUNTS_144 72, 73, 74, 75, 76, 77
#define WGMMA_COUNTS_152 76, 77, 78, 79, 80, 81
#define WGMMA_COUNTS_160 80, 81, 82, 83, 84, 85
#define WGMMA_COUNTS_168 84, 85, 86, 87, 88, 89
#define WGMMA_COUNTS_176 88, 89, 90, 91, 92, 93
#define WGMMA_COUNTS_184 92, 93, 94, 95, 96, 97
#define WGMMA_COUNTS_192 96, 97, 98, 99, 100, 101
#define WGMMA_COUNTS_200 100, 101, 102, 103, 104, 105
#define WGMMA_COUNTS_208 104, 105, 106, 107, 108, 109
#define WGMMA_COUNTS_216 108, 109, 110, 111, 112, 113
#define WGMMA_COUNTS_224 112, 113, 114, 115, 116, 117
#define WGMMA_COUNTS_232 116, 117, 118, 119, 120, 121
#define WGMMA_COUNTS_240 120, 121, 122, 123, 124, 125
#define WGMMA_COUNTS_248 124, 125, 126, 127, 128, 129
#define WGMMA_COUNTS_256 128, 129, 130, 131, 132, 133
/* clang-format on */

/* Starts sums (64 x N) = A B + (add ? sums : 0), with A from shared memory. N: the number of columns.
 * SHAPE: "m64n256k16"; TYPES: "f32.bf16.bf16"; FLAGS: signs and MN-major flags of A and B, ", 1, 1, 0, 1"; R:
 * "f" or "r". */
#define wgmma_multiply(n, shape, types, flags, R, s, a, b, add)                                              \
  WGMMA_EXPAND(WGMMA_FROM_SHARED, WGMMA_COUNTS(n), shape, types, flags, R, s, a, b, add)
/* Starts such products with A in registers, four words a thread per 32 bytes along k. a[i] of thread t holds
 * row 16 (t / 32) + t % 32 / 4 + 8 (i % 2). Its k is t % 4 + 4 (i / 2) for elements of 32 bits. For bytes it
 * has four k from 4 (t % 4) + 16 (i / 2) on. The registers must not change until the products have ended. */
#define wgmma_multiply_registers(n, shape, types, flags, R, s, a, b, add)                                    \
  WGMMA_EXPAND(WGMMA_FROM_REGISTERS, WGMMA_COUNTS(n), shape, types, flags, R, s, a, b, add)

#define WGMMA_EXPAND(macro, ...) macro(__VA_ARGS__)
#define WGMMA_COUNTS(n) WGMMA_COUNTS_OF(n)
#define WGMMA_COUNTS_OF(n) WGMMA_COUNTS_##n
#define WGMMA_TEXT_OF(names, a_name, b_name, add_name, shape, types, flags)                                  \
  "{ .reg .pred p; setp.ne.b32 p, " add_name ", 0; wgmma.mma_async.sync.aligned." shape "." types " {" names \
  "}, " a_name ", " b_name ", p" flags "; }"
#define WGMMA_FROM_SHARED(count, o1, o2, o3, o4, o5, shape, types, flags, R, s, a, b, add)                   \
  asm volatile(WGMMA_TEXT_OF(WGMMA_NAMES_##count, "%" #count, "%" #o1, "%" #o2, shape, types, flags)         \
               : WGMMA_SUMS_##count(R, s)                                                                    \
               : "l"(a), "l"(b), "r"((int)(add)))
#define WGMMA_FROM_REGISTERS(count, o1, o2, o3, o4, o5, shape, types, flags, R, s, a, b, add)                \
  asm volatile(WGMMA_TEXT_OF(WGMMA_NAMES_##count, "{%" #count ", %" #o1 ", %" #o2 ", %" #o3 "}", "%" #o4,    \
                             "%" #o5, shape, types, flags)                                                   \
               : WGMMA_SUMS_##count(R, s)                                                                    \
               : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "l"(b), "r"((int)(add)))

#endif
