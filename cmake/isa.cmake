# Kernels in C, compiled once for each instruction set of src/core/isa.h that this processor's family has.
# Their texts are in folders kernels/; a strategy's flags.cmake calls tesela_kernels().
#
# TESELA_ISA_SETS: the sets that every kernel is compiled for. For each set and extension TESELA_FOR_<set> has
# the flags and TESELA_ISA_HEADER_<set> the header of its vectors.

# Kernels are fully optimised, with sums in their order. Multiply-adds are fused only where the text fuses
# them. In a b + c d a compiler may fuse either product, and bits would depend on how a matrix is cut. A
# sanitizer's checks take a compiler minutes to optimise fully. Three checks at every load take half of that
# time and of the programs' size, and the address sanitizer finds these faults, too.
set(TESELA_FULL_OPTIMISATION -O3)
if(TESELA_SANITIZE)
  set(TESELA_FULL_OPTIMISATION -O1 -fno-sanitize=null,object-size,pointer-overflow)
endif()
# Texts whose vectors are written out gain nothing where a compiler vectorises the rest of each loop and
# copies loops for each condition. That takes it up to half of its time (docs/lab/measuring.md).
set(TESELA_WRITTEN_OUT -fno-tree-loop-vectorize -fno-unswitch-loops -fno-split-loops)
set(TESELA_KERNEL_FLAGS ${TESELA_FULL_OPTIMISATION} -ffp-contract=off -fno-math-errno)
# A sanitizer's checks take a compiler most of the time. The last of a text's sets that this machine can run
# is compiled with them, other sets without.
set(TESELA_UNCHECKED_FLAGS -O0 -fno-sanitize=all)
set(capabilities)
if(TESELA_SANITIZE AND NOT CMAKE_CROSSCOMPILING AND EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo capabilities REGEX "^flags" LIMIT_COUNT 1)
  string(REPLACE "_" "" capabilities "${capabilities} ")
endif()

# tesela_cannot_run(out set): returns true if this machine lacks an instruction that the set's flags name.
# Linux lists avx512_bf16 for -mavx512bf16, amx_tile for -mamx-tile.
function(tesela_cannot_run out set)
  set(${out} FALSE PARENT_SCOPE)
  foreach(flag IN LISTS TESELA_FOR_${set})
    string(REGEX REPLACE "^-m|[-.]" "" name "${flag}")
    if(capabilities AND NOT flag MATCHES "=" AND NOT capabilities MATCHES " ${name} ")
      set(${out} TRUE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# Halves a sanitizer's compilation where tests do not concern kernels.
option(TESELA_PLAIN "Compile kernels in plain C alone, without the processor's instruction sets" OFF)
set(family none)
if(TESELA_PLAIN)
  add_compile_definitions(TSL_PLAIN)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(family x86_64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(family aarch64)
endif()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/core/isa.h)
file(READ ${PROJECT_SOURCE_DIR}/src/core/isa.h text)
string(REGEX REPLACE " *\\\\\n *" " " text "${text}")
set(TESELA_ISA_SETS)
foreach(list IN ITEMS ROWS_any ROWS_${family} EXTENSIONS_${family})
  string(REGEX MATCH "#define TSL_ISA_${list}\\(X\\)[^\n]*" rows "${text}")
  string(REGEX MATCHALL "X\\([a-z0-9_]+, [a-z0-9_]+, [A-Z0-9_]+, \"[^\"]*\"" rows "${rows}")
  foreach(row IN LISTS rows)
    string(REGEX MATCH "X\\(([a-z0-9_]+), ([a-z0-9_]+), [A-Z0-9_]+, \"([^\"]*)\"" matched "${row}")
    set(set ${CMAKE_MATCH_1})
    set(TESELA_ISA_HEADER_${set} ${CMAKE_MATCH_2})
    separate_arguments(TESELA_FOR_${set} UNIX_COMMAND "${CMAKE_MATCH_3}")
    if(list MATCHES "EXTENSIONS")
      list(PREPEND TESELA_FOR_${set} ${TESELA_FOR_${TESELA_ISA_HEADER_${set}}})
    else()
      list(APPEND TESELA_ISA_SETS ${set})
    endif()
  endforeach()
endforeach()

# tesela_kernels(TEXT [WRITTEN_OUT] [TYPES type...] [SETS set...] [FLAGS flag...]): compiles TEXT for each
# set, and for each type if there are types. TEXT is src/<...>/<name>/kernels/<what>.c. WRITTEN_OUT: all of
# its vectors are written out. The sets are TESELA_ISA_SETS, or the members of SETS that this family has.
# Each pair has a source of its own in the build folder, which defines set and type and includes the text.
function(tesela_kernels text)
  cmake_parse_arguments(arg "WRITTEN_OUT" "" "TYPES;SETS;FLAGS" ${ARGN})
  if(NOT arg_SETS)
    set(arg_SETS ${TESELA_ISA_SETS})
  endif()
  set(checked)
  foreach(set IN LISTS arg_SETS)
    tesela_cannot_run(cannot_run ${set})
    if(DEFINED TESELA_ISA_HEADER_${set} AND NOT cannot_run)
      set(checked ${set})
    endif()
  endforeach()
  string(REGEX REPLACE "^src/(.*/)?([^/]+)/kernels/([^/]+)\\.c$" "\\2/\\3" name ${text})
  string(REGEX REPLACE "^src/" "" included ${text})
  foreach(set IN LISTS arg_SETS)
    if(NOT DEFINED TESELA_ISA_HEADER_${set})
      continue()
    endif()
    foreach(type IN ITEMS ${arg_TYPES} "")
      if(arg_TYPES AND type STREQUAL "")
        continue()
      endif()
      set(file ${PROJECT_BINARY_DIR}/kernels/${name}_${set})
      set(base ${TESELA_ISA_HEADER_${set}})
      string(CONCAT content "#define TSL_ISA ${set}\n" "#define TSL_ISA_BASE ${base}\n"
                            "#define TSL_ISA_HEADER \"host/simd_${base}.h\"\n")
      if(type)
        string(APPEND file _${type})
        string(APPEND content "#define TSL_TYPE ${type}\n")
      endif()
      file(CONFIGURE OUTPUT ${file}.c CONTENT "${content}#include \"${included}\"\n" @ONLY)
      target_sources(tesela_objects PRIVATE ${file}.c)
      set(flags ${TESELA_KERNEL_FLAGS} ${TESELA_FOR_${set}} ${arg_FLAGS})
      if(arg_WRITTEN_OUT)
        list(APPEND flags ${TESELA_WRITTEN_OUT})
      endif()
      if(capabilities AND NOT set STREQUAL checked)
        list(APPEND flags ${TESELA_UNCHECKED_FLAGS})
      endif()
      set_source_files_properties(${file}.c PROPERTIES COMPILE_OPTIONS "${flags}")
    endforeach()
  endforeach()
endfunction()
