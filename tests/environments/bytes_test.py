"""Files of every encoding and layout: outside the edits not one byte changes, and what is written is what Python runs. What
must come out is made here by replacing bytes, not by suture. The lines of docs/environments.md on bytes.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cycle
import table
import toyserve
from cycle import World
from interpreters import interpreter

COLUMNS = ["engine.py", "after `apply`", "after `revert`"]

ENGINE = toyserve.FILES["engine.py"]
OLD, NEW = b"rows = unpack(", b"rows = LazyRows("
IMPORT, ADDED = b"from toyserve.rows import unpack", b"from toyserve.lazy_rows import LazyRows"
COMMENT = b"# The table has a row for every slot there is; a step reads a few."


def with_text(text, cookie, encoding):
    """The file with a cookie in its first line and `text` in a comment and a string of decode."""
    assert COMMENT in ENGINE
    extra = f"# {text}\n        self.name = \"{text}\"\n        # '{text}'"
    return f"# -*- coding: {cookie} -*-\n".encode() + ENGINE.replace(COMMENT, COMMENT + b"\n        " + extra.encode(encoding))


def patched(raw, newline=b"\n"):
    """What apply must make of it; `newline` ends the line that it adds."""
    assert raw.count(OLD) == 1 and raw.count(IMPORT) == 1, raw
    behind = raw.index(b"\n", raw.index(IMPORT)) + 1
    return (raw[:behind] + ADDED + newline + raw[behind:]).replace(OLD, NEW)


def world(folder, raw):
    toyserve.unpacked(folder / "site", files={**toyserve.FILES, "engine.py": raw})
    return World(folder, folder / "site/toyserve", ["-t", str(folder / "site")], [interpreter("import venv")],
                 interpreter_environment={"PYTHONPATH": str(folder / "site")})


def kept(folder, raw, newline=b"\n"):
    """The cells of a file that is patched."""
    w = world(folder, raw)
    engine = w.package / "engine.py"
    assert w.code() == "old", w.code()
    w.suture("apply", w.patch)
    wanted = patched(raw, newline)
    assert engine.read_bytes() == wanted, f"not the bytes that it should be:\n{engine.read_bytes()}\n{wanted}"
    w.suture("revert", w.patch)
    assert engine.read_bytes() == raw
    new, _, old, _ = cycle.apply_and_revert(w)
    return [f"the edits alone, {new}", old]


def refused(folder, raw, exit_code, imported=False):
    """The cells of a file that is not: suture says why. `imported`: Python runs it all the same."""
    w = world(folder, raw)
    found = w.code()
    assert (found == "old") == imported and found != "new", found
    return [f"refused ({exit_code}): {cycle.refused(w, exit_code, found)}",
            "Python: old code runs" if imported else "Python: does not import it"]


# --- line ends -------------------------------------------------------------------------------------------------------


def test_lf(folder):
    """LF"""
    return kept(folder, ENGINE)


def test_crlf(folder):
    """CRLF"""
    return kept(folder, ENGINE.replace(b"\n", b"\r\n"), b"\r\n")


def test_cr(folder):
    """CR alone"""
    return refused(folder, ENGINE.replace(b"\n", b"\r"), 4, imported=True)


def test_one_cr(folder):
    """CRLF, and one line that ends in CR alone"""
    return refused(folder, ENGINE.replace(b"\n", b"\r\n").replace(b"class Engine:\r\n", b"class Engine:\r"), 4, imported=True)


def test_mixed(folder):
    """CRLF, a third of the lines LF"""
    lines = ENGINE.splitlines()
    ends = [b"\r\n", b"\n", b"\r\n"] * len(lines)
    return kept(folder, b"".join(line + end for line, end in zip(lines, ends)), b"\r\n")


def test_no_newline(folder):
    """no newline at the end"""
    return kept(folder, ENGINE.rstrip(b"\n"))


def test_no_newline_at_the_edit(folder):
    """no newline at the end, which is the edit"""
    raw = ENGINE.replace(b"\n\n    def dump(self):\n        return unpack(self.store.packed())\n", b"")
    raw = raw.replace(b"        rows = unpack(\n            self.store.packed(),  # all of them\n        )\n"
                      b"        return [sum(rows[slot]) for slot in slots]",
                      b"        rows = unpack(self.store.packed()); return [sum(rows[slot]) for slot in slots]")
    raw = raw.replace(b"    def decode", b"    def dump(self):\n        return unpack(self.store.packed())\n\n    def decode")
    assert raw.endswith(b"for slot in slots]")
    return kept(folder, raw)


def test_continuations(folder):
    """CRLF, with backslash continuations"""
    raw = ENGINE.replace(b"rows = unpack(\n            self.store", b"rows = unpack(\\\n  self.store").replace(b"\n", b"\r\n")
    return kept(folder, raw, b"\r\n")


# --- encodings -------------------------------------------------------------------------------------------------------


def test_bom(folder):
    """UTF-8 with a byte order mark"""
    return kept(folder, b"\xef\xbb\xbf" + ENGINE)


def test_bom_crlf(folder):
    """UTF-8 with a byte order mark and a cookie, CRLF"""
    return kept(folder, b"\xef\xbb\xbf" + with_text("naïve 字 🧵", "utf-8", "utf-8").replace(b"\n", b"\r\n"), b"\r\n")


def test_separators(folder):
    """UTF-8 with U+2028, U+0085 and vertical tabs in comments and strings: no line ends to Python"""
    return kept(folder, with_text("a\u2028b\u0085c\x0bd", "utf-8", "utf-8"))


def test_latin1(folder):
    """Latin-1, by its cookie"""
    return kept(folder, with_text("naïve Größe", "latin-1", "latin-1"))


def test_cookie_in_second_line(folder):
    """Latin-1, by a cookie as vim writes it, below a `#!` line"""
    raw = with_text("naïve Größe", "x", "latin-1").removeprefix(b"# -*- coding: x -*-\n")
    return kept(folder, b"#!/usr/bin/python3\n# vim: set fileencoding=iso-8859-15 :\n" + raw)


def test_koi8(folder):
    """KOI8-R, by its cookie"""
    return kept(folder, with_text("таблица строк", "koi8-r", "koi8-r"))


def test_gbk(folder):
    """GBK, by its cookie"""
    return kept(folder, with_text("表格的行", "gbk", "gbk"))


def test_gbk_backslash(folder):
    """GBK, with characters whose second byte is a backslash, before a quote"""
    text = "乗"
    assert text.encode("gbk").endswith(b"\\")
    return kept(folder, with_text(text, "gbk", "gbk"))


def test_shift_jis_backslash(folder):
    """Shift JIS, with characters whose second byte is a backslash, before a quote"""
    text = "表"
    assert text.encode("shift_jis").endswith(b"\\")
    return kept(folder, with_text(text, "shift_jis", "shift_jis"))


def test_euc_kr(folder):
    """EUC-KR, by its cookie"""
    return kept(folder, with_text("표의 행", "euc_kr", "euc_kr"))


def test_gb18030(folder):
    """GB18030, with a character of four bytes"""
    text = "🧵字"
    assert len(text.encode("gb18030")) == 6
    return kept(folder, with_text(text, "gb18030", "gb18030"))


def test_gbk_names(folder):
    """GBK, also in the name of a variable"""
    return kept(folder, with_text("行", "gbk", "gbk").replace(b"rows = unpack", "表 = 1; rows = unpack".encode("gbk")))


def test_broken_gbk(folder):
    """GBK, and half a character"""
    return refused(folder, with_text("行", "gbk", "gbk") + b"x = '\xd0'\n", 4)


def test_no_cookie(folder):
    """Latin-1 without a cookie"""
    return refused(folder, with_text("naïve", "x", "latin-1").removeprefix(b"# -*- coding: x -*-\n"), 4)


def test_bom_and_latin1(folder):
    """a byte order mark, and the cookie of Latin-1"""
    return refused(folder, b"\xef\xbb\xbf" + with_text("naive", "latin-1", "latin-1"), 4)


def test_unknown_cookie(folder):
    """a cookie that names no encoding"""
    return refused(folder, with_text("naive", "utf-9", "utf-8"), 4)


def test_utf7(folder):
    """UTF-7, by its cookie: ASCII that means something else"""
    return refused(folder, with_text("naive", "utf-7", "utf-8"), 4, imported=True)


def test_utf16(folder):
    """UTF-16"""
    return refused(folder, ENGINE.decode().encode("utf-16"), 4)


def test_surrogates(folder):
    """UTF-8 with a surrogate"""
    return refused(folder, ENGINE + b"x = '\xed\xa0\x80'\n", 4)


# --- blanks and control characters -----------------------------------------------------------------------------------


def test_tabs(folder):
    """indented with tabs"""
    return kept(folder, ENGINE.replace(b"    ", b"\t"))


def test_trailing_blanks(folder):
    """blanks at the ends of lines, and lines of blanks"""
    return kept(folder, ENGINE.replace(b"\n", b" \t\n"))


def test_form_feeds(folder):
    """form feeds: between definitions, and in an indentation"""
    raw = ENGINE.replace(b"\nclass", b"\n\x0c\nclass").replace(b"        rows = ", b"\x0c        rows = ")
    return kept(folder, raw)


def test_nul(folder):
    """a NUL byte in a comment"""
    return refused(folder, ENGINE.replace(COMMENT, COMMENT + b"\0"), 4)


def test_nul_in_string(folder):
    """a NUL byte in a string, behind the edit"""
    return refused(folder, ENGINE + b"x = 'a\0b'\n", 4)


def test_escape_characters(folder):
    """control characters in strings and comments"""
    text = "".join(map(chr, [*range(1, 9), *range(14, 32), 127])).replace("\x1a", "")
    return kept(folder, with_text(text, "utf-8", "utf-8"))


def test_long_line(folder):
    """a line of a megabyte"""
    return kept(folder, ENGINE + b"x = '" + b"x" * (1 << 20) + b"'\n")


if __name__ == "__main__":
    table.main(globals(), COLUMNS)
