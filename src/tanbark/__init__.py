"""Tanbark: Bayesian network classifiers: exact with missing values, explainable, fast.

>>> import tanbark as tb
>>> clf = tb.TAN(criterion="bic").fit([["a", 1], ["a", 0], ["b", 1], ["b", None]], [0, 0, 1, 1])
>>> clf.predict([["b", None]]).tolist()
[1]

The names are those of ``tanbark.public``, each loaded when it is first used: the command line shows its help without
waiting for scikit-learn.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tanbark.public import *  # noqa: F403
    from tanbark.public import __all__ as __all__

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Load a public name, or a part of the package such as ``tanbark.plot``, when it is first asked for."""
    from importlib import import_module
    from importlib.util import find_spec

    if name.startswith("__") and name != "__all__":
        raise AttributeError(name)
    public = import_module("tanbark.public")
    if name == "__all__" or name in public.__all__:
        globals()[name] = getattr(public, name)
    elif find_spec(f"tanbark.{name}") is not None:
        import_module(f"tanbark.{name}")
    if name in globals():
        return globals()[name]
    msg = f"module 'tanbark' has no attribute {name!r}"
    raise AttributeError(msg, name=name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
