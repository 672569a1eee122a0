# How tests are declared: GoogleTest binaries and pytest files, each one line.
find_package(GTest REQUIRED)
find_program(DEVSAN_PYTHON python PATHS "${PROJECT_SOURCE_DIR}/.deps/venv/bin" NO_DEFAULT_PATH)

# devsan_gtest(NAME SOURCES ... [LIBS ...]): one binary; ctest shows it as NAME.
function(devsan_gtest name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE devsan::options ${ARG_LIBS} GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  add_test(NAME ${name} COMMAND ${name})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
endfunction()

# devsan_pytest(NAME FILE [TIMEOUT seconds]): a pytest file; it finds the build in $DEVSAN_BUILD.
function(devsan_pytest name file)
  cmake_parse_arguments(ARG "" "TIMEOUT" "" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_test(NAME ${name}
    COMMAND "${DEVSAN_PYTHON}" -m pytest -q -p no:cacheprovider "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
  set_tests_properties(${name} PROPERTIES
    TIMEOUT ${ARG_TIMEOUT}
    ENVIRONMENT "DEVSAN_BUILD=${PROJECT_BINARY_DIR};DEVSAN_LLVM_MAJOR=${DEVSAN_LLVM_MAJOR};PYTHONDONTWRITEBYTECODE=1;PYTHONPATH=${PROJECT_SOURCE_DIR}/tests")
endfunction()
