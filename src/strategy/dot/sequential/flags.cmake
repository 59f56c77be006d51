# The baseline of every speed-up table is the plain loop as a compiler translates it when it is told not to improve anything.
set_source_files_properties(src/strategy/dot/sequential/dot_sequential.c PROPERTIES COMPILE_OPTIONS "-O0")
