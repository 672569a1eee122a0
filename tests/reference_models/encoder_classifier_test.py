"""The program encoder_classifier as users type it: help, wrong use, training, resuming, devices that are simulated."""
import os
import random
import re

import pytest

from tools import BIN, SOURCE, one_line, run

PROGRAM = BIN / "encoder_classifier"
DATA = SOURCE / ".deps" / "data" / "AMPvsUniProt.csv"
RESIDUES = "ACDEFGHIKLMNPQRSTVWY"
# One thread: the sums are then the same on every machine, and a busy one does not make two wait for each other.
ONE_THREAD = {"OMP_NUM_THREADS": "1"}


def encoder_classifier(*arguments, prefix=(), timeout=120):
    return run([*prefix, PROGRAM, *arguments], timeout=timeout, env=ONE_THREAD)


def epochs(output):
    """(train loss, held-out loss, accuracy) of each epoch's line."""
    found = re.findall(r"^epoch .*: train loss ([0-9.]+)  held-out loss ([0-9.]+)  accuracy ([0-9.]+)$", output, re.M)
    return [tuple(float(number) for number in line) for line in found]


def held_out(output):
    """(loss, accuracy) of each line that shows them, the one before training too."""
    return re.findall(r"held-out loss ([0-9.]+)  accuracy ([0-9.]+)$", output, re.M)


@pytest.fixture(scope="module")
def small_data(tmp_path_factory):
    """200 peptides; those of class 1 are rich in K."""
    chance = random.Random(0)
    rows = []
    for i in range(200):
        letters = RESIDUES + ("K" * 20 if i % 2 else "D" * 20)
        rows.append("".join(chance.choice(letters) for _ in range(chance.randint(8, 30))) + f", {i % 2}")
    path = tmp_path_factory.mktemp("data") / "small.csv"
    path.write_text("\n".join([f"{len(rows)},1,acidic,basic", *rows]))
    return path


@pytest.fixture
def small(small_data):
    return ["--data", small_data, "--devices", "cpu", "--width", "16", "--layers", "2"]


def test_help_shows_examples_and_every_fault():
    result = encoder_classifier("--help")
    assert result.returncode == 0 and result.stderr == ""
    assert "--fault {none,labels,pooled,head-moved,lora,mask,literal}" in result.stdout
    assert re.search(r"Examples:\n  encoder_classifier --", result.stdout)
    for fault in ("labels", "pooled", "head-moved", "lora", "mask", "literal"):
        assert re.search(rf"^  {fault} +\S", result.stdout, re.M)


@pytest.mark.parametrize("arguments, message", [
    (["--unknown"], "--unknown"),
    (["--epochs", "many"], "--epochs: 'many'; accepted: a whole number from 1"),
    (["--epochs", "0"], "--epochs: '0'; accepted: a whole number from 1"),
    (["--width", "20"], "--width: 20; accepted: a multiple of 16"),
    (["--finetune", "half"], "--finetune: 'half'; accepted: lora, full"),
    (["--fault", "other"], "--fault: 'other'; accepted: none, labels, pooled, head-moved, lora, mask, literal"),
    (["--learning-rate", "-1"], "--learning-rate: '-1'; accepted: a number above 0"),
    (["--devices", "gpu"], "'gpu' is not a device; accepted: cpu, cuda:N"),
    (["--devices", "cpu,cuda:99"], "there is no device cuda:99; there are: cpu"),
    (["--fault", "labels", "--devices", "cpu"], "--fault labels: needs a first and a last device that differ"),
    (["--data", "/no/such/file"], "/no/such/file: no such file"),
    (["--resume", "/no/such/file"], "/no/such/file: no such checkpoint"),
    (["--resume", __file__], "not a checkpoint of encoder_classifier"),
    (["--checkpoint", "/no/such/folder/run.pt"], "--checkpoint /no/such/folder/run.pt: not a file that can be written"),
    (["--data", __file__], ":1: not a header; accepted: ROWS,1,CLASS,CLASS such as 5200,1,UniProt,AMP"),
])
def test_wrong_use_is_one_line_and_exit_2(arguments, message):
    result = encoder_classifier(*arguments)
    assert result.returncode == 2
    assert message in one_line(result.stderr)
    assert result.stdout == ""


def test_a_wrong_residue_is_named_with_its_place(tmp_path):
    lines = DATA.read_text().splitlines()
    lines[41] = "MKB" + lines[41]
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("\n".join(lines))
    result = encoder_classifier("--data", wrong)
    assert result.returncode == 2
    assert one_line(result.stderr) == (f"encoder_classifier: {wrong}:42: row 41, column 3: 'B' is not an amino acid; "
                                       f"accepted: {RESIDUES}")


def test_a_failing_run_keeps_the_checkpoint(small, tmp_path):
    checkpoint = tmp_path / "run.pt"
    assert encoder_classifier(*small, "--steps", "2", "--checkpoint", checkpoint).returncode == 0
    before = checkpoint.read_bytes()
    result = encoder_classifier(*small[2:], "--data", "/no/such/file", "--checkpoint", checkpoint)
    assert result.returncode == 2
    assert checkpoint.read_bytes() == before
    assert os.listdir(tmp_path) == ["run.pt"]


def test_training_makes_the_loss_fall_and_repeats(small):
    first = encoder_classifier(*small, "--epochs", "6", "--learning-rate", "0.005")
    assert first.returncode == 0, first.stderr
    assert first.stderr == ""  # no progress bar for a pipe
    losses = epochs(first.stdout)
    assert len(losses) == 6
    assert losses[-1][0] < losses[0][0] and losses[-1][1] < losses[0][1]
    assert encoder_classifier(*small, "--epochs", "6", "--learning-rate", "0.005").stdout == first.stdout
    assert epochs(encoder_classifier(*small, "--epochs", "1", "--seed", "1").stdout)[0] != losses[0]


def test_a_resumed_run_has_the_losses_of_an_uninterrupted_one(small, tmp_path):
    whole = epochs(encoder_classifier(*small, "--epochs", "4").stdout)
    checkpoint = tmp_path / "run.pt"
    encoder_classifier(*small, "--epochs", "2", "--checkpoint", checkpoint)
    resumed = encoder_classifier(*small, "--epochs", "4", "--resume", checkpoint)
    assert epochs(resumed.stdout) == whole[2:]
    done = encoder_classifier(*small, "--epochs", "2", "--resume", checkpoint)
    assert done.returncode == 0 and "nothing to train" in done.stdout


def test_a_checkpoint_holds_to_what_it_was_made_with(small_data, tmp_path):
    checkpoint = tmp_path / "run.pt"
    encoder_classifier("--data", small_data, "--width", "16", "--steps", "1", "--checkpoint", checkpoint)
    result = encoder_classifier("--data", small_data, "--width", "32", "--resume", checkpoint)
    assert result.returncode == 2
    assert one_line(result.stderr) == "encoder_classifier: --width: the checkpoint was made with 16"


def test_the_step_time_is_printed_on_request(small):
    result = encoder_classifier(*small, "--steps", "5", "--report-step-time")
    assert re.search(r"^median step: [0-9.]+ ms of 5 steps$", result.stdout, re.M)


def test_a_device_map_places_every_part(small, tmp_path):
    device_map = tmp_path / "map.json"
    device_map.write_text('{"shared": "cpu", "encoder": "cpu", "classifier": "cpu"}')
    assert encoder_classifier(*small, "--steps", "1", "--device-map", device_map).returncode == 0
    device_map.write_text('{"shared": "cpu", "encoder": "cpu"}')
    result = encoder_classifier(*small, "--steps", "1", "--device-map", device_map)
    assert result.returncode == 2
    assert "no entry covers 'classifier" in one_line(result.stderr)


def test_real_proteins_full_then_lora(tmp_path):
    """The accuracy that the default run is made for, and a LoRA run that goes on from it."""
    full = tmp_path / "full.pt"
    result = encoder_classifier("--devices", "cpu", "--checkpoint", full, timeout=900)
    assert result.returncode == 0, result.stderr
    accuracy = epochs(result.stdout)[-1][2]
    assert accuracy > 0.80
    adapted = encoder_classifier("--devices", "cpu", "--resume", full, "--finetune", "lora", "--epochs", "1", timeout=900)
    assert adapted.returncode == 0, adapted.stderr
    start = re.search(r"^from step \d+ of .*: held-out loss [0-9.]+  accuracy ([0-9.]+)$", adapted.stdout, re.M)
    assert float(start[1]) == accuracy
    assert epochs(adapted.stdout)[-1][2] > accuracy - 0.03


# On simulated devices, where the runtime half is built.
simulated = pytest.mark.skipif(not (BIN / "devsan-run").exists(), reason="devsan run is not part of this build")
TWO_DEVICES = [BIN / "devsan", "run", "--simulate", "2", "--trace-ops", "0", "--"]


@simulated
def test_two_devices_give_the_losses_of_one(small, tmp_path):
    checkpoint = tmp_path / "run.pt"
    one = encoder_classifier(*small, "--epochs", "1", "--checkpoint", checkpoint)
    two = encoder_classifier("--data", small[1], "--resume", checkpoint, "--epochs", "2", "--checkpoint", checkpoint,
                             "--devices", "cuda:0,cuda:1", prefix=TWO_DEVICES)
    assert two.returncode == 0, two.stderr
    assert re.search(r"^  shared .* cuda:0$", two.stdout, re.M) and re.search(r"^  classifier .* cuda:1$", two.stdout, re.M)
    # The same weights, evaluated where no dropout is drawn; then trained on, and what was saved is read on the CPU.
    assert held_out(one.stdout)[-1] == held_out(two.stdout)[0]
    back = encoder_classifier(*small, "--resume", checkpoint, "--epochs", "2")
    assert held_out(back.stdout)[0] == held_out(two.stdout)[-1]


@simulated
@pytest.mark.parametrize("fault", ["labels", "pooled", "head-moved", "lora", "mask", "literal"])
def test_a_fault_ends_the_program_by_its_exception(small_data, fault):
    result = encoder_classifier("--data", small_data, "--width", "16", "--devices", "cuda:0,cuda:1", "--steps", "1",
                                "--finetune", "lora", "--fault", fault, prefix=TWO_DEVICES)
    assert result.returncode != 0
    assert "Expected all tensors to be on the same device" in result.stderr


def test_every_fault_marks_one_line():
    sources = [path.read_text() for path in (SOURCE / "reference_models" / "encoder_classifier").glob("*.cpp")]
    for fault in ("labels", "pooled", "head-moved", "lora", "mask", "literal"):
        assert sum(len(re.findall(rf"// fault: {fault}$", text, re.M)) for text in sources) == 1
