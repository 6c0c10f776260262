/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SST26VF: parts of the 25 series in which each block has its own lock. All blocks are locked at
 * power-up. The locks are volatile, in a register of up to 18 bytes (datasheet DS20005119, "Block
 * Protection").
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "spi25.h"

enum opcode {
	OP_LOCKS_WRITE = 0x42,
	OP_LOCKS_READ = 0x72,
	OP_LOCKS_CLEAR = 0x98,
};

/* The register has two bits for each of the eight 8 KiB blocks, one for each of the others. */
static size_t lock_bytes(const struct flash_chip *chip)
{
	return chip->size_bytes / 524288 + 2;
}

static int read_locks(struct flash *flash, uint8_t *locks)
{
	const uint8_t opcode = OP_LOCKS_READ;

	assert(lock_bytes(flash->chip) <= PROTECTION_BLOCK_BYTES_MAX);
	return spi_command(flash, &opcode, 1, locks, lock_bytes(flash->chip));
}

static bool has_locks(const struct flash *flash, const uint8_t *locks)
{
	uint8_t any = 0;

	for (size_t i = 0; i < lock_bytes(flash->chip); i++)
		any |= locks[i];
	return any != 0;
}

/* All ones would mean that all blocks are read-locked, so it counts as no answer. */
static bool are_unreadable(const struct flash *flash, const uint8_t *locks)
{
	uint8_t all = SPI25_FLOATING;

	for (size_t i = 0; i < lock_bytes(flash->chip); i++)
		all &= locks[i];
	return all == SPI25_FLOATING;
}

static int write_locks(struct flash *flash, const uint8_t *tx, size_t tx_bytes)
{
	return spi25_busy_command(flash, tx, tx_bytes, &flash->chip->spi25.status_write,
		"a write of the block locks");
}

static int clear_locks(struct flash *flash, bool force)
{
	const uint8_t opcode = OP_LOCKS_CLEAR;
	uint8_t after[PROTECTION_BLOCK_BYTES_MAX];
	int error = write_locks(flash, &opcode, 1);

	if (error == 0)
		error = read_locks(flash, after);
	if (error != 0 || !has_locks(flash, after) || are_unreadable(flash, after))
		return error;
	return spi25_report_protected(flash, force);
}

/* The register must be read and written in one transfer. */
static int check_programmer(const struct flash *flash)
{
	const struct programmer *programmer = flash->programmer;
	const size_t bytes = lock_bytes(flash->chip);

	if (programmer->read_bytes_max >= bytes && programmer->write_bytes_max > bytes)
		return 0;
	log_error(flash->log,
		"%s moves too few bytes at a time for the chip's %zu bytes of locks.\n",
		programmer->name, bytes);
	return -ENOTSUP;
}

static int sst26_unprotect(struct flash *flash, bool force)
{
	struct protection *protection = &flash->protection;
	int error = check_programmer(flash);

	if (error == 0)
		error = read_locks(flash, protection->blocks);
	if (error != 0 || !has_locks(flash, protection->blocks))
		return error;
	log_debug(flash->log, "Lifting the block locks.\n");
	/* Unreadable locks cannot be restored. They are volatile, so power-up restores them. */
	protection->lifted = !are_unreadable(flash, protection->blocks);
	return clear_locks(flash, force);
}

static int sst26_reprotect(struct flash *flash)
{
	const size_t bytes = lock_bytes(flash->chip);
	uint8_t tx[1 + PROTECTION_BLOCK_BYTES_MAX] = {OP_LOCKS_WRITE};

	if (!flash->protection.lifted)
		return 0;
	flash->protection.lifted = false;
	memcpy(tx + 1, flash->protection.blocks, bytes);
	return write_locks(flash, tx, 1 + bytes);
}

const struct chip_driver sst26_driver = {
	.open = spi25_open,
	.close = spi25_close,
	.read = spi25_read,
	.program = spi25_program,
	.erase = spi25_erase,
	.unprotect = sst26_unprotect,
	.reprotect = sst26_reprotect,
};
