"""Compile the kernels while a wheel is built, so that nothing is compiled after it is installed.

The code is for every processor of a level (x86-64-v3: AVX2 and FMA), one version of numba and one of Python; elsewhere
kernels are compiled when they are first used. ``BAYESLEARN_COMPILE=0`` builds a wheel without compiled code. Editable
installs have none.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def is_wanted() -> bool:
    """Whether the environment asks for compiled code, as it does by default."""
    return os.environ.get("BAYESLEARN_COMPILE", "1") != "0"


class CompileKernels(BuildHookInterface):  # type: ignore[type-arg] # the name hatchling looks for is any subclass
    """Puts the files of ``python -m bayeslearn.kernels --export`` into the wheel."""

    def dependencies(self) -> list[str]:
        """Return what compiling needs, in the versions that an installation gets."""
        needed = ("numba", "numpy", "scipy")
        return [d for d in self.metadata.core.dependencies if d.startswith(needed)] if is_wanted() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the wheel is put together."""
        if version == "editable" or not is_wanted():
            return
        folder = Path(mkdtemp(prefix="bayeslearn-kernels-"))
        # not by PYTHONPATH: an isolated build drops what an environment with an editable install has on its path
        code = f"import sys; sys.path[:] = {[str(Path(self.root, 'src')), *sys.path]!r}\n"
        code += "from bayeslearn.kernels.__main__ import main; main()"
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-c", code, "--export", str(folder)],
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            check=False,
        )
        if done.returncode:
            self.app.display_warning("the kernels were not compiled; they will be when they are first used")
            return
        self.folder = folder
        build_data["force_include"][str(folder)] = "bayeslearn/kernels/compiled"
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the files that are in the wheel now."""
        shutil.rmtree(getattr(self, "folder", ""), ignore_errors=True)
