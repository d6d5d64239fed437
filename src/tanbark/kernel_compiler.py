"""How Numba compiles kernels that call one another: as one module of LLVM, optimised once.

Left to itself, Numba optimises every kernel that another one calls, translates it to machine code that nobody runs,
links its intermediate code into the calling one, and optimises all of it again, on every level of calls. Here a kernel
that is called by another stays intermediate code until the outermost one is complete. Results are the same bits:
optimisation of floating-point numbers never changes them. That saves a quarter of the time on average.

It rests on parts of Numba that may change with any release: releases that it was not tried with compile as they do.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

TRIED = ("0.68.",)  # releases of Numba


class Whole(JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """The code of a kernel that Python calls, with that of all kernels within it."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.environments: dict[str, Any] = {}  # of the kernels within, by the names of the cells that point to them

    def add_linking_library(self, library: Any) -> None:
        """Take the code of what is called, and the environments that it needs."""
        super().add_linking_library(library)
        self.environments |= getattr(library, "environments", {})

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave functions as they are until all of them are together."""
        ll_module.data_layout = self._codegen._data_layout

    def _finalize_specific(self) -> None:
        super()._finalize_specific()
        for name, environment in self.environments.items():
            if self._codegen._engine.is_symbol_defined(name):
                self._codegen.set_env(name, environment)


class Part(Whole):
    """The code of a kernel that other kernels call: neither optimised nor translated on its own."""

    @property
    def codegen(self) -> Any:
        """What Numba calls to announce the environment of a function whose code it takes for loaded."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Keep an environment until the code is loaded, as a part of another library."""
        self.environments[name] = environment

    def finalize(self) -> None:
        """Link what is called, and leave the rest to the library that this one becomes a part of."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return no address, since there is no machine code."""
        self._ensure_finalized()
        return 0


class Outer(Compiler):  # type: ignore[misc]  # Numba has no types
    """Numba's compiler, for kernels that Python calls."""

    library: type[Whole] = Whole

    def define_pipelines(self) -> Any:
        """Take the usual passes, and a library that joins those of the kernels within."""
        state = self.state
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().define_pipelines()


class Inner(Outer):
    """Numba's compiler, for kernels that other kernels call."""

    library = Part


def pipeline(*, inner: bool) -> dict[str, type[Compiler]]:
    """Return the option of ``numba.njit`` for the compiler of a kernel; none where Numba's release was not tried."""
    return {"pipeline_class": Inner if inner else Outer} if numba.__version__.startswith(TRIED) else {}
