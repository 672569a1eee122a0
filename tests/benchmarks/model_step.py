"""What a training step of the encoder classifier costs under the tracer and on simulated devices, as ratios.

    model_step.py [--pairs N] [--steps N]

The two sides of a ratio run in turn, A B A B ..., so that a machine whose speed drifts moves both; each figure is
the median step of one run, each ratio the median over the pairs. Needs a build; DEVSAN_BUILD=folder names another.
"""
from steps import BIN, options_of, print_ratios, step_ms

DEVSAN_RUN = [BIN / "devsan", "run"]

COMPARISONS = [
    ("traced (cpu) / untraced (cpu)", ([*DEVSAN_RUN, "--simulate", "0", "--"], "cpu"), ([], "cpu"), 1.10),
    ("one simulated device / cpu", ([*DEVSAN_RUN, "--simulate", "1", "--trace-ops", "0", "--"], "cuda:0"), ([], "cpu"), 1.25),
    ("two simulated devices / cpu", ([*DEVSAN_RUN, "--simulate", "2", "--trace-ops", "0", "--"], "cuda:0,cuda:1"), ([], "cpu"), 1.25),
]


def main():
    options = options_of(__doc__, steps=60)
    print_ratios("encoder classifier, step time", COMPARISONS, options.pairs,
                 lambda prefix, device: step_ms([*prefix, BIN / "encoder_classifier", "--devices", device,
                                                 "--steps", options.steps]))


if __name__ == "__main__":
    main()
