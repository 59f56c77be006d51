# The baseline of every speed-up table is the plain loop, compiled without optimization.
set_source_files_properties(src/strategy/solve/ladder/sequential/solve_sequential.c
                            PROPERTIES COMPILE_OPTIONS "-O0")
