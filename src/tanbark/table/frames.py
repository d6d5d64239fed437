"""Results as a frame of the library that is installed."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from tanbark.errors import MissingPackageError, find


def make_frame(data: dict[str, Any], backend: str | None = None) -> Any:
    """Build a frame of pandas, polars or pyarrow; without a choice, of the first that is installed."""
    from importlib.util import find_spec

    known = ("pandas", "polars", "pyarrow")
    if backend is not None:
        find("backend", backend, dict.fromkeys(known))
    for name in known if backend is None else (backend,):
        if find_spec(name) is not None:
            return nw.from_dict(data, backend=name).to_native()  # type: ignore[arg-type]  # one of the known names
    msg = f"A frame needs {backend or 'pandas'}, which is not installed: pip install {backend or 'pandas'}"
    raise MissingPackageError(msg)
