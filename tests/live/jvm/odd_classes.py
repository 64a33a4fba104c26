#!/usr/bin/env python3
"""Writes classes that no compiler writes today: odd_classes.py FOLDER

Old.class    version 48, go(int) has a subroutine (jsr, ret) and adds one
Bare.class   version 50 without frames, though it has branches; its methods have names of an obfuscator
Vast.java    a method that has as much code as one can have, a few bytes short
"""
import struct
import sys

PUBLIC_STATIC, PUBLIC_SUPER = 0x0009, 0x0021


class Writer:
    def __init__(self):
        self.constants = []

    def add(self, entry):
        if entry not in self.constants:
            self.constants.append(entry)
        return self.constants.index(entry) + 1

    def utf8(self, text):
        raw = text.encode()
        return self.add(b"\x01" + struct.pack(">H", len(raw)) + raw)

    def of_class(self, name):
        return self.add(b"\x07" + struct.pack(">H", self.utf8(name)))


def write(path, name, version, methods):
    w = Writer()
    this, above, code = w.of_class(name), w.of_class("java/lang/Object"), w.utf8("Code")
    body = b""
    for method, kind, text in methods:
        attribute = struct.pack(">HHI", 4, 4, len(text)) + text + struct.pack(">HH", 0, 0)
        body += struct.pack(">HHHH", PUBLIC_STATIC, w.utf8(method), w.utf8(kind), 1)
        body += struct.pack(">HI", code, len(attribute)) + attribute
    out = b"\xca\xfe\xba\xbe" + struct.pack(">HHH", 0, version, len(w.constants) + 1) + b"".join(w.constants)
    out += struct.pack(">HHHHH", PUBLIC_SUPER, this, above, 0, 0) + struct.pack(">H", len(methods)) + body + struct.pack(">H", 0)
    with open(path, "wb") as f:
        f.write(out)


folder = sys.argv[1]
# iload_0 istore_2 jsr +5 iload_2 ireturn; astore_1 iinc 2 1 ret 1
subroutine = bytes([0x1a, 0x3d, 0xa8, 0, 5, 0x1c, 0xac, 0x4c, 0x84, 2, 1, 0xa9, 1])
write(f"{folder}/Old.class", "Old", 48, [("go", "(I)I", subroutine)])
# iload_0 ifge +6 iconst_0 ireturn (nop) iload_0 iconst_1 iadd ireturn
branches = bytes([0x1a, 0x9c, 0, 6, 0x03, 0xac, 0, 0x1a, 0x04, 0x60, 0xac])
write(f"{folder}/Bare.class", "Bare", 50, [("a", "(I)I", branches), ("if", "(I)I", branches), ("\u2603", "(I)I", branches)])
with open(f"{folder}/Vast.java", "w") as f:
    f.write("final class Vast {\n    static int go(int n) {\n" + "        n += 1;\n" * 21844 + "        return n;\n    }\n"
            "    static int beside(int n) {\n        return n + 1;\n    }\n}\n")
