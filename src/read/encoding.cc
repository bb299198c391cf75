// See encoding.h. Test: tests/unit/encoding_test.cc.
#include "read/encoding.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace suture {
namespace {

using Names = std::string_view;

// Sorted; spelled as Python's encodings.normalize_encoding() leaves them: codecs and their aliases.
// clang-format off
constexpr std::array<Names, 242> kSingleByte = {
    "1125", "1250", "1251", "1252", "1253", "1254", "1255", "1256", "1257", "1258", "437", "775", "850", "852", "855",
    "857", "858", "860", "861", "862", "863", "865", "866", "869", "8859", "arabic", "asmo_708", "cp1006", "cp1051",
    "cp1125", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp154",
    "cp437", "cp720", "cp737", "cp775", "cp819", "cp850", "cp852", "cp855", "cp856", "cp857", "cp858", "cp860",
    "cp861", "cp862", "cp863", "cp865", "cp866", "cp866u", "cp869", "cp874", "cp_gr", "cp_is", "cshproman8",
    "csibm855", "csibm857", "csibm858", "csibm860", "csibm861", "csibm863", "csibm865", "csibm866", "csibm869",
    "csisolatin1", "csisolatin2", "csisolatin3", "csisolatin4", "csisolatin5", "csisolatin6", "csisolatinarabic",
    "csisolatincyrillic", "csisolatingreek", "csisolatinhebrew", "cskoi8r", "cspc775baltic", "cspc850multilingual",
    "cspc862latinhebrew", "cspc8codepage437", "cspcp852", "csptcp154", "cyrillic", "cyrillic_asian", "ecma_114",
    "ecma_118", "elot_928", "greek", "greek8", "hebrew", "hp_roman8", "ibm1051", "ibm1125", "ibm437", "ibm775",
    "ibm819", "ibm850", "ibm852", "ibm855", "ibm857", "ibm858", "ibm860", "ibm861", "ibm862", "ibm863", "ibm865",
    "ibm866", "ibm869", "iso8859", "iso8859_1", "iso8859_10", "iso8859_11", "iso8859_13", "iso8859_14", "iso8859_15",
    "iso8859_16", "iso8859_2", "iso8859_3", "iso8859_4", "iso8859_5", "iso8859_6", "iso8859_7", "iso8859_8",
    "iso8859_9", "iso_8859_1", "iso_8859_10", "iso_8859_10_1992", "iso_8859_11", "iso_8859_11_2001", "iso_8859_13",
    "iso_8859_14", "iso_8859_14_1998", "iso_8859_15", "iso_8859_16", "iso_8859_16_2001", "iso_8859_1_1987",
    "iso_8859_2", "iso_8859_2_1987", "iso_8859_3", "iso_8859_3_1988", "iso_8859_4", "iso_8859_4_1988", "iso_8859_5",
    "iso_8859_5_1988", "iso_8859_6", "iso_8859_6_1987", "iso_8859_7", "iso_8859_7_1987", "iso_8859_8",
    "iso_8859_8_1988", "iso_8859_9", "iso_8859_9_1989", "iso_celtic", "iso_ir_100", "iso_ir_101", "iso_ir_109",
    "iso_ir_110", "iso_ir_126", "iso_ir_127", "iso_ir_138", "iso_ir_144", "iso_ir_148", "iso_ir_157", "iso_ir_166",
    "iso_ir_199", "iso_ir_226", "koi8_r", "koi8_t", "koi8_u", "kz1048", "kz_1048", "l1", "l10", "l2", "l3", "l4",
    "l5", "l6", "l7", "l8", "l9", "latin", "latin1", "latin10", "latin2", "latin3", "latin4", "latin5", "latin6",
    "latin7", "latin8", "latin9", "latin_1", "mac_arabic", "mac_centeuro", "mac_croatian", "mac_cyrillic",
    "mac_farsi", "mac_greek", "mac_iceland", "mac_latin2", "mac_roman", "mac_romanian", "mac_turkish",
    "maccentraleurope", "maccyrillic", "macgreek", "maciceland", "macintosh", "maclatin2", "macroman", "macturkish",
    "palmos", "pt154", "ptcp154", "r8", "rk1048", "roman8", "ruscii", "strk1048_2002", "thai", "tis620", "tis_620",
    "tis_620_0", "tis_620_2529_0", "tis_620_2529_1", "windows_1250", "windows_1251", "windows_1252", "windows_1253",
    "windows_1254", "windows_1255", "windows_1256", "windows_1257", "windows_1258",};

constexpr std::array<Names, 8> kUtf8 = {
    "cp65001", "u8", "utf", "utf8", "utf8_ucs2", "utf8_ucs4", "utf_8", "utf_8_sig",};

constexpr std::array<Names, 13> kAscii = {
    "646", "ansi_x3.4_1968", "ansi_x3.4_1986", "ansi_x3_4_1968", "ascii", "cp367", "csascii", "ibm367", "iso646_us",
    "iso_646.irv_1991", "iso_ir_6", "us", "us_ascii",};

// EUC: every byte of a character is in the upper half, which is all that single_byte asks for.
constexpr std::array<Names, 29> kUpperPairs = {
    "chinese", "csiso58gb231280", "euc_cn", "euc_jis2004", "euc_jis_2004", "euc_jisx0213", "euc_jp", "euc_kr", "euccn",
    "eucgb2312_cn", "eucjis2004", "eucjisx0213", "eucjp", "euckr", "gb2312", "gb2312_1980", "gb2312_80", "iso_ir_58",
    "jisx0213", "korean", "ks_c_5601", "ks_c_5601_1987", "ks_x_1001", "ksc5601", "ksx1001", "u_jis", "ujis",
    "x_mac_korean", "x_mac_simp_chinese",};

constexpr std::array<Names, 20> kDoubleByte = {
    "936", "949", "950", "big5", "big5_hkscs", "big5_tw", "big5hkscs", "cp936", "cp949", "cp950", "csbig5", "gb18030",
    "gb18030_2000", "gbk", "hkscs", "ms936", "ms949", "ms950", "uhc", "x_mac_trad_chinese",};

constexpr std::array<Names, 11> kShiftJis = {
    "932", "cp932", "csshiftjis", "ms932", "ms_kanji", "mskanji", "s_jis", "shift_jis", "shiftjis", "sjis",
    "x_mac_japanese",};
// clang-format on

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\f';
}

// [-\w.] of PEP 263.
bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
}

// The name in one comment line: the first `coding` that a ':' or '=' and a name follow.
std::string cookie_in(std::string_view comment) {
  constexpr std::string_view kWord = "coding";
  for (std::size_t at = comment.find(kWord); at != std::string_view::npos; at = comment.find(kWord, at + 1)) {
    std::size_t begin = at + kWord.size();
    if (begin == comment.size() || (comment[begin] != ':' && comment[begin] != '=')) continue;
    ++begin;
    while (begin < comment.size() && (comment[begin] == ' ' || comment[begin] == '\t')) ++begin;
    std::size_t end = begin;
    while (end < comment.size() && is_name_char(comment[end])) ++end;
    if (end > begin) return std::string(comment.substr(begin, end - begin));
  }
  return "";
}

std::string normalized(std::string_view name) {
  std::string out;
  bool punctuation = false;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.') {
      punctuation = true;
      continue;
    }
    if (punctuation && !out.empty()) out += '_';
    punctuation = false;
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

// The tokenizer itself knows two encodings with a suffix, such as Emacs writes: "utf-8-unix", "latin-1-dos".
bool is_or_begins(std::string_view name, std::string_view known) {
  return name == known || (name.starts_with(known) && name[known.size()] == '_');
}

bool is_upper_half(char c) {
  return static_cast<unsigned char>(c) > 127;
}
bool is_between(char c, unsigned char low, unsigned char high) {
  return static_cast<unsigned char>(c) >= low && static_cast<unsigned char>(c) <= high;
}

// Bytes of the character that the text begins with; 0 where it is none. Which pairs have a meaning is Python's to know: a
// file with one that has none cannot be imported, whatever becomes of it.
std::size_t character_size(std::string_view text, EncodingKind kind) {
  const char lead = text[0];
  if (!is_upper_half(lead)) return 1;
  if (kind == EncodingKind::ascii) return 0;
  const bool pairs = kind == EncodingKind::double_byte || kind == EncodingKind::shift_jis;
  if (!pairs) return 1;
  // Shift JIS has half-width letters of one byte; Windows' has 0x80, 0xA0 and 0xFD on, too.
  const bool single = is_between(lead, 0xA0, 0xDF) || is_between(lead, 0xFD, 0xFF) || is_between(lead, 0x80, 0x80);
  if (kind == EncodingKind::shift_jis && single) return 1;
  if (!is_between(lead, 0x81, 0xFE) || text.size() < 2) return 0;
  if (is_between(text[1], 0x40, 0x7E) || is_between(text[1], 0x80, 0xFE)) return 2;
  // Four bytes of GB18030: 0x81 0x30 0x81 0x30.
  const bool four = kind == EncodingKind::double_byte && text.size() >= 4 && is_between(text[1], 0x30, 0x39) &&
                    is_between(text[2], 0x81, 0xFE) && is_between(text[3], 0x30, 0x39);
  return four ? 4 : 0;
}

template <class Table>
bool is_in(const Table& table, std::string_view name) {
  if (std::binary_search(table.begin(), table.end(), name)) return true;
  std::string dotless(name);
  std::replace(dotless.begin(), dotless.end(), '.', '_');
  return std::binary_search(table.begin(), table.end(), std::string_view(dotless));
}

}  // namespace

std::string declared_encoding(std::string_view bytes) {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  for (int line = 0; line < 2 && !bytes.empty(); ++line) {
    const std::size_t end = std::min(bytes.find_first_of("\r\n"), bytes.size());
    const std::string_view text = bytes.substr(0, end);
    const auto first = std::find_if_not(text.begin(), text.end(), is_blank);
    if (first != text.end() && *first != '#') return "";  // code: no cookie counts below it
    if (std::string name = cookie_in(text); !name.empty()) return name;
    bytes.remove_prefix(std::min(end + (bytes.substr(end, 2) == "\r\n" ? 2 : 1), bytes.size()));
  }
  return "";
}

EncodingKind encoding_kind(std::string_view name) {
  const std::string plain = normalized(name);
  if (is_or_begins(plain, "utf_8") || is_in(kUtf8, plain)) return EncodingKind::utf8;
  if (is_in(kAscii, plain)) return EncodingKind::ascii;
  for (const std::string_view latin1 : {"latin_1", "iso_8859_1", "iso_latin_1"}) {
    if (is_or_begins(plain, latin1)) return EncodingKind::single_byte;
  }
  if (is_in(kDoubleByte, plain)) return EncodingKind::double_byte;
  if (is_in(kShiftJis, plain)) return EncodingKind::shift_jis;
  return is_in(kSingleByte, plain) || is_in(kUpperPairs, plain) ? EncodingKind::single_byte : EncodingKind::other;
}

AsciiView ascii_view(std::string_view bytes, EncodingKind kind) {
  AsciiView view{std::string(bytes), std::nullopt};
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t size = character_size(bytes.substr(at), kind);
    if (size == 0) {
      view.bad = at;
      break;
    }
    if (is_upper_half(bytes[at])) std::fill_n(view.text.begin() + static_cast<std::ptrdiff_t>(at), size, 'x');
    at += size;
  }
  return view;
}

}  // namespace suture
