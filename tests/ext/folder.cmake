# folder.cmake: a folder that is put into ext/ of a configured tree is built by the next
# `cmake --build` alone.  The tree is made of links to the real one, and only extensions are built.
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}/tree/ext")
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

file(GLOB entries RELATIVE "${SOURCE}" "${SOURCE}/*")
foreach(entry IN LISTS entries)
  if(NOT entry MATCHES "^(ext|build.*)$")
    file(CREATE_LINK "${SOURCE}/${entry}" "${WORK}/tree/${entry}" SYMBOLIC)
  endif()
endforeach()
file(COPY "${SOURCE}/ext/template" DESTINATION "${WORK}/tree/ext")
run("${CMAKE_COMMAND}" -S "${WORK}/tree" -B "${WORK}/build" -G "${GENERATOR}" "-DCMAKE_C_COMPILER=${COMPILER}"
  "-DDYNVM_PYTHON=${PYTHON}" -DBUILD_TESTING=OFF)
run("${CMAKE_COMMAND}" --build "${WORK}/build" --target extensions)

# As ext/README.md says it.
foreach(file IN ITEMS CMakeLists.txt template.c)
  file(READ "${SOURCE}/ext/template/${file}" text)
  string(REPLACE "template" "mine" text "${text}")
  string(REPLACE "template" "mine" file "${file}")
  file(WRITE "${WORK}/tree/ext/mine/${file}" "${text}")
endforeach()
run("${CMAKE_COMMAND}" --build "${WORK}/build" --target extensions)
set(ENV{DYNVM_PATH} "${WORK}/build/ext")
run("${DYNVM}" -c "import mine
print(mine.clamp(9.5, 0.0, 5.0))")
if(NOT output STREQUAL "5.0\n")
  message(FATAL_ERROR "wrong output: ${output}")
endif()

# A folder that is gone again, and one with a mistake that is mended, need nothing else either.
file(REMOVE_RECURSE "${WORK}/tree/ext/mine")
file(WRITE "${WORK}/tree/ext/other/CMakeLists.txt" "message(FATAL_ERROR \"unfinished\")\n")
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}/build" --target extensions RESULT_VARIABLE status
  OUTPUT_QUIET ERROR_QUIET)
if(status EQUAL 0)
  message(FATAL_ERROR "a wrong CMakeLists.txt is not noticed")
endif()
file(WRITE "${WORK}/tree/ext/other/CMakeLists.txt" "file(WRITE \"${WORK}/mended\" \"\")\n")
run("${CMAKE_COMMAND}" --build "${WORK}/build" --target extensions)
if(NOT EXISTS "${WORK}/mended")
  message(FATAL_ERROR "a mended CMakeLists.txt is not read")
endif()
