"""Tells the tracer of exceptions that leave the program, and of the program's end; run once, as the tracer starts.

In: functions of the tracer: `wanted` takes "type\\nmessage" and answers "yes" where the tracer would report that, `uncaught`
takes a JSON description of such an exception, `ending` is called when the interpreter is about to end.
"""


def _install(wanted, uncaught, ending):
    import atexit
    import sys
    import threading
    import traceback

    # What is never about tensors on devices, whatever words its message has.
    other_things = (OSError, ImportError, SyntaxError, LookupError, AttributeError, NameError, MemoryError)
    frames_looked_into = 3
    tensors_kept = 16

    def members(value, name, torch):
        """The tensors that a variable is or holds, with how the program spells them, and modules."""
        if isinstance(value, torch.Tensor):
            yield name, value
        elif isinstance(value, torch.nn.Module):
            devices = set()
            for tensor in [*torch.nn.Module.parameters(value), *torch.nn.Module.buffers(value)]:
                if tensor.device not in devices:  # one for each device tells where the module is
                    devices.add(tensor.device)
                    yield name, tensor
        elif isinstance(value, dict) and len(value) < 100:
            for key, member in value.items():
                if isinstance(key, str) and isinstance(member, torch.Tensor):
                    yield f'{name}["{key}"]', member
        elif type(value) in (list, tuple) and len(value) < 100:
            for index, member in enumerate(value):
                if isinstance(member, torch.Tensor):
                    yield f"{name}[{index}]", member

    def variables(frame, torch):
        modules_last = sorted(frame.f_locals.items(), key=lambda item: isinstance(item[1], torch.nn.Module))
        for name, value in modules_last:
            yield from members(value, name, torch)
        this = frame.f_locals.get("self")
        for name, value in getattr(this, "__dict__", {}).items():
            if isinstance(value, torch.Tensor):
                yield "self." + name, value

    def statement(frame, line, instruction):
        """The text of the statement that raises: it may have several lines."""
        import linecache

        last = line
        if hasattr(frame.f_code, "co_positions"):
            positions = list(frame.f_code.co_positions())[instruction // 2]
            last = positions[1] or line
        return "".join(linecache.getline(frame.f_code.co_filename, n) for n in range(line, last + 1))

    def storage_of(tensor):
        try:
            return tensor.untyped_storage()._cdata
        except Exception:  # a subclass or layout without a storage
            return 0

    def describe(exception, torch):
        import re

        levels = []
        step = exception.__traceback__
        while step is not None:
            levels.append((step.tb_frame, step.tb_lineno, step.tb_lasti))
            step = step.tb_next
        levels.reverse()
        frames = [{"file": frame.f_code.co_filename, "line": line,
                   "function": getattr(frame.f_code, "co_qualname", frame.f_code.co_name)}
                  for frame, line, _ in levels]
        tensors, addresses, looked_into = [], set(), 0
        for frame, line, instruction in levels:
            found = [(name, tensor) for name, tensor in variables(frame, torch) if tensor._cdata not in addresses]
            if not found:
                continue
            text = statement(frame, line, instruction)
            for name, tensor in found:
                if tensor._cdata in addresses:
                    continue
                addresses.add(tensor._cdata)
                mentioned = re.search(r"(?<![\w.])" + re.escape(name) + r"\b", text) is not None
                tensors.append({"name": name, "tensor": tensor._cdata, "storage": storage_of(tensor), "mentioned": mentioned})
            looked_into += 1
            if looked_into == frames_looked_into:
                break
        tensors.sort(key=lambda each: not each["mentioned"])
        return {"frames": frames, "tensors": tensors[:tensors_kept]}

    def note(exception):
        try:
            if not isinstance(exception, Exception) or isinstance(exception, other_things):
                return
            if getattr(exception, "_devsan_noted", False):  # it may pass here more than once on its way out
                return
            exception._devsan_noted = True
            kind, message = type(exception).__qualname__, str(exception)
            torch = sys.modules.get("torch")
            if torch is None or wanted(f"{kind}\n{message}") != "yes":
                return
            import json

            uncaught(json.dumps({"type": kind, "message": message, **describe(exception, torch)}))
        except Exception:  # the program's own exception matters more
            pass

    def chain(module, name, exception_of):
        genuine = getattr(module, name)

        def hook(*arguments):
            note(exception_of(arguments))
            return genuine(*arguments)

        hook.__wrapped__ = genuine
        setattr(module, name, hook)

    chain(sys, "excepthook", lambda arguments: arguments[1])
    chain(threading, "excepthook", lambda arguments: arguments[0].exc_value)

    # A process of multiprocessing ends by itself: what it calls to print is where its exception can be seen last.
    def chain_printer(name):
        genuine = getattr(traceback, name)

        def printer(*arguments, **named):
            caller = sys._getframe(1).f_code
            if (caller.co_name in ("_bootstrap", "_wrap")) and "multiprocessing" in caller.co_filename:
                note(sys.exc_info()[1])
            return genuine(*arguments, **named)

        printer.__wrapped__ = genuine
        setattr(traceback, name, printer)

    chain_printer("print_exc")
    chain_printer("format_exc")

    def at_exit():
        note(getattr(sys, "last_value", None))  # for a program that has put its own excepthook in our place
        ending("")

    atexit.register(at_exit)


_install(wanted, uncaught, ending)  # noqa: F821
answer = ""
