# The judge's sums consist of single, rounded operations. Fused multiply-adds would change the results.
set_source_files_properties(src/judge/reference.c src/judge/judge_real.c src/judge/judge_complex.c
  src/judge/judge_solve.c
  PROPERTIES COMPILE_OPTIONS -ffp-contract=off)
tesela_kernels(src/judge/kernels/sums_kernel.c FLAGS -ffp-contract=off)
tesela_kernels(src/judge/kernels/checksum_kernel.c)
