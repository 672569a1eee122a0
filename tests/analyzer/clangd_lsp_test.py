"""devsan-clangd as an editor sees it: the rules' findings while typing, and otherwise the stock clangd's answers."""
import json
import pathlib
import shutil
import sysconfig

import pytest

from lsp import Server, path_of, uri_of, with_edits
from tools import BIN, BUILD, LLVM_MAJOR, devsan, run

MOCK = pathlib.Path(__file__).parent / "mock_torch"
FLAGS = ["-std=c++20", "-nostdinc", "-nostdinc++", f"-I{MOCK}"]
STOCK = f"clangd-{LLVM_MAJOR}"

CODE = """\
#include <torch/torch.h>
struct Net : torch::nn::Module {
  torch::Tensor mask = torch::ones({4});
  torch::Tensor forward(torch::Tensor x) { return x * mask; }
};
void f(torch::Tensor x, torch::Device device) {
  x.to(device);
}
"""
FOUND = {(3, "devsan-unregistered-member"), (7, "devsan-dropped-move")}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.cpp").write_text(CODE)
    (tmp_path / "compile_flags.txt").write_text("\n".join(FLAGS) + "\n")
    return tmp_path


def serve(folder, *options, program=BIN / "devsan-clangd"):
    # Nothing of the user's own settings, no index on the disk.
    command = [program, "--background-index=0", "--log=error", *options]
    return Server(command, folder, {"XDG_CONFIG_HOME": str(folder / "config"), "CLANGD_FLAGS": ""})


def found(diagnostics):
    return {(each["range"]["start"]["line"] + 1, each.get("code")) for each in diagnostics}


def first_diagnostics(folder, *options):
    with serve(folder, *options) as server:
        return found(server.open("a.cpp"))


def position(text, marked):
    """Where `marked`, a piece of the text with a '|' in it, stands."""
    before = text[:text.index(marked.replace("|", ""))] + marked.split("|")[0]
    return {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}


def test_a_diagnostic_has_the_rule_its_place_its_path_and_its_page(folder):
    with serve(folder) as server:
        member, dropped = sorted(server.open("a.cpp"), key=lambda each: each["range"]["start"]["line"])
    assert dropped["code"] == "devsan-dropped-move" and dropped["severity"] == 2
    assert dropped["range"] == {"start": {"line": 6, "character": 2}, "end": {"line": 6, "character": 14}}
    assert "x.to(device)" in dropped["message"]
    page = path_of(dropped["codeDescription"]["href"])
    assert page.read_text().startswith("# ") and page.name == "dropped-move.md"
    steps = {(step["location"]["range"]["start"]["line"] + 1, step["message"].lower())
             for step in member["relatedInformation"]}
    assert steps == {(3, "made here"), (4, "used here")}


COLLECTIVE = """\
#include <torch/torch.h>
namespace c10d {
struct Work {};
struct ProcessGroupNCCL { std::shared_ptr<Work> allreduce(std::vector<at::Tensor>& tensors); };
}  // namespace c10d
void f(std::shared_ptr<c10d::ProcessGroupNCCL> nccl) {
  std::vector<at::Tensor> tensors{torch::ones({4})};
  nccl->allreduce(tensors);
}
"""


def test_the_page_is_the_one_of_the_code_rule(folder):
    """collective-device is the name of a rule of devsan run too, which has a page of its own."""
    page = BUILD / "share" / "devsan" / "rules" / "collective-device-lint.md"
    assert page.exists()
    (folder / "a.cpp").write_text(COLLECTIVE)
    with serve(folder) as server:
        [finding] = server.open("a.cpp")
    assert finding["code"] == "devsan-collective-device" and path_of(finding["codeDescription"]["href"]) == page


def test_findings_come_and_go_while_typing(folder):
    with serve(folder) as server:
        assert found(server.open("a.cpp")) == FOUND
        text = CODE.replace("  x.to(device)", "  x = x.to(device)")
        assert found(server.change("a.cpp", text)) == {(3, "devsan-unregistered-member")}
        text = text.replace("torch::ones({4})", 'register_buffer("mask", torch::ones({4}))')
        assert not found(server.change("a.cpp", text))
        assert found(server.change("a.cpp", text + "void g(torch::Tensor x) { x.cpu(); }\n")) == {
            (9, "devsan-dropped-move")}


def test_half_typed_code_does_not_disturb(folder):
    with serve(folder) as server:
        server.open("a.cpp")
        for end in range(CODE.index("void f"), len(CODE)):
            server.change("a.cpp", CODE[:end])
        assert found(server.change("a.cpp", CODE)) == FOUND
        assert server.shut_down() == 0


def test_fixes_are_code_actions_and_compile(folder):
    with serve(folder) as server:
        edits = []
        for diagnostic in server.open("a.cpp"):
            actions = server.ask("codeAction", "a.cpp", range=diagnostic["range"],
                                 context={"diagnostics": [diagnostic]})
            [fix] = [action for action in actions if action["kind"] == "quickfix"]
            edits += fix["edit"]["changes"][uri_of(folder / "a.cpp")]
        fixed = with_edits(CODE, edits)
        assert not server.change("a.cpp", fixed)
    assert "  x = x.to(device);\n" in fixed and 'register_buffer("mask", torch::ones({4}))' in fixed
    (folder / "a.cpp").write_text(fixed)
    compiled = run(["clang++-22", *FLAGS, "-fsyntax-only", "a.cpp"], cwd=folder)
    assert compiled.returncode == 0, compiled.stderr


@pytest.mark.parametrize("line, silent", [
    ("  x.to(device);  // NOLINT", True),
    ("  x.to(device);  // NOLINT(devsan-dropped-move)", True),
    ("  x.to(device);  // NOLINT(devsan-hard-coded-device)", False),
    ("  // NOLINTNEXTLINE(devsan-*)\n  x.to(device);", True),
    ("  x.to(device);  // devsan: allow(dropped-move) warms the allocator up", True),
    ("  // devsan: allow(devsan-dropped-move) warms the allocator up\n  x.to(device);", True),
    ("  x.to(device);  // devsan: allow(dropped-move)", False),
    ("  x.to(device);  // devsan: allow(mixed-devices) of another rule", False),
])
def test_what_is_silenced_in_the_code(folder, line, silent):
    (folder / "a.cpp").write_text(CODE.replace("  x.to(device);", line))
    codes = {code for _, code in first_diagnostics(folder)}
    assert codes == {"devsan-unregistered-member"} | (set() if silent else {"devsan-dropped-move"})


DROPPED = {(7, "devsan-dropped-move")}


@pytest.mark.parametrize("file, text, expected", [
    (".clang-tidy", "Checks: '-devsan-*'", set()),
    (".clang-tidy", "Checks: '-*,google-*'", FOUND),
    (".clang-tidy", "Checks: '-*,google-*,-devsan-unregistered-member'", DROPPED),
    (".clang-tidy", "Checks: '-*,devsan-dropped-move'", DROPPED),
    (".clang-tidy", "Checks: >\n  -*,\n  google-*,\n  -devsan-*\n", set()),
    (".clang-tidy", "Checks: '-devsan-no-such-rule,-no-such-module-*'", FOUND),
    (".clang-tidy", "Checks: [not, {a: list", FOUND),
    (".clangd", "Diagnostics:\n  ClangTidy:\n    Remove: devsan-unregistered-member\n", DROPPED),
    (".clangd", "Diagnostics:\n  ClangTidy:\n    Remove: 'devsan-*'\n", set()),
    (".clangd", "Diagnostics:\n  ClangTidy:\n    Add: bugprone-*\n", FOUND),
    (".clangd", "Diagnostics:\n  Suppress: [devsan-unregistered-member]\n", DROPPED),
    (".clangd", "Diagnostics:\n  Suppress: '*'\n", set()),
    (".clangd", "Diagnostics:\n  ClangTidy:\n    FastCheckFilter: None\n", FOUND),
    (".clangd", "Diagnostics: [not, {a: map", FOUND),
])
def test_settings_turn_rules_off(folder, file, text, expected):
    (folder / file).write_text(text)
    ours = {each for each in first_diagnostics(folder) if str(each[1]).startswith("devsan-")}
    assert ours == expected


def test_no_clang_tidy_no_rules(folder):
    assert first_diagnostics(folder, "--clang-tidy=0") == set()


def test_options_of_a_check(folder):
    (folder / "a.cpp").write_text('#include <torch/torch.h>\nint main() { torch::Device d("cuda:0"); }\n')
    assert first_diagnostics(folder) == set()
    (folder / ".clang-tidy").write_text("CheckOptions: {devsan-hard-coded-device.SetUpAndTests: 'true'}\n")
    assert first_diagnostics(folder) == {(2, "devsan-hard-coded-device")}


def test_flags_come_from_compile_commands(folder):
    (folder / "compile_flags.txt").unlink()
    (folder / "a.cpp").write_text("#ifdef WITH_MODEL\n" + CODE + "#endif\n")
    command = {"directory": str(folder), "file": "a.cpp", "arguments": ["c++", "-DWITH_MODEL", *FLAGS, "-c", "a.cpp"]}
    (folder / "build").mkdir()
    (folder / "build" / "compile_commands.json").write_text(json.dumps([command]))
    assert first_diagnostics(folder) == {(line + 1, code) for line, code in FOUND}


def test_no_flags_at_all(folder):
    (folder / "compile_flags.txt").unlink()
    shutil.copytree(MOCK, folder / "mock")
    (folder / "a.cpp").write_text(CODE.replace("<torch/torch.h>", '"mock/torch/torch.h"'))
    assert first_diagnostics(folder) == FOUND


def test_what_a_header_does_is_not_guessed(folder):
    """clangd reads headers without the bodies of their functions: what they register is not known."""
    (folder / "net.h").write_text("""\
        #pragma once
        #include <torch/torch.h>
        struct Base : torch::nn::Module {
          void adopt(const char* name, torch::Tensor& tensor) { tensor = register_buffer(name, tensor); }
        };
        """)
    net = """\
        #include "net.h"
        struct Net : Base {
          torch::Tensor scale = torch::ones({4});
          Net() { KEEP; }
          torch::Tensor forward(torch::Tensor x) { return x * scale; }
        };
        """
    (folder / "a.cpp").write_text(net.replace("KEEP", 'adopt("scale", scale)'))
    with serve(folder) as server:
        assert not server.open("a.cpp")
        assert found(server.change("a.cpp", net.replace("KEEP", ""))) == {(3, "devsan-unregistered-member")}


def test_cuda_files(folder):
    (folder / "a.cu").write_text(CODE)
    (folder / "compile_flags.txt").write_text("\n".join([*FLAGS, "-nocudainc", "-nocudalib", "--cuda-host-only"]))
    with serve(folder) as server:
        ours = {each for each in found(server.open("a.cu")) if str(each[1]).startswith("devsan-")}
    assert ours == FOUND


QUESTIONS = """\
#include <torch/torch.h>
#define TWICE(x) ((x) + (x))
namespace app {
/// Moves a batch.
struct Loader {
  torch::Tensor load(const torch::Tensor& batch, torch::Device device) { return batch.to(device); }
  int count = 0;
};
}  // namespace app
int use(app::Loader& loader, torch::Tensor x) {
  auto moved = loader.load(x, torch::kCUDA);
  int unused = TWICE(loader.count);
  if (loader.count = 3) return 1;
  x.cpu();
  return loader.
}
"""


def answers(server):
    """What is asked of both servers, and what each says."""
    diagnostics = server.open("a.cpp")
    [assigned] = [each for each in diagnostics if "assignment as a condition" in each["message"]]
    load = position(QUESTIONS, "loader.lo|ad")
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": QUESTIONS.count("\n"), "character": 0}}
    said = {
        "diagnostics": [each for each in diagnostics if not str(each.get("code")).startswith("devsan-")],
        "hover": server.ask("hover", "a.cpp", position=load),
        "definition": server.ask("definition", "a.cpp", position=load),
        "definition in a header": server.ask("definition", "a.cpp", position=position(QUESTIONS, "batch.t|o(device)")),
        "references": server.ask("references", "a.cpp", position=load, context={"includeDeclaration": True}),
        "completion": server.ask("completion", "a.cpp", position=position(QUESTIONS, "return loader.|\n")),
        "signatureHelp": server.ask("signatureHelp", "a.cpp", position=position(QUESTIONS, "loader.load(|x")),
        "documentSymbol": server.ask("documentSymbol", "a.cpp"),
        "semanticTokens/full": server.ask("semanticTokens/full", "a.cpp"),
        "inlayHint": server.ask("inlayHint", "a.cpp", range=whole),
        "foldingRange": server.ask("foldingRange", "a.cpp"),
        "formatting": server.ask("formatting", "a.cpp", options={"tabSize": 2, "insertSpaces": True}),
        "codeAction": server.ask("codeAction", "a.cpp", context={"diagnostics": [assigned]}, range=assigned["range"]),
        "rename": server.ask("rename", "a.cpp", position=load, newName="fetch"),
    }
    return said, server.info


def test_all_other_answers_are_the_stock_ones(folder):
    assert shutil.which(STOCK), f"{STOCK} is missing; ci/setup installs it"
    (folder / "a.cpp").write_text(QUESTIONS)
    with serve(folder) as server:
        ours, our_info = answers(server)
    with serve(folder, program=STOCK) as server:
        stock, stock_info = answers(server)
    assert our_info == stock_info
    for question, answer in stock.items():
        assert answer, f"{question}: nothing was answered, so nothing is compared"
        assert ours[question] == answer, question
    assert any(item["label"].strip() == "count" for item in ours["completion"]["items"])


def test_version_is_the_stock_one_and_ours():
    stock = run([STOCK, "--version"]).stdout
    for result in (run([BIN / "devsan-clangd", "--version"]), devsan("clangd", "--version")):
        assert result.returncode == 0 and result.stdout.startswith(stock)
        assert result.stdout.removeprefix(stock) == f"{devsan('--version').stdout.strip()}: checks devsan-* are on\n"


def test_options_are_the_stock_ones():
    ours = run([BIN / "devsan-clangd", "--help-hidden"]).stdout
    assert ours.replace("devsan-clangd", STOCK) == run([STOCK, "--help-hidden"]).stdout
    assert run([BIN / "devsan-clangd", "--frobnicate"]).returncode == run([STOCK, "--frobnicate"]).returncode == 1


def test_real_headers_as_lint_finds(folder):
    include = pathlib.Path(sysconfig.get_paths()["purelib"]) / "torch" / "include"
    (folder / "compile_flags.txt").write_text("\n".join(
        ["-std=c++17", "-isystem", str(include), "-isystem", str(include / "torch/csrc/api/include")]))
    with serve(folder) as server:
        diagnostics = server.open("a.cpp")
        [place] = server.ask("definition", "a.cpp", position=position(CODE, "x.t|o(device)"))
        assert server.shut_down() == 0
    assert found(diagnostics) == FOUND
    assert path_of(place["uri"]).name == "TensorBody.h"
