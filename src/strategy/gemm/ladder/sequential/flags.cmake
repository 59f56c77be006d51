# The baseline of every speed-up table is the plain loop without optimization by the compiler.
set_source_files_properties(src/strategy/gemm/ladder/sequential/sequential.c PROPERTIES COMPILE_OPTIONS "-O0")
