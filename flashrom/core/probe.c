/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "flash.h"

/*
 * One pass over the chips of the lists. An answer is kept while the next chip needs the same query,
 * so that a hundred parts of one kind cost one command.
 */
struct search {
	struct flash *flash;
	const struct chip_list *const *lists;
	uint8_t bus;
	const struct flash_chip *asked; /* the chip whose query got `answer`, or NULL */
	uint32_t answer;
	/* The first answer that was not silence, for the message if no chip matches. */
	const struct flash_chip *heard;
	uint32_t heard_answer;
	bool matched; /* a chip was found that is no last resort */
};

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

static int report_wrong_bus(const struct flash *flash, const struct flash_chip *wanted)
{
	log_error(flash->log, "\"%s\" (-c) cannot be used with %s: the chip has another bus.\n",
		wanted->name, flash->programmer->name);
	return -ENODEV;
}

static bool is_reached(const struct programmer *programmer, const struct flash_chip *chip)
{
	return programmer->size_bytes_max == 0 || chip->size_bytes <= programmer->size_bytes_max;
}

static int report_too_large(const struct flash *flash, const struct flash_chip *wanted)
{
	log_error(flash->log, "\"%s\" (-c) is larger than the %" PRIu32 " kB that %s reaches.\n",
		wanted->name, flash->programmer->size_bytes_max / 1024, flash->programmer->name);
	return -ENODEV;
}

static bool is_same_question(const struct flash_chip *a, const struct flash_chip *b)
{
	if (a->identify != b->identify)
		return false;
	return a->identify->same_question == NULL || a->identify->same_question(a, b);
}

static bool is_silence(uint32_t answer)
{
	return answer == 0 || answer == 0xffff || answer == 0xffffff;
}

static void remember(struct search *search, const struct flash_chip *asked)
{
	search->asked = asked;
	if (search->heard != NULL || is_silence(search->answer))
		return;
	search->heard = asked;
	search->heard_answer = search->answer;
}

static int ask(struct search *search, const struct flash_chip *chip)
{
	int error;

	if (search->asked != NULL && is_same_question(search->asked, chip))
		return 0;
	error = chip->identify->ask(search->flash, chip, &search->answer);
	if (error == 0)
		remember(search, chip);
	return error;
}

static bool is_worth_asking(const struct search *search, const struct flash_chip *chip)
{
	if (chip->identify->last_resort && search->matched)
		return false;
	return (chip->buses & search->bus) != 0 && is_reached(search->flash->programmer, chip);
}

/* Finds the next chip of the lists, from `nth` on, whose ID the bus answers, or NULL. */
static int find_next(struct search *search, size_t *nth, const struct flash_chip **found)
{
	const struct flash_chip *chip;

	*found = NULL;
	while ((chip = chip_at(search->lists, (*nth)++)) != NULL) {
		int error;

		if (!is_worth_asking(search, chip))
			continue;
		error = ask(search, chip);
		if (error != 0)
			return error;
		if (search->answer != chip->id)
			continue;
		search->matched |= !chip->identify->last_resort;
		*found = chip;
		return 0;
	}
	return 0;
}

static int report_several(struct search *search, const struct flash_chip *first)
{
	const struct flash_chip *chip;
	size_t nth = 0;
	int error;

	log_error(search->flash->log,
		"Several chips answer to ID %06" PRIx32 "; choose one with -c:", first->id);
	do {
		error = find_next(search, &nth, &chip);
		if (chip != NULL)
			log_error(search->flash->log, " \"%s\"", chip->name);
	} while (chip != NULL);
	log_error(search->flash->log, "\n");
	return error != 0 ? error : -ENOTUNIQ;
}

static int describe(struct flash *flash, const struct flash_chip **chip)
{
	int error;

	if ((*chip)->identify->describe == NULL)
		return 0;
	flash->described = **chip;
	error = (*chip)->identify->describe(flash, &flash->described);
	*chip = &flash->described;
	return error;
}

static int take(struct search *search, const struct flash_chip *chip)
{
	const int error = describe(search->flash, &chip);

	if (error != 0)
		return error;
	search->flash->chip = chip;
	search->flash->bus = search->bus;
	return 0;
}

/* Returns 0, with `flash->chip` still NULL, if no known chip is on this bus. */
static int search_any(struct search *search)
{
	const struct flash_chip *first, *second;
	size_t nth = 0;
	int error = find_next(search, &nth, &first);

	if (error != 0 || first == NULL)
		return error;
	error = find_next(search, &nth, &second);
	if (error != 0)
		return error;
	return second != NULL ? report_several(search, first) : take(search, first);
}

static int search_named(struct search *search, const struct flash_chip *wanted, bool force)
{
	int error;

	search->flash->is_named = true;
	error = ask(search, wanted);
	if (error != 0)
		return error;
	if (search->answer == wanted->id)
		return take(search, wanted);
	if (!force)
		return 0;
	log_warning(search->flash->log, "Using \"%s\" for a part with ID %06" PRIx32 ".\n",
		wanted->name, search->answer);
	return take(search, wanted);
}

static int select_bus(struct flash *flash, uint8_t bus)
{
	struct programmer *programmer = flash->programmer;

	if (programmer->ops->select_bus == NULL)
		return 0;
	return programmer->ops->select_bus(programmer, bus);
}

static int search_bus(struct search *search, const struct flash_chip *wanted, bool force)
{
	int error = select_bus(search->flash, search->bus);

	if (error == 0 && search->bus == BUS_SPI)
		error = flash_await_power(search->flash, POWER_UP_US_MAX);
	if (error != 0)
		return error;
	search->asked = NULL;
	return wanted != NULL ? search_named(search, wanted, force) : search_any(search);
}

static const struct flash_chip *chip_heard(const struct search *search)
{
	const struct flash_chip *chip;

	for (size_t nth = 0; (chip = chip_at(search->lists, nth)) != NULL; nth++) {
		if (chip->id == search->heard_answer && is_same_question(chip, search->heard))
			return chip;
	}
	return NULL;
}

static int report_silence(const struct flash *flash)
{
	log_error(flash->log,
		"No chip found: nothing answers on %s. Check the wiring, the supply and that the "
		"chip sits on the programmer's chip select.\n",
		flash->programmer->name);
	return -ENODEV;
}

static int report_other_chip(const struct search *search, const struct flash_chip *wanted)
{
	const struct flash_chip *found = chip_heard(search);

	log_error(search->flash->log,
		"Another chip found: -c asks for \"%s\" (ID %06" PRIx32 "), but the part "
		"answers %06" PRIx32 "%s%s%s. Name the part that is there, or add --force.\n",
		wanted->name, wanted->id, search->heard_answer, found ? ", which is \"" : "",
		found ? found->name : "", found ? "\"" : "");
	return -ENODEV;
}

static int report_nothing_found(const struct search *search, const struct flash_chip *wanted)
{
	if (search->heard == NULL)
		return report_silence(search->flash);
	if (wanted != NULL)
		return report_other_chip(search, wanted);
	log_error(search->flash->log,
		"No known chip found: the ID %06" PRIx32 " is not in --list-supported. A "
		"chip of the same kind can be named with -c NAME --force.\n",
		search->heard_answer);
	return -ENODEV;
}

static int search_buses(struct search *search, const struct flash_chip *wanted, bool force)
{
	const uint8_t buses =
		search->flash->programmer->buses & (wanted != NULL ? wanted->buses : 0xff);

	if (buses == 0 && wanted != NULL)
		return report_wrong_bus(search->flash, wanted);
	if (wanted != NULL && !is_reached(search->flash->programmer, wanted))
		return report_too_large(search->flash, wanted);
	for (unsigned int bit = 0; bit < 8 && search->flash->chip == NULL; bit++) {
		int error;

		search->bus = (uint8_t)(1u << bit);
		if ((buses & search->bus) == 0)
			continue;
		error = search_bus(search, wanted, force);
		if (error != 0)
			return error;
	}
	return search->flash->chip != NULL ? 0 : report_nothing_found(search, wanted);
}

static const char *bus_name(uint8_t bus)
{
	static const char *const names[] = {
		[BUS_PARALLEL] = "Parallel",
		[BUS_LPC] = "LPC",
		[BUS_FWH] = "FWH",
		[BUS_SPI] = "SPI",
	};

	return names[bus];
}

int flash_probe(
	struct flash *flash, const struct chip_list *const *lists, const char *name, bool force)
{
	const struct flash_chip *wanted = name == NULL ? NULL : chip_by_name(lists, name);
	struct search search = {.flash = flash, .lists = lists};
	int error;

	if (name != NULL && wanted == NULL)
		return report_unknown_name(flash->log, lists, name);
	error = search_buses(&search, wanted, force);
	if (error != 0)
		return error;
	log_info(flash->log, "Found %s flash chip \"%s\" (%" PRIu32 " kB, %s) on %s.\n",
		flash->chip->vendor, flash->chip->name, flash->chip->size_bytes / 1024,
		bus_name(flash->bus), flash->programmer->name);
	return 0;
}
