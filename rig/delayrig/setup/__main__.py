# SPDX-License-Identifier: GPL-2.0-or-later
"""The entry point of `rig/rig`."""

import sys

RIG_FAULT = 99
UNTESTABLE = 125
INTERRUPTED = 130


def start() -> int:
    """Runs the launcher and returns its exit code; 99 if it fails, or 125 with `--bisect`.

    Without this, Python would exit with 1 after an error; 1 means that a flashrom is unsafe. For
    125 `git bisect run` skips the revision. It would take 99 for a bad revision.
    """
    code = RIG_FAULT
    try:
        from delayrig.setup.launcher import main

        code = main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write("rig/rig: interrupted; nothing was begun\n")
        return INTERRUPTED
    except (MemoryError, ImportError, OSError) as error:
        sys.stderr.write(f"rig/rig: cannot start: {type(error).__name__}: {error}\n")
    except Exception:  # noqa: BLE001 (the last resort, see above)
        import traceback

        traceback.print_exc()
    return UNTESTABLE if "--bisect" in sys.argv and code == RIG_FAULT else code


if __name__ == "__main__":
    sys.exit(start())
