/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cycles that go before a command of the JEDEC families: AAh 55h, or AAh 55h 80h AAh 55h. */
#ifndef EMULATORS_MODEL_UNLOCK_H
#define EMULATORS_MODEL_UNLOCK_H

#include "cycle.h"

enum unlock_result {
	UNLOCK_OTHER,         /* it belongs to no sequence */
	UNLOCK_PREFIX,        /* the sequence goes on */
	UNLOCK_COMMAND,       /* the cycle after AAh 55h */
	UNLOCK_SETUP_COMMAND, /* the cycle after AAh 55h 80h AAh 55h */
};

/* Takes one write cycle. A cycle that breaks a sequence may begin the next one. */
enum unlock_result unlock_feed(
	enum unlock_step *step, const struct part_unlock *unlock, const struct cycle *cycle);

/* Returns true if the cycle is the one that a sequence at @step waits for. */
bool unlock_goes_on(
	enum unlock_step step, const struct part_unlock *unlock, const struct cycle *cycle);

struct unlock_command {
	uint8_t opcode;
	enum unlock_result after;
	bool anywhere; /* at the address it is meant for, not at the command address */
	const char *name;
	bool (*part_has)(const struct part *part, uint8_t opcode); /* NULL: they all do */
	void (*run)(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);
};

struct unlock_table {
	const struct unlock_command *commands;
	size_t count;
};

/* Runs the command that the cycle is, if it is one. In ID mode only entering and leaving it work.
 */
void unlock_run(struct chip *chip, const struct unlock_table *table, enum unlock_result result,
	const struct cycle *cycle, struct chip_facts *facts);

bool unlock_has_id_entry(const struct part *part, uint8_t opcode);
bool unlock_has_erase(const struct part *part, uint8_t opcode);
void unlock_enter_id(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);
void unlock_leave_id(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);
uint8_t unlock_read(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);

#endif
