# The baseline of every speed-up table is the plain loop, compiled without optimization.
set_source_files_properties(src/strategy/dot/ladder/sequential/dot_sequential.c
                            PROPERTIES COMPILE_OPTIONS "-O0")
