/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locks of single blocks, a volatile bit each, all set at power-up. Their commands depend on the
 * kind of protection: AT25DF (36h, 39h, 3Ch), Winbond (36h, 39h, 3Dh, 7Eh, 98h) and SST26 (72h,
 * 42h, 8Dh, 98h). Read locks of SST26 are not modelled and read as clear.
 */
#include <string.h>

#include "spi_nor.h"

#define OP_LOCK 0x36
#define OP_LOCK_ALL 0x7E
#define LOCKED_BYTE 0xFF /* the value that 3Ch reads */

/* The register of SST26VF064B: 16 bits of its eight 8 KiB blocks, then one of each other block. */
#define REGISTER_BYTES 18u
#define REGISTER_SMALL 128u      /* where the bits of 8 KiB blocks begin: two each */
#define REGISTER_BOTTOM_32K 126u /* the other 32 KiB block is next */
#define SMALL_PER_END 4u

static bool refuses_changes(const struct chip *chip, struct chip_facts *facts)
{
	if (!chip->spi.locks_held && !spi_holds_global_locks(chip))
		return false;
	facts->rule = CHIP_RULE_PROTECTED;
	return true;
}

void nor_run_lock(struct chip *chip, const struct spi_request *request)
{
	struct part_block block;

	if (!refuses_changes(chip, request->facts) &&
		spi_find_lock(chip, request->facts->address, &block))
		spi_set_lock(chip, block.index, request->facts->opcode == OP_LOCK);
	chip->spi.write_enabled = false;
}

void nor_run_lock_all(struct chip *chip, const struct spi_request *request)
{
	if (!refuses_changes(chip, request->facts))
		spi_lock_all(chip, request->facts->opcode == OP_LOCK_ALL);
	chip->spi.write_enabled = false;
}

void nor_reply_lock(struct chip *chip, const struct spi_request *request)
{
	bool is_global = chip->part->spi->protection.kind == PROTECTION_GLOBAL;
	struct part_block block;
	uint8_t octet = 0x00;

	if (spi_find_lock(chip, request->facts->address, &block) &&
		spi_is_locked(chip, block.index))
		octet = is_global ? LOCKED_BYTE : 0x01;
	spi_reply_repeating(request, &octet, 1, 0);
}

/* Returns the bit of the SST26 register that write-locks block @index, counted from address 0. */
static uint32_t register_bit(uint32_t index, uint32_t count)
{
	uint32_t from_top = count - 1 - index;

	if (index < SMALL_PER_END)
		return REGISTER_SMALL + 2 * index;
	if (from_top < SMALL_PER_END)
		return REGISTER_SMALL + 2 * (2 * SMALL_PER_END - 1 - from_top);
	if (index == SMALL_PER_END)
		return REGISTER_BOTTOM_32K;
	if (from_top == SMALL_PER_END)
		return REGISTER_BOTTOM_32K + 1;
	return index - SMALL_PER_END - 1;
}

/* Returns the byte that holds @bit. The highest bit of the register is sent first. */
static uint8_t *register_octet(uint8_t octets[REGISTER_BYTES], uint32_t bit)
{
	return &octets[REGISTER_BYTES - 1 - bit / 8];
}

void nor_reply_locks(struct chip *chip, const struct spi_request *request)
{
	uint32_t count = spi_lock_count(chip);
	uint8_t octets[REGISTER_BYTES] = {0};

	for (uint32_t i = 0; i < count; i++) {
		uint32_t bit = register_bit(i, count);

		if (spi_is_locked(chip, i))
			*register_octet(octets, bit) |= (uint8_t)(1u << bit % 8);
	}
	spi_reply_repeating(request, octets, sizeof(octets), 0);
}

void nor_run_write_locks(struct chip *chip, const struct spi_request *request)
{
	uint32_t count = spi_lock_count(chip);
	uint8_t octets[REGISTER_BYTES];

	chip->spi.write_enabled = false;
	if (refuses_changes(chip, request->facts))
		return;
	memcpy(octets, request->data, sizeof(octets));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t bit = register_bit(i, count);

		spi_set_lock(chip, i, *register_octet(octets, bit) >> bit % 8 & 1);
	}
}

void nor_run_hold_locks(struct chip *chip, const struct spi_request *request)
{
	(void)request;
	chip->spi.locks_held = true;
	chip->spi.write_enabled = false;
}

bool nor_has_lock(const struct part *part, uint8_t opcode)
{
	const struct part_protection *protection = &part->spi->protection;
	enum protection_kind kind = protection->kind;

	if (protection->lock_region_count == 0)
		return false;
	switch (opcode) {
	case 0x36:
	case 0x39:
		return kind != PROTECTION_UNLOCK;
	case 0x3C:
		return kind == PROTECTION_GLOBAL;
	case 0x3D:
	case 0x7E:
		return kind == PROTECTION_RANGES;
	case 0x98:
		return kind != PROTECTION_GLOBAL;
	default: /* 72h, 42h and 8Dh */
		return kind == PROTECTION_UNLOCK;
	}
}
