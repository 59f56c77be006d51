# Compiler settings that every target shares.
find_package(Threads REQUIRED)
add_library(tesela_settings INTERFACE)
target_link_libraries(tesela_settings INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)
# POSIX and Linux interfaces (affinity, memory maps), while the language stays ISO C11.
target_compile_definitions(tesela_settings INTERFACE _GNU_SOURCE)
target_compile_options(tesela_settings INTERFACE
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wcast-qual -Wvla -Wundef
  -Wwrite-strings $<$<BOOL:${TESELA_WERROR}>:-Werror>)
# Functions of other libraries are bound when a library is loaded. At a first call the dynamic linker would
# save all registers on the caller's stack: 2.5 KiB with AVX-512, 8 KiB more with AMX
# (tests/unit/test_stack.c).
target_link_options(tesela_settings INTERFACE -Wl,-z,now)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
if(TESELA_SANITIZE)
  target_compile_options(tesela_settings INTERFACE -fsanitize=${TESELA_SANITIZE} -fno-omit-frame-pointer
                                                   -fno-sanitize-recover=all)
  target_link_options(tesela_settings INTERFACE -fsanitize=${TESELA_SANITIZE})
  if(TESELA_SANITIZE MATCHES address)
    # Many executables contain the whole library. Relocations of the checks' addresses would be a third of
    # each.
    target_link_options(tesela_settings INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
  endif()
endif()
