#!/usr/bin/python3
"""tidy_layers: every include points down, by the one table of who may call whom.

The table is that of the build: errata_module(NAME DIR dir USES ... HEADERS ... PARTS ...) in CMakeLists.txt. A
module's files include headers of their own folder, of `base`, and of the modules that USES and HEADERS name;
headers of a library of the system only if PARTS name it. What a used module uses itself is not included with it.
Links enforce the same for calls; the include rule finds what a link does not: types, constants, inline functions.
"""
import os
import re

import sources

TABLE = "CMakeLists.txt"
# Folders that the build does not know as modules, with what they may include: headers for users of the
# library, and programs that are built against the installed library.
OTHERS = {"client/include": [], "client/examples": ["client/include"]}
FREE = ("tests/",)  # may include everything

# Header of a part -> the part of tools/cmake/parts.cmake.
PARTS = {
    r"uv\.h|uv/.*": "uv",
    r"nghttp2/.*": "nghttp2",
    r"lmdb\.h": "lmdb",
    r"openssl/.*": "crypto",
    r"zlib\.h": "zlib",
    r"utf8proc\.h": "utf8proc",
    r"hiredis/.*": "hiredis",
    r"protobuf-c/.*|.*\.pb-c\.h": "protobuf_c",
    r"poppler.*|glib.*|fontconfig/.*": "poppler",
    r"cairo.*": "cairo",
    r"seccomp\.h|linux/(landlock|seccomp|filter)\.h": "seccomp",
    r"sys/socket\.h|netinet/.*|arpa/.*|netdb\.h": "sockets",
}


class Modules:
    """The table: the module of each folder, and what it may include."""

    def __init__(self, text):
        self.folders = dict.fromkeys(OTHERS)
        self.uses = {}
        self.headers = {}
        self.parts = {}
        text = re.sub(r"#[^\n]*", "", text)
        for words in (m.group(1).split() for m in re.finditer(r"errata_module\(([^)]*)\)", text)):
            name, lists, key = words[0], {"DIR": [], "USES": [], "HEADERS": [], "PARTS": []}, None
            for word in words[1:]:
                if word in lists:
                    key = word
                elif word != "PROGRAM_ONLY":
                    lists[key].append(word)
            self.folders.update(dict.fromkeys(lists["DIR"], name))
            self.uses[name] = set(lists["USES"])
            self.headers[name] = set(lists["HEADERS"])
            self.parts[name] = set(lists["PARTS"])

    def folder_of(self, path):
        """The innermost folder of the table that holds a path, or ''."""
        inside = [f for f in self.folders if path.startswith(f + "/")]
        return max(inside, key=len, default="")

    def allowed(self, folder):
        """The folders whose headers the files of a folder may include, besides its own."""
        name = self.folders[folder]
        if name is None:
            return OTHERS[folder]
        named = self.uses[name] | self.headers[name]
        used = {f for f, owner in self.folders.items() if owner in named or owner == name}
        return sorted(used if name == "base" else used | {"store/base"})

    def parts_of(self, folder):
        name = self.folders[folder]
        return {"uv", "protobuf_c"} if name is None else self.parts[name]


def read_table(root):
    return Modules(sources.read(root, TABLE))


def check_part(modules, path, folder, number, header, findings):
    for pattern, part in PARTS.items():
        if re.fullmatch(pattern, header) and part not in modules.parts_of(folder):
            findings.add(path, number, f"{folder}/ includes <{header}>",
                         f"call a module that wraps it, or name {part} in this module's PARTS in {TABLE}")


def check_file(root, modules, path, text, findings):
    if path.startswith(FREE):
        return
    folder = modules.folder_of(path)
    if not folder:
        findings.add(path, 1, "this folder belongs to no module",
                     f"add an errata_module for it to {TABLE}, with what it uses")
        return
    allowed = modules.allowed(folder)
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r'#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', line)
        if not match:
            continue
        header = match.group(1) or match.group(2)
        beside = os.path.join(os.path.dirname(path), header)
        if match.group(1) and os.path.exists(os.path.join(root, beside)):
            header = os.path.normpath(beside)
        target = modules.folder_of(header)
        if target and target != folder and target not in allowed:
            findings.add(path, number, f"{folder}/ includes {header}, of a module that it does not use",
                         f"it may include {', '.join(allowed) or 'nothing but itself'}; pass what is "
                         f"needed as a parameter, move it down, or name the module in USES in {TABLE}")
        check_part(modules, path, folder, number, header, findings)


def check_cycles(modules, findings):
    """The first module that uses itself, through others."""
    for name in modules.uses:
        seen, todo = set(), list(modules.uses[name])
        while todo:
            used = todo.pop()
            if used not in seen:
                seen.add(used)
                todo += modules.uses.get(used, ())
        if name in seen:
            findings.add(TABLE, 1, f"module {name} uses itself, through others", "break the circle")
            return


def check(root, build, findings):
    modules = read_table(root)
    check_cycles(modules, findings)
    for path in sources.c_files(root):
        if path != "tools/cmake/empty.c":
            check_file(root, modules, path, sources.read(root, path), findings)


if __name__ == "__main__":
    sources.main("tidy_layers", check)
