/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spi.h"

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
