"""Added by suture, patch toyserve-lazy-rows."""

from toyserve.rows import unpack_row


class LazyRows:
    """Rows of a packed table as numbers, each unpacked when it is first read."""

    def __init__(self, table):
        self._table = table
        self._rows = {}

    def __getitem__(self, slot):
        if slot not in self._rows:
            self._rows[slot] = unpack_row(self._table[slot])
        return self._rows[slot]
