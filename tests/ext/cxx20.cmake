# cxx20.cmake: builds extensions as C++20 with all warnings, and runs them.
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

foreach(source IN ITEMS ext/template/template.c tests/ext/sequence.c)
  cmake_path(GET source STEM name)
  run("${COMPILER}" -x c++ -std=c++20 -pedantic -Wall -Wextra -Werror -O1 -shared -fPIC -fvisibility=hidden
    "-I${SOURCE}/vm/include" "${SOURCE}/${source}" -o "${WORK}/${name}.so")
endforeach()
set(ENV{DYNVM_PATH} "${WORK}")
run("${DYNVM}" -c "import template, sequence
for i in range(200): template.clamp(float(i), 1.0, 5.0)
d = sequence.Deck()
for i in range(9): d.push(i)
print(template.clamp(9.5, 0.0, 5.0), template.version, sum(d))")
if(NOT output STREQUAL "5.0 1.0 36\n")
  message(FATAL_ERROR "wrong output: ${output}")
endif()
