/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The differences between families of chips, and their common functions. Only the model includes
 * this.
 */
#ifndef EMULATORS_MODEL_FAMILY_H
#define EMULATORS_MODEL_FAMILY_H

#include "chip.h"

struct cycle;       /* cycle.h */
struct spi_command; /* spi_command.h */

struct family {
	/* Non-volatile registers as they are delivered. */
	void (*init)(struct chip *chip);
	/* The other registers and modes as they are when power comes at @at_ns. */
	void (*power_up)(struct chip *chip, uint64_t at_ns);
	/* Power goes: what else than the work in hand stays half done. NULL: nothing. */
	void (*power_off)(struct chip *chip);
	/* For parts on an SPI bus. */
	const struct spi_command *commands;
	size_t command_count;
	bool opens_status_once; /* 50h is for the very next command only */
	/*
	 * For the others: one cycle. @facts are empty except for busy_left_ns, opcode and address.
	 */
	void (*write_cycle)(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);
	uint8_t (*read_cycle)(
		struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);
	/* The work in chip->pending is over, or was cut off: what follows but for the array. */
	void (*finish)(struct chip *chip, bool cut_off);
	/* For parts on an SPI bus: the status register as a client reads it. */
	uint8_t (*status)(const struct chip *chip);
};

extern const struct family family_spi_nor;
extern const struct family family_spi_aai;
extern const struct family family_spi_eeprom;
extern const struct family family_spi_dataflash;
extern const struct family family_jedec_byte;
extern const struct family family_jedec_page;
extern const struct family family_fwh;

/*
 * The part is busy from @end_ns on, at the corner of the chip, and the client owes it that wait.
 * facts->opcode is that of the command.
 */
void chip_start_work(struct chip *chip, uint64_t end_ns, const struct chip_pending *work,
	const struct busy_time *busy, struct chip_facts *facts);

/* The same for a time that no corner scales; a command that comes too early breaks @rule. */
void chip_start_fixed_work(struct chip *chip, uint64_t end_ns, const struct chip_pending *work,
	struct figure figure, enum chip_rule rule, struct chip_facts *facts);

/* The client owes @wait from @end_ns on. */
void chip_owe(struct chip *chip, uint64_t end_ns, struct figure wait, enum chip_rule rule);

/*
 * The first command after a wait settles it, or comes too early and leaves it open: then its rule
 * is returned. facts->owed, grade and margin_ns are set.
 */
enum chip_rule chip_check_debt(struct chip_debt *debt, uint64_t now_ns, struct chip_facts *facts);

/* Until the work in hand should be over; 0 if there is none. */
uint64_t chip_busy_left_ns(const struct chip *chip, uint64_t now_ns);

/*
 * Returns the content of [address, address + len) after a program, which may be changed until the
 * program is done. It is FFh at first and only clears bits. With @replaces it is the old content at
 * first and replaces it.
 */
uint8_t *chip_latch(struct chip *chip, uint32_t address, uint32_t len, bool replaces);

/* Cuts off the work in hand: what it worked on is left half done. */
void chip_abort_work(struct chip *chip, uint64_t now_ns);

/* Leaves the state of interrupted @work; @erased_bytes: so much of an erase was done. */
void chip_leave_halfway(struct chip *chip, const struct chip_pending *work, uint32_t erased_bytes);

/* The work in hand began, or was put off: the moment of a planned power cut follows it. */
void chip_replan_power_cut(struct chip *chip);

/* Returns true if the part has no power; records that in @facts, and once that power was lost. */
bool chip_is_off(struct chip *chip, struct chip_facts *facts);

#endif
