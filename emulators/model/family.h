/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between families of chips, and what they share. Only the model includes this.
 */
#ifndef EMULATORS_MODEL_FAMILY_H
#define EMULATORS_MODEL_FAMILY_H

#include "chip.h"

struct family {
	/* Registers and modes as they are when power comes; what is non-volatile stays. */
	void (*power_up)(struct chip *chip);
	/* One transfer. @reply floats and @facts are empty but for busy_left_ns and opcode. */
	void (*transfer)(
		struct chip *chip, const struct chip_transfer *transfer, struct chip_facts *facts);
	/* The work in chip->pending is over, or was cut off: what follows but for the array. */
	void (*finish)(struct chip *chip, bool cut_off);
	/* The status register as a host reads it. */
	uint8_t (*status)(const struct chip *chip);
};

extern const struct family family_spi_nor;

/*
 * The part is busy from @end_ns on, at the corner of the chip, and the host owes it that wait.
 * facts->opcode is that of the command.
 */
void chip_start_work(struct chip *chip, uint64_t end_ns, const struct chip_pending *work,
	const struct busy_time *busy, struct chip_facts *facts);

/* The host owes @wait from @end_ns on. */
void chip_owe(struct chip *chip, uint64_t end_ns, struct figure wait, enum chip_rule rule);

/*
 * The first command after a wait settles it, or comes too early and leaves it open: then its rule
 * is returned. facts->owed, grade and margin_ns are set.
 */
enum chip_rule chip_check_debt(struct chip *chip, uint64_t now_ns, struct chip_facts *facts);

/* Drops the work in hand and what it would have done. */
void chip_abort_work(struct chip *chip, uint64_t now_ns);

#endif
