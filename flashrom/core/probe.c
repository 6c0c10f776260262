/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>

#include "flash.h"

static int report_unknown_name(
	const struct log *log, const struct chip_list *const *lists, const char *name)
{
	const char *near = chip_name_nearest(lists, name);

	if (near != NULL)
		log_error(log,
			"Unknown chip \"%s\" (-c). Did you mean \"%s\"? See --list-supported.\n",
			name, near);
	else
		log_error(log, "Unknown chip \"%s\" (-c). See --list-supported.\n", name);
	return -EINVAL;
}

static int report_silence(const struct spi25 *flash)
{
	log_error(flash->log,
		"No chip found: nothing answers on %s. Check the wiring, the supply "
		"and that the chip sits on the programmer's chip select.\n",
		flash->programmer->name);
	return -ENODEV;
}

static int report_unknown_id(const struct spi25 *flash, uint32_t id)
{
	log_error(flash->log,
		"No known chip found: the ID %06" PRIx32 " is none of ours. A chip of the "
		"same kind can be named with -c NAME --force.\n",
		id);
	return -ENODEV;
}

static int report_other_chip(const struct spi25 *flash, const struct flash_chip *wanted,
	uint32_t id, const struct flash_chip *found)
{
	log_error(flash->log,
		"Another chip found: -c asks for \"%s\" (ID %06" PRIx32 "), but the part "
		"answers %06" PRIx32 "%s%s%s. Name the part that is there, or add --force.\n",
		wanted->name, wanted->jedec_id, id, found ? ", which is \"" : "",
		found ? found->name : "", found ? "\"" : "");
	return -ENODEV;
}

static int report_several(
	const struct spi25 *flash, const struct chip_list *const *lists, uint32_t id)
{
	const struct flash_chip *chip;

	log_error(flash->log, "Several chips answer to ID %06" PRIx32 "; choose one with -c:", id);
	for (size_t nth = 0; (chip = chip_by_id(lists, id, nth)) != NULL; nth++)
		log_error(flash->log, " \"%s\"", chip->name);
	log_error(flash->log, "\n");
	return -ENOTUNIQ;
}

static int choose(struct spi25 *flash, const struct chip_list *const *lists, uint32_t id)
{
	const struct flash_chip *chip = chip_by_id(lists, id, 0);

	if (chip == NULL)
		return report_unknown_id(flash, id);
	if (chip_by_id(lists, id, 1) != NULL)
		return report_several(flash, lists, id);
	flash->chip = chip;
	return 0;
}

static int choose_named(struct spi25 *flash, const struct chip_list *const *lists,
	const struct flash_chip *wanted, uint32_t id, bool force)
{
	if (id != wanted->jedec_id && !force)
		return report_other_chip(flash, wanted, id, chip_by_id(lists, id, 0));
	if (id != wanted->jedec_id)
		log_warning(flash->log, "Using \"%s\" for a part with ID %06" PRIx32 ".\n",
			wanted->name, id);
	flash->chip = wanted;
	return 0;
}

int flash_probe(
	struct spi25 *flash, const struct chip_list *const *lists, const char *name, bool force)
{
	const struct flash_chip *wanted = name == NULL ? NULL : chip_by_name(lists, name);
	uint32_t wake_us = chip_wake_us_max(lists);
	uint32_t id;
	int error;

	if (name != NULL && wanted == NULL)
		return report_unknown_name(flash->log, lists, name);
	if (wanted != NULL)
		wake_us = wanted->wake_us_max;
	error = spi25_identify(flash, wake_us, &id);
	if (error == -ENODEV)
		return report_silence(flash);
	if (error == 0 && wanted != NULL)
		error = choose_named(flash, lists, wanted, id, force);
	else if (error == 0)
		error = choose(flash, lists, id);
	if (error != 0)
		return error;
	log_info(flash->log, "Found %s flash chip \"%s\" (%" PRIu32 " kB, SPI) on %s.\n",
		flash->chip->vendor, flash->chip->name, flash->chip->size_bytes / 1024,
		flash->programmer->name);
	return 0;
}
