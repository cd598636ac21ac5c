# dynvm_add_extension(NAME [NATIVE] SOURCES...): the extension NAME.so, which `import NAME` loads.
#
# NATIVE: its native twins are compiled, too.  They need the layout of the VM that is built, so they are there in
# dynvm's own tree; with the installed package the extension has its portable twins alone.
function(dynvm_add_extension name)
  cmake_parse_arguments(PARSE_ARGV 1 extension "NATIVE" "" "")
  add_library(${name} MODULE ${extension_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES
    PREFIX "" SUFFIX ".so" C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden)
  target_link_libraries(${name} PRIVATE dynvm::ext)
  target_compile_options(${name} PRIVATE "-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=") # DVX_HERE
  if(extension_NATIVE AND TARGET dynvm_gen)
    target_compile_definitions(${name} PRIVATE "DVX_NATIVE=<plugin/native.h>")
    target_include_directories(${name} PRIVATE "${dynvm_SOURCE_DIR}/vm" "${dynvm_gen_dir}")
    target_compile_options(${name} PRIVATE ${dynvm_handler_options})
    if(NOT "tail" IN_LIST dynvm_forms)
      target_compile_definitions(${name} PRIVATE DVX_TRAMPOLINE)
    endif()
    add_dependencies(${name} dynvm_gen)
  endif()
endfunction()
