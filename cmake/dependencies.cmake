# Third parties, each linked PRIVATE by the one folder that may name it. cmake/setup.sh names their packages.
find_package(PkgConfig REQUIRED)
pkg_check_modules(LUA REQUIRED IMPORTED_TARGET lua5.4)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(YAJL REQUIRED IMPORTED_TARGET yajl)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3>=3.36)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(PNG REQUIRED IMPORTED_TARGET libpng)
pkg_check_modules(FREETYPE IMPORTED_TARGET freetype2) # without it: the embedded font alone
if(VRAMSIM_VIZ)
  pkg_check_modules(SDL2 IMPORTED_TARGET sdl2) # without it: no viewer
endif()
if(VRAMSIM_TESTS)
  pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
endif()
