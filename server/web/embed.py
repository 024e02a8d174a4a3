#!/usr/bin/python3
"""embed.py PAGE FOLDER: makes the files of the page for people an array of C: FOLDER/web_files.{c,h}.

Each file is embedded as it is and compressed by gzip. All of them but index.html are served below a folder whose
name is the hash of all of their bytes, so that browsers may cache them indefinitely; index.html gets the name of the
folder in place of ASSETS, and a line for each module that is loaded at once, so that the browser does not have to discover them.
"""
import gzip
import hashlib
import os
import re
import sys

TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".svg": "image/svg+xml"}
HASH_DIGITS = 16
HEAD = """/*
 * {name}: the files of the page for people, made from server/web/page. Generated; do not change.
 */
"""


def read_files(page):
    files = {}
    for folder, _, names in os.walk(page):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                files[os.path.relpath(path, page).replace(os.sep, "/")] = f.read()
    return files


def loaded_at_once(files):
    """The modules that app.js imports, directly or not; import() inside a function is not one of them."""
    found, left = [], ["app.js"]
    while left:
        name = left.pop()
        if name in found:
            continue
        found.append(name)
        for target in re.findall(r"^(?:import|export)\b[^;]*?from '([^']+)';", files[name].decode(), flags=re.M | re.S):
            left.append(os.path.normpath(os.path.join(os.path.dirname(name), target)).replace(os.sep, "/"))
    return sorted(found)


def make_index(files, digest):
    preloads = "\n".join(f'<link rel="modulepreload" href="/assets/{digest}/{name}">' for name in loaded_at_once(files))
    text = files["index.html"].decode()
    for mark in ("<!--PRELOADS-->", "ASSETS"):
        if mark not in text:
            sys.exit(f"index.html has no {mark}")
    return text.replace("<!--PRELOADS-->", preloads).replace("ASSETS", digest).encode()


def array(name, data):
    lines = ("    " + ", ".join(str(byte) for byte in data[start:start + 24]) + "," for start in range(0, len(data), 24))
    return f"static const unsigned char {name}[{len(data)}] = {{\n" + "\n".join(lines) + "\n};\n"


def main(page, folder):
    files = read_files(page)
    whole = hashlib.sha256()
    for name in sorted(files):
        whole.update(f"{name} {len(files[name])}\n".encode() + files[name])
    digest = whole.hexdigest()[:HASH_DIGITS]
    served = {f"/assets/{digest}/{name}": data for name, data in files.items() if name != "index.html"}
    served["/"] = make_index(files, digest)
    source = HEAD.format(name="web_files.c") + '#include "web_files.h"\n\n'
    rows = ""
    for number, path in enumerate(sorted(served)):
        data = served[path]
        name = "index.html" if path == "/" else path
        kind = TYPES.get(os.path.splitext(name)[1])
        if kind is None:
            sys.exit(f"{name}: unknown kind of file; expected one of {', '.join(TYPES)}")
        packed = gzip.compress(data, 9, mtime=0)
        source += array(f"file_{number}", data) + array(f"packed_{number}", packed)
        tag = hashlib.sha256(data).hexdigest()[:HASH_DIGITS]
        rows += (f'    {{"{path}", "{kind}", "\\"{tag}\\"", file_{number}, sizeof(file_{number}), packed_{number}, '
                 f"sizeof(packed_{number})}},\n")
    source += f"\nconst struct web_file web_files[WEB_FILE_COUNT] = {{\n{rows}}};\n"
    header = HEAD.format(name="web_files.h") + f"""#ifndef WEB_FILES_H
#define WEB_FILES_H

#include "server/web/web_file.h"

#define WEB_FILE_COUNT {len(served)}
extern const struct web_file web_files[WEB_FILE_COUNT];

#endif
"""
    for name, text in (("web_files.h", header), ("web_files.c", source)):
        with open(os.path.join(folder, name), "w", encoding="ascii") as f:
            f.write(text)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
