# SPDX-License-Identifier: GPL-2.0-or-later
"""Stubs of the commands of Slurm and PBS: a job is a process group of this machine."""

from pathlib import Path

SUBMIT = """\
#!/bin/sh
cd "$(dirname "$0")"
cp "$1" script
cp "$1" script-$$
setsid bash script-$$ >>log 2>&1 &
echo $! >>jobs
echo "{said}$!"
"""
CANCEL = '#!/bin/sh\nkill -TERM -- "-$1"\n'
COMMANDS = {"slurm": ("sbatch", "scancel"), "pbs": ("qsub", "qdel")}
SAID = {"slurm": "Submitted batch job ", "pbs": ""}
FILE = 'schema = 1\njobs = 1\ncpus = 1\nmemory = "1GB"\ninterface = "lo"\n'


def install_queue(folder: Path, kind: str) -> Path:
    """Writes stubs of the queue's commands to a folder for PATH; they record each job."""
    folder.mkdir()
    submit, cancel = COMMANDS[kind]
    for name, text in ((submit, SUBMIT.replace("{said}", SAID[kind])), (cancel, CANCEL)):
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


def job_file(folder: Path, more: str = "") -> Path:
    """Writes a user's settings for such jobs; returns their file."""
    path = folder / "jobs.toml"
    path.write_text(FILE + more, encoding="utf-8")
    return path


def jobs_of(queue: Path) -> list[int]:
    """Returns the process groups of all submitted jobs."""
    jobs = queue / "jobs"
    return [int(word) for word in jobs.read_text(encoding="utf-8").split()] if jobs.exists() else []
