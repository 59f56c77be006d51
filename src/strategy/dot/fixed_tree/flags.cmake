# Full optimisation, but each operation rounded where the text rounds it: nothing fused, nothing reordered. The same text is compiled per
# instruction set; tsl_tree_functions_for() chooses at run time.
set(folder src/strategy/dot/fixed_tree)
set(exact ${TESELA_FULL_OPTIMISATION} -ffp-contract=off -fno-fast-math -fno-math-errno)
set_source_files_properties(${folder}/host.c ${folder}/chunks_generic.c PROPERTIES COMPILE_OPTIONS "${exact}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(${folder}/chunks_avx2.c PROPERTIES COMPILE_OPTIONS "${exact};-mavx2;-mfma")
  set_source_files_properties(${folder}/chunks_avx512.c PROPERTIES
    COMPILE_OPTIONS "${exact};-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx2;-mfma;-mprefer-vector-width=512")
else()
  # Never chosen there: the device does not offer the capability.
  set_source_files_properties(${folder}/chunks_avx2.c ${folder}/chunks_avx512.c PROPERTIES COMPILE_OPTIONS "${exact}")
endif()
