# devsan_lint(TARGET [OPTION ...]): the target lint-TARGET runs `devsan lint` on TARGET's C++ files,
# with the flags that they are compiled with. OPTIONs are those of `devsan lint`. Set
# CMAKE_EXPORT_COMPILE_COMMANDS to ON before TARGET is made. The build of lint-TARGET fails when
# there are findings.
find_program(DEVSAN_EXECUTABLE devsan)

function(devsan_lint target)
  if(NOT DEVSAN_EXECUTABLE)
    message(FATAL_ERROR "devsan_lint: devsan is not on PATH; set DEVSAN_EXECUTABLE to it")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "devsan_lint: '${target}' is not a target")
  endif()
  if(NOT CMAKE_EXPORT_COMPILE_COMMANDS)
    message(FATAL_ERROR "devsan_lint: set CMAKE_EXPORT_COMPILE_COMMANDS to ON before ${target} is made")
  endif()
  get_target_property(_sources ${target} SOURCES)
  get_target_property(_folder ${target} SOURCE_DIR)
  set(_files)
  foreach(_source IN LISTS _sources)
    if(_source MATCHES "\\.(cpp|cc|cxx|c\\+\\+|C)$")
      get_filename_component(_file "${_source}" ABSOLUTE BASE_DIR "${_folder}")
      list(APPEND _files "${_file}")
    endif()
  endforeach()
  if(NOT _files)
    message(FATAL_ERROR "devsan_lint: ${target} has no C++ files")
  endif()
  add_custom_target(lint-${target}
    COMMAND "${DEVSAN_EXECUTABLE}" lint -p "${CMAKE_BINARY_DIR}" ${ARGN} ${_files}
    WORKING_DIRECTORY "${_folder}"
    COMMENT "devsan lint of ${target}"
    VERBATIM)
endfunction()
