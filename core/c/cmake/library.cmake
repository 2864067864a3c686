# For the build systems of firmware: builds the library for a processor, as the CMake target `tgm-core`.
#
#   tgm_core_library(TARGET FEATURES)    a target of Rust, which `rustup target add` installs; features of Cargo.toml, divided by commas
include(ExternalProject)

function(tgm_core_library target features)
    set(place ${CMAKE_CURRENT_BINARY_DIR}/tgm-core)
    ExternalProject_Add(tgm-core-build
        SOURCE_DIR ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/..
        PREFIX ${place}/build
        CMAKE_ARGS -DTGMC_TARGET=${target} -DTGMC_FEATURES=${features}
                   -DCMAKE_INSTALL_PREFIX=${place} -DCMAKE_INSTALL_LIBDIR=lib
        # cargo knows itself what has changed.
        BUILD_ALWAYS ON
        BUILD_BYPRODUCTS ${place}/lib/libtgm_c_core.a)
    add_library(tgm-core STATIC IMPORTED GLOBAL)
    set_target_properties(tgm-core PROPERTIES IMPORTED_LOCATION ${place}/lib/libtgm_c_core.a)
    add_dependencies(tgm-core tgm-core-build)
endfunction()
