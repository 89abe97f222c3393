"""Imports a part of a package without all of the package.

To import `mcp.server.stdio`, Python first runs `mcp` and `mcp.server`, which import
clients, frameworks and their dependencies: a fifth of the time that our server takes to
start, for nothing that it uses. So these packages are entered without running them. If
one of them is asked for a name after all, it is run then.
"""

import importlib.util
import sys


def enter(name: str) -> None:
    """Make a package's parts importable, and run the package itself when needed.

    A package that was imported already is left as it is.

    Raises:
        ModuleNotFoundError: There is no such package.

    """
    if name in sys.modules:
        return
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(name)
    module, loader = importlib.util.module_from_spec(spec), spec.loader

    def ask(wanted: str) -> object:
        # Python asks modules for dunder names, which a package never defines.
        if wanted.startswith("__") or "__getattr__" not in module.__dict__:
            raise AttributeError(wanted)
        del module.__dict__["__getattr__"]
        loader.exec_module(module)
        return getattr(module, wanted)

    module.__dict__["__getattr__"] = ask
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)
