/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The differences between families of chips, and their common functions. Only the model includes
 * this header.
 */
#ifndef EMULATORS_MODEL_FAMILY_H
#define EMULATORS_MODEL_FAMILY_H

#include "chip.h"

#define BUS_FLOATING 0xFF /* read while nobody drives the bus */

struct cycle;       /* cycle.h */
struct spi_command; /* spi_command.h */

struct family {
	/* Sets the non-volatile registers as they are delivered. */
	void (*init)(struct chip *chip);
	/* Sets the other registers and modes when power comes at @at_ns. */
	void (*power_up)(struct chip *chip, uint64_t at_ns);
	/* Ends work besides chip->pending that a loss of power interrupts. NULL: there is none. */
	void (*power_off)(struct chip *chip);
	/* For parts on an SPI bus. */
	const struct spi_command *commands;
	size_t command_count;
	bool opens_status_once; /* 50h holds for the next command only */
	/*
	 * For parts on other buses: run one cycle. @facts has busy_left_ns, opcode and address
	 * already, and the name UNKNOWN.
	 */
	void (*write_cycle)(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);
	uint8_t (*read_cycle)(
		struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);
	/*
	 * Ends the work in chip->pending, or cleans up after it was cut off. Its own block or page
	 * in the array is already changed. NULL: nothing is left to do.
	 */
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
 * Makes the part busy from @end_ns on, as long as the corner of the chip says, and makes the client
 * owe that wait. facts->opcode must be that of the command.
 */
void chip_start_work(struct chip *chip, uint64_t end_ns, const struct chip_pending *work,
	const struct busy_time *busy, struct chip_facts *facts);

/* Does the same for a time that no corner scales. A command that comes too early breaks @rule. */
void chip_start_fixed_work(struct chip *chip, uint64_t end_ns, const struct chip_pending *work,
	struct figure figure, enum chip_rule rule, struct chip_facts *facts);

/* Makes the client owe @wait from @end_ns on. */
void chip_owe(struct chip *chip, uint64_t end_ns, struct figure wait, enum chip_rule rule);

/*
 * Checks a command at @now_ns against a wait. If the command is too early, the wait stays open and
 * its rule is returned; a later one settles the wait, or breaks CHIP_RULE_STUCK if it is endless.
 * Sets facts->owed, grade and margin_ns if a wait is open and not stuck.
 */
enum chip_rule chip_check_debt(struct chip_debt *debt, uint64_t now_ns, struct chip_facts *facts);

/* Returns the time until the current work should be over; 0 if there is none. */
uint64_t chip_busy_left_ns(const struct chip *chip, uint64_t now_ns);

/*
 * Returns the bytes that a program puts into [address, address + len). The caller may change them
 * until the program is done. They begin as FFh and only clear bits; with @replaces they begin as
 * the old content and replace it.
 */
uint8_t *chip_latch(struct chip *chip, uint32_t address, uint32_t len, bool replaces);

/* Cuts off the current work, and leaves it half done. */
void chip_abort_work(struct chip *chip, uint64_t now_ns);

/* Leaves the state of interrupted @work. @erased_bytes: the part of an erase that was done. */
void chip_leave_halfway(struct chip *chip, const struct chip_pending *work, uint32_t erased_bytes);

/* Sets the time of a planned power cut, after the current work has begun or was put off. */
void chip_replan_power_cut(struct chip *chip);

/* Returns true if the part has no power. Reports that in @facts, and each loss of power once. */
bool chip_is_off(struct chip *chip, struct chip_facts *facts);

#endif
