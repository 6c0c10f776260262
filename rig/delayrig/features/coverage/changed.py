# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the functions that differ between two programs, and the delay sites in the differences.

Functions are compared by their code. If both programs have symbols, functions of the same name are
compared, and a renamed function counts as the same one also in the code of its callers. Otherwise a
function is unchanged if the other program has an equal one anywhere.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from itertools import zip_longest
from operator import attrgetter

import msgspec

from delayrig.subjects.finder.bodies import WORD
from delayrig.subjects.finder.code_map import CodeFunction, Site

LIKE_ENOUGH = 0.5
"""The least fraction of equal code in two functions without names that are versions of one."""
SAVES = ("push", "pop", "sub rsp", "sub esp", "sub sp", "stp", "ldp", "endbr")
"""The beginnings of lines that only set up or clean up a function's stack."""
TRANSFERS = ("call", "j", "b", "cb", "tb", "ret", "loop")


class Placed(msgspec.Struct, frozen=True):
    """A function and its file. A program may consist of several files."""

    file: str
    code: CodeFunction


class Changed(msgspec.Struct, frozen=True):
    """A function before and after the change; one is None if the change added or removed it."""

    before: Placed | None
    after: Placed | None


class Touched(msgspec.Struct, frozen=True, kw_only=True):
    """The delay sites of a changed function that the change touches."""

    sites: tuple[Site, ...]
    """The sites after the change that are new, or that ask for another time."""
    gone: tuple[Site, ...]
    """The sites before the change that it removed."""
    around: tuple[Site, ...]
    """All calls of delay functions after the change, if the change is elsewhere in the function."""


def changed_functions(
    before: Sequence[Placed], after: Sequence[Placed], *, named: bool
) -> list[Changed]:
    """Returns the functions that a change added, removed or replaced.

    `named` is True if both programs have symbols.
    """
    if not named:
        return list(_paired_by_place(before, after, *_without_equals(before, after)))
    before = _by_later_names(before, after)
    pairs = [_without_equals(*each) for each in _by_name(before, after)]
    both = [zip_longest(one, two) for one, two in pairs if one and two]
    # Equal functions whose new names are ambiguous are unchanged as well.
    gone = [each for one, two in pairs if not two for each in one]
    new = [each for one, two in pairs if not one for each in two]
    gone, new = _without_equals(gone, new)
    changed = [Changed(*each) for pair in both for each in pair]
    return [*changed, *(Changed(each, None) for each in gone), *(Changed(None, e) for e in new)]


def _by_later_names(before: Sequence[Placed], after: Sequence[Placed]) -> list[Placed]:
    """Returns the functions before the change, by the names that they have after it."""
    renames = _renames(_codes_by_name(before), _codes_by_name(after))
    return [Placed(each.file, _renamed(each.code, renames)) for each in before]


def _renamed(code: CodeFunction, renames: Mapping[str, str]) -> CodeFunction:
    if not renames.keys() & {code.name, *code.names}:
        return code
    return msgspec.structs.replace(
        code,
        name=renames.get(code.name, code.name),
        names=tuple(renames.get(name, name) for name in code.names),
        lines=tuple(
            WORD.sub(lambda word: renames.get(word[0], word[0]), line) for line in code.lines
        ),
    )


def _codes_by_name(functions: Iterable[Placed]) -> dict[str, list[CodeFunction]]:
    """Returns the parts of each function that has a name: compilers split functions."""
    found: dict[str, list[CodeFunction]] = defaultdict(list)
    for each in functions:
        if each.code.name:
            found[each.code.name].append(each.code)
    return {name: sorted(codes, key=attrgetter("shape")) for name, codes in found.items()}


def _renames(
    before: Mapping[str, list[CodeFunction]], after: Mapping[str, list[CodeFunction]]
) -> dict[str, str]:
    """Returns the new names of renamed functions.

    A function was renamed if its name is gone, a single new one has code of the same shape, and
    this code names the same functions, or those to which they were renamed.
    """
    gone = _names_by_shape(before.keys() - after.keys(), before)
    new = _names_by_shape(after.keys() - before.keys(), after)
    alike = [(gone[shape], new[shape]) for shape in gone.keys() & new.keys()]
    renames = {one[0]: two[0] for one, two in alike if len(one) == len(two) == 1}
    while True:
        kept = {
            one: two
            for one, two in renames.items()
            if [_renamed(code, renames).key for code in before[one]]
            == [code.key for code in after[two]]
        }
        if len(kept) == len(renames):
            return kept
        renames = kept


def _names_by_shape(
    names: Iterable[str], codes: Mapping[str, list[CodeFunction]]
) -> dict[tuple[str, ...], list[str]]:
    found: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in names:
        found[tuple(code.shape for code in codes[name])].append(name)
    return found


def _by_name(
    before: Iterable[Placed], after: Iterable[Placed]
) -> Iterator[tuple[list[Placed], list[Placed]]]:
    names: dict[str, tuple[list[Placed], list[Placed]]] = defaultdict(lambda: ([], []))
    for side, functions in enumerate((before, after)):
        for each in functions:
            names[each.code.name][side].append(each)
    # A compiler may split a function into a hot and a cold part with the same name, in any order.
    # The hot part has more sites, so this order pairs hot with hot.
    for one, two in names.values():
        yield sorted(one, key=_most_sites_first), sorted(two, key=_most_sites_first)


def _most_sites_first(function: Placed) -> int:
    return -len(function.code.sites)


def _without_equals(
    before: Sequence[Placed], after: Sequence[Placed]
) -> tuple[list[Placed], list[Placed]]:
    """Returns the functions of each side without an equal one on the other, each matched once."""
    counts = Counter(each.code.key for each in before), Counter(each.code.key for each in after)
    return _more_than(before, counts[1]), _more_than(after, counts[0])


def _more_than(functions: Sequence[Placed], others: Counter[str]) -> list[Placed]:
    left = Counter(others)
    found = []
    for each in functions:
        left[each.code.key] -= 1
        if left[each.code.key] < 0:
            found.append(each)
    return found


def _paired_by_place(
    before: Sequence[Placed], after: Sequence[Placed], gone: list[Placed], new: list[Placed]
) -> Iterator[Changed]:
    """Pairs changed functions that have the same neighbours, because linkers keep the order."""
    keys, others = ([each.code.key for each in side] for side in (before, after))
    changed = {id(each) for each in (*gone, *new)}
    for _, i, j, k, m in SequenceMatcher(None, keys, others, autojunk=False).get_opcodes():
        one = [each for each in before[i:j] if id(each) in changed]
        two = [each for each in after[k:m] if id(each) in changed]
        if len(one) == len(two):
            yield from map(Changed, one, two)
        else:
            yield from _most_alike(one, two)


def _most_alike(before: list[Placed], after: list[Placed]) -> Iterator[Changed]:
    left = list(after)
    for each in before:
        alike = max(left, key=partial(_likeness, each), default=None)
        if alike is None or _likeness(each, alike) < LIKE_ENOUGH:
            yield Changed(each, None)
        else:
            left.remove(alike)
            yield Changed(each, alike)
    yield from (Changed(None, each) for each in left)


def _likeness(one: Placed, two: Placed) -> float:
    """Returns the equal fraction of their code; 0 if one has no sites, as its code is not kept."""
    if not (one.code.lines and two.code.lines):
        return 0.0
    return SequenceMatcher(None, one.code.lines, two.code.lines, autojunk=False).ratio()


def touched_sites(changed: Changed) -> Touched:
    before = changed.before.code.sites if changed.before else ()
    after = changed.after.code.sites if changed.after else ()
    if not (before and after):
        return Touched(sites=after, gone=before, around=())
    assert changed.before is not None
    assert changed.after is not None
    lines = changed.before.code.lines, changed.after.code.lines
    blocks = SequenceMatcher(None, *lines, autojunk=False).get_matching_blocks()
    same = {two + n: one + n for one, two, length in blocks for n in range(length)}
    theirs = {site.line for site in before}
    sites = [
        site
        for site in after
        if same.get(site.line) not in theirs
        # The line of a site with a constant time shows that time.
        or (
            not (site.carries and site.asks is not None)
            and _window(lines[0], same[site.line]) != _window(lines[1], site.line)
        )
    ]
    stays = {same[site.line] for site in after if site.line in same}
    gone = [site for site in before if site.line not in stays]
    # If the number of sites is the same, the changed ones request other times, and none is gone.
    if len(before) == len(after):
        gone = []
    around = () if sites or gone else tuple(site for site in after if not site.carries)
    return Touched(sites=tuple(sites), gone=tuple(gone), around=around)


def _window(lines: Sequence[str], end: int) -> set[str]:
    """Returns the lines that compute a call's argument: those after the previous jump or call."""
    begin = end
    while begin > 0 and not lines[begin - 1].startswith(TRANSFERS):
        begin -= 1
    return {line for line in lines[begin:end] if not line.startswith(SAVES)}
