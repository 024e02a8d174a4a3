/* empty.c: programs are made only of modules, but CMake requires a source file. */
typedef int empty_translation_unit;
