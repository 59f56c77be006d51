# Full optimisation, but each operation rounded by itself: the sums are exact because of what each one loses, which a fused multiply-add would
# change. Comparisons and conversions of NaN may trap nowhere, so -fno-trapping-math lets them become vectors.
set(folder src/strategy/dot/exact)
set(exact ${TESELA_FULL_OPTIMISATION} -ffp-contract=off -fno-trapping-math -fno-math-errno)
set_source_files_properties(${folder}/host.c ${folder}/blocks_generic.c PROPERTIES COMPILE_OPTIONS "${exact}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(${folder}/blocks_avx2.c PROPERTIES COMPILE_OPTIONS "${exact};-mavx2;-mfma")
  set_source_files_properties(${folder}/blocks_avx512.c PROPERTIES
    COMPILE_OPTIONS "${exact};-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx2;-mfma;-mprefer-vector-width=512")
endif()
