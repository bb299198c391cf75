// PEP 263 as CPython's tokenizer reads it: which comment declares an encoding, and which encodings are bytes that stand for
// themselves.
#include "read/encoding.h"

#include <gtest/gtest.h>

#include "engine/parsed_file.h"

namespace suture {
namespace {

TEST(Encoding, DeclaredInTheFirstTwoLines) {
  EXPECT_EQ(declared_encoding("# -*- coding: latin-1 -*-\n"), "latin-1");
  EXPECT_EQ(declared_encoding("#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n"), "cp1252");
  EXPECT_EQ(declared_encoding("\n\t# coding:\tKOI8_r\n"), "KOI8_r");
  EXPECT_EQ(declared_encoding("#\r\n#coding=cp437\r\n"), "cp437") << "CRLF is one line end";
  EXPECT_EQ(declared_encoding("\xEF\xBB\xBF# coding: utf-8\n"), "utf-8") << "behind a mark";
  EXPECT_EQ(declared_encoding("# encoding and coding : none, coding: hz\n"), "hz") << "the first that a name follows";
}

TEST(Encoding, NotDeclared) {
  EXPECT_EQ(declared_encoding(""), "");
  EXPECT_EQ(declared_encoding("#\n#\n# coding: latin-1\n"), "") << "the third line";
  EXPECT_EQ(declared_encoding("x = 1\n# coding: latin-1\n"), "") << "below code";
  EXPECT_EQ(declared_encoding("x = '# coding: latin-1'\n"), "");
  EXPECT_EQ(declared_encoding("# coding latin-1\n# coding:\n"), "");
}

TEST(Encoding, KindsInEverySpelling) {
  for (const char* name : {"utf-8", "UTF8", "u8", "utf_8", "utf-8-sig", "utf-8-unix", "cp65001"})
    EXPECT_EQ(encoding_kind(name), EncodingKind::utf8) << name;
  for (const char* name : {"ascii", "US-ASCII", "646", "ANSI_X3.4-1968"})
    EXPECT_EQ(encoding_kind(name), EncodingKind::ascii) << name;
  for (const char* name :
       {"latin-1", "Latin_1", "latin1", "L1", "iso-8859-1", "iso-latin-1-unix", "iso8859-15", "ISO_8859-2", "cp1252",
        "windows-1251", "cp437", "850", "IBM852", "koi8-r", "koi8_u", "mac-roman", "macintosh", "tis-620", "hp-roman8"})
    EXPECT_EQ(encoding_kind(name), EncodingKind::single_byte) << name;
  for (const char* name : {"euc_jp", "EUC-KR", "gb2312"})
    EXPECT_EQ(encoding_kind(name), EncodingKind::single_byte) << name;
  for (const char* name : {"gbk", "GB18030", "cp936", "big5", "Big5-HKSCS", "cp949", "uhc"})
    EXPECT_EQ(encoding_kind(name), EncodingKind::double_byte) << name;
  for (const char* name : {"shift_jis", "Shift-JIS", "sjis", "cp932"})
    EXPECT_EQ(encoding_kind(name), EncodingKind::shift_jis) << name;
  // In these a byte of ASCII is another character, or part of one.
  for (const char* name : {"foobar", "utf-16", "utf-7", "utf8-unix", "cp037", "cp864", "iso-2022-jp", "hz", "johab",
                           "shift_jis_2004", "shift_jisx0213", "rot13", "unicode_escape", ""})
    EXPECT_EQ(encoding_kind(name), EncodingKind::other) << name;
}

std::string problem(const std::string& bytes) {
  const auto file = parse_file("m.py", bytes);
  return file->problem ? file->problem->message : "";
}

TEST(Encoding, AFileIsReadAsItSays) {
  EXPECT_EQ(problem("x = '\xC3\xA9'\n"), "");
  EXPECT_EQ(problem("# coding: latin-1\nx = '\xE9'\n"), "");
  EXPECT_EQ(problem("x = '\xE9'\n"), "the file is not UTF-8, and says no other encoding");
  EXPECT_EQ(problem("# coding: ascii\nx = '\xC3\xA9'\n"),
            "the file says that it is ASCII, and is not: Python would not import it");
  EXPECT_EQ(problem("# coding: ascii\nx = 1\n"), "");
  EXPECT_EQ(problem("# coding: utf-16\nx = 1\n"), "the file is in the encoding utf-16, which suture does not read")
      << "though the bytes are UTF-8";
  EXPECT_EQ(problem("\xEF\xBB\xBF# coding: latin-1\n"),
            "the file begins with the mark of UTF-8, and says that it is latin-1");
}

TEST(Encoding, PairsOfBytes) {
  const auto shown = [](const char* bytes, EncodingKind kind) {
    const AsciiView view = ascii_view(bytes, kind);
    return view.bad ? "bad at " + std::to_string(*view.bad) : view.text;
  };
  EXPECT_EQ(shown("'\x81\\' + '\xB1\xED'", EncodingKind::double_byte), "'xx' + 'xx'") << "the second is a backslash";
  EXPECT_EQ(shown("\x81\x30\x81\x30 0", EncodingKind::double_byte), "xxxx 0") << "GB18030";
  EXPECT_EQ(shown("'\x81", EncodingKind::double_byte), "bad at 1");
  EXPECT_EQ(shown("\x81' '", EncodingKind::double_byte), "bad at 0") << "a quote is no second byte";
  EXPECT_EQ(shown("\xFF\x40", EncodingKind::double_byte), "bad at 0");
  EXPECT_EQ(shown("'\x95\\' + '\xB1\\'", EncodingKind::shift_jis), "'xx' + 'x\\'") << "0xB1 is a letter of its own";
  EXPECT_EQ(shown("\x95\x3F", EncodingKind::shift_jis), "bad at 0");
  EXPECT_EQ(shown("\x95\x3F", EncodingKind::single_byte), "x?");
  EXPECT_EQ(shown("a\x95", EncodingKind::ascii), "bad at 1");
  EXPECT_EQ(problem("# coding: gbk\nx = '\x81\\'\n"), "");
  EXPECT_EQ(problem("# coding: gbk\nx = '\x81'\n"),
            "the file says that it is gbk, and is not: Python would not import it");
}

TEST(Encoding, NoPythonImportsANul) {
  const std::string message = "the file holds a NUL byte: Python would not import it";
  EXPECT_EQ(problem(std::string("x = 1\n# \0\n", 10)), message);
  EXPECT_EQ(problem(std::string("x = '\0'\n", 8)), message);
}

TEST(Encoding, TheSourceKeepsItsBytes) {
  const std::string bytes = "# coding: latin-1\nna\xEFve = '\xC3\xA9'\n";
  const auto file = parse_file("m.py", bytes);
  ASSERT_FALSE(file->problem);
  EXPECT_FALSE(file->tree.broken()) << "a letter of the upper half is one of a name";
  EXPECT_EQ(file->source->bytes(), bytes);
  EXPECT_EQ(file->encoding, "latin-1");
  EXPECT_TRUE(parse_file("m.py", "# coding: ascii\n")->ascii_only());
  EXPECT_FALSE(parse_file("m.py", "# coding: utf-8-sig\n")->ascii_only());
}

}  // namespace
}  // namespace suture
