/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spi25.h"

enum opcode {
	OP_WRITE_DISABLE = 0x04,
	OP_WRITE_ENABLE = 0x06,
	OP_IDENTIFICATION_PAGE_READ = 0x83,
};

#define STATUS_WRITE_ENABLED 0x02

static int read_write_enabled(struct flash *flash, bool *enabled)
{
	uint8_t status;
	const int error = spi25_status_read(flash, &status);

	if (error == 0)
		*enabled = (status & STATUS_WRITE_ENABLED) != 0;
	return error;
}

/* Enables or disables writes. `shown` is true if the status register then shows it. */
static int try_write_enable(struct flash *flash, bool wanted, bool *shown)
{
	int error = spi_simple_command(flash, wanted ? OP_WRITE_ENABLE : OP_WRITE_DISABLE);
	bool enabled;

	if (error == 0)
		error = read_write_enabled(flash, &enabled);
	if (error == 0)
		*shown = enabled == wanted;
	return error;
}

/* A bus without a part shows one of the two states, but never both. */
static int has_write_enable(struct flash *flash, bool *has)
{
	bool disabled;
	int error = flash_await_power(flash, POWER_UP_WRITE_US_MAX);

	if (error == 0)
		error = try_write_enable(flash, true, has);
	if (error == 0)
		error = try_write_enable(flash, false, &disabled);
	if (error == 0)
		*has = *has && disabled;
	return error;
}

static int read_identification_page(struct flash *flash, uint32_t *id)
{
	const uint8_t tx[] = {OP_IDENTIFICATION_PAGE_READ, 0, 0, 0};
	uint8_t rx[3];
	const int error = spi_command(flash, tx, sizeof(tx), rx, sizeof(rx));

	if (error == 0)
		*id = (uint32_t)rx[0] << 16 | (uint32_t)rx[1] << 8 | rx[2];
	return error;
}

/*
 * On a DataFlash 83h overwrites a page. So it is only sent to a part without a JEDEC ID, like these
 * EEPROMs, that shows the write enable latch of the 25 series, which no DataFlash does.
 */
static int ask_id(struct flash *flash, const struct flash_chip *chip, uint32_t *id)
{
	bool has = false;
	int error = spi25_rdid.ask(flash, chip, id);

	if (error != 0 || !spi25_is_silence(*id))
		return error;
	error = has_write_enable(flash, &has);
	return error == 0 && has ? read_identification_page(flash, id) : error;
}

const struct identify_method eeprom_id = {
	.ask = ask_id,
};
