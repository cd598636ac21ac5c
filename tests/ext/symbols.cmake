# symbols.cmake: each of FILES exports dvx_extension alone, and needs no symbol of the VM.
foreach(file IN LISTS FILES)
  execute_process(COMMAND "${NM}" -D --defined-only "${file}" OUTPUT_VARIABLE defined COMMAND_ERROR_IS_FATAL ANY)
  # What the sanitizers' and coverage's instrumentation adds begins with an underscore, but for one.
  string(REGEX REPLACE "[^\n]* (_[^\n]*|mangle_path)\n" "" defined "${defined}")
  if(NOT defined MATCHES "^[0-9a-f]+ [DR] dvx_extension\n$")
    message(FATAL_ERROR "${file} exports:\n${defined}")
  endif()
  execute_process(COMMAND "${NM}" -D --undefined-only "${file}" OUTPUT_VARIABLE needed COMMAND_ERROR_IS_FATAL ANY)
  if(needed MATCHES " (dvx?_[^\n]*|dynvm_[^\n]*)")
    message(FATAL_ERROR "${file} links '${CMAKE_MATCH_1}' of the VM")
  endif()
endforeach()
