"""Two ranks over the simulated NCCL, under torchrun: refused collectives, and another rank's GPU."""
from tools import PYTHON
from traced import HERE, line_of, traced


def ranks(name, folder):
    return traced([PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
                   HERE / "programs" / "nccl_ranks.py", name], folder)


def test_metric_on_the_cpu(tmp_path):
    result, findings = ranks("cpu-metric", tmp_path)
    assert result.returncode != 0
    assert findings, result.stderr
    for finding in findings:  # torchrun may end one rank before it has failed
        assert (finding["rule"], finding["level"], finding["op"]["name"]) == ("collective-device", "error", "c10d::allreduce_")
        assert finding["line"] == line_of("nccl_ranks.py", "cpu-metric")
        assert [argument["device"] for argument in finding["arguments"]] == ["cpu"]
        assert f'correct.to("cuda:{finding["rank"]}")' in finding["advice"]


def test_two_ranks_on_one_gpu(tmp_path):
    result, findings = ranks("shared-gpu", tmp_path)
    assert result.returncode != 0
    assert findings, result.stderr
    for finding in findings:
        assert (finding["rule"], finding["level"]) == ("collective-device", "error")
        assert finding["line"] == line_of("nccl_ranks.py", "shared-gpu")
        assert "Duplicate GPU detected" in finding["error"]
        assert "torch.cuda.set_device(local_rank)" in finding["advice"]


def test_gpu_of_another_rank(tmp_path):
    result, findings = ranks("affinity", tmp_path)
    assert result.returncode == 0, result.stderr
    (finding,) = findings
    assert (finding["rule"], finding["rank"], finding["own_device"]) == ("rank-affinity", 1, "cuda:1")
    assert (finding["count"], finding["bytes"]) == (2, 2 * 5 * 4)
    assert finding["line"] == line_of("nccl_ranks.py", "affinity")
