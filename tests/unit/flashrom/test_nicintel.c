/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A network card with a boot ROM: the search for it, and the writes to its registers. */
#include <errno.h>
#include <sys/stat.h>

#include "../temporary_folder.h"
#include "programmers.h"

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

static void flash_writes_are_enabled_while_attached(struct card *card)
{
	assert_int_equal(card->control[0x0C], 1);
	assert_int_equal(card->control[0x0D], 0);
}

static void end_of_the_bus_is_the_end_of_the_window(struct card *card)
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

static void only_parallel_parts_up_to_the_window_are_supported(struct card *card)
{
	assert_int_equal(card->programmer->buses, BUS_PARALLEL);
	assert_int_equal(card->programmer->size_bytes_max, NICINTEL_WINDOW_BYTES);
}

FIXTURE(folder, folder_create, folder_destroy);

static void write_file(
	const struct folder *devices, const char *device, const char *name, const char *text)
{
	char path[FOLDER_FILE_BYTES];

	snprintf(path, sizeof(path), "%s/%s", device, name);
	folder_write(devices, path, text);
}

static void add_device(const struct folder *devices, const char *device, const char *vendor,
	const char *id, const char *regions)
{
	char path[FOLDER_FILE_BYTES];

	folder_file(devices, device, path);
	assert_int_equal(mkdir(path, 0755), 0);
	write_file(devices, device, "vendor", vendor);
	write_file(devices, device, "device", id);
	write_file(devices, device, "resource", regions);
}

#define REGIONS                                                                                    \
	"0x00000000febc0000 0x00000000febc0fff 0x0000000000040200\n"                               \
	"0x000000000000c000 0x000000000000c03f 0x0000000000040101\n"                               \
	"0x00000000feb80000 0x00000000feb9ffff 0x0000000000040200\n"

static void card_is_found_among_others(struct folder *devices)
{
	struct nicintel_card card;

	assert_int_equal(nicintel_find(devices->path, &card), -ENODEV);
	add_device(devices, "0000:00:00.0", "0x8086\n", "0x1237\n", REGIONS);
	add_device(devices, "0000:00:01.0", "0x10ec\n", "0x1209\n", REGIONS);
	assert_int_equal(nicintel_find(devices->path, &card), -ENODEV);
	add_device(devices, "0000:00:10.0", "0x8086\n", "0x1209\n", REGIONS);
	assert_int_equal(nicintel_find(devices->path, &card), 0);
	assert_int_equal(card.control, 0xFEBC0000);
	assert_int_equal(card.flash, 0xFEB80000);
}

static void card_without_addresses_is_not_found(struct folder *devices)
{
	struct nicintel_card card;

	add_device(devices, "0000:00:10.0", "0x8086\n", "0x1229\n",
		"0x0 0x0 0x0\n0x0 0x0 0x0\n0x0 0x0 0x0\n");
	add_device(devices, "0000:00:11.0", "0x8086\n", "0x1229\n", "");
	assert_int_equal(nicintel_find(devices->path, &card), -ENODEV);
	assert_int_equal(nicintel_find("/tmp/rig-there-is-none", &card), -ENODEV);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(card, flash_writes_are_enabled_while_attached),
	CASE_ON(card, end_of_the_bus_is_the_end_of_the_window),
	CASE_ON(card, only_parallel_parts_up_to_the_window_are_supported),
	CASE_ON(folder, card_is_found_among_others),
	CASE_ON(folder, card_without_addresses_is_not_found),
};

RUN_CASES(tests)
