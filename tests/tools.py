"""What tests of whole commands share: where the build is, and how a command is run."""
import os
import pathlib
import re
import subprocess

BUILD = pathlib.Path(os.environ["DEVSAN_BUILD"])
SOURCE = pathlib.Path(__file__).resolve().parent.parent
BIN = BUILD / "bin"
LLVM_MAJOR = os.environ.get("DEVSAN_LLVM_MAJOR")  # of the analyzer; none: it is not built
PYTHON = SOURCE / ".deps" / "venv" / "bin" / "python"


def run(command, timeout=120, env=None, cwd=None):
    """Runs a command to its end; stdout and stderr are text and apart."""
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout,
                          cwd=cwd, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL)


def devsan(*arguments, **options):
    return run([BIN / "devsan", *arguments], **options)


def fault_marks(model):
    """{fault: (file, line)} of the lines of a reference model that end in `// fault: NAME`."""
    return {mark[1]: (path.name, number) for path in sorted(model.glob("*.cpp"))
            for number, line in enumerate(path.read_text().splitlines(), 1)
            if (mark := re.search(r"// fault: ([\w-]+)$", line))}


def one_line(text):
    """The text without its end, after a check that it is one line: what wrong use must print."""
    assert text.endswith("\n") and text.count("\n") == 1, text
    return text[:-1]
