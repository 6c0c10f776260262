/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A network card with a boot ROM: the search for it, and the writes to its registers. */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cases.h"
#include "programmers.h"

#define PATH_BYTES 128

struct card {
	uint8_t control[64];
	uint8_t flash[NICINTEL_WINDOW_BYTES];
	struct programmer *programmer;
};

static unsigned int unmapped;

static void count_unmap(const struct nicintel_registers *registers)
{
	(void)registers;
	unmapped++;
}

static void attach(struct card *card)
{
	const struct nicintel_registers registers = {
		.control = card->control, .flash = card->flash, .unmap = count_unmap};

	unmapped = 0;
	assert_int_equal(nicintel_attach(&registers, &card->programmer), 0);
}

static void detach(struct card *card)
{
	programmer_destroy(card->programmer);
	assert_int_equal(card->control[0x0C], 0);
	assert_int_equal(unmapped, 1);
}

FIXTURE(card, attach, detach);

static void part_may_be_written_to_while_it_is_attached(struct card *card)
{
	assert_int_equal(card->control[0x0C], 1);
	assert_int_equal(card->control[0x0D], 0);
}

static void last_byte_of_the_bus_is_the_last_of_the_window(struct card *card)
{
	uint8_t read[2];

	card->programmer->ops->write_byte(card->programmer, 0xFFFFFF, 0x5A);
	assert_int_equal(card->flash[NICINTEL_WINDOW_BYTES - 1], 0x5A);
	card->flash[0] = 0x11;
	card->flash[1] = 0x22;
	card->programmer->ops->read_bytes(
		card->programmer, 0x1000000 - NICINTEL_WINDOW_BYTES, read, sizeof(read));
	assert_memory_equal(read, ((const uint8_t[]){0x11, 0x22}), sizeof(read));
}

static void parallel_parts_alone_are_reached_and_no_larger_ones(struct card *card)
{
	assert_int_equal(card->programmer->buses, BUS_PARALLEL);
	assert_int_equal(card->programmer->size_bytes_max, NICINTEL_WINDOW_BYTES);
}

static void write_text(const char *folder, const char *name, const char *text)
{
	char path[PATH_BYTES];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	if (!out)
		abort();
	assert_true(fputs(text, out) >= 0);
	fclose(out);
}

static void add_device(const char *devices, const char *name, const char *vendor, const char *id,
	const char *regions)
{
	char folder[PATH_BYTES];

	snprintf(folder, sizeof(folder), "%s/%s", devices, name);
	assert_int_equal(mkdir(folder, 0755), 0);
	write_text(folder, "vendor", vendor);
	write_text(folder, "device", id);
	write_text(folder, "resource", regions);
}

#define REGIONS                                                                                    \
	"0x00000000febc0000 0x00000000febc0fff 0x0000000000040200\n"                               \
	"0x000000000000c000 0x000000000000c03f 0x0000000000040101\n"                               \
	"0x00000000feb80000 0x00000000feb9ffff 0x0000000000040200\n"

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	(void)kind;
	(void)place;
	return remove(path);
}

static void remove_devices(const char *devices)
{
	assert_int_equal(nftw(devices, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void card_is_found_among_others(void)
{
	char devices[] = "/tmp/rig-nicintel-XXXXXX";
	struct nicintel_card card;

	assert_non_null(mkdtemp(devices));
	assert_int_equal(nicintel_find(devices, &card), -ENODEV);
	add_device(devices, "0000:00:00.0", "0x8086\n", "0x1237\n", REGIONS);
	add_device(devices, "0000:00:01.0", "0x10ec\n", "0x1209\n", REGIONS);
	assert_int_equal(nicintel_find(devices, &card), -ENODEV);
	add_device(devices, "0000:00:10.0", "0x8086\n", "0x1209\n", REGIONS);
	assert_int_equal(nicintel_find(devices, &card), 0);
	assert_int_equal(card.control, 0xFEBC0000);
	assert_int_equal(card.flash, 0xFEB80000);
	remove_devices(devices);
}

static void card_without_addresses_is_not_found(void)
{
	char devices[] = "/tmp/rig-nicintel-XXXXXX";
	struct nicintel_card card;

	assert_non_null(mkdtemp(devices));
	add_device(devices, "0000:00:10.0", "0x8086\n", "0x1229\n",
		"0x0 0x0 0x0\n0x0 0x0 0x0\n0x0 0x0 0x0\n");
	add_device(devices, "0000:00:11.0", "0x8086\n", "0x1229\n", "");
	assert_int_equal(nicintel_find(devices, &card), -ENODEV);
	assert_int_equal(nicintel_find("/tmp/rig-there-is-none", &card), -ENODEV);
	remove_devices(devices);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(card, part_may_be_written_to_while_it_is_attached),
	CASE_ON(card, last_byte_of_the_bus_is_the_last_of_the_window),
	CASE_ON(card, parallel_parts_alone_are_reached_and_no_larger_ones),
	CASE(card_is_found_among_others),
	CASE(card_without_addresses_is_not_found),
};

RUN_CASES(tests)
