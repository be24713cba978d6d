"""Packs a folder as a wheel: python3 pack.py FOLDER WHEEL.

The folder has the files of the wheel with one `*.dist-info`. Its RECORD is written here. Files that may be executed stay so;
the same folder always gives the same bytes.
"""

import base64
import csv
import hashlib
import io
import os
import stat
import sys
import zipfile
from pathlib import Path

# The earliest time that a zip file can store.
TIME = (1980, 1, 1, 0, 0, 0)


def files_in(folder: Path) -> list[Path]:
    """The files of a folder, those of its `*.dist-info` last, as the specification of wheels recommends."""
    files = [Path(parent, name) for parent, _, names in os.walk(folder) for name in names]
    for file in files:
        if file.is_symlink():
            sys.exit(f"{file} is a symbolic link, which a wheel cannot contain")

    def order(file: Path) -> tuple[bool, str]:
        path = file.relative_to(folder)
        return path.parts[0].endswith(".dist-info"), path.as_posix()

    return sorted(files, key=order)


def member(path: str, mode: int) -> zipfile.ZipInfo:
    """An entry of the zip file, without the time and the owner of the file."""
    info = zipfile.ZipInfo(path, TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3  # Unix, whose permissions follow
    info.external_attr = (stat.S_IFREG | (0o755 if mode & 0o111 else 0o644)) << 16
    return info


def record_of(rows: list[tuple[str, str, str]]) -> str:
    """The text of RECORD."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def pack(folder: Path, wheel: Path) -> None:
    """Writes the wheel of the folder."""
    rows: list[tuple[str, str, str]] = []
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in files_in(folder):
            path = file.relative_to(folder).as_posix()
            content = file.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.append((path, f"sha256={digest}", str(len(content))))
            archive.writestr(member(path, file.stat().st_mode), content)
        (info,) = folder.glob("*.dist-info")
        record = f"{info.name}/RECORD"
        archive.writestr(member(record, 0o644), record_of([*rows, (record, "", "")]))


if __name__ == "__main__":
    pack(Path(sys.argv[1]), Path(sys.argv[2]))
