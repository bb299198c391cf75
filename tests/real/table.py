"""releases.tsv: what suture must say of each patch on each SGLang release.

Columns, tab-separated; lines that begin with # are comments:
  release, patch, verdict, lifted (the verdict where the patch's version range is lifted to >=0; - where it is the same)
"""

import pathlib

TABLE = pathlib.Path(__file__).with_name("releases.tsv")


def rows():
    for line in TABLE.read_text().splitlines():
        if line and not line.startswith("#"):
            release, patch, verdict, lifted = line.split("\t")
            yield release, patch, verdict, verdict if lifted == "-" else lifted


def releases():
    return list(dict.fromkeys(row[0] for row in rows()))
