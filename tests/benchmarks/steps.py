"""What benchmarks of training steps share: a run's median step, and ratios of runs made in turn."""
import argparse
import os
import pathlib
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("DEVSAN_BUILD", ROOT / "build" / "release")) / "bin"


def step_ms(command, env=None):
    """The median step of one run of a reference program."""
    words = [str(word) for word in [*command, "--report-step-time"]]
    result = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT, env=env)
    found = re.search(r"median step: ([0-9.]+) ms", result.stdout)
    if result.returncode != 0 or not found:
        raise SystemExit(f"{' '.join(words)} ended with {result.returncode}:\n{result.stderr}")
    return float(found[1])


def options_of(description, steps):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=steps)
    return parser.parse_args()


def print_ratios(title, comparisons, pairs, measure):
    """A table of (name, a, b, target): measure(a) / measure(b), the two in turn, the median over the pairs."""
    width = max(len(title), *(len(name) for name, *_ in comparisons))
    print(f"{title:<{width}} {'A ms':>8} {'B ms':>8} {'ratio':>6}  target")
    for name, a, b, target in comparisons:
        times = [(measure(*a), measure(*b)) for _ in range(pairs)]
        ratio = statistics.median(x / y for x, y in times)
        print(f"{name:<{width}} {statistics.median(x for x, _ in times):8.2f} {statistics.median(y for _, y in times):8.2f} "
              f"{ratio:6.2f}  <= {target:.2f}", flush=True)
