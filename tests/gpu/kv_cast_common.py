"""What the checks and the times of the KV casts share: the module under test, FlashInfer's wrapper as it sees it, and the
program around them."""

import argparse
import datetime
import importlib.util
import json
import pathlib
import platform
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEFAULT_MODULE = ROOT / "patches" / "shared" / "suture_kv_cast.py"
SLOTS = 495_552  # the pool that the patch was first measured on
COLUMNS = 576
COUNTS = (500, 8_192, 131_072, 495_552)
ORDERS = ("slot order", "scattered", "pages of 64")
FEW = 10_000  # slots: the time of so few is that of their launch and their loads, not of their bytes
SKIPPED = 77


def load(path):
    spec = importlib.util.spec_from_file_location("suture_kv_cast", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # Triton looks the kernel's module up by name
    spec.loader.exec_module(module)
    return module


class Wrapper:
    """What the cast reads of FlashInfer's wrapper."""

    def __init__(self, torch, ids, live=None, page_size=1, device="cuda"):
        self._use_cuda_graph = True
        self._page_size = page_size
        self._kv_indices_buf = torch.as_tensor(ids, dtype=torch.int32, device=device)
        count = self._kv_indices_buf.shape[0] if live is None else live
        self._kv_indptr_buf = torch.tensor([0, count // 2, count], dtype=torch.int32, device=device)

    def replan(self, torch, ids):
        self._kv_indices_buf[: len(ids)].copy_(torch.as_tensor(ids, dtype=torch.int32))
        self._kv_indptr_buf.copy_(torch.tensor([0, 0, len(ids)], dtype=torch.int32))


def facts_of_this_run(options):
    """Where and how the figures were measured; printed, and returned for the JSON document."""
    import torch
    import triton

    facts = {
        "date": datetime.date.today().isoformat(),
        "gpu": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "cuda": torch.version.cuda,
        "python": platform.python_version(),
        "command": " ".join(sys.argv),
        "layers": options.layers,
        "replays": options.replays,
    }
    print("\n".join(f"{key}: {value}" for key, value in facts.items()))
    return facts


def options_of(description, modules, what):
    """The command line. `modules`: where the code under test is, unless it says otherwise."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--modules", type=pathlib.Path, default=modules, help=what)
    parser.add_argument("--json", metavar="FILE", help="write the results there")
    parser.add_argument("--sweep", action="store_true", help="time other layouts of the kernel, too")
    parser.add_argument("--no-times", action="store_true", help="checks only")
    parser.add_argument("--layers", type=int, default=16, help="pools of 285 MB (default 16)")
    parser.add_argument("--replays", type=int, default=50)
    parser.add_argument("--require", action="store_true", help="a missing GPU is a failure")
    return parser.parse_args()


def run(options, load, check, time):
    """Checks, then times. `load(path)`: the module whose kernel is timed; `check(torch, module)`: a list of {"holds": ...};
    `time(torch, module)`: what goes into the JSON document beside them. Returns the exit code."""
    try:
        import torch
        import triton  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}")
        return 1 if options.require else SKIPPED
    if not torch.cuda.is_available():
        print("skipped: torch sees no GPU")
        return 1 if options.require else SKIPPED

    facts = facts_of_this_run(options)
    module = load(options.modules)
    torch.manual_seed(20)
    facts["tuning"] = module._TUNING._asdict()
    print(f"tuning: {facts['tuning']}\n")

    checks = check(torch, module)
    failed = sum(not each["holds"] for each in checks)
    result = {"facts": facts, "checks": checks}
    if not options.no_times:
        result.update(time(torch, module))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    print(f"\n{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0
