# How every target of ours is compiled and linked: warnings are errors, mold and ccache where present.
find_program(DEVSAN_CCACHE ccache)
if(DEVSAN_CCACHE)
  # Told nothing, ccache keeps no result that came of a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${DEVSAN_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${DEVSAN_CCACHE}")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  else()
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
endif()

find_program(DEVSAN_MOLD mold)
if(DEVSAN_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_library(devsan_options INTERFACE)
add_library(devsan::options ALIAS devsan_options)
target_compile_options(devsan_options INTERFACE
  -Wall -Wextra -Wpedantic $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> -Wno-unused-parameter -Werror)
# Not every report of these is true in GCC 12 (bug 105562 and its kin in std::string and std::variant).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(devsan_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
      -Wno-dangling-pointer>)
endif()
if(DEVSAN_SANITIZE)
  add_compile_options(-fsanitize=${DEVSAN_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${DEVSAN_SANITIZE})
endif()
# One link at a time: a link against LibTorch or LLVM takes gigabytes.
set_property(GLOBAL PROPERTY JOB_POOLS link=1)
set(CMAKE_JOB_POOL_LINK link)
