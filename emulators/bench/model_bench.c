/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how many transactions a second the chip model executes as a library, in CPU time of this
 * process: status reads of a busy part, complete page programs, byte programs by cycles, and reads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "model/chip.h"

#define NS_PER_S 1000000000.0
#define TRANSACTIONS 2000000u
#define PAGE_BYTES 256u

struct bench {
	struct chip chip;
	uint64_t now_ns;
	uint8_t command[4 + PAGE_BYTES];
	uint8_t reply[PAGE_BYTES];
	struct chip_facts facts;
};

static void set_up(struct bench *bench, const char *name, enum corner_kind kind)
{
	const struct part *part = part_find(name);
	struct corner corner = {.kind = kind};
	void *memory = mmap(NULL, chip_memory_bytes(part), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	memset(bench, 0, sizeof(*bench));
	chip_init(&bench->chip, part, &corner, memory);
}

static void send(struct bench *bench, size_t command_len, size_t reply_len)
{
	struct chip_transfer transfer = {
		.start_ns = bench->now_ns,
		.end_ns = bench->now_ns,
		.command = bench->command,
		.command_len = command_len,
		.reply = bench->reply,
		.reply_len = reply_len,
	};

	chip_transfer(&bench->chip, &transfer, &bench->facts);
	bench->now_ns++;
}

static void set_address(struct bench *bench, uint8_t opcode, uint32_t address)
{
	bench->command[0] = opcode;
	bench->command[1] = (uint8_t)(address >> 16);
	bench->command[2] = (uint8_t)(address >> 8);
	bench->command[3] = (uint8_t)address;
}

static unsigned int poll_status(struct bench *bench, unsigned int i)
{
	if (i == 0) {
		bench->command[0] = 0x06;
		send(bench, 1, 0);
		bench->command[0] = 0xC7;
		send(bench, 1, 0);
	}
	bench->command[0] = 0x05;
	send(bench, 1, 1);
	return 1;
}

/* Write enable, program, a read of the status: three transactions. */
static unsigned int program_page(struct bench *bench, unsigned int i)
{
	bench->command[0] = 0x06;
	send(bench, 1, 0);
	set_address(bench, 0x02, i * PAGE_BYTES);
	send(bench, 4 + PAGE_BYTES, 0);
	bench->now_ns = bench->chip.busy_until_ns;
	bench->command[0] = 0x05;
	send(bench, 1, 1);
	return 3;
}

static unsigned int read_page(struct bench *bench, unsigned int i)
{
	set_address(bench, 0x03, i * PAGE_BYTES);
	send(bench, 4, PAGE_BYTES);
	return 1;
}

static void write_cycle(struct bench *bench, uint32_t address, uint8_t value)
{
	chip_write_cycle(
		&bench->chip, bench->now_ns, bench->now_ns + 70, address, value, &bench->facts);
	bench->now_ns += 70;
}

/* Four cycles, and two that poll. */
static unsigned int program_byte(struct bench *bench, unsigned int i)
{
	write_cycle(bench, 0x5555, 0xAA);
	write_cycle(bench, 0x2AAA, 0x55);
	write_cycle(bench, 0x5555, 0xA0);
	write_cycle(bench, i % 0x80000, 0x00);
	for (unsigned int j = 0; j < 2; j++) {
		chip_read_cycle(&bench->chip, bench->now_ns, bench->now_ns + 70, 0, &bench->facts);
		bench->now_ns = bench->chip.busy_until_ns;
	}
	return 6;
}

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / NS_PER_S;
}

static void measure(const char *what, const char *part, enum corner_kind kind,
	unsigned int (*run)(struct bench *bench, unsigned int i))
{
	struct bench bench;
	unsigned int done = 0;
	double start_s;

	set_up(&bench, part, kind);
	for (unsigned int i = 0; i < 65536; i++) /* memory is touched, caches are warm */
		run(&bench, i);
	start_s = cpu_s();
	for (unsigned int i = 1; done < TRANSACTIONS; i++)
		done += run(&bench, i % 65536);
	printf("%-14s %-12s %10.0f transactions/s\n", what, part, done / (cpu_s() - start_s));
}

int main(void)
{
	measure("status reads", "W25Q128JV", CORNER_MAX, poll_status);
	measure("page programs", "W25Q128JV", CORNER_MAX, program_page);
	measure("page programs", "W25Q128JV", CORNER_DRAW, program_page);
	measure("page reads", "W25Q128JV", CORNER_MAX, read_page);
	measure("byte programs", "SST39SF040", CORNER_MAX, program_byte);
	return 0;
}
