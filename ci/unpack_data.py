"""Unpacks what DevSan reads of the archives: the CSV files of modlamp and scikit-learn, the C++ of the others,
and the headers of CUDA 12 as a toolkit has them: all in one folder.

usage: unpack_data.py ARCHIVES_FOLDER TARGET_FOLDER
"""
import gzip
import pathlib
import sys
import tarfile
import zipfile

PROTEINS = "AMPvsUniProt.csv"
DIGITS = "digits.csv"
CUDA_12 = "cuda-12"


def unpack_source(path: pathlib.Path, target: pathlib.Path) -> None:
    with tarfile.open(path) as archive:
        if path.name.startswith("modlamp-"):
            member = next(m for m in archive.getmembers() if m.name.endswith(f"modlamp/data/{PROTEINS}"))
            (target / PROTEINS).write_bytes(archive.extractfile(member).read())
            return
        # What tarfile's "data" filter refuses (Python 3.11.4), for Debian's 3.11.2.
        members = [m for m in archive.getmembers() if m.isfile() or m.isdir()]
        for member in members:
            if not (target / member.name).resolve().is_relative_to(target.resolve()):
                sys.exit(f"{path.name}: '{member.name}' leads out of its folder")
        archive.extractall(target, members)


def unpack_cuda_headers(path: pathlib.Path, target: pathlib.Path) -> None:
    with zipfile.ZipFile(path) as wheel:
        for name in wheel.namelist():
            package, is_header, header = name.partition("/include/")
            if not is_header or package.count("/") != 1 or name.endswith("/"):
                continue
            to = target / CUDA_12 / "include" / header
            if not to.resolve().is_relative_to(target.resolve()):
                sys.exit(f"{path.name}: '{name}' leads out of its folder")
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(wheel.read(name))


def main(archives: pathlib.Path, target: pathlib.Path) -> None:
    for path in sorted(archives.glob("*.tar.gz")):
        unpack_source(path, target)
    for path in archives.glob("scikit_learn-*.whl"):
        with zipfile.ZipFile(path) as wheel:
            (target / DIGITS).write_bytes(gzip.decompress(wheel.read(f"sklearn/datasets/data/{DIGITS}.gz")))
    for path in archives.glob("nvidia_cuda_*.whl"):
        unpack_cuda_headers(path, target)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
