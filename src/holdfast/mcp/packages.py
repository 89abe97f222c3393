"""Loads a part of a package without all of the package.

To import `mcp.server.stdio`, Python first runs what `mcp` and `mcp.server` run when
they are imported, which loads clients, frameworks and their needs: a fifth of the time
that our server takes to start, for nothing that it uses. So these packages are entered
without that. Should anybody ask one of them for a name after all, it runs what it has
put off, and answers.
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
        # Python asks modules for names of its own, which never are in a package.
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
