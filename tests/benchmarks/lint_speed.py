"""How fast devsan-lint is beside clang and clang-tidy, on translation units that include torch/torch.h, and what it
takes and finds on the C++ and CUDA of three packages.

Makes the units, runs every tool over all of them with the same number of threads, and prints one table. clang-tidy
loads the plugin, so that both run the same rules; each unit has one dropped move, and the table is printed only when
both found every one.

usage: lint_speed.py [--units N] [--threads N]
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time

BUILD = pathlib.Path(os.environ["DEVSAN_BUILD"])
SITE_PACKAGES = pathlib.Path(sysconfig.get_paths()["purelib"])
INCLUDE = SITE_PACKAGES / "torch" / "include"
CLANG, CLANG_TIDY = "clang++-22", "clang-tidy-22"
FLAGS = ["-std=c++17", "-w", "-isystem", str(INCLUDE), "-isystem", str(INCLUDE / "torch/csrc/api/include")]
PLUGIN = BUILD / "lib" / "libDevsanTidy.so"
DATA = pathlib.Path(__file__).resolve().parents[2] / ".deps" / "data"
PACKAGES = ("torch_scatter", "torch_cluster", "deepspeed")
SOURCES = (".cpp", ".cc", ".cu", ".cuh", ".h", ".hpp")

UNIT = """\
#include <torch/torch.h>

#include <cmath>
#include <string>
#include <vector>

namespace model@ {

struct AttentionImpl : torch::nn::Module {
  AttentionImpl(int64_t width, int64_t heads) : heads(heads), scale(1.0 / std::sqrt(double(width / heads))) {
    qkv = register_module("qkv", torch::nn::Linear(torch::nn::LinearOptions(width, 3 * width).bias(false)));
    out = register_module("out", torch::nn::Linear(width, width));
    bias = register_buffer("bias", torch::zeros({heads, 1, 1}));
  }

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& mask) {
    const auto batch = x.size(0), length = x.size(1), width = x.size(2);
    auto parts = qkv->forward(x).view({batch, length, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
    auto scores = torch::matmul(parts[0], parts[1].transpose(-1, -2)) * scale + bias;
    scores = scores.masked_fill(mask.unsqueeze(1).unsqueeze(1).to(x.device()) == 0, -1e9);
    auto mixed = torch::matmul(torch::softmax(scores, -1), parts[2]);
    return out->forward(mixed.transpose(1, 2).reshape({batch, length, width}));
  }

  int64_t heads;
  double scale;
  torch::nn::Linear qkv{nullptr}, out{nullptr};
  torch::Tensor bias;
};
TORCH_MODULE(Attention);

struct NetImpl : torch::nn::Module {
  NetImpl(int64_t words, int64_t width, int64_t depth) {
    embed = register_module("embed", torch::nn::Embedding(words, width));
    for (int64_t i = 0; i < depth; ++i) {
      blocks.push_back(register_module("block" + std::to_string(i), Attention(width, 4)));
    }
    head = register_module("head", torch::nn::Sequential(torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})),
                                                         torch::nn::Linear(width, 2)));
  }

  torch::Tensor forward(const torch::Tensor& ids, torch::Tensor mask) {
    auto x = embed->forward(ids);
    mask.to(x.device());
    for (auto& block : blocks) x = x + block->forward(torch::dropout(x, 0.1, is_training()), mask);
    return head->forward(x.mean(1));
  }

  torch::nn::Embedding embed{nullptr};
  std::vector<Attention> blocks;
  torch::nn::Sequential head{nullptr};
};
TORCH_MODULE(Net);

double train(Net net, torch::optim::Optimizer& optimizer, const std::vector<torch::Tensor>& batches,
             torch::Device device) {
  double total = 0;
  net->train();
  for (const auto& batch : batches) {
    const auto ids = batch.to(device);
    const auto labels = torch::randint(0, 2, {ids.size(0)}, ids.options());
    optimizer.zero_grad();
    auto loss = torch::nn::functional::cross_entropy(net->forward(ids, ids != 0), labels);
    loss.backward();
    torch::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
    optimizer.step();
    total += loss.item<double>();
  }
  return total / double(batches.size());
}

}  // namespace model@
"""


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def each(command_of, units, threads):
    """Runs one command a unit, `threads` at a time; their output together. Stops when one fails."""
    def one(unit):
        run = subprocess.run(command_of(unit), capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"{command_of(unit)[0]} failed on {unit.name}:\n{run.stderr}")
        return run.stdout
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        return "".join(pool.map(one, units))


def lint(folder, cache, threads, *arguments):
    """What it printed, and its peak memory in MB."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    command = [BUILD / "bin" / "devsan-lint", "--torch", SITE_PACKAGES, "-j", str(threads), *arguments, folder]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        out.seek(0)
        err.seek(0)
        # 3: some file could not be analysed, which public code may bring about.
        if os.waitstatus_to_exitcode(status) not in (0, 1, 3):
            sys.exit(f"devsan-lint failed:\n{err.read()}")
        return out.read(), usage.ru_maxrss / 1024


def timed_without_results(folder, cache, threads):
    shutil.rmtree(cache / "devsan" / "results")
    seconds, (_, memory) = timed(lambda: lint(folder, cache, threads))
    return seconds, memory


def print_packages(cache, threads):
    print(f"\n{'the C++ and CUDA of':24}{'files':>7}{'lines':>8}{'seconds':>9}{'findings':>10}{'a 1,000 lines':>15}")
    for package in PACKAGES:
        folder = next(DATA.glob(f"{package}-*"))
        lines = sum(path.read_bytes().count(b"\n") for path in folder.rglob("*") if path.suffix in SOURCES)
        lint(folder, cache, threads)  # makes the headers' PCH
        shutil.rmtree(cache / "devsan" / "results")
        seconds, (output, _) = timed(lambda: lint(folder, cache, threads, "--format", "json"))
        report = json.loads(output)
        files, found = len(report["files"]), len(report["findings"])
        print(f"{folder.name:24}{files:7}{lines:8}{seconds:9.2f}{found:10}{1000 * found / lines:15.2f}")


def dropped_moves(output, rule):
    return len(set(re.findall(rf"(\S+?\.cpp:\d+:\d+): warning: .*{re.escape(rule)}", output)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--units", type=int, default=48)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    for tool in (CLANG, CLANG_TIDY):
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is needed for this comparison")

    with tempfile.TemporaryDirectory(prefix="devsan-lint-speed-") as temporary:
        folder = pathlib.Path(temporary) / "src"
        folder.mkdir()
        (folder / "setup.py").touch()
        units = [folder / f"unit{i:02}.cpp" for i in range(options.units)]
        for i, unit in enumerate(units):
            unit.write_text(UNIT.replace("@", str(i)))
        cache = pathlib.Path(temporary) / "cache"

        cold, (cold_output, cold_memory) = timed(lambda: lint(folder, cache, options.threads))
        parsed, memory = min(timed_without_results(folder, cache, options.threads) for _ in range(3))
        known = min(timed(lambda: lint(folder, cache, options.threads))[0] for _ in range(3))
        clang, _ = timed(lambda: each(lambda unit: [CLANG, *FLAGS, "-fsyntax-only", str(unit)], units,
                                      options.threads))
        tidy, tidy_output = timed(lambda: each(
            lambda unit: [CLANG_TIDY, "--quiet", "-load", str(PLUGIN), "-checks=-*,devsan-*", str(unit), "--", *FLAGS],
            units, options.threads))

        found = {"devsan-lint": dropped_moves(cold_output, "[devsan-dropped-move]"),
                 "clang-tidy": dropped_moves(tidy_output, "[devsan-dropped-move]")}
        if set(found.values()) != {options.units}:
            sys.exit(f"the tools did not find the same: {found}, {options.units} were planted")

        print(f"lint: {options.units} units that include torch/torch.h, {options.threads} threads")
        print(f"{'':48}{'seconds':>9}{'a unit':>9}{'clang-tidy / it':>17}")
        for name, seconds in (("devsan lint, nothing changed since the last run", known),
                              ("devsan lint, headers' PCH in the cache", parsed),
                              ("devsan lint, the PCH's build counted", cold),
                              ("clang -fsyntax-only", clang),
                              ("clang-tidy with the plugin", tidy)):
            print(f"{name:48}{seconds:9.2f}{seconds / options.units:9.4f}{tidy / seconds:16.1f}x")
        print(f"peak memory of devsan lint: {memory:.0f} MB; {cold_memory:.0f} MB while it makes the PCH")
        print_packages(cache, options.threads)


if __name__ == "__main__":
    main()
