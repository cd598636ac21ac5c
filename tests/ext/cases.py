"""The scripts of this room once more, with native handlers switched off."""

from pathlib import Path

ROOM = Path(__file__).resolve().parent


def cases():
    for path in sorted(ROOM.glob("*.dl")):
        source = path.read_text(encoding="utf-8")
        yield {
            "name": path.stem + "_portable",
            "source": source,
            "options": ["--no-native-extensions"],
            "expect": [line[len("# expect: "):] for line in source.splitlines() if line.startswith("# expect: ")],
            "skip_oracle": "CPython has no such extension",
        }
