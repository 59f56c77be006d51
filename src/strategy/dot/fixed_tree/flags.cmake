# Full optimisation, but each operation rounded where the text rounds it: nothing fused, nothing reordered. The same text is compiled per
# instruction set; tsl_tree_functions_for() chooses at run time.
set(folder src/strategy/dot/fixed_tree)
set(exact ${TESELA_FULL_OPTIMISATION} -ffp-contract=off -fno-fast-math -fno-math-errno)
set_source_files_properties(${folder}/host.c PROPERTIES COMPILE_OPTIONS "${exact}")
foreach(set generic avx2 avx512)
  set_source_files_properties(${folder}/chunks_${set}.c PROPERTIES COMPILE_OPTIONS "${exact};${TESELA_FOR_${set}}")
endforeach()
