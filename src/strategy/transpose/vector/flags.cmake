# Full optimisation: tiles are loops of constant length over registers. The same text is compiled per instruction set; host.c chooses at run time.
set(folder src/strategy/transpose/vector)
set(best ${TESELA_FULL_OPTIMISATION})
set(for_avx2)
set(for_avx512) # never chosen where there is no x86-64: the device does not offer the capability
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(for_avx2 -mavx2)
  set(for_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mprefer-vector-width=512)
endif()
set_source_files_properties(${folder}/moves_generic.c PROPERTIES COMPILE_OPTIONS "${best}")
set_source_files_properties(${folder}/moves_avx2.c PROPERTIES COMPILE_OPTIONS "${best};${for_avx2}")
set_source_files_properties(${folder}/moves_avx512.c PROPERTIES COMPILE_OPTIONS "${best};${for_avx512}")
