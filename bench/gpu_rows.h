/* The products that bench/gpu.c measures: a group a line of its table, which has a geometric mean of its own.
 */
#ifndef TSL_BENCH_GPU_ROWS_H
#define TSL_BENCH_GPU_ROWS_H

#include <stddef.h>
#include <tesela/tesela.h>

/* X(name, types, accuracy, layouts, shapes, shapes of --quick)
 * types      as `tesela explore` takes them
 * accuracy   that is asked for, as `tesela multiply --accuracy` takes it; NULL: nothing
 * layouts    of A and B, each a word of two letters: N, rows are contiguous; T, columns are. Rows of C are
 *            contiguous. (cuBLAS, which counts by columns, calls NT TN.)
 * shapes     M x N x K, or one number for all three; "64*4096" is a batch of 4096 such products, one after
 * the other in memory; NULL: none */
#define GPU_GROUP_LIST(X)                                                                                    \
  X("bf16 squares", "bf16", NULL, "NN", "2048 4096 8192 16384", "4096 8192")                                 \
  X("bf16 to f32 squares", "bf16:f32", NULL, "NN", "2048 4096 8192 16384", NULL)                             \
  X("f16 squares", "f16", NULL, "NN", "2048 4096 8192 16384", NULL)                                          \
  X("f16 to f32 squares", "f16:f32", NULL, "NN", "2048 8192", NULL)                                          \
  X("bf16 small", "bf16", NULL, "NN", "256 512 1024", "512 1024")                                            \
  X("f16 small", "f16", NULL, "NN", "512 1024", NULL)                                                        \
  X("bf16 odd", "bf16", NULL, "NN", "1000 1023x2047x4093 4095", "1000 4095")                                 \
  X("f16 odd", "f16", NULL, "NN", "1000 1023x2047x4093 4095", NULL)                                          \
  X("bf16 thin", "bf16", NULL, "NN",                                                                         \
    "3x8192x8192 16x4096x4096 24x11008x4096 64x4096x4096 4096x64x4096 128x128x65536 256x256x32768",          \
    "16x4096x4096 64x4096x4096 128x128x65536")                                                               \
  X("bf16 decode", "bf16", NULL, "NT", "1x4096x4096 4x14336x4096 16x4096x14336 1x28672x8192 8x2112x7168",    \
    NULL)                                                                                                    \
  X("f16 decode", "f16", NULL, "NT", "2x14336x4096 8x4096x14336 16x28672x8192", NULL)                        \
  X("bf16 layers", "bf16", NULL, "NN",                                                                       \
    "128x4096x4096 512x14336x4096 2048x4096x14336 4096x6144x4096 1024x8192x28672 256x28672x8192 6000", NULL) \
  X("bf16 layouts", "bf16", NULL, "NN NT TN TT", "4096", NULL)                                               \
  X("bf16 batches", "bf16", NULL, "NN",                                                                      \
    "64*4096 128*1024 256*256 512*64 128x64x512*512 33*4096 100*1000 96x128x65*1000", "64*4096 256*256")     \
  X("tf32 squares", "f32", "tf32", "NN", "1024 2048 4096 8192 16384", "4096")                                \
  X("tf32 odd", "f32", "tf32", "NN", "1000 4095", "4095")                                                    \
  X("tf32 layouts", "f32", "tf32", "NN NT TN TT", "512 4096", NULL)                                          \
  X("i8 NT", "i8", NULL, "NT", "4096 8192 16384", "4096")                                                    \
  X("i8 layouts", "i8", NULL, "NT NN TN TT", "4096", NULL)                                                   \
  X("i8 odd", "i8", NULL, "NT NN", "4095", NULL)                                                             \
  X("e4m3 NT", "e4m3:bf16", "e4m3", "NT", "2048 4096 8192 16384", "4096")                                    \
  X("e4m3 to f32 NT", "e4m3:f32", "e4m3", "NT", "4096 8192 16384", NULL)                                     \
  X("e4m3 loose NT", "e4m3:bf16", "4", "NT", "4096 8192", NULL)                                              \
  X("e4m3 layouts", "e4m3:bf16", "e4m3", "NT NN TN TT", "4096", NULL)                                        \
  X("e4m3 odd", "e4m3:bf16", "e4m3", "NT NN", "4095", NULL)                                                  \
  X("e4m3 thin", "e4m3:bf16", "e4m3", "NT", "16x4096x4096 64x4096x4096 128x4096x4096 512x14336x4096", NULL)  \
  X("e4m3 decode", "e4m3:bf16", "e4m3", "NT",                                                                \
    "1x4096x4096 4x14336x4096 16x4096x14336 1x28672x8192 8x2112x7168", NULL)                                 \
  X("e4m3 as f16", "e4m3:bf16", NULL, "NT NN", "4096", NULL)                                                 \
  X("f64 squares", "f64", NULL, "NN", "256 512 1024 2048 4096 8192", "512 1024 4096")                        \
  X("f64 largest", "f64", NULL, "NN", "16384", NULL)                                                         \
  X("f64 odd", "f64", NULL, "NN", "300 777 1000 2047x1023x4093 4093", "1000 4093")                           \
  X("f64 thin", "f64", NULL, "NN",                                                                           \
    "16x4096x4096 64x4096x4096 4096x64x4096 4096x4096x64 64x64x16384 128x128x4096 256x256x32768",            \
    "16x4096x4096 64x4096x4096 4096x4096x64 256x256x32768")                                                  \
  X("f64 batches", "f64", NULL, "NN", "64*4096 128*512 33*4096", NULL)                                       \
  X("c128", "c128", NULL, "NN", "512 1000 1024 2048 4096 16x4096x4096", "1024 2048")                         \
  X("c64 squares", "c64", NULL, "NN", "512 1000 1024 2048 4096 8192 4095", "2048")                           \
  X("c64 tf32 squares", "c64", "tf32", "NN", "512 1000 1024 2048 4096 8192 4095 64x4096x4096", "1024 4096")  \
  X("c64 layouts as tf32", "c64", "tf32", "NN NT TN TT", "1024 4096", NULL)                                  \
  X("f32 squares", "f32", NULL, "NN", "256 512 1024 2048 4096 8192 16384 3000 5120 6000", "1024 4096")       \
  X("f32 odd", "f32", NULL, "NN", "127x513x255 300 777 1000 1537 1023x2047x4093 2049x4097x1025 4093 4095",   \
    "777 2049x4097x1025 4093")                                                                               \
  X("f32 thin", "f32", NULL, "NN",                                                                           \
    "1x4096x4096 4096x1x4096 3x8192x8192 16x4096x4096 24x11008x4096 64x4096x4096 4096x64x4096 "              \
    "4096x33x2048 100x5000x3000 4096x4096x64 8192x8192x512 64x64x16384 50x50x100000 10000x10x10000 "         \
    "128x128x65536 256x256x32768 12288x12288x128 128x4096x4096 512x14336x4096 2048x4096x14336 "              \
    "4096x6144x4096 256x28672x8192 1024x8192x28672",                                                         \
    "4096x33x2048 100x5000x3000 16x4096x4096")                                                               \
  X("f32 batches", "f32", NULL, "NN", "64*2048 128*512 33*4096 100*1000", NULL)                              \
  X("f32 drawn", "f32", NULL, "NN",                                                                          \
    "61x1873x3301 2911x97x1133 349x4733x211 1789x1789x53 3373x455x2603 87x87x4999 2213x3019x1471 "           \
    "633x633x633 4517x1201x305 1051x2333x3907 29x3631x1417 3839x37x733 1339x811x2741 705x4421x1907 "         \
    "2557x2113x129 191x1599x4801 4271x2705x3187 523x263x2087 1667x3521x97 3137x1409x865",                    \
    NULL)

/* Measured only if --only names them. Updates C = A A' of a lower triangle, and solves with a lower triangle
 * on the left, column-major and in place; the peer is cuBLAS. X(name, types, operation, shapes) */
#define GPU_LEVEL3_LIST(X)                                                                                   \
  X("syrk f32", "f32", GPU_SYRK, "4096 8192")                                                                \
  X("syrk f64", "f64", GPU_SYRK, "4096 8192")                                                                \
  X("trsm f32", "f32", GPU_TRSM, "1024 4096")                                                                \
  X("trsm f64", "f64", GPU_TRSM, "1024 4096")                                                                \
  X("trsm c64", "c64", GPU_TRSM, "1024 4096")                                                                \
  X("trsm c128", "c128", GPU_TRSM, "1024 4096")

/* Measured only if --only names them. Products with an epilogue: fused into the kernel, by a second pass over
 * C, and the product alone, which is the peer. X(name, types, accuracy, shapes, bias, activation, scales of A
 * and B) */
#define GPU_EPILOGUE_LIST(X)                                                                                 \
  X("epilogue bias", "bf16", NULL, "4096", BIAS_ROW, NO_ACTIVATION, NO_SCALE)                                \
  X("epilogue bias relu", "bf16", NULL, "4096 8192x8192x512 4095", BIAS_ROW, RELU, NO_SCALE)                 \
  X("epilogue bias gelu", "bf16", NULL, "2048 4096 8192 8192x8192x512 64x4096x4096", BIAS_ROW, GELU,         \
    NO_SCALE)                                                                                                \
  X("epilogue gelu_tanh", "bf16", NULL, "4096", BIAS_ROW, GELU_TANH, NO_SCALE)                               \
  X("epilogue column", "bf16:f32", NULL, "4096", BIAS_COLUMN, GELU, NO_SCALE)                                \
  X("epilogue i8 scales", "i8:i8:bf16", NULL, "4096", BIAS_ROW, NO_ACTIVATION, SCALE_LINES)                  \
  X("epilogue e4m3 scales", "e4m3:e4m3:bf16", "e4m3", "4096", NO_BIAS, NO_ACTIVATION, SCALE_LINES)

typedef enum gpu_operation { GPU_PRODUCT, GPU_SYRK, GPU_TRSM, GPU_EPILOGUE } gpu_operation;

typedef struct gpu_group {
  const char *name, *types, *accuracy, *layouts, *shapes, *quick;
  gpu_operation operation;
  tesela_bias_axis bias;
  tesela_activation activation;
  tesela_scaling scaling;
} gpu_group;

static const gpu_group gpu_groups[] = {
#define GPU_GROUP_ROW(name_, types_, accuracy_, layouts_, shapes_, quick_)                                   \
  {.name = name_,                                                                                            \
   .types = types_,                                                                                          \
   .accuracy = accuracy_,                                                                                    \
   .layouts = layouts_,                                                                                      \
   .shapes = shapes_,                                                                                        \
   .quick = quick_},
    GPU_GROUP_LIST(GPU_GROUP_ROW)
#undef GPU_GROUP_ROW
#define GPU_LEVEL3_ROW(name_, types_, operation_, shapes_)                                                   \
  {.name = name_,                                                                                            \
   .types = types_,                                                                                          \
   .layouts = operation_ == GPU_SYRK ? "NT" : "NN",                                                          \
   .shapes = shapes_,                                                                                        \
   .quick = shapes_,                                                                                         \
   .operation = operation_},
        GPU_LEVEL3_LIST(GPU_LEVEL3_ROW)
#undef GPU_LEVEL3_ROW
#define GPU_EPILOGUE_ROW(name_, types_, accuracy_, shapes_, bias_, activation_, scaling_)                    \
  {.name = name_,                                                                                            \
   .types = types_,                                                                                          \
   .accuracy = accuracy_,                                                                                    \
   .layouts = "NT",                                                                                          \
   .shapes = shapes_,                                                                                        \
   .quick = shapes_,                                                                                         \
   .operation = GPU_EPILOGUE,                                                                                \
   .bias = TESELA_##bias_,                                                                                   \
   .activation = TESELA_##activation_,                                                                       \
   .scaling = TESELA_##scaling_},
            GPU_EPILOGUE_LIST(GPU_EPILOGUE_ROW)
#undef GPU_EPILOGUE_ROW
    /* of --draw */
    {.name = "drawn", .layouts = ""}};
enum { GPU_GROUPS = sizeof gpu_groups / sizeof *gpu_groups };

#endif
