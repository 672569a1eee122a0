"""What a training step of the encoder classifier costs under the tracer and on simulated devices, as ratios.

    model_step.py [--pairs N] [--steps N]

The two sides of a ratio run in turn, A B A B ..., so that a machine whose speed drifts moves both; each figure is
the median step of one run, each ratio the median over the pairs. Needs a build; DEVSAN_BUILD=folder names another.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("DEVSAN_BUILD", ROOT / "build" / "release")) / "bin"
DEVSAN_RUN = [BIN / "devsan", "run"]


def step_ms(prefix, device, steps):
    command = [*prefix, BIN / "encoder_classifier", "--devices", device, "--steps", str(steps), "--report-step-time"]
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, cwd=ROOT)
    found = re.search(r"median step: ([0-9.]+) ms", result.stdout)
    if result.returncode != 0 or not found:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {result.returncode}:\n{result.stderr}")
    return float(found[1])


COMPARISONS = [
    ("traced (cpu) / untraced (cpu)", ([*DEVSAN_RUN, "--simulate", "0", "--"], "cpu"), ([], "cpu"), 1.10),
    ("one simulated device / cpu", ([*DEVSAN_RUN, "--simulate", "1", "--trace-ops", "0", "--"], "cuda:0"), ([], "cpu"), 1.25),
    ("two simulated devices / cpu", ([*DEVSAN_RUN, "--simulate", "2", "--trace-ops", "0", "--"], "cuda:0,cuda:1"), ([], "cpu"), 1.25),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=60)
    options = parser.parse_args()
    print(f"{'encoder classifier, step time':<34} {'A ms':>8} {'B ms':>8} {'ratio':>6}  target")
    for name, a, b, target in COMPARISONS:
        pairs = [(step_ms(*a, options.steps), step_ms(*b, options.steps)) for _ in range(options.pairs)]
        ratio = statistics.median(x / y for x, y in pairs)
        print(f"{name:<34} {statistics.median(x for x, _ in pairs):8.2f} {statistics.median(y for _, y in pairs):8.2f} "
              f"{ratio:6.2f}  <= {target:.2f}", flush=True)


if __name__ == "__main__":
    main()
