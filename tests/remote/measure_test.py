"""examples/measure against a small server that streams as an OpenAI-compatible one does.

Time is not asserted: what is, are lower bounds (the server sleeps that long before each token), and the figures that
known samples give.
"""

import contextlib
import http.server
import importlib.util
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import driver  # noqa: E402

SCRIPT = driver.SOURCE / "examples" / "measure" / "measure.py"
FIRST, NEXT, TOKENS = 0.03, 0.01, 5


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server = self.server
        if server.refusals > 0:
            server.refusals -= 1
            self.send_error(503)
            return
        self.answer(json.dumps(server.models).encode())

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def chunk(self, data):
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def event(self, document):
        self.chunk(b"data: " + (document if isinstance(document, bytes) else json.dumps(document).encode()) + b"\n\n")

    def do_POST(self):
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with server.lock:
            server.seen.append((self.path, body))
            number = len(server.seen)
            server.now += 1
            server.most = max(server.most, server.now)
        self.counted = True
        try:
            self.stream(body, server.mischief(number))
        finally:
            self.leave()

    def leave(self):
        """Before the last word is sent: whoever reads it may come with the next request at once."""
        with self.server.lock:
            self.server.now -= self.counted
            self.counted = False

    def stream(self, body, mischief):
        if mischief == "500":
            self.leave()
            self.send_error(500, "out of slots")
            return
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if mischief == "error":
            self.event({"error": {"message": "the request is too long"}})
        if mischief.startswith("says "):
            self.event(mischief[5:].encode(errors="surrogateescape"))
            self.leave()
            self.event(b"[DONE]")
            self.chunk(b"")
            return
        chat = self.path.endswith("/chat/completions")
        if chat:
            self.event({"choices": [{"delta": {"role": "assistant", "content": ""}}]})  # no token yet
        for number in range(TOKENS):
            time.sleep(self.server.first if number == 0 else self.server.next)
            self.event({"choices": [{"delta": {"content": "a"}} if chat else {"text": "a"}], "usage": None})
            if mischief == "cut" and number == 2:
                self.close_connection = True
                self.connection.close()
                return
        if self.server.usage:
            self.event({"choices": [], "usage": {"completion_tokens": self.server.usage}})
        self.leave()
        self.event(b"[DONE]")
        self.chunk(b"")

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving(first=FIRST, each=NEXT, usage=0, mischief=lambda number: ""):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None
    server.daemon_threads = True
    server.first, server.next, server.usage, server.mischief = first, each, usage, mischief
    server.models = {"data": [{"id": "toy"}]}
    server.seen, server.lock, server.now, server.most, server.refusals = [], threading.Lock(), 0, 0, 0
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def run(*words, exit_code=0):
    done = subprocess.run([sys.executable, SCRIPT, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == exit_code, f"{words}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def load(server, requests=6, *more):
    return ["--url", f"http://127.0.0.1:{server.server_port}", "--requests", requests, "--warmup", 2, "--words", 20, *more]


def one_run():
    for usage, tokens in ((0, TOKENS), (9, 9)):
        with serving(usage=usage) as server:
            document = json.loads(run("run", *load(server, 6, "--concurrency", 3, "--json", "--extra", '{"ignore_eos": true}')).stdout)
            assert (document["model"], len(document["samples"]), document["tokens"]) == ("toy", 6, 6 * tokens), document
            for sample in document["samples"]:
                # Of both together: a client that was slow to read the first token waits less for the others.
                whole = sample["ttft"] + sample["tpot"] * (tokens - 1)
                assert sample["ttft"] >= FIRST and whole >= FIRST + NEXT * (TOKENS - 1), sample
            assert server.most <= 3 and len(server.seen) == 8, server.most
            bodies = [body for _, body in server.seen]
            assert len({body["prompt"][:12] for body in bodies}) == 8, "two prompts begin alike"
            assert all(body["stream"] and body["ignore_eos"] and body["temperature"] == 0 for body in bodies)
    with serving() as server:
        said = run("run", *load(server, 6, "--chat")).stdout
        assert "6 of 6 requests answered, 30 tokens" in said and "TTFT, median" in said and "TPOT, p99" in said, said
        assert {path for path, _ in server.seen} == {"/v1/chat/completions"}


def before_and_after(scratch):
    """The same prompts twice; the second server is faster, and the comparison says by how much."""
    asked = []
    for name, pace in (("before", 4), ("after", 1)):
        with serving(FIRST * pace, NEXT * pace) as server:
            run("run", *load(server), "--out", scratch / f"{name}.json")
            asked.append(sorted(body["prompt"] for _, body in server.seen))
    assert asked[0] == asked[1], "the two runs asked different things"
    comparison = json.loads(run("compare", scratch / "before.json", scratch / "after.json", "--json").stdout)
    assert comparison["differs"] == [] and comparison["failed"] == {"before": 0, "after": 0}
    runs = [json.loads((scratch / f"{name}.json").read_text()) for name in ("before", "after")]
    for key, figure in comparison["figures"].items():
        name, _, part = key.partition("_")
        values = [one[key] if key == "tokens_per_s" else one[name][part] for one in runs]
        assert [figure["before"], figure["after"]] == values and figure["change"] == values[1] / values[0] - 1, key
    said = run("compare", scratch / "before.json", scratch / "after.json").stdout
    assert [line.split(",")[0].split()[0] for line in said.splitlines()[1:]] == ["TTFT", "TTFT", "TPOT", "TPOT", "tokens/s"], said


def around_a_command(scratch):
    """The server is away for a while after the command; then it is measured again."""
    with serving() as server:
        mark = scratch / "mark"
        server.mischief = lambda number: setattr(server, "refusals", 3 if number == 8 else server.refusals) or ""
        out = scratch / "both.json"
        words = ["around", *load(server), "--model", "toy", "--json", "--out", out, "--", "sh", "-c", f"echo patched; touch {mark}"]
        done = run(*words)
        assert mark.exists() and "patched" in done.stderr and set(json.loads(done.stdout)) == {"figures", "differs", "failed"}, done
        assert len(server.seen) == 16 and server.refusals == 0 and set(json.loads(out.read_text())) == {"before", "after"}
        # COMMAND fails, and finds what was measured before it; so does the user.
        kept = scratch / "kept.json"
        said = run("around", *load(server), "--out", kept, "--", "sh", "-c", f"test -s {kept} && exit 4", exit_code=3).stderr
        assert "ended with 4" in said and "6 of 6 requests answered" in said, said
        assert len(json.loads(kept.read_text())["before"]["samples"]) == 6
    same = json.loads(run("compare", out, out, "--json").stdout)
    assert same == json.loads(done.stdout), "the runs in a file of `around` can be compared again"
    run("compare", kept, kept, exit_code=2)


def requests_that_fail():
    troubles = {3: "500", 4: "cut", 5: "error"}
    with serving(mischief=lambda number: troubles.get(number, "")) as server:
        done = run("run", *load(server, 6, "--concurrency", 1), exit_code=1)
        assert "3 of 6 requests answered, 15 tokens" in done.stdout, done.stdout
        for words in ("HTTP 500", "not answered, 1x: the request is too long"):
            assert words in done.stderr, done.stderr
        assert done.stderr.count("not answered") == 3, done.stderr
        address = f"http://127.0.0.1:{server.server_port}"
    assert "refused" in run("run", "--url", address, exit_code=3).stderr


def servers_that_talk_nonsense():
    """Each request is a sample or a failure, whatever comes: never neither, which would be exit 0."""
    says = {'{"error": "boom"}': "boom", '{"error": {"code": 5}}': "{'code': 5}", '{"choices": null}': "no token came",
            '{"choices": {}}': '"choices" of a chunk is no list', '{"choices": ["a"]}': "a choice of a chunk is no object",
            '{"choices": [{"delta": "a"}]}': '"delta" of a chunk is no dict', '{"usage": 7}': '"usage" of a chunk is no dict',
            '{"usage": {"completion_tokens": "5"}}': '"completion_tokens" of a chunk is no int', "[1]": "no object: [1]",
            "null": "no object: None", "{": "is not JSON", "[" * 100000: "is not JSON", '"\udcff"': "is not JSON"}
    for text, words in says.items():
        with serving(mischief=lambda _, text=text: f"says {text}") as server:
            said = call("run", *load(server, 3), "--concurrency", 2, exit_code=1)
            assert "0 of 3 requests answered" in said and "not answered, 3x: " in said and words in said, (text[:40], said)
    with serving() as server:
        for models in ({"data": None}, {"data": []}, {"data": ["toy"]}, {"data": [{"id": None}]}, [], None, {}):
            server.models = models
            said = call("run", *load(server), exit_code=3)
            assert said.startswith("measure: ") and "/v1/models" in said, (models, said)
    measure = imported()

    def boom(*_):
        raise RuntimeError("nobody thought of it")

    measure.ask = boom
    samples, failures, _ = measure.ask_all(None, [("/", {})] * 5, 2)
    assert (samples, failures) == ([], ["RuntimeError: nobody thought of it"] * 5)


def command_lines_that_are_wrong(scratch):
    """Exit 2 before the server is asked anything."""
    with serving() as server:
        address = f"http://127.0.0.1:{server.server_port}"
        old = scratch / "old.json"
        old.write_text("what stands there")
        for words in (["--requests", "0"], ["--warmup", "-1"], ["--timeout", "0"], ["--timeout", "nan"], ["--timeout", "inf"],
                      ["--timeout", "-1"], ["--extra", "[1]"], ["--extra", "null"], ["--extra", "{"], ["--out", scratch / "no" / "x"],
                      ["--out", scratch], ["--url", "localhost:80"], ["--url", "http://"], ["--url", "http://h:99999"],
                      ["--url", "http://h:x"], ["--url", "http://[::1"], ["--url", "http://a..b"], ["--url", "http://h/a b"]):
            said = call("run", "--url", address, "--out", old, *words, exit_code=2)
            assert "usage: " in said and f"error: argument {words[0]}: " in said, (words, said)
        assert not server.seen and old.read_text() == "what stands there"
        call("run", *load(server, 1), "--warmup", 0, "--out", old)
        assert len(server.seen) == 1
    good = json.loads(old.read_text())
    broken = scratch / "broken.json"
    for text in ("[]", "{}", "null", "3", "{", "", "\xff", json.dumps({**good, "samples": None}), json.dumps({**good, "ttft": 5}),
                 json.dumps({**good, "samples": [{"ttft": None, "tpot": None}]}), json.dumps({**good, "tokens_per_s": "9"})):
        broken.write_bytes(text.encode("latin-1"))
        for pair in ((old, broken), (broken, old)):
            said = call("compare", *pair, exit_code=2)
            assert said.startswith("measure: ") and "broken.json" in said, (text, said)
    call("compare", old, scratch / "nowhere", exit_code=2)
    call("compare", old, old)


def imported():
    spec = importlib.util.spec_from_file_location("measure", SCRIPT)
    measure = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(measure)
    return measure


def call(*words, exit_code=0):
    """As run(), without a process, which would be most of the time; a traceback is this test's own. What both streams say."""
    measure, said = imported(), io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said), mock.patch.object(sys, "argv", ["measure.py", *map(str, words)]):
        try:
            code = measure.main()
        except SystemExit as ended:
            code = ended.code
    assert code == exit_code, f"{words}: exit code {code}\n{said.getvalue()}"
    return said.getvalue()


def known_samples():
    measure = imported()
    hundred = [float(number) for number in range(1, 101)]
    assert [measure.quantile(hundred, share) for share in (0.5, 0.99, 1.0)] == [50.0, 99.0, 100.0]
    assert [measure.quantile(values, 0.99) for values in ([3.0], [1.0, 2.0], [])] == [3.0, 2.0, None]
    samples = [{"ttft": 0.2, "tpot": 0.01, "tokens": 11, "seconds": 0.3}, {"ttft": 0.4, "tpot": None, "tokens": 1, "seconds": 0.4}]
    assert measure.summary(samples, 2.0) == {"seconds": 2.0, "tokens": 12, "tokens_per_s": 6.0,
                                            "ttft": {"median": 0.2, "p99": 0.4}, "tpot": {"median": 0.01, "p99": 0.01}}
    low, high = measure.interval(hundred, [value / 2 for value in hundred])
    assert low < -0.5 < high < 0 and measure.interval([1.0], [1.0]) is None
    low, high = measure.interval(hundred, hundred)
    assert low < 0 < high, "no change must lie within the interval"


def main():
    with tempfile.TemporaryDirectory(prefix="suture-measure-") as folder:
        scratch = pathlib.Path(folder)
        for test, arguments in ((known_samples, ()), (one_run, ()), (before_and_after, (scratch,)), (around_a_command, (scratch,)),
                                (requests_that_fail, ()), (servers_that_talk_nonsense, ()), (command_lines_that_are_wrong, (scratch,))):
            test(*arguments)
            print(f"ok  {test.__name__}")


if __name__ == "__main__":
    main()
