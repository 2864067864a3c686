# find_package(tensogram): the targets tensogram::tensogram (shared) and tensogram::static.
include(CMakeFindDependencyMacro)
find_dependency(Threads)

get_filename_component(_tensogram_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET tensogram::tensogram)
  add_library(tensogram::tensogram SHARED IMPORTED)
  set_target_properties(tensogram::tensogram PROPERTIES
    IMPORTED_LOCATION "${_tensogram_prefix}/lib/libtensogram.so.0.24.0"
    IMPORTED_SONAME "libtensogram.so.0.24"
    INTERFACE_INCLUDE_DIRECTORIES "${_tensogram_prefix}/include;${_tensogram_prefix}/include/tensogram")
endif()

if(NOT TARGET tensogram::static)
  add_library(tensogram::static STATIC IMPORTED)
  set_target_properties(tensogram::static PROPERTIES
    IMPORTED_LOCATION "${_tensogram_prefix}/lib/libtensogram.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_tensogram_prefix}/include;${_tensogram_prefix}/include/tensogram"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;dl;m")
endif()

unset(_tensogram_prefix)
