"""Which mixes of cpu and cuda:0 PyTorch accepts, operator by operator, and in which words it refuses.

    operator_table.py record OUT.jsonl [--limit N]    every entry of op_db (float32, first sample): all tensors on
                                                      cuda:0, then each tensor argument in turn on the CPU
    operator_table.py compare A.jsonl B.jsonl         the two recordings, as a table; exit 1 when a decision differs

`record` runs on whatever cuda:0 is: a real device, or a simulated one under `devsan run --simulate`. A mix that
PyTorch does not check can poison the process's CUDA context, so cases run in a worker that is replaced when one does.
"""
import argparse
import collections
import json
import re
import subprocess
import sys
import warnings

# After one of these no later result of the process can be trusted.
POISONED = re.compile(r"illegal memory access|device-side assert|unspecified launch failure|misaligned address|CUBLAS_STATUS_EXECUTION_FAILED")


def operators():
    import torch
    from torch.testing._internal.common_methods_invocations import op_db
    return [op for op in op_db if torch.float32 in op.supported_dtypes("cuda")]


def full_name(op):
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


def outcome(op, flat, spec):
    import torch
    from torch.utils._pytree import tree_flatten, tree_unflatten
    inputs, args, kwargs = tree_unflatten(flat, spec)
    try:
        result = op.op(inputs, *args, **kwargs)
        torch.cuda.synchronize()
    except Exception as error:  # whatever PyTorch throws is the answer that is recorded
        return {"accepted": False, "text": f"{type(error).__name__}: {error}"}
    devices = sorted({str(t.device) for t in tree_flatten(result)[0] if isinstance(t, torch.Tensor)})
    return {"accepted": True, "devices": devices}


def cases(op):
    """Yields the position of the argument on the CPU (-1: none) and the outcome."""
    import torch
    from torch.utils._pytree import tree_flatten
    torch.manual_seed(0)
    sample = next(iter(op.sample_inputs("cpu", torch.float32, requires_grad=False)), None)
    if sample is None:
        return
    leaves, spec = tree_flatten((sample.input, sample.args, sample.kwargs))
    tensors = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    def placed(on_cpu):
        flat = []
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, torch.Tensor):
                flat.append(leaf.detach().clone().to("cpu" if i == on_cpu else "cuda:0"))
            elif isinstance(leaf, torch.device) or leaf == "cpu" and isinstance(leaf, str):
                flat.append(torch.device("cuda:0"))
            else:
                flat.append(leaf)
        return flat

    yield -1, outcome(op, placed(-1), spec)
    if len(tensors) > 1:
        for place, i in enumerate(tensors):
            yield place, outcome(op, placed(i), spec)


def worker(start, limit):
    """Prints one line a case, and one as each operator begins, so that the parent knows where a crash was."""
    warnings.filterwarnings("ignore")
    for index, op in enumerate(operators()[:limit]):
        if index < start:
            continue
        print(json.dumps({"begin": index, "op": full_name(op)}), flush=True)
        for argument, result in cases(op):
            print(json.dumps({"op": full_name(op), "argument": argument, **result}), flush=True)
            if not result["accepted"] and POISONED.search(result["text"]):
                return
    print(json.dumps({"done": True}), flush=True)


def record(out_path, limit):
    start, done, lost = 0, False, 0
    with open(out_path, "w", encoding="utf-8") as out:
        while not done:
            command = [sys.executable, __file__, "worker", str(start), str(limit)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
                name = None
                for line in process.stdout:
                    entry = json.loads(line)
                    if "begin" in entry:
                        start, name = entry["begin"] + 1, entry["op"]
                    elif "done" in entry:
                        done = True
                    else:
                        out.write(line)
            if not done:
                if name is None:
                    sys.exit("operator_table.py: the worker did not start; run it by hand: " + " ".join(command))
                lost += 1
                out.write(json.dumps({"op": name, "argument": None, "accepted": False,
                                      "text": f"the process ended with {process.returncode}"}) + "\n")
    print(f"recorded {out_path}; {lost} operators ended their process")


def load(path):
    with open(path, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {(row["op"], row["argument"]): row for row in rows}


def same_text(a, b):
    plain = lambda text: re.sub(r"0x[0-9a-f]+|\[devsan[^\]]*\]", "", text).split("\n")[0].strip()
    return plain(a) == plain(b)


def verdict(a, b):
    if a["accepted"] != b["accepted"]:
        return "only A accepts" if a["accepted"] else "only B accepts"
    if a["accepted"]:
        return "both accept" if a["devices"] == b["devices"] else "both accept, result on other devices"
    return "both refuse, same text" if same_text(a["text"], b["text"]) else "both refuse, other text"


def compare(path_a, path_b):
    a, b = load(path_a), load(path_b)
    counts, examples = collections.Counter(), collections.defaultdict(list)
    for key in a.keys() & b.keys():
        op, argument = key
        if argument in (-1, None):
            continue
        if not (a[(op, -1)]["accepted"] and b[(op, -1)]["accepted"]):
            kind = "not comparable: fails with all on cuda:0"
        else:
            kind = verdict(a[key], b[key])
        counts[kind] += 1
        examples[kind].append((op, argument, a[key].get("text", "accepted"), b[key].get("text", "accepted")))
    for kind, count in counts.most_common():
        print(f"{count:6} {kind}")
    different = [kind for kind in counts if kind.startswith("only") or kind.endswith(("other text", "other devices"))]
    for kind in different:
        print(f"\n{kind}:")
        for op, argument, text_a, text_b in sorted(examples[kind])[:12]:
            print(f"  {op}, argument {argument}\n    A: {text_a.splitlines()[0][:150]}\n    B: {text_b.splitlines()[0][:150]}")
    return 1 if any(kind.startswith("only") for kind in counts) else 0


def main():
    if sys.argv[1:2] == ["worker"]:
        return worker(int(sys.argv[2]), int(sys.argv[3]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recorder = commands.add_parser("record")
    recorder.add_argument("out")
    recorder.add_argument("--limit", type=int, default=10000, help="the first N operators only")
    comparer = commands.add_parser("compare")
    comparer.add_argument("a")
    comparer.add_argument("b")
    options = parser.parse_args()
    if options.command == "record":
        return record(options.out, options.limit)
    return compare(options.a, options.b)


if __name__ == "__main__":
    sys.exit(main())
