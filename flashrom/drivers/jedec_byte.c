/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fwh.h"
#include "jedec.h"
#include "memory.h"

#define OP_BYTE_PROGRAM 0xa0

static int program_byte(struct flash *flash, uint32_t address, uint8_t value)
{
	int error = jedec_command(flash, flash->chip, OP_BYTE_PROGRAM);

	if (error == 0)
		error = memory_write_byte(flash, flash->chip, address, value);
	if (error == 0)
		error = jedec_wait(flash, &flash->chip->program, "a byte program", address, value);
	return error;
}

/* Skips bytes of FFh, which change nothing. */
static int jedec_byte_program(
	struct flash *flash, uint32_t address, const uint8_t *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		const int error =
			data[i] == 0xff ? 0 : program_byte(flash, address + (uint32_t)i, data[i]);

		if (error != 0)
			return error;
	}
	return 0;
}

const struct chip_driver jedec_byte_driver = {
	.read = memory_read,
	.program = jedec_byte_program,
	.erase = jedec_erase,
};

const struct chip_driver jedec_fwh_driver = {
	.open = fwh_locks_open,
	.close = fwh_locks_close,
	.read = memory_read,
	.program = jedec_byte_program,
	.erase = jedec_erase,
	.unprotect = fwh_unprotect,
	.reprotect = fwh_reprotect,
};
