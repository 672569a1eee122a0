"""Unpacks what DevSan reads of the source archives: one CSV of modlamp, the C++ of the others.

usage: unpack_sources.py ARCHIVES_FOLDER TARGET_FOLDER
"""
import pathlib
import sys
import tarfile

CSV = "AMPvsUniProt.csv"


def main(archives: pathlib.Path, target: pathlib.Path) -> None:
    for path in sorted(archives.glob("*.tar.gz")):
        with tarfile.open(path) as archive:
            if path.name.startswith("modlamp-"):
                member = next(m for m in archive.getmembers() if m.name.endswith(f"modlamp/data/{CSV}"))
                (target / CSV).write_bytes(archive.extractfile(member).read())
            else:
                # What tarfile's "data" filter refuses (Python 3.11.4), for Debian's 3.11.2.
                members = [m for m in archive.getmembers() if m.isfile() or m.isdir()]
                for member in members:
                    if not (target / member.name).resolve().is_relative_to(target.resolve()):
                        sys.exit(f"{path.name}: '{member.name}' leads out of its folder")
                archive.extractall(target, members)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
