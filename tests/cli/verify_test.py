"""suture verify: command lines, what verify_kernels comes to, and interpreters that cannot verify a backend. What the harness
finds where it can run is tests/backend/verify_test.py.

The torch and FlashInfer here are invented modules that fail as the real ones do.
"""

import json
import sys

import scenario

BACKEND = "srt/layers/attention/flashinfer_mla_backend.py"
RULE = """\
file: srt/layers/attention/flashinfer_mla_backend.py
rules:
  - {id: casts-less, match: cast_all($POOL), replace: cast_some($POOL), expect: 1, ok: casts less}
"""
PATCH = """\
patch: toy-cast
summary: Casts less
package: {name: sglang, versions: ">=0"}
rules: [casts-less]
"""
ELSEWHERE = {
    "rules/else.yaml": "file: other.py\nrules:\n  - {id: else, match: a(), replace: b(), expect: 1, ok: b}\n",
    "patches/toy-else/patch.yaml": "patch: toy-else\nsummary: Elsewhere\npackage: {name: sglang, versions: '>=0'}\nrules: [else]\n",
}


def tree(s, applied=True):
    s.write("rules/cast.yaml", RULE)
    s.write("patches/toy-cast/patch.yaml", PATCH)
    files = {"__init__.py": "", "other.py": "a()\n", BACKEND: "keys = cast_all(pool)\n"}
    s.install(files, name="sglang", version="0.5.9")
    if applied:
        assert s.run_raw("apply", "toy-cast", "-t", "site", shown=False).returncode == 0


def verify(s, code, *options, python=sys.executable, environment=None):
    """Runs verify --backend, holds it to the code, and to writing nothing; stderr."""
    environment = {"TMPDIR": str(s.folder / "tmp"), "PATH": "/usr/bin:/bin", **(environment or {})}
    (s.folder / "tmp").mkdir(exist_ok=True)
    with s.unchanged():
        done = s.run_raw(
            "verify", "--backend", "-t", "site", "--python", str(python), *options, environment=environment, shown=False
        )
    words = done.stderr.decode()
    assert done.returncode == code, (done.returncode, words, done.stdout.decode())
    assert not list((s.folder / "tmp").iterdir()), "the harness left files behind"
    assert b"passed" not in done.stdout, done.stdout.decode()
    return words


def script(s, text):
    s.write("fake", "#!/bin/sh\n" + text + "\n")
    (s.folder / "fake").chmod(0o755)
    return s.folder / "fake"


def test_command_lines(s):
    """Options that do not belong together, and numbers that are none"""
    tree(s)
    s.run("verify", "-t", "site")
    s.run("verify", "toy-cast")
    s.run("verify", "--heads", "8")
    s.run("verify", "--mla-kernel", "fa2")
    s.run("verify", "--backend")
    s.run("verify", "--backend", "--plant", "stale-index", "--python", "python3")
    for option, value in (("--slots", "many"), ("--layers", "0"), ("--heads", "129"), ("--limit", "-1"), ("--mla-kernel", "fa4")):
        s.run("verify", "--backend", "-t", "site", "--python", "/no/python", option, value)


def test_trees(s):
    """No receipt of the patch, none of any patch, a patch of another file, a patch that nobody knows, and lost blobs"""
    tree(s, applied=False)
    for path, text in ELSEWHERE.items():
        s.write(path, text)
    arguments = ("verify", "--backend", "-t", "site", "--python", "/no/python")
    s.run(*arguments)
    s.run(*arguments, "toy-cast")
    s.run(*arguments, "toy-cost")
    s.run("apply", "toy-else", "-t", "site")
    s.run(*arguments)
    s.run(*arguments, "toy-else")
    s.run("apply", "toy-cast", "-t", "site")
    s.run(*arguments)
    for blob in (s.folder / "site/sglang/.suture/blobs").iterdir():
        blob.unlink()
    s.run(*arguments)
    s.write("empty/nothing.txt", "")
    s.run("verify", "--backend", "-t", "empty", "--python", "/no/python")


def test_interpreters_that_are_none(s):
    tree(s)
    for text, code, words in (
        ("cat > /dev/null; exit 0", 6, "its answer is not the harness's"),
        ("cat > /dev/null; echo '{}'", 6, "its answer is not the harness's: {}"),
        ("cat > /dev/null; echo 'SyntaxError: old' >&2; exit 1", 6, "it ended with exit code 1: SyntaxError: old"),
        ("kill -SEGV $$", 15, "it crashed (Segmentation fault)"),
        ("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", 6, "it printed without end"),
    ):
        err = verify(s, code, python=script(s, text))
        assert f"(--python) cannot verify the backend: {words}" in err and "hint:" in err, err
    assert "cannot be run: No such file" in verify(s, 6, python="/no/such/python")
    assert "no such program on PATH" in verify(s, 6, python="no-such-python")


TORCH = """\
from types import SimpleNamespace
__version__ = "9.9"
version = SimpleNamespace(cuda=%(cuda)r)
class OutOfMemoryError(RuntimeError):
    pass
def set_grad_enabled(on):
    pass
bfloat16 = int32 = uint8 = None
def tensor(*args, **kwargs):
    return None
def zeros(*args, **kwargs):
    %(zeros)s
def init():
    %(init)s
cuda = SimpleNamespace(
    init=init, current_device=lambda: 0, get_device_properties=lambda i: SimpleNamespace(name="A toy GPU")
)
"""
FLASHINFER = """\
class BatchMLAPagedAttentionWrapper:
    def __init__(self, workspace):
        raise RuntimeError("Ninja build failed.\\n[1/2] nvcc x.cu\\nmla.cuh(343): error: no member op\\nstop")
"""


def modules(s, cuda="13.0", init="pass", zeros="return None", flashinfer=None):
    s.write("lib/torch.py", TORCH % {"cuda": cuda, "init": init, "zeros": zeros})
    if flashinfer is not None:
        s.write("lib/flashinfer/__init__.py", "__version__ = '0.6.3'\n")
        s.write("lib/flashinfer/mla.py", flashinfer)
    return {"PYTHONPATH": str(s.folder / "lib")}


def test_what_is_not_there(s):
    """Each with a code of its own, and a sentence that says what to do."""
    tree(s)
    s.write("lib/torch.py", "raise ImportError('libcudart.so.13: cannot open shared object file')\n")
    err = verify(s, 9, environment={"PYTHONPATH": str(s.folder / "lib")})
    assert "the interpreter has no torch that loads: ImportError: libcudart" in err and "hint:" in err, err
    err = verify(s, 8, environment=modules(s, cuda=None))
    assert "skipped, nothing was verified" in err and "torch 9.9 is built without CUDA" in err, err
    old = 'raise RuntimeError("The NVIDIA driver on your system is too old (found version 11040)")'
    err = verify(s, 13, environment=modules(s, init=old))
    assert "too old (found version 11040)" in err and "update the driver" in err, err
    err = verify(s, 8, environment=modules(s, init='raise RuntimeError("No CUDA GPUs are available")'))
    assert "No CUDA GPUs are available" in err and "--gpus all" in err, err
    err = verify(s, 10, environment=modules(s))
    assert "no FlashInfer that loads: ModuleNotFoundError" in err and "hint:" in err, err
    err = verify(s, 10, environment=modules(s, flashinfer=FLASHINFER))
    assert "FlashInfer 0.6.3: RuntimeError: mla.cuh(343): error: no member op" in err and "nvcc" in err, err
    full = 'raise OutOfMemoryError("CUDA out of memory. Tried to allocate 1 GiB. GPU 0 has little")'
    err = verify(s, 11, environment=modules(s, zeros=full, flashinfer=FLASHINFER))
    assert "too little free memory" in err and "Tried to allocate 1 GiB" in err and "--slots" in err, err


def test_it_ends_in_time(s):
    tree(s)
    err = verify(s, 12, "--limit", "1", environment=modules(s, init="import time; time.sleep(600)"))
    assert "it did not end in time: " in err and "--limit" in err, err


def test_json(s):
    tree(s)
    done = s.run_raw("verify", "--backend", "-t", "site", "--python", sys.executable, "--json", shown=False,
                     environment=modules(s, cuda=None))
    document = json.loads(done.stdout)
    assert (done.returncode, document["exit"], document["verification"]["error"]["kind"]) == (8, 8, "no-gpu"), document
    assert done.stderr == b"", done.stderr


def test_kernels(s):
    """What each exit code of verify_kernels comes to; never a pass for a GPU part that was skipped"""
    for code in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11):
        s.write("kernels", f'#!/bin/sh\necho "kernels: $*"\nexit {code}\n')
        (s.folder / "kernels").chmod(0o755)
        s.run("verify", "--kernels", "kernels", "--plant", "stale-index", "--seed", "7", "--bench", "-q")
    s.write("kernels", "#!/bin/sh\nkill -ABRT $$\n")
    s.run("verify", "--kernels", "kernels")
    s.write("kernels", "#!/bin/sh\necho '{\"checks\": 3}'\n")
    s.run("verify", "--kernels", "kernels", "--json")
    s.run("verify", "--kernels", "no/kernels")


def test_no_kernels_beside_the_binary(s):
    binary = s.folder / "bin/suture"
    binary.parent.mkdir()
    binary.write_bytes(s.binary.read_bytes())
    binary.chmod(0o755)
    s.binary = binary
    s.run("verify")
    (binary.parent / "verify_kernels").mkdir()  # as in a build folder: no program, what is in it may be
    s.run("verify")


def test_the_real_kernels(s):
    """verify_kernels itself, its CPU part: holds, catches a planted error, refuses what it does not take"""
    kernels = s.binary.parent / "verify_kernels/verify_kernels"
    if not kernels.exists():
        print("verify_kernels is not built here: its exit codes stand for it above")
        return
    done = s.run_raw("verify", "--only", "cpu", "--quiet", shown=False)
    assert done.returncode == 0 and b"all hold" in done.stdout, (done.returncode, done.stdout, done.stderr)
    done = s.run_raw("verify", "--only", "cpu", "--quiet", "--plant", "stale-count", shown=False)
    assert done.returncode == 0 and b"caught in" in done.stdout, (done.returncode, done.stdout, done.stderr)
    done = s.run_raw("verify", "--slots", "3", shown=False)
    assert done.returncode == 2 and b"out of range" in done.stderr, (done.returncode, done.stderr)
    done = s.run_raw("verify", "--only", "cpu", "--json", "--kernels", str(kernels), shown=False)
    document = json.loads(done.stdout)
    assert (done.returncode, document["verification"]["exit"]) == (0, 0), document
    assert document["verification"]["parts"][0]["part"] == "CPU", document["verification"]["parts"][0]


scenario.main(globals())
