"""What the checks and the times of the KV cast share: the module under test, and FlashInfer's wrapper as it sees it."""

import datetime
import importlib.util
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
