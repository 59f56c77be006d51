# Full optimisation, but each operation rounded by itself: the sums are exact because of what each one loses, which a fused multiply-add would
# change. Comparisons and conversions of NaN may trap nowhere, so -fno-trapping-math lets them become vectors.
set(exact -ffp-contract=off -fno-trapping-math)
set_source_files_properties(src/strategy/exact/sum.c src/strategy/dot/exact/dot_exact_host.c PROPERTIES COMPILE_OPTIONS "${TESELA_KERNEL_FLAGS};${exact}")
tesela_kernels(src/strategy/exact/kernels/exact_blocks.c FLAGS ${exact})
