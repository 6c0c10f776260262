/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page writes. The part takes bytes while the pauses between them are shorter than its load window;
 * then it erases and programs the page by itself. Missing and late bytes are lost, so a page is
 * sent only if the programmer takes all of it at once.
 */
#include <assert.h>
#include <errno.h>

#include "jedec.h"
#include "memory.h"

/* Comes before every page. It also opens a part whose software data protection is on. */
#define OP_PAGE_WRITE 0xa0

static int check_burst(struct flash *flash)
{
	const size_t most = flash->programmer->burst_bytes_max;

	if (most == 0 || most >= flash->chip->page_bytes)
		return 0;
	log_error(flash->log,
		"%s can send %zu bytes without a pause, but \"%s\" has to get a page of %u at "
		"once. Use a programmer with a larger operation buffer.\n",
		flash->programmer->name, most, flash->chip->name,
		(unsigned int)flash->chip->page_bytes);
	return -EOPNOTSUPP;
}

static int load(struct flash *flash, uint32_t address, const uint8_t *data, size_t bytes)
{
	int error = jedec_command(flash, flash->chip, OP_PAGE_WRITE);

	for (size_t i = 0; i < bytes && error == 0; i++)
		error = memory_write_byte(flash, flash->chip, address + (uint32_t)i, data[i]);
	return error;
}

/* The part can be polled right after the last byte, even before its load window ends. */
static int jedec_page_program(
	struct flash *flash, uint32_t address, const uint8_t *data, size_t bytes)
{
	const struct flash_chip *chip = flash->chip;
	int error = check_burst(flash);

	assert(bytes == chip->page_bytes);
	if (error == 0)
		error = load(flash, address, data, bytes);
	if (error == 0)
		error = jedec_wait(flash, &chip->program, "a page write",
			address + (uint32_t)bytes - 1, data[bytes - 1]);
	return error;
}

const struct chip_driver jedec_page_driver = {
	.read = memory_read,
	.program = jedec_page_program,
	.erase = jedec_erase,
};
