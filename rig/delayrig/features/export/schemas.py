# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON Schemas of the files that the rig keeps, made from the types that read and write them."""

from typing import Any

import msgspec

from delayrig.base.atomic_file import json_document
from delayrig.decision import decision
from delayrig.decision.decision import Decision
from delayrig.features.latency.result import SCHEMA as LATENCY_SCHEMA
from delayrig.features.latency.result import LatencyReport
from delayrig.features.proposal import steps
from delayrig.features.proposal.steps import Proposal
from delayrig.features.survey import survey
from delayrig.features.survey.survey import Survey
from delayrig.features.threshold import answer
from delayrig.features.threshold.answer import Answer
from delayrig.model import result
from delayrig.model.result import Results

DIALECT = "https://json-schema.org/draft/2020-12/schema"
KINDS: dict[str, tuple[type[msgspec.Struct], int]] = {
    "results": (Results, result.SCHEMA),
    "gate": (Decision, decision.SCHEMA),
    "latency": (LatencyReport, LATENCY_SCHEMA),
    "proposal": (Proposal, steps.SCHEMA),
    "survey": (Survey, survey.SCHEMA),
    "threshold": (Answer, answer.SCHEMA),
}


def schema_of(name: str) -> dict[str, Any]:
    """Returns the schema of `NAME.json`, one of `KINDS`. It accepts only the current version."""
    kind, version = KINDS[name]
    schema = msgspec.json.schema(kind)
    definition = schema["$defs"][kind.__name__]
    definition["properties"]["schema"] = {"const": version}
    definition["required"] = ["schema", *definition.get("required", [])]
    return {
        "$schema": DIALECT,
        "$id": f"urn:flashrom-delay-rig:{name}:{version}",
        "title": f"{name}.json of the flashrom delay rig, version {version}",
        "$comment": "SPDX-License-Identifier: GPL-2.0-or-later",
        **schema,
    }


def schema_text(name: str) -> bytes:
    return json_document(schema_of(name))
