message(STATUS "vramsim ${PROJECT_VERSION}: build ${CMAKE_BUILD_TYPE}, sanitizers '${VRAMSIM_SANITIZE}', "
  "viewer ${SDL2_FOUND}, FreeType ${FREETYPE_FOUND}, tests ${VRAMSIM_TESTS}, fuzz ${VRAMSIM_FUZZ}")
