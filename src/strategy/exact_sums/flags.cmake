# Full optimization, but each operation is rounded separately. Exact sums need the rounding error of each
# operation, which a fused multiply-add would change. -fno-trapping-math allows vectors for comparisons and
# conversions of NaN.
set(exact -ffp-contract=off -fno-trapping-math)
set_source_files_properties(src/strategy/exact_sums/sum.c src/strategy/dot/emulated/exact/dot_exact_host.c
  PROPERTIES COMPILE_OPTIONS "${TESELA_KERNEL_FLAGS};${exact}")
tesela_kernels(src/strategy/exact_sums/kernels/exact_blocks.c FLAGS ${exact})
