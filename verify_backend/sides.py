"""The two sides of a check, the unpatched tree and the patched one: one path on both, and what differs."""

import contextlib
import os
from typing import NamedTuple, Optional

import torch

from subjects import FLASHINFER

NOT_RUN = "the unpatched side did not run: "


class Outcome(NamedTuple):
    why: Optional[str]  # None: the same bits on both sides
    outputs: int = 0
    difference: float = 0.0  # the largest between the two sides; NaN where one side has NaN

    @property
    def not_run(self):
        return self.why is not None and self.why.startswith(NOT_RUN)


@contextlib.contextmanager
def environment(values):
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def run_side(device, subject, name, package, patch, look_at_keys):
    """The outputs of one path on one tree."""

    def make(**how):
        with environment(how.pop("environment", {})):
            return subject.server(device, package, patch, look_at_keys, **how)

    with device.running():
        return subject.paths[name](make)


def run_path(device, name, unpatched, patched, patch, look_at_keys=True, subject=FLASHINFER):
    try:
        before = run_side(device, subject, name, unpatched, None, False)
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # noqa: BLE001
        return Outcome(f"{NOT_RUN}{type(error).__name__}: {error}")
    try:
        after = run_side(device, subject, name, patched, patch, look_at_keys)
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # noqa: BLE001
        return Outcome(f"{type(error).__name__}: {error}", len(before), float("nan"))
    return compare(before, after)


def bits(tensor):
    return tensor.contiguous().view(torch.uint8)


def compare(unpatched, patched):
    """The unpatched outputs must be numbers, or equality would say nothing."""
    count = len(unpatched)
    if [what for what, _ in unpatched] != [what for what, _ in patched]:
        return Outcome("the two sides ran different steps", count, float("nan"))
    for (what, a), (_, b) in zip(unpatched, patched):
        if torch.isnan(a).any():
            return Outcome(f"{what}: NaN without the patch", count, float("nan"))
        if a.shape != b.shape or a.dtype != b.dtype:
            shapes = f"{tuple(a.shape)} {a.dtype}, patched {tuple(b.shape)} {b.dtype}"
            return Outcome(f"{what}: {shapes}", count, float("nan"))
        if not torch.equal(bits(a), bits(b)):
            nan = int(torch.isnan(b).sum())
            why = f"{what}: {int((a != b).sum())} of {a.numel()} values differ, {nan} of them NaN"
            return Outcome(why, count, largest_difference(unpatched, patched))
    return Outcome(None, count)


def largest_difference(unpatched, patched):
    return max(float((a.float() - b.float()).abs().max()) for (_, a), (_, b) in zip(unpatched, patched))
