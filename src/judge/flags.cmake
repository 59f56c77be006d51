# The judge's sums are made of single operations, each rounded: a fused multiply-add would change what they find.
set_source_files_properties(src/judge/reference.c src/judge/judge_real.c src/judge/judge_complex.c src/judge/judge_solve.c PROPERTIES COMPILE_OPTIONS -ffp-contract=off)
tesela_kernels(src/judge/kernels/sums_kernel.c FLAGS -ffp-contract=off)
