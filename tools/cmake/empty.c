/* empty.c: programs are made of modules alone; CMake wants a file of their own. */
typedef int empty_translation_unit;
