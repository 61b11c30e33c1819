# `.vrt` files and the other formats that are written: unit tests; every recording to and fro; what Python makes of them.
vs_test(vrt USES trace PRIVATE PkgConfig::ZLIB)
vs_test(vrt_cut USES source trace)
vs_test(vrt_tail USES trace)
vs_test(writers USES trace_write trace)
vs_test(json_import USES trace_write trace)
add_executable(convert_all convert/convert_all.c)
vs_quote_dir(convert_all PRIVATE ${CMAKE_SOURCE_DIR}/tests/support)
target_compile_definitions(convert_all PRIVATE _POSIX_C_SOURCE=200809L)
target_link_libraries(convert_all PRIVATE vs_trace_write vs_trace vs_flags PkgConfig::CMOCKA)
set_target_properties(convert_all PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
# data/recorded takes half a minute more: by hand, as tests/convert_all data/recorded
add_test(NAME convert_recordings COMMAND convert_all data/traces data/traces/pytorch-2.11 data/traces/pytorch-2.15
  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
find_package(Python3 3.8 COMPONENTS Interpreter)
if(Python3_FOUND)
  add_test(NAME convert_python COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/convert/check.py
    $<TARGET_FILE:vramsim> ${CMAKE_SOURCE_DIR})
endif()
