# SPDX-License-Identifier: GPL-2.0-or-later
"""Sets of guests with weights, for users of one kind of machine: `--preset NAME`.

Nobody counts where flashrom runs. These are judgements, and the page about thresholds says what
they rest on (rig/docs/how-to/choose-a-threshold.md). Each is only a short way to write `--guest`
and `--weight`.
"""

from collections.abc import Iterable, Mapping, Sequence

from delayrig.analysis.threshold.guests import Profile, parse_guest
from delayrig.base.errors import BadInputError, nearest

PRESETS: Mapping[str, Mapping[str, int]] = {
    "laptop": {"1000x4": 3, "500x2": 2, "1000x4:busy-siblings": 1},
    "sbc": {"250x4": 3, "125x1": 2, "62x1:low-res-timers": 1},
    "server": {"1000x4": 2, "1000x4:hogs:8": 2, "500x2": 1},
}
"""Guests as `--guest` has them, and their weights."""
WEIGHT_MAX = 1000
OPTION = "--weight"
HOW = "write GUEST=N with a guest as --guest has it: --weight 62x1:low-res-timers=2"


def preset_words(presets: Iterable[str]) -> tuple[str, ...]:
    """The guests of those, as words."""
    return tuple(word for name in presets for word in PRESETS[name])


def weights_of(presets: Iterable[str], words: Sequence[str]) -> dict[str, int]:
    """By the profile's name: those of presets, and what was given instead of them."""
    found = {
        parse_guest(word).name: weight for name in presets for word, weight in PRESETS[name].items()
    }
    for word in words:
        profile, weight = _parsed(word)
        found[profile.name] = weight
    return found


def _parsed(word: str) -> tuple[Profile, int]:
    guest, equals, number = word.rpartition("=")
    if not equals or not number.isdecimal() or int(number) > WEIGHT_MAX:
        raise BadInputError(f"{OPTION} {word!r}: is not GUEST=N with N up to 1000", hint=HOW)
    try:
        return parse_guest(guest), int(number)
    except BadInputError as error:
        raise BadInputError(f"{OPTION} {word!r}: {error.message}", hint=error.hint) from None


def check_weights(weights: Mapping[str, int], profiles: Sequence[str]) -> None:
    """Raises `BadInputError` for a profile that has no jobs, and where nothing has a weight."""
    for name in weights:
        if name not in profiles:
            hint = nearest(name, list(profiles), what="guests")
            raise BadInputError(f"{OPTION}: no job runs on {name!r}", hint=hint)
    if not any(weights.get(name, 1) for name in profiles):
        raise BadInputError(f"{OPTION}: every guest has a weight of 0", hint=HOW)
