#!/usr/bin/env python3
"""The same as backend_test.py for the FlashAttention backend's patch: a test of its own, so that both run at one time."""

import sys

import backend_test

if __name__ == "__main__":
    sys.exit(backend_test.main("pages"))
