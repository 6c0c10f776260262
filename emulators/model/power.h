/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Power that goes and comes back, by hand or as planned. Only the model includes this.
 */
#ifndef EMULATORS_MODEL_POWER_H
#define EMULATORS_MODEL_POWER_H

#include "chip.h"

/* A work began, or the one in hand was put off: the moment of the cut follows it. */
void power_count_work(struct chip *chip);
void power_plan(struct chip *chip);

/* Loses and regains power as planned until @now_ns. */
void power_settle(struct chip *chip, uint64_t now_ns);

/* Whether nobody is there to answer; says so in @facts, and once that power was lost. */
bool power_is_off(struct chip *chip, struct chip_facts *facts);

#endif
