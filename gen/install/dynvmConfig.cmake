# dynvm's CMake package: the targets dynvm::dynvm (libdynvm.a), dynvm::shared (libdynvm.so) and dynvm::ext (the header
# of extensions), and the function dynvm_add_extension.
if(NOT TARGET dynvm::gmp) # needed where libdynvm.a is linked, and nowhere else
  find_library(GMP_LIBRARY NAMES gmp)
  mark_as_advanced(GMP_LIBRARY)
  add_library(dynvm::gmp INTERFACE IMPORTED)
  if(GMP_LIBRARY)
    target_link_libraries(dynvm::gmp INTERFACE "${GMP_LIBRARY}")
  else()
    target_link_libraries(dynvm::gmp INTERFACE gmp)
  endif()
endif()
include("${CMAKE_CURRENT_LIST_DIR}/dynvmTargets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/dynvm_extension.cmake")
