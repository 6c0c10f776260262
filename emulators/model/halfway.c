/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "halfway.h"

#include "noise.h"

#define ERASED_BYTE 0xFF

/* How far a byte came. */
enum stage {
	STAGE_BEFORE,
	STAGE_DONE,
	STAGE_BETWEEN,
	STAGE_MIXED,
};

static enum stage stage_of(uint64_t bits)
{
	return bits & 3;
}

static uint8_t other_bits(uint64_t bits)
{
	return (uint8_t)(bits >> 8);
}

static uint8_t erased_halfway(uint8_t before, uint64_t bits)
{
	switch (stage_of(bits)) {
	case STAGE_BEFORE:
		return before;
	case STAGE_DONE:
		return ERASED_BYTE;
	case STAGE_BETWEEN:
		return 0x00;
	case STAGE_MIXED:
		break;
	}
	return before & other_bits(bits);
}

/* Bits are cleared one by one; none is set, unless all are set first. */
static uint8_t programmed_halfway(uint8_t before, uint8_t data, bool replaces, uint64_t bits)
{
	uint8_t start = replaces ? ERASED_BYTE : before;

	switch (stage_of(bits)) {
	case STAGE_BEFORE:
		return before;
	case STAGE_DONE:
		return start & data;
	case STAGE_BETWEEN:
		return start;
	case STAGE_MIXED:
		break;
	}
	return start & (data | other_bits(bits));
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
