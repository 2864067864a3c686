# find_package(tgm [COMPONENTS async async-remote]): the targets tgm::tgm (shared) and tgm::static. As find_package(tensogram), but
# in the version of this library, which says which functions it has beyond the reference.
include(CMakeFindDependencyMacro)
set(_tgm_components "")
if(tgm_FIND_COMPONENTS)
  set(_tgm_components COMPONENTS ${tgm_FIND_COMPONENTS})
endif()
find_dependency(tensogram CONFIG ${_tgm_components} PATHS "${CMAKE_CURRENT_LIST_DIR}/../tensogram" NO_DEFAULT_PATH)
unset(_tgm_components)

if(NOT TARGET tgm::tgm)
  add_library(tgm::tgm INTERFACE IMPORTED)
  set_target_properties(tgm::tgm PROPERTIES INTERFACE_LINK_LIBRARIES tensogram::tensogram)
endif()
if(NOT TARGET tgm::static)
  add_library(tgm::static INTERFACE IMPORTED)
  set_target_properties(tgm::static PROPERTIES INTERFACE_LINK_LIBRARIES tensogram::static)
endif()
