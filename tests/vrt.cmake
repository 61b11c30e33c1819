# `.vrt` files: a unit test; every recording to and fro (vrt_all FOLDER...).
vs_test(vrt USES trace PRIVATE PkgConfig::ZLIB)
add_executable(vrt_all vrt/vrt_all.c)
vs_quote_dir(vrt_all PRIVATE ${CMAKE_SOURCE_DIR}/tests/support)
target_compile_definitions(vrt_all PRIVATE _POSIX_C_SOURCE=200809L)
target_link_libraries(vrt_all PRIVATE vs_trace vs_flags PkgConfig::CMOCKA)
set_target_properties(vrt_all PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME vrt_recordings COMMAND vrt_all data/traces data/traces/pytorch-2.11 data/traces/pytorch-2.15 data/recorded
  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
