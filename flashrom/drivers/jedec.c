/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jedec.h"

#include "memory.h"

#define UNLOCK_1_ADDRESS 0x5555
#define UNLOCK_2_ADDRESS 0x2aaa
#define UNLOCK_1 0xaa
#define UNLOCK_2 0x55

enum opcode {
	OP_CHIP_ERASE = 0x10,
	OP_ERASE_SETUP = 0x80, /* also that of the six-byte ID entry */
};

#define DATA_POLLING 0x80

static int unlock(struct flash *flash, const struct flash_chip *chip)
{
	const int error = memory_write_byte(flash, chip, UNLOCK_1_ADDRESS, UNLOCK_1);

	return error == 0 ? memory_write_byte(flash, chip, UNLOCK_2_ADDRESS, UNLOCK_2) : error;
}

int jedec_command(struct flash *flash, const struct flash_chip *chip, uint8_t opcode)
{
	const int error = unlock(flash, chip);

	return error == 0 ? memory_write_byte(flash, chip, UNLOCK_1_ADDRESS, opcode) : error;
}

/*
 * One read is enough for a part that is ready. A part with another value that does not toggle is
 * ready, too: it refused the command, which verification will report.
 */
static int ask_finished(struct flash *flash, uint32_t address, bool *ready)
{
	uint8_t first, second;
	int error = memory_read_byte(flash, flash->chip, address, &first);

	*ready = error == 0 && ((first ^ flash->polled_value) & DATA_POLLING) == 0;
	if (error != 0 || *ready)
		return error;
	error = memory_read_byte(flash, flash->chip, address, &second);
	*ready = error == 0 && ((first ^ second) & JEDEC_TOGGLE) == 0;
	return error;
}

int jedec_wait(struct flash *flash, const struct busy_time *busy, const char *what,
	uint32_t address, uint8_t value)
{
	flash->polled_value = value;
	return busy_wait(flash, busy, what, ask_finished, address);
}

int jedec_erase(struct flash *flash, const struct chip_erase *erase, uint32_t address)
{
	const struct flash_chip *chip = flash->chip;
	const uint32_t to = erase->opcode == OP_CHIP_ERASE ? UNLOCK_1_ADDRESS : address;
	int error = jedec_command(flash, chip, OP_ERASE_SETUP);

	if (error == 0)
		error = unlock(flash, chip);
	if (error == 0)
		error = memory_write_byte(flash, chip, to, erase->opcode);
	return error == 0 ? jedec_wait(flash, &erase->busy, "an erase", address, 0xff) : error;
}
