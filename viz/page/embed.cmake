# cmake -D IN=FILE -D OUT=FILE.c -P embed.cmake: a file as an array of characters that ends with a zero.
file(READ ${IN} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
string(REGEX REPLACE "(('[^']*',){24})" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "/* made by embed.cmake */\n#include \"page_html.h\"\n\nconst char page_html[] = {\n${bytes}'\\0'};\n")
