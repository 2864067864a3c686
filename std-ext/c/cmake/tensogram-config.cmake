# find_package(tensogram [COMPONENTS async async-remote]): the targets tensogram::tensogram (shared) and tensogram::static. The
# components are features that the library was built with; all of them are in tensogram_FEATURES.
include(CMakeFindDependencyMacro)
find_dependency(Threads)

get_filename_component(_tensogram_prefix "${CMAKE_CURRENT_LIST_DIR}/../../@UP@" ABSOLUTE)
set(tensogram_FEATURES "@FEATURES@")
set(_tensogram_macros "@DEFINES@")

foreach(_tensogram_component IN LISTS tensogram_FIND_COMPONENTS)
  if(_tensogram_component IN_LIST tensogram_FEATURES)
    set(tensogram_${_tensogram_component}_FOUND TRUE)
  else()
    set(tensogram_${_tensogram_component}_FOUND FALSE)
    if(tensogram_FIND_REQUIRED_${_tensogram_component})
      set(tensogram_FOUND FALSE)
      set(tensogram_NOT_FOUND_MESSAGE "tensogram was built without feature ${_tensogram_component}")
    endif()
  endif()
endforeach()

if(NOT TARGET tensogram::tensogram)
  add_library(tensogram::tensogram SHARED IMPORTED)
  set_target_properties(tensogram::tensogram PROPERTIES
    IMPORTED_LOCATION "${_tensogram_prefix}/@LIBDIR@/libtensogram.so.0.24.0"
    IMPORTED_SONAME "libtensogram.so.0.24"
    INTERFACE_COMPILE_DEFINITIONS "${_tensogram_macros}"
    INTERFACE_INCLUDE_DIRECTORIES "${_tensogram_prefix}/include;${_tensogram_prefix}/include/tensogram")
endif()

if(NOT TARGET tensogram::static)
  add_library(tensogram::static STATIC IMPORTED)
  set_target_properties(tensogram::static PROPERTIES
    IMPORTED_LOCATION "${_tensogram_prefix}/@LIBDIR@/libtensogram.a"
    INTERFACE_COMPILE_DEFINITIONS "${_tensogram_macros}"
    INTERFACE_INCLUDE_DIRECTORIES "${_tensogram_prefix}/include;${_tensogram_prefix}/include/tensogram"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;dl;m@CXX@")
endif()

unset(_tensogram_prefix)
unset(_tensogram_macros)
unset(_tensogram_component)
