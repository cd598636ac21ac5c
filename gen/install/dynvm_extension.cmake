# dynvm_add_extension(NAME [NATIVE] [LIBRARY FOLDER] SOURCES...): the extension NAME.so, which `import NAME` loads.
#
# NATIVE: its native twins are compiled, too.  They need the layout of the VM that is built, so they are there in
# dynvm's own tree; with the installed package the extension has its portable twins alone.
# LIBRARY: what the extension has in dl; the files of the folder become the package _NAME.  In dynvm's own tree they are
# compiled and put into NAME.so (gen/pack); with the installed package they are copied beside it.
function(dynvm_add_extension name)
  cmake_parse_arguments(PARSE_ARGV 1 extension "NATIVE" "LIBRARY" "")
  add_library(${name} MODULE ${extension_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES
    PREFIX "" SUFFIX ".so" C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden)
  target_link_libraries(${name} PRIVATE dynvm::ext)
  target_compile_options(${name} PRIVATE "-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=") # DVX_HERE
  if(extension_LIBRARY)
    cmake_path(ABSOLUTE_PATH extension_LIBRARY BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    file(GLOB files CONFIGURE_DEPENDS "${extension_LIBRARY}/*.dl")
    if(TARGET dynvm_pack)
      set(packed "${CMAKE_CURRENT_BINARY_DIR}/packed_${name}.c")
      dynvm_run_pack("${packed}" _${name} ${files})
      set_source_files_properties("${packed}" PROPERTIES INCLUDE_DIRECTORIES "${dynvm_private_includes}")
      target_sources(${name} PRIVATE "${packed}")
      set(files)
    endif()
    foreach(file IN LISTS files)
      cmake_path(GET file FILENAME file_name)
      set(copied "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/_${name}/${file_name}")
      add_custom_command(OUTPUT "${copied}" COMMAND "${CMAKE_COMMAND}" -E copy "${file}" "${copied}" DEPENDS "${file}")
      target_sources(${name} PRIVATE "${copied}")
    endforeach()
  endif()
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
