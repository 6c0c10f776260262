# SPDX-License-Identifier: GPL-2.0-or-later
"""The thresholds to compare, as a user writes them."""

import re

from delayrig.base.errors import BadInputError

DEFAULT = "0,2,10,50,100,500,1000,10000,100000"
"""The proposal's own candidates (2, 100 and 100,000 us), what lies between them, and both ends."""
US_MAX = 2**32 - 1
HOW = "write whole microseconds with commas between: --values 0,2,100"
WHOLE = re.compile(r"[0-9]+")


def parse_values(text: str) -> list[int]:
    """Microseconds, the smallest first; raises `BadInputError` that names what is wrong."""
    values: list[int] = []
    for word in (word.strip() for word in text.split(",")):
        value = parse_value(word, "--values")
        if value in values:
            raise BadInputError(
                f"--values: {value} is there twice", hint=f"leave one of them out; {HOW}"
            )
        values.append(value)
    return sorted(values)


def parse_value(word: str, option: str) -> int:
    """One threshold in microseconds; raises `BadInputError` that names the option."""
    if re.fullmatch(r"-[0-9]+", word):
        raise BadInputError(f"{option}: {word} is negative, and no wait is that short", hint=HOW)
    if not WHOLE.fullmatch(word):
        raise BadInputError(f"{option}: {word!r} is no number of microseconds", hint=HOW)
    if int(word) > US_MAX:
        raise BadInputError(
            f"{option}: {word} is more than a delay function can be asked for",
            hint=f"the largest is {US_MAX}, which never sleeps",
        )
    return int(word)
