"""Runs a command on a kernel that knows no system call younger than Linux 4.4 (January 2016): a seccomp filter answers
ENOSYS to those, as that kernel would. x86-64 alone; elsewhere it ends with 77.

    python3 tests/remote/old_kernel.py COMMAND...
"""

import ctypes
import errno
import os
import platform
import struct
import sys

FIRST_UNKNOWN = 326  # copy_file_range came with 4.5; then preadv2, pkey_*, statx, io_uring_*, clone3, openat2, rseq, ...
X32 = 0x40000000
AUDIT_ARCH_X86_64 = 0xC000003E
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.ENOSYS


def instruction(code, k, true=0, false=0):
    return struct.pack("HBBI", code, true, false, k)


def install():
    load, equal, not_below, end = 0x20, 0x15, 0x35, 0x06
    program = b"".join([
        instruction(load, 4), instruction(equal, AUDIT_ARCH_X86_64, 0, 3),  # another architecture's call: allowed
        instruction(load, 0), instruction(not_below, X32, 1, 0), instruction(not_below, FIRST_UNKNOWN, 1, 0),
        instruction(end, ALLOW), instruction(end, REFUSE)])
    code = ctypes.create_string_buffer(program, len(program))
    filters = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    assert prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, os.strerror(ctypes.get_errno())
    assert prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.c_char_p(filters), 0, 0) == 0, os.strerror(ctypes.get_errno())


def supported():
    return platform.machine() == "x86_64" and sys.platform == "linux"


if __name__ == "__main__":
    if not supported():
        sys.exit(77)
    install()
    os.execvp(sys.argv[1], sys.argv[1:])
