/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between families of chips: a table of commands. Only the model includes this.
 */
#ifndef EMULATORS_MODEL_FAMILY_H
#define EMULATORS_MODEL_FAMILY_H

#include "chip.h"

/* When a command is obeyed. */
enum command_when {
	COMMAND_WHILE_BUSY = 1 << 0,
	COMMAND_WHILE_POWERED_DOWN = 1 << 1,
	COMMAND_NEEDS_WRITE_ENABLE = 1 << 2,
	COMMAND_NEEDS_NO_PROTECTION = 1 << 3,
	COMMAND_KEEPS_RESET_ENABLED = 1 << 4,
};

#define COMMAND_DATA_ANY SIZE_MAX

struct command {
	uint8_t opcode;
	const char *name;
	uint8_t address_bytes;
	uint8_t dummy_bytes;
	unsigned int when;
	/* For a part of the family that may lack it; NULL: they all have it. */
	bool (*part_has)(const struct part *part, uint8_t opcode);
	/* Data bytes that follow the dummies; any other number and the part does nothing. */
	size_t data_len_min;
	size_t data_len_max;
	void (*run)(
		struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts);
};

struct family {
	const struct command *commands;
	size_t command_count;
};

extern const struct family family_spi_nor;

/* For the families: the part is busy from transfer->end_ns, and the host owes it that wait. */
void chip_start_work(struct chip *chip, const struct chip_transfer *transfer,
	const struct chip_pending *work, struct figure busy, struct chip_facts *facts);

/* For the families: the host owes @wait from transfer->end_ns on. */
void chip_owe(struct chip *chip, const struct chip_transfer *transfer, struct figure wait,
	enum chip_rule rule);

/* For the families: drops the work in hand and what it would have done. */
void chip_abort_work(struct chip *chip, uint64_t now_ns);

/* Status register @index as a host reads it. */
uint8_t chip_status(const struct chip *chip, size_t index);

#endif
