"""Writes the parts of the simulator that follow from the installed CUDA libraries and PyTorch.

  exports          a body for each function that a real library exports and our objects do not define
  error-texts      names and texts of the CUDA runtime's errors
  torch-identity   the build ids of PyTorch's libraries
"""

import argparse
import ctypes
import pathlib
import re
import subprocess


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exported_functions(library):
    """Names of the functions in the dynamic symbol table of a shared library."""
    names = set()
    for line in run("nm", "-D", "--defined-only", library).splitlines():
        kind, name = line.split()[-2:]
        if kind in "TW":
            names.add(name.split("@")[0])
    return names - {"_init", "_fini"}


def declared_functions(header, prefix):
    """Names of the functions that a C header declares, by the convention `RESULT CUDAAPI name(`."""
    text = pathlib.Path(header).read_text()
    aliases = dict(re.findall(rf"^\s*#\s*define\s+({prefix}\w+)\s+({prefix}\w+)\s*$", text, re.MULTILINE))
    declared = set(re.findall(rf"\bCUDAAPI\s+({prefix}\w+)\s*\(", text))
    # `#define cuMemAlloc cuMemAlloc_v2` renames what follows: the library exports the new name too.
    return declared | {aliases[name] for name in declared if name in aliases}


def defined_symbols(objects):
    names = set()
    for path in objects:
        for line in run("nm", "--defined-only", path).splitlines():
            names.add(line.split()[-1])
    return names


def write_exports(args):
    names = set()
    for library in args.library:
        names |= exported_functions(library)
    if args.header:
        names |= declared_functions(args.header, args.prefix)
    # C++ names are the libraries' own business: nobody links to them.
    names = {name for name in names if not name.startswith("_Z")} - defined_symbols(args.objects)
    harmless = re.compile(args.harmless) if args.harmless else None
    lines = [
        f"// {len(names)} functions without a body of their own.",
        f'extern "C" int {args.missing}(const char* name);',
        '#define MISSING(name) extern "C" __attribute__((visibility("default"))) int name() '
        f"{{ return {args.missing}(#name); }}",
        '#define HARMLESS(name) extern "C" __attribute__((visibility("default"))) int name() { return 0; }',
    ]
    for name in sorted(names):
        lines.append(f"{'HARMLESS' if harmless and harmless.search(name) else 'MISSING'}({name})")
    args.output.write_text("\n".join(lines) + "\n")


def write_error_texts(args):
    header = pathlib.Path(args.header).read_text()
    codes = sorted({int(code) for _, code in re.findall(r"\b(cudaError\w+|cudaSuccess)\s*=\s*(\d+)", header)})
    runtime = ctypes.CDLL(args.runtime)
    for function in (runtime.cudaGetErrorName, runtime.cudaGetErrorString):
        function.restype = ctypes.c_char_p
    lines = []
    for code in codes:
        name = runtime.cudaGetErrorName(code).decode()
        text = runtime.cudaGetErrorString(code).decode()
        lines.append(f'{{{code}, "{name}", "{text}"}},')
    args.output.write_text("\n".join(lines) + "\n")


def build_id(library):
    found = re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", library))
    if not found:
        raise SystemExit(f"{library} has no build id; a PyTorch without them cannot be told from another")
    return found.group(1)


def write_torch_identity(args):
    libraries = ["libc10.so", "libtorch_cpu.so", "libc10_cuda.so", "libtorch_cuda.so"]
    lines = ["const LibraryId kLibraries[] = {"]
    lines += [f'    {{"{name}", "{build_id(args.folder / name)}", {{}}}},' for name in libraries]
    lines += [
        "};",
        "const TorchIdentity kSupportedTorches[] = {",
        f'    {{"{args.version}", "{args.git_version}", "{args.redirect}", kLibraries}},',
        "};",
    ]
    args.output.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)

    exports = commands.add_parser("exports")
    exports.add_argument("--library", action="append", default=[], help="a real library")
    exports.add_argument("--header", help="or a header, where there is no library")
    exports.add_argument("--prefix", help="of the functions taken from the header")
    exports.add_argument("--missing", required=True, help="function that is told the name")
    exports.add_argument("--harmless", help="regular expression: these answer 0 instead")
    exports.add_argument("--objects", nargs="*", default=[])
    exports.set_defaults(write=write_exports)

    texts = commands.add_parser("error-texts")
    texts.add_argument("--header", required=True)
    texts.add_argument("--runtime", required=True)
    texts.set_defaults(write=write_error_texts)

    identity = commands.add_parser("torch-identity")
    identity.add_argument("--folder", type=pathlib.Path, required=True)
    identity.add_argument("--version", required=True)
    identity.add_argument("--git-version", required=True)
    identity.add_argument("--redirect", required=True)
    identity.set_defaults(write=write_torch_identity)

    for command in (exports, texts, identity):
        command.add_argument("--output", type=pathlib.Path, required=True)
    args = parser.parse_args()
    args.write(args)


if __name__ == "__main__":
    main()
