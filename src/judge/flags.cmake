# The judge's sums are made of single operations, each rounded: a fused multiply-add would change what they find.
set_source_files_properties(src/judge/reference.c src/judge/real.c src/judge/complex.c src/judge/solve.c PROPERTIES COMPILE_OPTIONS -ffp-contract=off)
tesela_kernels(src/judge/kernels/sums.c FLAGS -ffp-contract=off)
