# Makes a C header with a text file's bytes as a string with a NUL at its end.
#
#   cmake -DINPUT=<file> -DOUTPUT=<header> -DNAME=<array> -P cmake/text.cmake
file(READ ${INPUT} text HEX)
string(REPEAT "." 64 row) # hexadecimal digits of a line: 32 bytes
string(REGEX REPLACE "(${row})" "\\1\n  " text "${text}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," text "${text}")
get_filename_component(file ${INPUT} NAME)
file(WRITE ${OUTPUT}
     "/* Made by cmake/text.cmake from ${file}. */\nstatic const char ${NAME}[] = {\n  ${text}0};\n")
