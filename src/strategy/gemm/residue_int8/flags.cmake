# Each operation rounded where the text rounds it: kernels of GPUs give the same bits.
tesela_kernels(src/strategy/gemm/residue_int8/kernels/lines.c TYPES f32 f64 FLAGS -ffp-contract=off)
