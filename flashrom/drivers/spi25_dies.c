/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dies behind one chip select (Winbond's stacks). A command without an address goes to all of them,
 * but a status read is answered by one: the die of the last address, or the one that is selected.
 */
#include "spi25.h"

enum opcode {
	OP_WRITE_ENABLE = 0x06,
	OP_SELECT_DIE = 0xc2,
};

static int select_die(struct flash *flash, uint8_t die)
{
	const uint8_t tx[] = {OP_SELECT_DIE, die};

	return spi_command(flash, tx, sizeof(tx), NULL, 0);
}

static int ask_die(struct flash *flash, uint8_t die, bool *ready)
{
	const int error = select_die(flash, die);

	return error == 0 ? spi25_ask_ready(flash, 0, ready) : error;
}

/* Goes from the last die down to the first, which stays selected, as after power-up. */
static int ask_all_ready(struct flash *flash, uint32_t address, bool *ready)
{
	int error = 0;

	(void)address;
	*ready = true;
	for (uint8_t die = flash->chip->spi25.dies; error == 0 && die > 0; die--) {
		bool die_ready = false;

		error = ask_die(flash, die - 1, &die_ready);
		*ready = *ready && die_ready;
	}
	return error;
}

int spi25_erase_dies(struct flash *flash, const struct chip_erase *erase)
{
	int error = flash_await_power(flash, POWER_UP_WRITE_US_MAX);

	if (error == 0)
		error = spi_hold_command(flash, OP_WRITE_ENABLE);
	if (error == 0)
		error = spi_simple_command(flash, erase->opcode);
	return error == 0 ? busy_wait(flash, &erase->busy, "an erase", ask_all_ready, 0) : error;
}
