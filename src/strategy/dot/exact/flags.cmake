# Full optimisation, but each operation rounded by itself: the sums are exact because of what each one loses, which a fused multiply-add would
# change. Comparisons and conversions of NaN may trap nowhere, so -fno-trapping-math lets them become vectors.
set(folder src/strategy/dot/exact)
set(exact ${TESELA_FULL_OPTIMISATION} -ffp-contract=off -fno-trapping-math -fno-math-errno)
set_source_files_properties(${folder}/host.c PROPERTIES COMPILE_OPTIONS "${exact}")
foreach(set generic avx2 avx512)
  set_source_files_properties(${folder}/blocks_${set}.c PROPERTIES COMPILE_OPTIONS "${exact};${TESELA_FOR_${set}}")
endforeach()
