/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>
#include <string.h>

#include "spi.h"
#include "spi_command.h"

#define SECTOR_BYTES 4096u
#define SECTORS_BYTES_MAX 32768u

static bool is_set(const struct part_flag *flag, const uint8_t *status)
{
	return status[flag->index] & flag->mask;
}

static unsigned int number_of(const struct part_protection *protection, uint8_t status)
{
	unsigned int number = 0;

	for (size_t i = 0; i < protection->bit_count; i++)
		number |= (unsigned int)(status >> protection->bits[i] & 1) << i;
	return number;
}

/* Returns how many bytes at one end of the part the registers select. */
static uint32_t protected_bytes(
	const struct part_protection *protection, uint32_t size_bytes, const uint8_t *status)
{
	unsigned int number = number_of(protection, status[0]);
	bool sectors = is_set(&protection->sectors, status);
	uint64_t unit_bytes = sectors ? SECTOR_BYTES : protection->unit_bytes;
	uint32_t bytes_max = sectors ? SECTORS_BYTES_MAX : size_bytes;
	uint64_t bytes;

	if (number == 0)
		return 0;
	if (number == (1u << protection->bit_count) - 1)
		return size_bytes;
	bytes = unit_bytes << (number - 1);
	return bytes < bytes_max ? (uint32_t)bytes : bytes_max;
}

static bool ranges_cover(const struct part_protection *protection, uint32_t size_bytes,
	const uint8_t *status, uint32_t address, uint32_t len)
{
	uint32_t bytes = protected_bytes(protection, size_bytes, status);
	bool at_bottom = is_set(&protection->bottom, status);

	if (is_set(&protection->complement, status)) {
		bytes = size_bytes - bytes;
		at_bottom = !at_bottom;
	}
	if (bytes == 0)
		return false;
	return at_bottom ? address < bytes : address + len > size_bytes - bytes;
}

bool protection_covers(const struct part_protection *protection, uint32_t size_bytes,
	const uint8_t *status, uint32_t address, uint32_t len)
{
	switch (protection->kind) {
	case PROTECTION_ANY:
		return number_of(protection, status[0]) != 0;
	case PROTECTION_RANGES:
		return ranges_cover(protection, size_bytes, status, address, len);
	default:
		return false;
	}
}

static const struct part_protection *protection_of(const struct chip *chip)
{
	return &chip->part->spi->protection;
}

uint32_t spi_lock_count(const struct chip *chip)
{
	const struct part_protection *protection = protection_of(chip);
	uint32_t count = 0;

	for (size_t i = 0; i < protection->lock_region_count; i++)
		count += protection->lock_regions[i].block_count;
	assert(count <= SPI_LOCKS_MAX);
	return count;
}

bool spi_is_locked(const struct chip *chip, uint32_t index)
{
	return chip->spi.locks[index / 8] >> index % 8 & 1;
}

void spi_set_lock(struct chip *chip, uint32_t index, bool locked)
{
	uint8_t bit = (uint8_t)(1u << index % 8);

	chip->spi.locks[index / 8] &= (uint8_t)~bit;
	if (locked)
		chip->spi.locks[index / 8] |= bit;
}

void spi_lock_all(struct chip *chip, bool locked)
{
	memset(chip->spi.locks, locked ? 0xFF : 0x00, sizeof(chip->spi.locks));
}

bool spi_some_locked(const struct chip *chip, bool *all)
{
	uint32_t count = spi_lock_count(chip);
	uint32_t locked = 0;

	for (uint32_t i = 0; i < count; i++)
		locked += spi_is_locked(chip, i);
	*all = locked == count;
	return locked > 0;
}

/* In a part with both locks and ranges, a status bit chooses between them. */
bool spi_has_locks_in_force(const struct chip *chip)
{
	const struct part_protection *protection = protection_of(chip);
	const struct part_flag *flag = &protection->locks_flag;

	if (protection->lock_region_count == 0)
		return false;
	return flag->mask == 0 || chip->spi.status[flag->index] & flag->mask;
}

bool spi_find_lock(const struct chip *chip, uint32_t address, struct part_block *block)
{
	const struct part_protection *protection = protection_of(chip);

	return region_find_block(
		protection->lock_regions, protection->lock_region_count, address, block);
}

bool spi_locks_cover(const struct chip *chip, uint32_t address, uint32_t len)
{
	uint64_t end = (uint64_t)address + len;
	struct part_block block;

	while (address < end && spi_find_lock(chip, address, &block)) {
		if (spi_is_locked(chip, block.index))
			return true;
		address = block.address + block.size_bytes;
	}
	return false;
}
