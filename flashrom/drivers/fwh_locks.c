/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fwh.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>

#include "memory.h"

#define BLOCK_BYTES UINT32_C(65536)
#define REGISTER_OFFSET 2

#define WRITE_LOCK 0x01
#define LOCK_DOWN 0x02
#define READ_LOCK 0x04

static uint32_t block_count(const struct flash *flash)
{
	const uint32_t count = flash->chip->size_bytes / BLOCK_BYTES;

	assert(count <= PROTECTION_BLOCK_BYTES_MAX);
	return count;
}

static uint32_t register_of(uint32_t block)
{
	return MEMORY_REGISTERS + block * BLOCK_BYTES + REGISTER_OFFSET;
}

static int read_lock(struct flash *flash, uint32_t block, uint8_t *lock)
{
	return memory_read_byte(flash, flash->chip, register_of(block), lock);
}

static int write_lock(struct flash *flash, uint32_t block, uint8_t lock)
{
	return memory_write_byte(flash, flash->chip, register_of(block), lock);
}

/* Runs a function for each block until one fails; `bits` and `force` are passed to it. */
static int for_each_block(struct flash *flash, uint8_t bits, bool force,
	int (*run)(struct flash *flash, uint32_t block, uint8_t bits, bool force))
{
	int error = 0;

	for (uint32_t block = 0; block < block_count(flash) && error == 0; block++)
		error = run(flash, block, bits, force);
	return error;
}

static const char *remedy(uint8_t lock, bool force)
{
	if (force)
		return "; going on";
	if ((lock & LOCK_DOWN) != 0)
		return ": it is locked down until the next reset of the chip";
	return ": release the chip's TBL# and WP# pins, or add --force";
}

static int report_stays(const struct flash *flash, uint32_t block, uint8_t lock, bool force)
{
	log_emit(flash->log, force ? LOG_WARNING : LOG_ERROR,
		"The block at 0x%06" PRIx32 " stays locked (register 0x%02x)%s.\n",
		block * BLOCK_BYTES, lock, remedy(lock, force));
	return force ? 0 : -EPERM;
}

static int lift(struct flash *flash, uint32_t block, uint8_t bits, bool force)
{
	uint8_t lock;
	int error = read_lock(flash, block, &lock);

	if (error != 0 || (lock & bits) == 0)
		return error;
	if ((lock & LOCK_DOWN) == 0)
		error = write_lock(flash, block, lock & (uint8_t)~bits);
	if (error == 0)
		error = read_lock(flash, block, &lock);
	if (error != 0)
		return error;
	return (lock & bits) == 0 ? 0 : report_stays(flash, block, lock, force);
}

/* Restores those of `bits` that were set; a locked-down register cannot have changed. */
static int restore(struct flash *flash, uint32_t block, uint8_t bits, bool force)
{
	const uint8_t before = flash->protection.blocks[block];

	(void)force;
	if ((before & bits) == 0 || (before & LOCK_DOWN) != 0)
		return 0;
	return write_lock(flash, block, before & bits);
}

static int restore_all(struct flash *flash, uint8_t bits)
{
	const int error = for_each_block(flash, bits, false, restore);

	return error == 0 ? flash_flush(flash) : error;
}

static int remember(struct flash *flash, uint32_t block, uint8_t bits, bool force)
{
	(void)bits;
	(void)force;
	return read_lock(flash, block, &flash->protection.blocks[block]);
}

/* An unreadable block is no reason to refuse the rest of the part. */
int fwh_locks_open(struct flash *flash)
{
	const int error = for_each_block(flash, 0, false, remember);

	return error == 0 ? for_each_block(flash, READ_LOCK, true, lift) : error;
}

/* Restores read locks, and write locks once more in case fwh_reprotect() failed halfway. */
int fwh_locks_close(struct flash *flash)
{
	return restore_all(flash, READ_LOCK | WRITE_LOCK);
}

int fwh_unprotect(struct flash *flash, bool force)
{
	return for_each_block(flash, WRITE_LOCK, force, lift);
}

int fwh_reprotect(struct flash *flash)
{
	return restore_all(flash, WRITE_LOCK);
}
