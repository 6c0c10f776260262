/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A chip on a bench: the test sends commands and sets the time. Only tests include this. */
#ifndef TESTS_UNIT_EMULATORS_BENCH_H
#define TESTS_UNIT_EMULATORS_BENCH_H

#include <string.h>
#include <sys/mman.h>

#include "map_zeros.h"
#include "model/chip.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

/* The status that 05h reads from most SPI parts during a program, an erase or a status write. */
#define STATUS_BUSY_AND_ENABLED 0x03

struct bench {
	struct chip chip;
	void *memory;
	uint64_t now_ns;
	uint8_t reply[512];
	struct chip_facts facts;
	size_t which; /* the number of the wait, in test_contracts.c */
};

static inline void bench_init(struct bench *bench, const char *part, const char *corner_text)
{
	struct corner corner;

	memset(bench, 0, sizeof(*bench));
	bench->memory = map_zeros(chip_memory_bytes(part_find(part)));
	bench->now_ns = 1000 * MS;
	assert_int_equal(corner_parse(corner_text, &corner), 0);
	chip_init(&bench->chip, part_find(part), &corner, bench->memory);
}

static inline void bench_deinit(struct bench *bench)
{
	munmap(bench->memory, chip_memory_bytes(bench->chip.part));
}

/* Sends a command and reads @reply_len bytes; no time passes. */
static inline void bench_send(
	struct bench *bench, const uint8_t *command, size_t command_len, size_t reply_len)
{
	struct chip_transfer transfer = {
		.start_ns = bench->now_ns,
		.end_ns = bench->now_ns,
		.command = command,
		.command_len = command_len,
		.reply = bench->reply,
		.reply_len = reply_len,
	};

	chip_transfer(&bench->chip, &transfer, &bench->facts);
}

static inline void bench_op(struct bench *bench, uint8_t opcode, size_t reply_len)
{
	bench_send(bench, &opcode, 1, reply_len);
}

static inline void bench_op_at(
	struct bench *bench, uint8_t opcode, uint32_t address, size_t reply_len)
{
	uint8_t command[] = {
		opcode, (uint8_t)(address >> 16), (uint8_t)(address >> 8), (uint8_t)address};

	bench_send(bench, command, sizeof(command), reply_len);
}

static inline void bench_op_at4(
	struct bench *bench, uint8_t opcode, uint32_t address, size_t reply_len)
{
	uint8_t command[] = {opcode, (uint8_t)(address >> 24), (uint8_t)(address >> 16),
		(uint8_t)(address >> 8), (uint8_t)address};

	bench_send(bench, command, sizeof(command), reply_len);
}

/* Sends @opcode with its data, after a write enable. */
static inline void bench_write_register(
	struct bench *bench, uint8_t opcode, const uint8_t *data, size_t len)
{
	uint8_t command[8] = {opcode};

	memcpy(command + 1, data, len);
	bench_op(bench, bench->chip.part->spi->ewsr_only ? 0x50 : 0x06, 0);
	bench_send(bench, command, 1 + len, 0);
}

static inline void bench_program(
	struct bench *bench, uint32_t address, const uint8_t *data, size_t len)
{
	uint8_t command[4 + 512] = {
		0x02, (uint8_t)(address >> 16), (uint8_t)(address >> 8), (uint8_t)address};

	memcpy(command + 4, data, len);
	bench_op(bench, 0x06, 0);
	bench_send(bench, command, 4 + len, 0);
}

static inline void bench_erase_at(struct bench *bench, uint8_t opcode, uint32_t address)
{
	bench_op(bench, 0x06, 0);
	bench_op_at(bench, opcode, address, 0);
}

static inline uint8_t bench_status(struct bench *bench)
{
	bench_op(bench, 0x05, 1);
	return bench->reply[0];
}

static inline void bench_finish_work(struct bench *bench)
{
	bench->now_ns = bench->chip.busy_until_ns;
}

#endif
