"""How functions that kernels alone call are compiled: no further than their callers need.

numba optimises every function together with all that it calls, and turns it into machine code.
What only other kernels call is linked into these, optimised once more and turned into machine
code there: the first time is for nothing, and would be half of the work of the compiler's back
end. Here such a function stops at its own simplified LLVM code.
"""

from __future__ import annotations

from typing import Any

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.errors import CompilerError
from numba.core.typed_passes import NativeLowering

__all__ = ["InternalCompiler"]


class _LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]  # numba is untyped
    """LLVM code of one function, for linking into that of others alone."""

    def _optimize_final_module(self) -> None:
        """Do nothing: each function was simplified by itself, and callers optimise the whole."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def serialize_using_object_code(self) -> Any:
        return self.serialize_using_bitcode()


@register_pass(mutates_CFG=True, analysis_only=False)
class _LinkedLowering(NativeLowering):  # type: ignore[misc]
    """Lowering without machine code."""

    _name = "linked_lowering"

    def run_pass(self, state: Any) -> bool:
        context = state.targetctx
        state.library = library = _LinkedLibrary(context.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        library._ensure_finalized()
        lowered = state["cr"]
        description = lowered.fndesc
        if lowered.env.consts:  # which only what is loaded by itself can find
            raise CompilerError(f"{description.qualname}: an internal function holds an object.")
        # callers find the code by this object, which can't be called
        entry = _dynfunc.make_function(
            description.lookup_module(), state.func_id.func_name, "", 0, lowered.env, (library,)
        )
        context.insert_user_function(entry, description, [library])
        state.reload_init.extend(getattr(library, "_reload_init", ()))  # older releases have none
        state["cr"] = lowered._replace(cfunc=entry)
        return True


class InternalCompiler(CompilerBase):  # type: ignore[misc]
    """numba's compiler for functions without an entry from Python."""

    def define_pipelines(self) -> list[Any]:
        """Return numba's own passes but for the last."""
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [
            (_LinkedLowering if step is NativeLowering else step, description)
            for step, description in manager.passes
        ]
        manager.finalize()
        return [manager]
