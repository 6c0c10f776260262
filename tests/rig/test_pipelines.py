# SPDX-License-Identifier: GPL-2.0-or-later
"""The pipelines of ci/ pass their services' checks, and call ci/gate.sh correctly."""

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.rig.builders import CHECKOUT
from tests.rig.git_commits import commit_all, git
from tests.rig.running import run

CI = CHECKOUT / "ci"
GATE = CI / "gate.sh"
GITHUB, GITLAB, JENKINS = CI / "github/gate.yml", CI / "gitlab/gate.yml", CI / "jenkins/Jenkinsfile"
READER = CHECKOUT / "tests/rig/jenkinsfile.groovy"
TOOLS = Path(sys.executable).parent
LIMIT_S = 120
MAKE_THE_STATE = (
    *("images/lock.toml", "rig/requirements.lock", "emulators/a.c", "flashrom/a.c", "meson.build"),
    *(f"rig/delayrig/{folder}/a.py" for folder in ("setup", "subjects", "machine")),
)
DO_NOT = ("images/README.md", "rig/delayrig/setup/a.pyc", "rig/delayrig/judge/a.py")


def answer(
    *command: str | Path,
    given: str = "",
    at: Path | None = None,
    variables: Mapping[str, str | Path] | None = None,
) -> tuple[int, str]:
    """Runs a command in a folder with additional variables; returns its exit code and output."""
    environment = {**os.environ, **{name: str(value) for name, value in (variables or {}).items()}}
    java = shutil.which("java")
    if java:
        environment["JAVA_HOME"] = str(Path(java).resolve().parents[1])
    done = run(*command, input=given, timeout=LIMIT_S, cwd=at, env=environment)
    return done.returncode, done.stdout + done.stderr


def pipeline_calls(status: int = 0) -> tuple[list[dict[str, Any]], str | None]:
    """Returns the calls that Groovy finds in the Jenkinsfile, and the result of the build.

    `status` is the exit code of the gate.
    """
    if shutil.which("groovy") is None:
        pytest.skip("no groovy here: `rig/rig setup --tests` installs it")
    code, output = answer("groovy", READER, JENKINS, str(status))
    assert code == 0, output
    content = json.loads(output)
    return content["calls"], content["result"]


def scripts_of_jenkins() -> list[str]:
    words = [call["words"][0] for call in pipeline_calls()[0] if call["name"] == "sh"]
    return [word["script"] if isinstance(word, dict) else word for word in words]


def steps_of_github(action: str = "") -> list[dict[str, Any]]:
    """Returns all steps, or those that use the action."""
    jobs = yaml.safe_load(GITHUB.read_text(encoding="utf-8"))["jobs"].values()
    steps = [step for job in jobs for step in job["steps"]]
    return [step for step in steps if not action or step.get("uses", "").startswith(f"{action}@")]


def scripts_of_github() -> list[str]:
    steps = [step["run"] for step in steps_of_github() if "run" in step]
    # The service replaces `${{ }}` with text that others may write; a script would run that text.
    assert not any("${{" in step for step in steps)
    return steps


def scripts_of_gitlab() -> list[str]:
    job = yaml.safe_load(GITLAB.read_text(encoding="utf-8"))["delays"]
    return ["\n".join([*job["before_script"], *job["script"]])]


SCRIPTS = {"github": scripts_of_github, "gitlab": scripts_of_gitlab, "jenkins": scripts_of_jenkins}
services = pytest.mark.parametrize("service", SCRIPTS)


@pytest.mark.parametrize(
    ("schema", "file", "more"),
    [
        ("vendor.github-workflows", GITHUB, []),
        ("vendor.gitlab-ci", GITLAB, ["--data-transform", "gitlab-ci"]),
    ],
)
def test_pipeline_meets_its_services_own_schema(schema: str, file: Path, more: list[str]) -> None:
    check: list[str | Path] = [TOOLS / "check-jsonschema", "--builtin-schema", schema, *more]
    code, output = answer(*check, file)
    assert code == 0, output
    # The schema must refuse wrong keys.
    code, _ = answer(*check, "-", given=file.read_text(encoding="utf-8") + "\njobs: 7\nstages: 7\n")
    assert code != 0


def test_github_workflow_passes_its_auditor(tmp_path: Path) -> None:
    audit: list[str | Path] = [TOOLS / "zizmor", "--offline", "--no-progress", "--persona=auditor"]
    code, output = answer(*audit, GITHUB)
    assert code == 0, output
    # The auditor must find faults: actions named by a tag, and kept credentials.
    loose = re.sub(r"@[0-9a-f]{40} .*", "@v4", GITHUB.read_text(encoding="utf-8"))
    (tmp_path / "gate.yml").write_text(loose.replace("persist-credentials: false", ""))
    code, output = answer(*audit, tmp_path / "gate.yml")
    assert code != 0
    assert "unpinned-uses" in output
    assert "artipacked" in output


def test_cache_is_saved_on_the_main_branch_too_and_after_any_result() -> None:
    # A cache that a pull request saved can be read only by that pull request. The action that
    # restores and saves in one step saves only after success.
    events = yaml.safe_load(GITHUB.read_text(encoding="utf-8"))[True]
    assert set(events) == {"pull_request", "push"}
    (restore,) = steps_of_github("actions/cache/restore")
    (save,) = steps_of_github("actions/cache/save")
    assert not steps_of_github("actions/cache")
    assert restore["with"]["path"] == save["with"]["path"]
    assert save["with"]["key"] == f"${{{{ steps.{restore['id']}.outputs.cache-primary-key }}}}"
    assert save["if"].startswith("${{ always() && ")
    # Without zstd the cache is compressed in another way, so runners with zstd do not find it.
    assert "zstd" in scripts_of_github()[0]


def test_token_of_the_job_that_runs_the_change_may_only_read() -> None:
    content = yaml.safe_load(GITHUB.read_text(encoding="utf-8"))
    assert content["permissions"] == {}
    gate, findings = content["jobs"]["gate"], content["jobs"]["findings"]
    assert gate["permissions"] == {"contents": "read"}
    assert findings["permissions"]["security-events"] == "write"
    assert not any("run" in step for step in findings["steps"])
    (upload,) = steps_of_github("github/codeql-action/upload-sarif")
    assert upload["with"]["sarif_file"] == "gate-out/results.sarif"


@pytest.mark.parametrize("file", [GITHUB, GITLAB, CI / "Containerfile"])
def test_image_is_named_by_its_digest(file: Path) -> None:
    images = re.findall(r"(?:container: |image: |ARG BASE=)(\S+)", file.read_text(encoding="utf-8"))
    assert images
    assert all(re.fullmatch(r"debian:bookworm-slim@sha256:[0-9a-f]{64}", name) for name in images)


def make_repository(folder: Path) -> Path:
    """Makes a repository of two commits."""
    folder.mkdir()
    for number in ("1", "2"):
        (folder / "file").write_text(number)
        commit_all(folder, number)
    return folder


def run_script(script: str, at: Path, **environment: str | Path) -> None:
    code, output = answer("sh", "-euc", script, at=at, variables=environment)
    assert code == 0, f"{script}\n{output}"


def test_gitlab_job_runs_again_in_a_used_checkout(tmp_path: Path) -> None:
    rig = make_repository(tmp_path / "rig")
    checkout = make_repository(tmp_path / "checkout")
    job = yaml.safe_load(GITLAB.read_text(encoding="utf-8"))["delays"]
    script = "\n".join(line for line in job["before_script"] if not line.startswith("apt-get"))
    names = {
        "FLASHROM_RIG_URL": f"file://{rig}",
        "CI_COMMIT_SHA": git(checkout, "rev-parse", "HEAD"),
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": git(checkout, "rev-parse", "HEAD^"),
    }
    for _ in range(2):
        run_script(script, checkout, **names)
        assert (checkout / ".baseline/file").read_text() == "1"
        assert (checkout / ".candidate/file").read_text() == "2"
    # A runner deletes untracked files, but git still knows the worktrees.
    git(checkout, "clean", "-ffdxq")
    run_script(script, checkout, **names)


def test_jenkins_build_runs_again_in_a_used_workspace(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "gerrit")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    git(tmp_path, "clone", "-q", origin, workspace / "candidate")
    names = {
        "GERRIT_REFSPEC": "refs/heads/main",
        "FLASHROM_RIG_URL": f"file://{make_repository(tmp_path / 'rig')}",
    }
    sources = [call for call in pipeline_calls()[0] if "stage Sources" in call["inside"]]
    scripts = [call for call in sources if call["name"] == "sh"]
    for _ in range(2):
        for call in scripts:
            is_inside = "dir candidate" in call["inside"]
            at = workspace / "candidate" if is_inside else workspace
            run_script(call["words"][0], at, **names)
        assert (workspace / "baseline/file").read_text() == "1"
        assert (workspace / "candidate/file").read_text() == "2"


def test_groovy_reads_the_jenkinsfile_with_all_its_sections() -> None:
    calls, _ = pipeline_calls()
    stages = [call["words"][0] for call in calls if call["name"] == "stage"]
    assert stages == ["Sources", "Gate"]
    top = [call["name"] for call in calls if call["inside"] == ["pipeline"]]
    assert top == ["agent", "options", "environment", "stages", "post"]
    kept = [call for call in calls if call["inside"][:3] == ["pipeline", "post", "always"]]
    assert [call["name"] for call in kept] == ["junit", "archiveArtifacts", "sh"]


@pytest.mark.parametrize(
    ("status", "result"),
    [(0, None), (1, "FAILURE"), (3, "FAILURE"), *((c, "UNSTABLE") for c in (2, 4, 77, 99))],
)
def test_jenkins_build_fails_if_unsafe_or_slower_and_is_unstable_if_in_doubt(
    status: int, result: str | None
) -> None:
    assert pipeline_calls(status)[1] == result


@services
def test_shellcheck_finds_nothing_in_the_scripts_of_a_pipeline(service: str) -> None:
    for script in SCRIPTS[service]():
        # GERRIT_SSH holds several words of an SSH command, so the shell must split it.
        check = (TOOLS / "shellcheck", "--shell=sh", "--exclude=SC2086", "-")
        code, output = answer(*check, given=script)
        assert code == 0, output


@services
def test_pipeline_calls_the_script_with_options_that_it_has(service: str) -> None:
    calls = [
        shlex.split(line)
        for script in SCRIPTS[service]()
        for line in script.splitlines()
        if "ci/gate.sh --baseline" in line
    ]
    assert len(calls) == 1
    _, known = answer(GATE, "--help")
    options = [word for word in calls[0][1:] if word.startswith("--")]
    assert {"--baseline", "--candidate", "--out"} == set(options)
    assert all(option in known for option in options)


def test_shell_scripts_and_containerfile_are_clean() -> None:
    scripts = [CHECKOUT / file for file in ("ci/gate.sh", "rig/rig", "tests/run", ".ci/run")]
    code, output = answer(TOOLS / "shellcheck", "--shell=sh", *scripts)
    assert code == 0, output
    code, output = answer(TOOLS / "hadolint", CI / "Containerfile")
    assert code == 0, output
    code, output = answer(TOOLS / "hadolint", "-", given="FROM debian\nRUN cd /tmp\n")
    assert "DL3006" in output


def test_help_names_every_option_and_exit_code() -> None:
    code, output = answer(GATE, "--help")
    assert code == 0
    labels = re.findall(r"^\t(--[^)]+)\)", GATE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    options = re.findall(r"--[a-z-]+", " ".join(labels))
    assert "--baseline" in options
    for option in options:
        assert option in output
    for number in (0, 1, 2, 3, 4, 77, 99):
        assert re.search(rf"\b{number}\b", output.partition("Exit codes")[2])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--candidate is missing"),
        (["--candidate"], "needs a value"),
        (["--canddate", "x"], "unknown option"),
        (["--candidate", ".", "--program", "util/flashrom"], "--program: needs --build"),
    ],
)
def test_wrong_usage_is_reported_before_anything_is_made(
    tmp_path: Path, words: list[str], message: str
) -> None:
    out = tmp_path / "out"
    code, output = answer(GATE, "--out", out, *words)
    assert code == 2
    assert message in output
    assert "remedy: " in output
    assert not out.exists()


def cache_key_of(tree: Path) -> str:
    code, said = answer(tree / "ci/gate.sh", "--cache-key")
    assert code == 0, said
    assert re.fullmatch(r"[0-9a-f]{32}\n", said)
    return said


def test_cache_key_depends_on_what_makes_the_state_and_on_nothing_else(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for name in ("ci/gate.sh", *MAKE_THE_STATE, *DO_NOT):
        for tree in (one, other):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(GATE, tree / name)
    keys = [cache_key_of(one)]
    assert cache_key_of(other) == keys[0]
    for name in DO_NOT:
        (one / name).write_text("changed")
        assert cache_key_of(one) == keys[0], name
    for name in MAKE_THE_STATE:
        (one / name).write_text("changed")
        keys.append(cache_key_of(one))
    assert len(set(keys)) == len(keys)
    assert cache_key_of(CHECKOUT) not in keys, "every folder that it names is there"
