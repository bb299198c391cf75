"""What `suture verify --backend` runs in the target's interpreter: the original backend file and the patched one, each
loaded alone, with the real FlashInfer. One request, a dictionary; one answer, a line of JSON.

    request  file: which backend file, a name of subjects.py; original, patched: its two texts; added: {path in the
             package: file}; a file is a string, or {"base64": ...} where it is not UTF-8
             heads, slots, layers: numbers; page_size: of the measured steps, 1 where it is not said
             mla_kernel: of FlashInfer, "fa2" or "fa3"; "": the one that it picks
             double: the folder of the CPU's double, for tests ("" on a GPU)
             limit: seconds
    answer   error: {kind, message} or null; versions, device; paths: one each, see _path_row; steps: measure.row;
             bytes_kept: of both sides; unmeasured: why there are no steps, or ""

Kinds of error: no-torch, no-gpu, driver-too-old, not-taken, no-flashinfer, flashinfer-fails, no-sgl-kernel,
sgl-kernel-fails, out-of-memory, timed-out, gpu-lost, crashed.
"""

import base64
import json
import os
import pathlib
import platform
import shutil
import sys
import threading
import time
import traceback

ATTENTION = "srt/layers/attention"
FLASHINFER = "flashinfer_mla_backend.py"  # the default, and what FlashInfer is needed for


class Unfit(Exception):
    """It cannot be verified here: why."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


class Run:
    """The request, the answer as far as it is known, and what is being done: the watchdog tells it."""

    def __init__(self, request, folder, out):
        self.request, self.folder, self.out = request, pathlib.Path(folder), out
        self.begin = time.monotonic()
        self.doing = "starting"
        self.lock = threading.Lock()
        self.answer = {
            "error": None, "versions": {"python": platform.python_version()}, "device": "", "paths": [], "steps": [],
            "bytes_kept": [0, 0], "unmeasured": "",
        }  # fmt: skip

    def step(self, words):
        self.doing = words

    def say(self, error=None):
        """Once: whoever comes first, the run or the watchdog."""
        if self.lock.acquire(blocking=False):
            self.answer["error"] = error
            self.answer["seconds"] = round(time.monotonic() - self.begin, 1)
            self.out.write(json.dumps(self.answer) + "\n")
            self.out.flush()


def one_line(error):
    """The first line that says something; of a failed build the first that names an error."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    wrong = [line for line in lines if "error:" in line.lower()]
    text = (wrong or lines or [""])[0]
    return f"{type(error).__name__}: {text}"[:500]


# --- what is there ---------------------------------------------------------------------------------------------------


def import_torch(run):
    run.step("importing torch")
    try:
        import torch
    except Exception as error:  # noqa: BLE001 - a torch that does not load is none
        raise Unfit("no-torch", one_line(error)) from None
    run.answer["versions"]["torch"] = torch.__version__
    return torch


def find_gpu(run, torch):
    if torch.version.cuda is None:
        raise Unfit("no-gpu", f"torch {torch.__version__} is built without CUDA")
    try:
        torch.cuda.init()
        properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    except Exception as error:  # noqa: BLE001 - no driver, one that is too old, no device
        raise Unfit("driver-too-old" if "too old" in str(error) else "no-gpu", one_line(error)) from None
    run.answer["device"] = properties.name
    run.answer["versions"]["CUDA"] = torch.version.cuda


def version_of(module):
    try:
        return __import__(module).__version__
    except Exception:  # noqa: BLE001 - only told
        return ""


def try_flashinfer(run, torch):
    """Imports it, and runs its kernels once on a batch of one: they may have to be compiled first."""
    run.step("importing FlashInfer")
    try:
        from flashinfer.mla import BatchMLAPagedAttentionWrapper
    except Exception as error:  # noqa: BLE001
        raise Unfit("no-flashinfer", one_line(error)) from None
    versions = run.answer["versions"]
    versions["FlashInfer"], versions["Triton"] = version_of("flashinfer"), version_of("triton")
    run.step("compiling FlashInfer's MLA kernel")
    kernel = {"backend": run.request["mla_kernel"]} if run.request["mla_kernel"] else {}
    kinds = [(torch.bfloat16, {})]
    if kind_of_patch(text_of(run.request["patched"])) == "native":
        kinds.append((torch.float8_e4m3fn, {"ckv_scale": 1.0, "kpe_scale": 1.0}))
    try:
        for dtype, scales in kinds:
            workspace = torch.zeros(128 << 20, dtype=torch.uint8, device="cuda")
            wrapper = BatchMLAPagedAttentionWrapper(workspace, **kernel)
            run_once(torch, wrapper, run.request["heads"], dtype, scales)
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # noqa: BLE001
        raise Unfit("flashinfer-fails", f"FlashInfer {versions['FlashInfer']}: {one_line(error)}") from None
    versions["kernel"] = getattr(wrapper, "_backend", "")


def run_once(torch, wrapper, heads, dtype, scales):
    def numbers(*values):
        return torch.tensor(values, dtype=torch.int32, device="cuda")

    wrapper.plan(
        numbers(0, 1), numbers(0, 1), numbers(0), numbers(1), heads, 512, 64, 1, False, 192**-0.5, torch.bfloat16, dtype
    )
    keys = torch.zeros(1, 1, 576, dtype=torch.uint8, device="cuda").to(dtype)
    query = torch.zeros(1, heads, 576, dtype=torch.bfloat16, device="cuda")
    wrapper.run(query[..., :512], query[..., 512:], keys[..., :512], keys[..., 512:], **scales)
    torch.cuda.synchronize()


def check_assumptions(run, torch):
    """What sglang-native-fp8-kv assumes of the GPU: where that does not hold it plans and casts as without it, and equal
    bits would say nothing."""
    if kind_of_patch(text_of(run.request["patched"])) != "native":
        return
    if run.request["mla_kernel"] == "fa2":
        raise Unfit("not-taken", "sglang-native-fp8-kv leaves the kernel fa2 as it is (--mla-kernel)")
    major, minor = torch.cuda.get_device_capability()
    if major != 9:
        raise Unfit("not-taken", f"FlashInfer's MLA kernels read FP8 keys on SM90 alone, and this GPU is SM{major}{minor}")


def try_flash_attention(run, torch):
    """Imports SGLang's kernels, and runs FlashAttention 3 once on a batch of one."""
    run.step("importing sgl_kernel")
    import device

    try:
        attend = device.flash_attention_3()
    except Exception as error:  # noqa: BLE001 - sgl_kernel hides what failed behind an ImportError of its own
        cause = error.__context__
        raise Unfit("no-sgl-kernel", one_line(error) + (f" ({one_line(cause)})" if cause else "")) from None
    versions = run.answer["versions"]
    versions["sgl-kernel"], versions["Triton"] = device.sgl_kernel_version(), version_of("triton")
    run.step("running FlashAttention 3")
    heads = run.request["heads"]
    numbers = torch.tensor([[0, 1]], dtype=torch.int32, device="cuda")
    keys = torch.zeros(1, 1, 1, 576, dtype=torch.bfloat16, device="cuda")
    query = torch.zeros(1, heads, 576, dtype=torch.bfloat16, device="cuda")
    try:
        attend(
            q=query[..., 512:], qv=query[..., :512].contiguous(), k_cache=keys[..., 512:], v_cache=keys[..., :512],
            page_table=numbers[:, :1], cache_seqlens=numbers[0, 1:], cu_seqlens_q=numbers[0], max_seqlen_q=1,
            softmax_scale=192**-0.5, causal=True,
        )  # fmt: skip
        torch.cuda.synchronize()
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # noqa: BLE001
        raise Unfit("sgl-kernel-fails", f"sgl-kernel {versions['sgl-kernel']}: {one_line(error)}") from None
    versions["kernel"] = "fa3"


def file_of(run):
    return run.request.get("file", FLASHINFER)


def open_device(run, torch):
    double = run.request["double"]
    if double:
        sys.path.insert(1, double)
        import double as cpu

        what = "FlashInfer" if file_of(run) == FLASHINFER else "FlashAttention"
        run.answer["device"] = f"the CPU, with a double of {what}: proves nothing about a GPU"
        torch.set_num_threads(1)
        return cpu.device(run.request["heads"], kind_of_patch(text_of(run.request["patched"])))
    find_gpu(run, torch)
    check_assumptions(run, torch)
    (try_flashinfer if file_of(run) == FLASHINFER else try_flash_attention)(run, torch)
    import device

    return device.Cuda(run.request["heads"], run.request["mla_kernel"])


# --- the two trees ---------------------------------------------------------------------------------------------------


def bytes_of(file):
    return file.encode() if isinstance(file, str) else base64.b64decode(file["base64"])


def text_of(file):
    return bytes_of(file).decode(errors="replace")


def write_trees(run):
    """Package folders with the one file, and on the patched side the files that patches added."""
    request = run.request
    backend = f"{ATTENTION}/{file_of(run)}"
    sides = {"original": {backend: request["original"]}, "patched": {backend: request["patched"], **request["added"]}}
    for side, files in sides.items():
        for path, file in files.items():
            target = run.folder / side / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(bytes_of(file))
    return run.folder / "original", run.folder / "patched"


def kind_of_patch(text):
    """What attention is to be handed; None: only the bits are looked at."""
    if "cast_active_pages(" in text:
        return "pages"
    if "gather_then_cast(" in text:
        return "gather"
    if "suture_fp8_kv." in text:
        return "native"
    return "cast" if "cast_active_slots(" in text else None


# --- running ---------------------------------------------------------------------------------------------------------


def run_paths(run, device, subject, original, patched):
    import sides

    patch = kind_of_patch(text_of(run.request["patched"]))
    there = subject.runnable(text_of(run.request["original"]))
    for name in subject.paths:
        if name not in there:
            run.answer["paths"].append({"path": name, "state": "not-there", "why": "", "outputs": 0, "difference": 0.0})
            continue
        run.step(name)
        outcome = sides.run_path(device, name, original, patched, patch, patch is not None, subject)
        run.answer["paths"].append(_path_row(name, outcome))
        if outcome.why is not None and not device.alive():
            raise Unfit("gpu-lost", f"{name}: {outcome.why}")


def _path_row(name, outcome):
    """state: equal, different, not-run (the original side did not run: why), not-there (this release has no such path)."""
    state = "equal" if outcome.why is None else "not-run" if outcome.not_run else "different"
    difference = outcome.difference if outcome.difference == outcome.difference else None  # JSON has no NaN
    return {
        "path": name, "state": state, "why": outcome.why or "", "outputs": outcome.outputs, "difference": difference,
    }  # fmt: skip


def run_steps(run, device, subject, original, patched):
    import measure

    request = run.request
    page_size = request.get("page_size", 1)
    rows = request["slots"] // page_size * page_size
    context = min(16_384, rows)
    cases = measure.cases_for(rows, context, page_size) if not request["double"] else [measure.Case(1, 20), measure.Case(3, 7)]
    if not cases:
        run.answer["unmeasured"] = f"{rows} slots hold no step that is worth a measurement"
        return
    sizes = dict(rows=rows, context=context, batch=64, requests=65, layers=request["layers"])
    if request["double"]:
        sizes = {}
    if page_size > 1:
        sizes["page_size"] = page_size
    sides = []
    for name, package in (("original", original), ("patched", patched)):
        sides.append(measure.side(device, subject, package, cases, lambda words: run.step(f"{name}: {words}"), **sizes))
        device.free()
    (before, kept_before), (after, kept_after) = sides
    run.answer["steps"] = [measure.row(case, how, before[case, how], after[case, how]) for case, how in before]
    run.answer["bytes_kept"] = [kept_before, kept_after]


def verify(run):
    torch = import_torch(run)
    try:
        torch.set_grad_enabled(False)
        device = open_device(run, torch)
        import subjects

        subject = subjects.SUBJECTS[file_of(run)]
        original, patched = write_trees(run)
        run_paths(run, device, subject, original, patched)
        states = {row["state"] for row in run.answer["paths"]}
        if "different" in states:
            run.answer["unmeasured"] = "a path differs: its times would say nothing"
        elif "equal" not in states:
            run.answer["unmeasured"] = "no path could be run"
        else:
            run_steps(run, device, subject, original, patched)
    except torch.OutOfMemoryError as error:
        asked = " ".join(one_line(error).split(". ")[:2])  # the rest is advice about other programs
        raise Unfit("out-of-memory", f"{run.doing}: {asked}") from None


def watchdog(run):
    run.say({"kind": "timed-out", "message": run.doing})
    shutil.rmtree(run.folder, ignore_errors=True)
    os._exit(0)


def main(request, folder):
    """stdout is the answer's: what a library prints there goes to stderr."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    run = Run(request, folder, out)
    timer = threading.Timer(request["limit"], watchdog, [run])
    timer.daemon = True
    timer.start()
    try:
        verify(run)
        run.say()
    except Unfit as error:
        run.say({"kind": error.kind, "message": str(error)})
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told
        traceback.print_exc()
        run.say({"kind": "crashed", "message": f"{run.doing}: {one_line(error)}"})
