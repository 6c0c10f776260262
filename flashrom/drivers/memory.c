/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory.h"

/* The part's last byte is at the last of the 24-bit addresses. */
#define ADDRESS_SPACE (UINT32_C(1) << 24)

static uint32_t bus_address(const struct flash_chip *chip, uint32_t address)
{
	return (ADDRESS_SPACE - chip->size_bytes + address) % ADDRESS_SPACE;
}

int memory_read_byte(
	struct flash *flash, const struct flash_chip *chip, uint32_t address, uint8_t *value)
{
	return flash->programmer->ops->read_bytes(
		flash->programmer, bus_address(chip, address), value, 1);
}

int memory_write_byte(
	struct flash *flash, const struct flash_chip *chip, uint32_t address, uint8_t value)
{
	return flash->programmer->ops->write_byte(
		flash->programmer, bus_address(chip, address), value);
}

int memory_read(struct flash *flash, uint32_t address, uint8_t *data, size_t bytes)
{
	struct programmer *programmer = flash->programmer;

	while (bytes > 0) {
		const size_t chunk = min_size(bytes, programmer->read_bytes_max);
		const int error = programmer->ops->read_bytes(
			programmer, bus_address(flash->chip, address), data, chunk);

		if (error != 0)
			return error;
		address += (uint32_t)chunk;
		data += chunk;
		bytes -= chunk;
	}
	return 0;
}
