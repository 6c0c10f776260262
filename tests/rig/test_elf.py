# SPDX-License-Identifier: GPL-2.0-or-later
"""The search for the libraries of a program, tried on small real programs."""

import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from delayrig.base.errors import BadInputError
from delayrig.subjects.elf import SYMLINKS_MAX, collect_program, read_elf

from tests.rig.running import run

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or shutil.which("gcc") is None, reason="needs gcc on a 64-bit PC"
)

ROOT = Path("/")
MAIN = "int leaf(void); int main(void) { return leaf(); }\n"
MIDDLE = "int deep(void); int leaf(void) { return deep(); }\n"
DEEP = "int deep(void) { return 0; }\n"
ORIGIN = "-Wl,-rpath,$ORIGIN/private"
LOADER = "/lib64/ld-linux-x86-64.so.2"
E_MACHINE_AT = 18


def compiled(folder: Path, name: str, source: str, *options: str) -> Path:
    """Compiles the source to the path `name` below the folder."""
    out = folder / name
    out.parent.mkdir(parents=True, exist_ok=True)
    text = folder / f"{out.name}.c"
    text.write_text(source, encoding="ascii")
    subprocess.run(["gcc", "-o", out, text, *options], check=True, cwd=folder)
    return out


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds programs. Two need libleaf, which needs libdeep from its own folder."""
    folder = tmp_path_factory.mktemp("elf")
    shared = ("-shared", "-fPIC", "-nostdlib")
    compiled(folder, "private/libdeep.so", DEEP, *shared)
    needs_deep = ("-Lprivate", "-ldeep", "-Wl,-rpath,$ORIGIN")
    compiled(folder, "private/libleaf.so", MIDDLE, *shared, *needs_deep)
    needs_leaf = ("-Lprivate", "-lleaf", "-Wl,-rpath-link,private")
    compiled(folder, "program", MAIN, *needs_leaf, ORIGIN)
    compiled(folder, "lost", MAIN, *needs_leaf)
    compiled(folder, "static", "int main(void) { return 0; }\n", "-static")
    return folder


def test_origin_in_a_path_is_the_folder_of_the_file_that_names_it(built: Path) -> None:
    closure = collect_program(str(built / "program"), ROOT)
    assert closure.program == built / "program"
    # There is one more: the C library itself needs the loader.
    assert {"libleaf.so", "libdeep.so", "libc.so.6"} <= set(closure.libraries)
    for name in ("libleaf.so", "libdeep.so"):
        assert closure.libraries[name] == built / "private" / name
    assert closure.libraries["libc.so.6"].is_file()
    assert closure.interpreter is not None
    place, loader = closure.interpreter
    assert place == LOADER
    assert loader.is_file()


def test_elf_header_gives_machine_loader_libraries_and_paths(built: Path) -> None:
    facts = read_elf(built / "program")
    assert facts.machine == "EM_X86_64"
    assert facts.interpreter == LOADER
    assert facts.needed == ("libleaf.so", "libc.so.6")
    assert (*facts.rpath, *facts.runpath) == ("$ORIGIN/private",)


def leaf_of(program: Path) -> Path:
    """Returns the path of libleaf.so that is found for the program."""
    return collect_program(str(program), ROOT).libraries["libleaf.so"]


def test_copied_program_uses_the_libraries_of_the_copy(built: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(built, copy)
    assert leaf_of(copy / "program") == copy / "private" / "libleaf.so"


def test_missing_library_is_named_with_the_file_that_needs_it(built: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInputError) as caught:
        collect_program(str(built / "lost"), ROOT)
    assert caught.value.message == (
        f"{built / 'lost'}: needs the library libleaf.so, which is not there"
    )
    assert "LD_LIBRARY_PATH" in caught.value.hint
    copy = tmp_path / "copy"
    shutil.copytree(built, copy)
    (copy / "private" / "libdeep.so").unlink()
    user = copy / "private" / "libleaf.so"
    with pytest.raises(BadInputError, match=f"{user}: needs the library libdeep.so"):
        collect_program(str(copy / "program"), ROOT)


@pytest.mark.parametrize("variable", ["LD_LIBRARY_PATH", "FLASHROM_RIG_LIBRARY_PATH"])
def test_library_is_found_in_a_folder_of_the_environment(
    built: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, f"/nowhere:{built / 'private'}")
    assert leaf_of(built / "lost") == built / "private" / "libleaf.so"


@pytest.mark.parametrize(
    ("flag", "first"), [("--enable-new-dtags", "named"), ("--disable-new-dtags", "private")]
)
def test_ld_library_path_comes_before_runpath_and_after_rpath(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flag: str, first: str
) -> None:
    for folder in ("private", "named"):
        shutil.copytree(built / "private", tmp_path / folder)
    linked = ("-Lprivate", "-lleaf", "-Wl,-rpath-link,private", ORIGIN, f"-Wl,{flag}")
    program = compiled(tmp_path, "program", MAIN, *linked)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "named"))
    found = leaf_of(program)
    assert found == tmp_path / first / "libleaf.so"
    assert str(found) in run("ldd", program).stdout


def test_library_for_another_machine_is_skipped(built: Path, tmp_path: Path) -> None:
    wrong, right = tmp_path / "wrong", tmp_path / "right"
    for folder in (wrong, right):
        shutil.copytree(built / "private", folder)
    for library in wrong.iterdir():
        patch_machine(library, 3)
    linked = ("-Lright", "-lleaf", "-Wl,-rpath-link,right")
    found = "-Wl,-rpath,$ORIGIN/wrong:$ORIGIN/right"
    program = compiled(tmp_path, "program", MAIN, *linked, found)
    assert leaf_of(program) == right / "libleaf.so"


def test_static_program_needs_no_library(built: Path) -> None:
    closure = collect_program(str(built / "static"), ROOT)
    assert (closure.interpreter, closure.libraries) == (None, {})


def patch_machine(path: Path, machine: int) -> Path:
    content = bytearray(path.read_bytes())
    content[E_MACHINE_AT : E_MACHINE_AT + 2] = machine.to_bytes(2, "little")
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(("machine", "name"), [(8, "EM_MIPS"), (22, "EM_S390")])
def test_program_for_another_machine_is_refused_and_names_it(
    built: Path, tmp_path: Path, machine: int, name: str
) -> None:
    program = tmp_path / "program"
    shutil.copyfile(built / "static", program)
    with pytest.raises(BadInputError, match=name):
        collect_program(str(patch_machine(program, machine)), ROOT)


@pytest.mark.parametrize("content", [b"#!/bin/sh\nexec flashrom\n", b"plain text\n", bytes(4096)])
def test_file_that_is_not_elf_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "script"
    with pytest.raises(BadInputError, match="No such file"):
        collect_program(str(path), ROOT)
    path.write_bytes(content)
    with pytest.raises(BadInputError, match=f"{path}: not an ELF program"):
        collect_program(str(path), ROOT)


@pytest.mark.parametrize("size", [0, 4, 20, 64, 1000, 5000])
def test_truncated_program_is_refused(built: Path, tmp_path: Path, size: int) -> None:
    path = tmp_path / "cut"
    path.write_bytes((built / "program").read_bytes()[:size])
    with pytest.raises(BadInputError, match="not an ELF program"):
        collect_program(str(path), ROOT)


# A program in another root, such as a folder of unpacked packages.


@pytest.fixture
def other_root(tmp_path: Path) -> Path:
    """Makes a root with a program that needs a library and a loader from that root."""
    root = tmp_path / "root"
    usr = root / "usr"
    shared = ("-shared", "-fPIC", "-nostdlib")
    library = compiled(tmp_path, "lib/libleaf.so", "int leaf(void) { return 0; }\n", *shared)
    start = "int leaf(void); void _start(void) { leaf(); }\n"
    link = ("-nostdlib", "-Llib", "-lleaf", "-Wl,-dynamic-linker,/lib64/ld-own.so")
    program = compiled(tmp_path, "program", start, *link)
    for source, target in (
        (program, usr / "sbin" / "flashrom"),
        (library, usr / "lib/x86_64-linux-gnu/libleaf.so.1.0"),
        (library, usr / "lib64" / "ld-own.so"),
    ):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    (usr / "lib/x86_64-linux-gnu/libleaf.so").symlink_to("libleaf.so.1.0")
    return root


def test_loader_is_found_below_usr_without_the_link_to_it(other_root: Path) -> None:
    closure = collect_program("/usr/sbin/flashrom", other_root)
    assert closure.interpreter == ("/lib64/ld-own.so", other_root / "usr/lib64/ld-own.so")


def test_links_are_followed_inside_the_root(other_root: Path) -> None:
    usr = other_root / "usr"
    (usr / "bin").mkdir()
    (usr / "bin" / "flashrom").symlink_to("/usr/sbin/flashrom")
    closure = collect_program("/usr/bin/flashrom", other_root)
    assert closure.program == usr / "sbin" / "flashrom"
    (library,) = closure.libraries.items()
    assert library == ("libleaf.so", usr / "lib/x86_64-linux-gnu/libleaf.so.1.0")


def test_missing_loader_is_named(other_root: Path) -> None:
    (other_root / "usr/lib64/ld-own.so").unlink()
    with pytest.raises(BadInputError, match=r"dynamic linker /lib64/ld-own\.so is missing"):
        collect_program("/usr/sbin/flashrom", other_root)


def test_ld_library_path_of_the_host_is_ignored_in_another_root(
    other_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = other_root / "usr/lib/x86_64-linux-gnu"
    hidden = other_root / "hidden"
    folder.rename(hidden)
    for value in (str(hidden), "/hidden"):
        monkeypatch.setenv("LD_LIBRARY_PATH", value)
        with pytest.raises(BadInputError, match=r"libleaf\.so"):
            collect_program("/usr/sbin/flashrom", other_root)


def test_folders_in_ld_so_conf_of_the_root_are_searched(other_root: Path) -> None:
    (other_root / "usr/lib/x86_64-linux-gnu").rename(other_root / "extra")
    configuration = other_root / "etc" / "ld.so.conf.d" / "extra.conf"
    configuration.parent.mkdir(parents=True)
    configuration.write_text("# folders\n  /extra\n", encoding="ascii")
    closure = collect_program("/usr/sbin/flashrom", other_root)
    assert closure.libraries["libleaf.so"] == other_root / "extra" / "libleaf.so.1.0"


def test_circular_links_are_refused(other_root: Path) -> None:
    (other_root / "a").symlink_to("/b")
    (other_root / "b").symlink_to("/a")
    with pytest.raises(BadInputError):
        collect_program("/a", other_root)


def test_circular_link_in_one_folder_does_not_end_the_search(other_root: Path) -> None:
    (other_root / "lib").mkdir()
    (other_root / "lib/x86_64-linux-gnu").symlink_to("x86_64-linux-gnu")
    closure = collect_program("/usr/sbin/flashrom", other_root)
    folder = other_root / "usr/lib/x86_64-linux-gnu"
    assert closure.libraries["libleaf.so"] == folder / "libleaf.so.1.0"


def test_too_long_chain_of_links_is_not_followed_on_the_host(other_root: Path, built: Path) -> None:
    (other_root / "link0").symlink_to(built / "static")
    for number in range(1, SYMLINKS_MAX + 1):
        (other_root / f"link{number}").symlink_to(f"/link{number - 1}")
    with pytest.raises(BadInputError, match="Too many levels of symbolic links"):
        collect_program(f"/link{SYMLINKS_MAX}", other_root)


def test_rpath_of_the_program_applies_to_its_libraries(tmp_path: Path) -> None:
    b, a = "int b(void) { return 0; }", "int b(void); int a(void) { return b(); }"
    inner = compiled(tmp_path, "lib/libb.so", b, "-shared", "-Wl,-soname,libb.so")
    outer = compiled(tmp_path, "lib/liba.so", a, "-shared", "-Wl,-soname,liba.so", str(inner))
    main = "int a(void); int main(void) { return a(); }"
    linked = (str(outer), f"-Wl,-rpath-link,{tmp_path}/lib", "-Wl,-rpath,$ORIGIN/lib")
    compiled(tmp_path, "program", main, "-Wl,--disable-new-dtags", *linked)
    assert read_elf(tmp_path / "program").needed == ("liba.so", "libc.so.6")
    assert "libb.so" in collect_program(str(tmp_path / "program"), ROOT).libraries


def test_library_that_is_needed_by_path_is_found_at_that_path(tmp_path: Path) -> None:
    library = compiled(tmp_path, "liba.so", "int a(void) { return 0; }", "-shared")
    compiled(tmp_path, "program", "int a(void); int main(void) { return a(); }", str(library))
    assert collect_program(str(tmp_path / "program"), ROOT).libraries[str(library)] == library


def test_unlinked_object_is_refused(tmp_path: Path) -> None:
    unlinked = compiled(tmp_path, "program.o", "int main(void) { return 0; }", "-c")
    with pytest.raises(BadInputError, match="not linked"):
        read_elf(unlinked)


def test_loader_in_a_folder_of_the_environment_is_used(
    built: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    linker = tmp_path / Path(LOADER).name
    shutil.copyfile(LOADER, linker)
    monkeypatch.setenv("FLASHROM_RIG_LIBRARY_PATH", str(tmp_path))
    closure = collect_program(str(built / "program"), ROOT)
    assert closure.interpreter == (LOADER, linker)


def test_loader_of_musl_is_also_its_c_library(tmp_path: Path) -> None:
    name = "ld-musl-x86_64.so.1"
    options = ("-nostdlib", "-Wl,-soname,libc.so", "-shared", "-fPIC")
    loader = compiled(tmp_path, "beside/libc.so", DEEP, *options)
    shutil.copyfile(loader, loader.with_name(name))
    started = f"-Wl,-dynamic-linker,/lib/{name}"
    source = "int deep(void); void _start(void) { deep(); }\n"
    words = ("-nostdlib", "-nostartfiles", "-Lbeside", "-l:libc.so", started)
    program = compiled(tmp_path, "program", source, *words)
    assert read_elf(program).needed == ("libc.so",)
    closure = collect_program(str(program), ROOT, (str(tmp_path / "beside"),))
    assert closure.interpreter == (f"/lib/{name}", tmp_path / "beside" / name)
    assert closure.libraries == {}
