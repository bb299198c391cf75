"""The backends of SGLang that patches edit: of each its file, the server in small that runs it, and the ways through it."""

from typing import Any, Callable, Dict, List, NamedTuple

import fa3_paths
import paths
from fa3_server import Fa3Server
from server import Server


class Subject(NamedTuple):
    server: Any
    paths: Dict[str, Callable]
    runnable: Callable[[str], List[str]]  # the paths that the backend file with this text has

    @property
    def file(self):
        return self.server.file


FLASHINFER = Subject(Server, paths.PATHS, paths.runnable)
FA3 = Subject(Fa3Server, fa3_paths.PATHS, fa3_paths.runnable)
SUBJECTS = {subject.file: subject for subject in (FLASHINFER, FA3)}
