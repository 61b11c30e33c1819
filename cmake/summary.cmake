message(STATUS "vramsim ${PROJECT_VERSION}: ${CMAKE_BUILD_TYPE}, sanitizers '${VRAMSIM_SANITIZE}', "
  "tests ${VRAMSIM_TESTS}, fuzz ${VRAMSIM_FUZZ}")
if(VRAMSIM_VIZ AND NOT SDL2_FOUND)
  message(STATUS "no viewer: SDL2 is missing (libsdl2-dev)")
endif()
if(NOT FREETYPE_FOUND)
  message(STATUS "embedded font only: FreeType is missing (libfreetype-dev)")
endif()
