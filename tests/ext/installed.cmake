# installed.cmake: installs dynvm, builds ext/template as a project of its own against the package, and
# runs what it made.
set(work "${BUILD}/tests/ext/installed")
file(REMOVE_RECURSE "${work}")
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${work}/prefix")
file(COPY "${TEMPLATE}/" DESTINATION "${work}/template")
run("${CMAKE_COMMAND}" -S "${work}/template" -B "${work}/build" -G "${GENERATOR}"
  "-DCMAKE_C_COMPILER=${COMPILER}" "-DCMAKE_PREFIX_PATH=${work}/prefix")
run("${CMAKE_COMMAND}" --build "${work}/build")
set(ENV{DYNVM_PATH} "${work}/build")
run("${work}/prefix/bin/dynvm" -c "import template
for i in range(200): template.clamp(float(i), 1.0, 5.0)
print(template.clamp(9.5, 0.0, 5.0), template.version)")
if(NOT output STREQUAL "5.0 1.0\n")
  message(FATAL_ERROR "wrong output: ${output}")
endif()
