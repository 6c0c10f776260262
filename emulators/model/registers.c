/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * As 82802AB, M50FW040 and SST49LF004B have them. Bit 2 of a lock register, which would hide a
 * block from reads, is kept and does nothing.
 */
#include "registers.h"

#define LOCK_OFFSET 0x0002 /* in each block */
#define LOCK_WRITES 0x01
#define LOCK_DOWN 0x02 /* until the next reset the register stays as it is */
#define LOCK_BITS 0x07

/* FFBC0000h and so on in the address space of a PC, in a part of 512 KiB. */
#define MAKER_OFFSET 0x40000
#define DEVICE_OFFSET 0x40001

static bool is_lock(const struct chip *chip, uint32_t address)
{
	uint32_t block_bytes = chip->part->parallel->registers.lock_block_bytes;

	return block_bytes > 0 && address % block_bytes == LOCK_OFFSET;
}

static size_t block_of(const struct chip *chip, uint32_t address)
{
	return address / chip->part->parallel->registers.lock_block_bytes;
}

void registers_write(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	uint8_t *lock;

	facts->name = "REGISTER";
	if (!is_lock(chip, cycle->address))
		return;
	lock = &chip->parallel.locks[block_of(chip, cycle->address)];
	facts->name = "LOCK";
	if (*lock & LOCK_DOWN)
		facts->rule = CHIP_RULE_PROTECTED;
	else
		*lock = cycle->value & LOCK_BITS;
}

uint8_t registers_read(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts)
{
	facts->name = "REGISTER";
	if (is_lock(chip, cycle->address))
		return chip->parallel.locks[block_of(chip, cycle->address)];
	switch (cycle->address) {
	case MAKER_OFFSET:
		return chip->part->parallel->maker;
	case DEVICE_OFFSET:
		return chip->part->parallel->device;
	default:
		return 0x00;
	}
}

bool registers_forbid(const struct chip *chip, uint32_t address, uint32_t len)
{
	uint32_t block_bytes = chip->part->parallel->registers.lock_block_bytes;

	if (block_bytes == 0)
		return false;
	for (size_t i = block_of(chip, address); i <= block_of(chip, address + len - 1); i++) {
		if (chip->parallel.locks[i] & LOCK_WRITES)
			return true;
	}
	return false;
}
