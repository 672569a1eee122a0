"""How long an editor waits for diagnostics with devsan-clangd, beside the stock clangd of the same LLVM.

Opens one unit that includes torch/torch.h in both servers, in turns, and edits it: the time to the first diagnostics
(the headers are parsed) and to those after an edit (the file is). The time after an edit is without the pause that
clangd waits for more typing. Printed only when devsan-clangd found what is planted.

usage: clangd_speed.py [--rounds N] [--edits N] [--models N]
"""
import argparse
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lint_speed import BUILD, FLAGS, UNIT
from lsp import Server

STOCK = f"clangd-{os.environ.get('DEVSAN_LLVM_MAJOR', '22')}"


def session(program, folder, text, edits, planted):
    """Seconds to the first diagnostics, and a list of those after each edit."""
    with Server([program, "--background-index=0", "--log=error"], folder) as server:
        start = time.perf_counter()
        found = [each for each in server.open("unit.cpp") if each.get("code") == "devsan-dropped-move"]
        first = time.perf_counter() - start
        if planted is not None and len(found) != planted:
            sys.exit(f"{program} found {len(found)} of {planted} dropped moves")
        after = []
        for number in range(edits):
            start = time.perf_counter()
            server.change("unit.cpp", text.replace("double total = 0;", f"double total = {number + 1};"))
            after.append(time.perf_counter() - start)
        server.shut_down()
    return first, after


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--edits", type=int, default=10)
    parser.add_argument("--models", type=int, default=3, help="copies of the model in the unit, 70 lines each")
    options = parser.parse_args()
    if shutil.which(STOCK) is None:
        sys.exit(f"{STOCK} is needed for this comparison")

    include, model = UNIT.split("namespace model@ {", 1)
    text = include + "".join(f"namespace model{i} {{{model.replace('@', str(i))}" for i in range(options.models))
    programs = {STOCK: STOCK, "devsan-clangd": BUILD / "bin" / "devsan-clangd"}
    first = {name: [] for name in programs}
    after = {name: [] for name in programs}
    with tempfile.TemporaryDirectory(prefix="devsan-clangd-speed-") as temporary:
        folder = pathlib.Path(temporary)
        (folder / "unit.cpp").write_text(text)
        (folder / "compile_flags.txt").write_text("\n".join(FLAGS) + "\n")
        for _ in range(options.rounds):
            for name, program in programs.items():
                planted = options.models if name == "devsan-clangd" else None
                seconds, edits = session(program, folder, text, options.edits, planted)
                first[name].append(seconds)
                after[name] += edits

    print(f"clangd: a unit of {text.count(chr(10))} lines that includes torch/torch.h, {options.rounds} rounds")
    print(f"{'seconds to the diagnostics, median':36}{'first':>9}{'ratio':>9}{'after an edit':>16}{'ratio':>9}")
    base_first, base_after = statistics.median(first[STOCK]), statistics.median(after[STOCK])
    for name in programs:
        one, two = statistics.median(first[name]), statistics.median(after[name])
        print(f"{name:36}{one:9.2f}{one / base_first:8.2f}x{two:16.3f}{two / base_after:8.2f}x")


if __name__ == "__main__":
    main()
