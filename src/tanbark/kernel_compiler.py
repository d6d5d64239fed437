"""How Numba compiles kernels that other kernels call: without machine code of their own, which nobody would run.

Numba optimises such a kernel, translates it to machine code, and links its intermediate code into the kernel that calls
it. Here all of that is the same but the translation; it has no effect on what the outermost kernel computes, and none
that could be measured on its speed.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import lookup_environment

ENVIRONMENT, UNRESOLVED = "_ZN08NumbaEnv", ".numba.unresolved$"  # how Numba begins the names of global variables

# what the libraries below take from Numba, which promises none of it
EXPECTED = (
    "_finalize_dynamic_globals", "_finalize_final_module", "_finalize_specific", "_verify_declare_only_symbols",
    "codegen", "enable_object_caching", "get_pointer_to_function",
)  # fmt: skip


class Whole(JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """The code of a kernel that Python calls, with that of all kernels within it."""

    def _finalize_specific(self) -> None:
        """Load the code, and point to the environments of the kernels within, as Numba does for code from its cache."""
        super()._finalize_specific()
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name) if variable.name.startswith(ENVIRONMENT) else None
            if environment is not None:
                self._codegen.set_env(variable.name, environment)


class Part(JITCodeLibrary):  # type: ignore[misc]  # Numba has no types
    """The code of a kernel that other kernels call: optimised, and not translated."""

    _translated = True

    @property
    def codegen(self) -> Any:
        """What Numba asks to point to the environment of loaded code."""
        return super().codegen if self._translated else self

    def set_env(self, name: str, environment: Any) -> None:
        """Leave environments to the library that this one becomes a part of."""

    def _finalize_final_module(self) -> None:
        """Make the code ready to be linked; functions that call one another in a circle need addresses as well."""
        if any(variable.name.startswith(UNRESOLVED) for variable in self._final_module.global_variables):
            super()._finalize_final_module()
            return
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._translated, self._finalized = False, True

    def get_pointer_to_function(self, name: str) -> int:
        """Return no address, since there is no machine code."""
        self._ensure_finalized()
        return int(super().get_pointer_to_function(name)) if self._translated else 0


class Outer(Compiler):  # type: ignore[misc]  # Numba has no types
    """Numba's compiler, for kernels that Python calls."""

    library: type[JITCodeLibrary] = Whole

    def define_pipelines(self) -> Any:
        """Take the usual passes, and a library of our own."""
        state = self.state
        codegen = state.targetctx.codegen()
        if state.library is None and type(codegen.create_library("")) is JITCodeLibrary:
            state.library = self.library(codegen, state.func_id.func_qualname)
            state.library.enable_object_caching()
        return super().define_pipelines()


class Inner(Outer):
    """Numba's compiler, for kernels that other kernels call."""

    library = Part


def compilers() -> tuple[type[Compiler], type[Compiler]]:
    """Return the compilers of kernels that Python calls and of those within; Numba's where its libraries changed."""
    return (Outer, Inner) if all(hasattr(JITCodeLibrary, each) for each in EXPECTED) else (Compiler, Compiler)
