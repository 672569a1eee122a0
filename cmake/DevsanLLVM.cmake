# LLVM and Clang from Debian's packages, as one shared library each (libclang-cpp, libLLVM).
set(DEVSAN_LLVM_MAJOR 22 CACHE STRING "Major version of LLVM to build the analyzer with")

# Debian's ClangTargets.cmake names targets of packages that it does not depend on (clangd's remote index).
foreach(_target gRPC::grpc++ protobuf::libprotobuf)
  if(NOT TARGET ${_target})
    add_library(${_target} INTERFACE IMPORTED)
  endif()
endforeach()
find_package(Clang REQUIRED CONFIG
  PATHS "/usr/lib/llvm-${DEVSAN_LLVM_MAJOR}/lib/cmake/clang" NO_DEFAULT_PATH)

add_library(devsan_llvm INTERFACE)
add_library(devsan::llvm ALIAS devsan_llvm)
target_include_directories(devsan_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${CLANG_INCLUDE_DIRS})
separate_arguments(_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(devsan_llvm INTERFACE ${_definitions})
target_link_libraries(devsan_llvm INTERFACE clang-cpp LLVM)
