"""What the tracer adds to a 16-element CPU add, beside PyTorch's own DebugMode and FakeTensorMode, and to a move of 16
elements to another device (meta: any machine has it), which is counted by its call site; as a table.

    tracer_cost.py [--rounds N]

Each line is a process of its own that prints the least CPU time of one add over many batches; lines run in
turn, round after round, so that a machine whose speed drifts moves all of them. Needs a build; DEVSAN_BUILD=folder
names another than build/release.
"""
import argparse
import os
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DEVSAN_BUILD", ROOT / "build" / "release"))
PYTHON = ROOT / ".deps" / "venv" / "bin" / "python"
TARGET_US = 0.6  # at origins 1

MEASURE = """
import contextlib, sys, time, torch
torch.set_num_threads(1)
mode, count = sys.argv[1], int(sys.argv[2])
if mode == "debug":
    from torch.utils._debug_mode import DebugMode
    context = DebugMode()
elif mode == "fake":
    from torch._subclasses.fake_tensor import FakeTensorMode
    context = FakeTensorMode()
else:
    context = contextlib.nullcontext()
with context:
    a, b = torch.ones(16), torch.ones(16)
    best = float("inf")
    for _ in range(60):
        start = time.process_time_ns()
        if mode == "move":
            for _ in range(count):
                a.to("meta")
        else:
            for _ in range(count):
                a + b
        best = min(best, (time.process_time_ns() - start) / count)
print(best / 1000)
"""

# name, mode of PyTorch's, options of the tracer (None: not preloaded), adds a batch
LINES = [
    ("untraced", "plain", None, 2000),
    ("origins 0", "plain", "origins=0", 2000),
    ("origins 1", "plain", "origins=1", 2000),
    ("origins 2", "plain", "origins=2", 2000),
    ("DebugMode", "debug", None, 200),
    ("FakeTensorMode", "fake", None, 200),
    ("move, untraced", "move", None, 2000),
    ("move, origins 1", "move", "origins=1", 2000),
]


def microseconds(mode, options, count):
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    if options is not None:
        env |= {"LD_PRELOAD": str(BUILD / "lib" / "libdevsan_preload.so"), "DEVSAN_OPTIONS": options}
    result = subprocess.run([str(PYTHON), "-c", MEASURE, mode, str(count)], capture_output=True, text=True, env=env, check=False)
    if result.returncode != 0:
        raise SystemExit(f"{mode} {options or ''} ended with {result.returncode}:\n{result.stderr}")
    return float(result.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds

    times = {name: [] for name, *_ in LINES}
    for _ in range(rounds):
        for name, mode, options, count in LINES:
            times[name].append(microseconds(mode, options, count))
    medians = {name: statistics.median(measured) for name, measured in times.items()}

    print(f"{'16-element CPU add':<20}{'µs':>8}{'added µs':>10}{'ratio':>8}   target")
    for name, *_ in LINES:
        time = medians[name]
        base = medians["move, untraced" if name.startswith("move") else "untraced"]
        target = f"at most {TARGET_US} µs added" if name == "origins 1" else ""
        print(f"{name:<20}{time:>8.2f}{time - base:>10.2f}{time / base:>8.2f}   {target}".rstrip())


if __name__ == "__main__":
    main()
