"""What long kernels ask in their outer loops: whether to return early. See ``machine`` for who is waiting."""

from __future__ import annotations

from typing import Any

from tanbark.kernel import instruction
from tanbark.machine import STOP, is_stopping


@instruction(is_stopping)
def stopping(typing: Any) -> Any:
    """Return whether the main thread was interrupted, by one load from memory.

    What a kernel returns after that is discarded. A kernel that asks must be run by ``machine.run_threads``.
    """

    from llvmlite import ir
    from numba import types

    word = ir.IntType(64)

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # an external symbol, resolved when code is linked, also code that was compiled by another process; the load
        # is atomic so that the compiler does not move it out of the loop
        cell = builder.module.globals.get(STOP) or ir.GlobalVariable(builder.module, word, STOP)
        return builder.icmp_signed("!=", builder.load_atomic(cell, "monotonic", 8), ir.Constant(word, 0))

    return types.boolean(), build
