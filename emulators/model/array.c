/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "array.h"

#include <assert.h>
#include <string.h>

#include "shared/noise.h"

#define ERASED_BYTE 0xFF

size_t array_map_bytes(uint32_t size_bytes)
{
	return (size_bytes / ARRAY_GRANULE_BYTES + 7) / 8;
}

void array_init(struct array *array, uint32_t size_bytes, uint8_t *bytes, uint8_t *map)
{
	assert(size_bytes > 0 && size_bytes % ARRAY_GRANULE_BYTES == 0);
	array->bytes = bytes;
	array->erased = map;
	array->size_bytes = size_bytes;
	memset(map, 0xFF, array_map_bytes(size_bytes));
}

bool array_granule_is_erased(const struct array *array, uint32_t address)
{
	uint32_t granule = address / ARRAY_GRANULE_BYTES;

	return array->erased[granule / 8] >> (granule % 8) & 1;
}

static void mark_erased(struct array *array, uint32_t address)
{
	uint32_t granule = address / ARRAY_GRANULE_BYTES;

	array->erased[granule / 8] |= (uint8_t)(1u << granule % 8);
}

static void materialise(struct array *array, uint32_t address)
{
	uint32_t granule = address / ARRAY_GRANULE_BYTES;

	if (!array_granule_is_erased(array, address))
		return;
	memset(array->bytes + (size_t)granule * ARRAY_GRANULE_BYTES, ERASED_BYTE,
		ARRAY_GRANULE_BYTES);
	array->erased[granule / 8] &= (uint8_t)~(1u << granule % 8);
}

/* Returns how many of @len bytes from @address are in the granule of @address. */
static size_t run_in_granule(uint32_t address, size_t len)
{
	size_t room = ARRAY_GRANULE_BYTES - address % ARRAY_GRANULE_BYTES;

	return len < room ? len : room;
}

void array_read(const struct array *array, uint32_t address, uint8_t *out, size_t len)
{
	address %= array->size_bytes;
	while (len > 0) {
		size_t run = run_in_granule(address, len);

		if (array_granule_is_erased(array, address))
			memset(out, ERASED_BYTE, run);
		else
			memcpy(out, array->bytes + address, run);
		out += run;
		len -= run;
		address = (uint32_t)(address + run) % array->size_bytes;
	}
}

/* Works on 64 bits at a time, because every byte that a client writes passes through here. */
static void clear_bits(uint8_t *cells, const uint8_t *data, size_t len)
{
	size_t i = 0;

	for (; len - i >= sizeof(uint64_t); i += sizeof(uint64_t)) {
		uint64_t word, mask;

		memcpy(&word, cells + i, sizeof(word));
		memcpy(&mask, data + i, sizeof(mask));
		word &= mask;
		memcpy(cells + i, &word, sizeof(word));
	}
	for (; i < len; i++)
		cells[i] &= data[i];
}

void array_program(struct array *array, uint32_t address, const uint8_t *data, size_t len)
{
	assert(address < array->size_bytes && len <= array->size_bytes - address);
	while (len > 0) {
		size_t run = run_in_granule(address, len);

		materialise(array, address);
		clear_bits(array->bytes + address, data, run);
		data += run;
		len -= run;
		address += (uint32_t)run;
	}
}

static bool all_erased(const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (data[i] != ERASED_BYTE)
			return false;
	}
	return true;
}

void array_load(struct array *array, uint32_t address, const uint8_t *data, size_t len)
{
	assert(address < array->size_bytes && len <= array->size_bytes - address);
	while (len > 0) {
		size_t run = run_in_granule(address, len);

		if (!array_granule_is_erased(array, address) || !all_erased(data, run)) {
			materialise(array, address);
			memcpy(array->bytes + address, data, run);
		}
		data += run;
		len -= run;
		address += (uint32_t)run;
	}
}

static void erase_in_granule(struct array *array, uint32_t address, size_t len)
{
	if (len == ARRAY_GRANULE_BYTES)
		mark_erased(array, address);
	else if (!array_granule_is_erased(array, address))
		memset(array->bytes + address, ERASED_BYTE, len);
}

void array_erase(struct array *array, uint32_t address, uint32_t len)
{
	assert(address < array->size_bytes && len <= array->size_bytes - address);
	while (len > 0) {
		size_t run = run_in_granule(address, len);

		erase_in_granule(array, address, run);
		address += (uint32_t)run;
		len -= (uint32_t)run;
	}
}

/* Returns a byte as it was, done, in between, or with only some of its bits done. */
static uint8_t erased_halfway(uint8_t before, uint64_t bits)
{
	const uint8_t stages[] = {before, ERASED_BYTE, 0x00, before & (uint8_t)(bits >> 8)};

	return stages[bits & 3];
}

/* Does the same for a program, which clears bits. If it replaces the content, it first sets all. */
static uint8_t programmed_halfway(uint8_t before, uint8_t data, bool replaces, uint64_t bits)
{
	const uint8_t start = replaces ? ERASED_BYTE : before;
	const uint8_t some = data | (uint8_t)(bits >> 8);
	const uint8_t stages[] = {before, start & data, start, start & some};

	return stages[bits & 3];
}

static void spoil(struct array *array, uint32_t address, uint32_t len, uint64_t seed)
{
	for (uint32_t at = address; at < address + len; at++) {
		uint8_t byte;

		array_read(array, at, &byte, 1);
		byte = erased_halfway(byte, noise_bits(seed, at, 0));
		array_load(array, at, &byte, 1);
	}
}

void halfway_erase(
	struct array *array, uint32_t address, uint32_t len, uint32_t done_bytes, uint64_t seed)
{
	uint32_t done = done_bytes - done_bytes % ARRAY_GRANULE_BYTES;
	uint32_t left = len - done;
	uint32_t room = ARRAY_GRANULE_BYTES - (address + done) % ARRAY_GRANULE_BYTES;

	if (done > 0)
		array_erase(array, address, done);
	spoil(array, address + done, left < room ? left : room, seed);
}

void halfway_program(struct array *array, uint32_t address, const uint8_t *data, uint32_t len,
	bool replaces, uint64_t seed)
{
	for (uint32_t i = 0; i < len; i++) {
		uint8_t byte;

		array_read(array, address + i, &byte, 1);
		byte = programmed_halfway(
			byte, data[i], replaces, noise_bits(seed, address + i, 1));
		array_load(array, address + i, &byte, 1);
	}
}
