"""The page of `suture trace --html`, as text: one file that asks for nothing else, whole tables, and no name of a trace read as HTML.

How it looks and works in a browser: `make test-page` (browser.py).
"""

import html.parser
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import driver  # noqa: E402

VOID = {"meta", "link", "br", "hr", "img", "input", "use", "rect"}


class Page(html.parser.HTMLParser):
    """Elements in order, with their attributes and what encloses them; every element must be closed in its turn."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.text = [], [], ""
        self.rows = []  # cells of each row, by table
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag == "table":
            self.rows.append([])
        if tag == "tr":
            self.rows[-1].append(0)
        if tag in ("td", "th"):
            self.rows[-1][-1] += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.text += data

    def of(self, tag):
        return [attrs for each, attrs in self.elements if each == tag]


def page_of(folder, *arguments):
    path = pathlib.Path(folder) / "page.html"
    driver.suture("trace", *arguments, "--html", path)
    return Page(path.read_text(encoding="utf-8")), path.read_text(encoding="utf-8")


def asks_for_nothing(page):
    for tag, attrs in page.elements:
        for name, value in attrs.items():
            assert not name.startswith("on"), (tag, name)
            if name in ("src", "href", "action", "data", "srcset", "poster"):
                assert value.startswith(("#", "data:,")), (tag, name, value)
    assert any("default-src 'none'" in attrs.get("content", "") for attrs in page.of("meta"))


def whole(page):
    assert page.elements[0][0] == "html" and page.of("html")[0]["lang"] == "en"
    assert len(page.of("main")) == 1 and [tag for tag, _ in page.elements[:8]].count("title") == 1
    for table in page.rows:
        assert len(table) > 1 and len(set(table)) == 1, table
    for attrs in page.of("th"):
        assert attrs.get("scope") == "col"
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids)), ids
    for attrs in page.of("use"):
        assert attrs["href"][1:] in ids
    asks_for_nothing(page)


def main():
    data = HERE / "data"
    with tempfile.TemporaryDirectory(prefix="suture-page-") as folder:
        page, text = page_of(folder, data / "decode_full_cast_stack.json.gz")
        whole(page)
        for words in ("whole-pool-cast", "forward_decode", "sglang-cast-active-slots", "856.3 MB", "Operators", "Kernels"):
            assert words in page.text, words
        assert len(page.of("rect")) == 1248 and "prefers-color-scheme: dark" in text
        assert len(page.of("details")) == 1
        print("ok      a trace with stacks")

        page, _ = page_of(folder, data / "decode_gather_cast.json.gz", "--against", data / "decode_full_cast.json.gz")
        whole(page)
        assert "Before and after" in page.text and "-66" in page.text
        assert len([attrs for attrs in page.of("div") if attrs.get("class") == "bar"]) == 2
        print("ok      before and after")

        page, _ = page_of(folder, data / "decode_full_cast_graph.json.gz", data / "decode_gather_cast.json.gz")
        whole(page)
        assert len(page.of("h1")) == 2 and "inferred" in page.text
        print("ok      two traces on a page")

        nasty = '</title><script>alert(1)</script>"\'&<img src=x onerror=alert(1)>'
        events = [{"ph": "X", "cat": "user_annotation", "name": f"{nasty}{i}", "pid": 1, "tid": 1, "ts": i * 100, "dur": 90} for i in range(3)]
        events += [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": i * 100 + 5, "dur": 1,
                    "args": {"correlation": i + 1}} for i in range(3)]
        events += [{"ph": "X", "cat": "kernel", "name": nasty, "pid": nasty, "tid": nasty, "ts": i * 100 + 50, "dur": 9,
                    "args": {"correlation": i + 1}} for i in range(3)]
        path = pathlib.Path(folder) / "<b>&.json"
        path.write_text(json.dumps(events)[:-1])  # without its last bracket: a page with a warning
        out = pathlib.Path(folder) / "nasty.html"
        driver.suture("trace", path, "--html", out, exit_code=6)
        page = Page(out.read_text(encoding="utf-8"))
        whole(page)
        assert len(page.of("script")) == 1 and not page.of("img") and not page.of("b")
        assert "alert(1)" in page.text and "damaged at byte" in page.text
        print("ok      hostile names")

        _, words = driver.suture("trace", data / "decode_full_cast_graph.json.gz", "--html", pathlib.Path(folder) / "none" / "x.html",
                                 exit_code=6)
        assert "No such file" in words
        left = sorted(each.name for each in pathlib.Path(folder).iterdir())
        assert left == ["<b>&.json", "nasty.html", "page.html"], left
        print("ok      a page that cannot be written")


if __name__ == "__main__":
    main()
