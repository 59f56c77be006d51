tesela_kernels(src/vector/kernels/lines.c TYPES f32 f64 c64 c128)
tesela_kernels(src/vector/kernels/columns.c TYPES f32 f64 c64 c128)
