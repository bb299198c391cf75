"""Where `suture trace --html FILE` writes: a page replaces a page, never a trace, a link, a pipe or a device. And a trace that is a pipe."""

import gzip
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import driver  # noqa: E402

TRACE = '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 1, "tid": 1, "ts": 1, "dur": 4, "args": {}}]}'


def is_page(data):
    return data.lower().startswith(b"<!doctype html") and data.rstrip().endswith(b"</html>")


def trace_is_kept(folder):
    trace, other = folder / "self.json", folder / "other.json"
    trace.write_text(TRACE)
    other.write_text(TRACE + " ")
    (folder / "link.json").symlink_to("self.json")
    os.link(trace, folder / "hard.json")
    for page in ("self.json", "link.json", "hard.json"):
        _, words = driver.suture("trace", trace, "--html", folder / page, exit_code=2)
        assert "is the trace" in words and page in words, words
    _, words = driver.suture("trace", other, "--against", trace, "--html", trace, exit_code=2)
    assert "--against" in words, words
    _, words = driver.suture("trace", other, trace, "--html", trace, exit_code=2)
    assert trace.read_text() == TRACE and other.read_text() == TRACE + " "
    assert (folder / "link.json").is_symlink() and len(list(folder.iterdir())) == 4


def through_links(folder):
    trace = folder / "t.json"
    trace.write_text(TRACE)
    (folder / "pages").mkdir()
    page = folder / "pages" / "page.html"
    (folder / "link.html").symlink_to("pages/page.html")
    (folder / "again.html").symlink_to(folder / "link.html")
    for name in ("link.html", "again.html"):  # first nothing is behind it, then a page
        driver.suture("trace", trace, "--html", folder / name)
        assert (folder / name).is_symlink() and is_page(page.read_bytes()), name
    page.write_text("old")
    page.chmod(0o640)
    driver.suture("trace", trace, "--html", page)
    assert is_page(page.read_bytes()) and stat.S_IMODE(page.stat().st_mode) == 0o640
    (folder / "loop.html").symlink_to("loop.html")
    _, words = driver.suture("trace", trace, "--html", folder / "loop.html", exit_code=6)
    assert "Too many levels of symbolic links" in words, words
    _, words = driver.suture("trace", trace, "--html", folder / "pages", exit_code=6)
    assert "Is a directory" in words, words
    assert [each.name for each in (folder / "pages").iterdir()] == ["page.html"]


def through_pipes(folder):
    trace, pipe = folder / "t.json", folder / "pipe"
    trace.write_text(TRACE)
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    driver.suture("trace", trace, "--html", pipe)
    reader.join(20)
    assert got and is_page(got[0]) and stat.S_ISFIFO(pipe.lstat().st_mode)
    assert sorted(each.name for each in folder.iterdir()) == ["pipe", "t.json"]
    out, _ = driver.suture("trace", trace, "--html", "/dev/stdout", "--json")  # a pipe, behind links
    assert out.lower().startswith(b"<!doctype html") and out.rstrip().endswith(b"}"), out[-80:]


def from_pipes(folder):
    trace, pipe = folder / "t.json", folder / "pipe"
    trace.write_text(TRACE)
    for data in (TRACE.encode(), gzip.compress(TRACE.encode()), TRACE.encode() + b" " * 3000000):
        run = subprocess.run([driver.SUTURE, "trace", "/dev/stdin"], input=data, capture_output=True, check=True)
        assert run.stdout.startswith(b"/dev/stdin: 1 events") and not run.stderr, run
    run = subprocess.run([driver.SUTURE, "trace", "/dev/stdin"], input=b"", capture_output=True, check=False)
    assert run.returncode == 6 and b"/dev/stdin is empty" in run.stderr, run
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(TRACE), daemon=True)
    writer.start()
    out, _ = driver.suture("trace", pipe, "--html", folder / "page.html")
    writer.join(20)
    assert b"1 kernels" in out and is_page((folder / "page.html").read_bytes()), out


def stacks_of_a_pipe(_folder):
    path = HERE / "data" / "decode_full_cast_stack.json.gz"
    with path.open("rb") as file:
        run = subprocess.run([driver.SUTURE, "trace", "/dev/stdin"], input=file.read(), capture_output=True, check=True)
    assert b"whole-pool-cast" in run.stdout and b"takes a second pass" in run.stderr, run.stderr


def main():
    for check in (from_pipes, stacks_of_a_pipe, trace_is_kept, through_links, through_pipes):
        with tempfile.TemporaryDirectory(prefix="suture-page-") as folder:
            check(pathlib.Path(folder))
        print(f"ok      {check.__name__}")


if __name__ == "__main__":
    main()
