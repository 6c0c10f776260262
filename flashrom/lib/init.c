/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log callback of the process, and the self-check of flashrom_init(). */
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"

/*
 * The only file-scope variable of lib/. The interface requires it: when a programmer fails to open,
 * the caller has no object for its messages yet.
 */
static struct {
	flashrom_log_callback *callback;
	flashrom_log_callback_v2 *callback_v2;
	void *user_data;
	enum flashrom_log_level level_max;
} caller = {.level_max = FLASHROM_MSG_SPEW};

static enum flashrom_log_level public_level(enum log_level level)
{
	static const enum flashrom_log_level levels[] = {
		[LOG_ERROR] = FLASHROM_MSG_ERROR,
		[LOG_WARNING] = FLASHROM_MSG_WARN,
		[LOG_INFO] = FLASHROM_MSG_INFO,
		[LOG_DEBUG] = FLASHROM_MSG_DEBUG,
		[LOG_SPEW] = FLASHROM_MSG_SPEW,
	};

	return levels[level];
}

static void call_with_format(enum flashrom_log_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)caller.callback(level, format, args);
	va_end(args);
}

static void emit(void *sink, enum log_level level, const char *text)
{
	const enum flashrom_log_level shown = public_level(level);

	(void)sink;
	if (shown > caller.level_max)
		return;
	if (caller.callback != NULL)
		call_with_format(shown, "%s", text);
	else if (caller.callback_v2 != NULL)
		caller.callback_v2(shown, text, caller.user_data);
}

const struct log caller_log = {.emit = emit, .level_max = LOG_SPEW};

void flashrom_set_log_callback(flashrom_log_callback *log_callback)
{
	caller.callback = log_callback;
	caller.callback_v2 = NULL;
}

void flashrom_set_log_callback_v2(flashrom_log_callback_v2 *log_callback, void *user_data)
{
	caller.callback = NULL;
	caller.callback_v2 = log_callback;
	caller.user_data = user_data;
}

void flashrom_set_log_level(enum flashrom_log_level level)
{
	caller.level_max = level;
}

#define CHECKED_WAIT_US 200

static bool is_wait_long_enough(void)
{
	const uint64_t start_ns = clock_now_ns(&system_clock);

	clock_delay_us(&system_clock, CHECKED_WAIT_US);
	return clock_now_ns(&system_clock) - start_ns >= CHECKED_WAIT_US * NS_PER_US;
}

/* The size and page of a part that describes itself (SFDP) are not in the table. */
static bool is_sound(const struct flash_chip *chip)
{
	if (chip->name == NULL || chip->driver == NULL || chip->identify == NULL)
		return false;
	if (chip->identify->describe != NULL)
		return true;
	return chip->page_bytes > 0 && chip->size_bytes % chip->page_bytes == 0;
}

static bool are_chips_sound(void)
{
	const struct flash_chip *chip;

	for (size_t nth = 0; (chip = chip_at(chip_lists, nth)) != NULL; nth++) {
		if (!is_sound(chip))
			return false;
	}
	return true;
}

int flashrom_init(int perform_selfcheck)
{
	if (perform_selfcheck == 0)
		return 0;
	return is_wait_long_enough() && are_chips_sound() ? 0 : 1;
}

int flashrom_shutdown(void)
{
	flashrom_set_log_callback(NULL);
	return 0;
}

/* Returns "NAME:PARAMETERS", as on the command line. The caller frees it. */
static char *join(const char *name, const char *params)
{
	char *spec;

	return asprintf(&spec, "%s:%s", name, params != NULL ? params : "") < 0 ? NULL : spec;
}

static int open_spec(const char *spec, struct flashrom_programmer **out)
{
	struct flashrom_programmer *programmer = calloc(1, sizeof(*programmer));

	if (programmer == NULL)
		return 1;
	if (programmer_open(spec, &system_clock, &caller_log, &programmer->base) != 0) {
		free(programmer);
		return 1;
	}
	*out = programmer;
	return 0;
}

int flashrom_programmer_init(
	struct flashrom_programmer **flashprog, const char *prog_name, const char *prog_params)
{
	char *spec = join(prog_name, prog_params);
	const int status = spec == NULL ? 1 : open_spec(spec, flashprog);

	free(spec);
	return status;
}

int flashrom_programmer_shutdown(struct flashrom_programmer *flashprog)
{
	if (flashprog != NULL)
		programmer_destroy(flashprog->base);
	free(flashprog);
	return 0;
}

const char *flashrom_version_info(void)
{
	return FLASHROM_VERSION;
}

/* The supported parts and programmers, as lists that the caller owns. */

static size_t count_programmers(void)
{
	size_t count = 0;

	while (programmer_drivers[count] != NULL)
		count++;
	return count;
}

const char **flashrom_supported_programmers(void)
{
	const size_t count = count_programmers();
	const char **names = (const char **)calloc(count + 1, sizeof(*names));

	for (size_t i = 0; i < count && names != NULL; i++)
		names[i] = programmer_drivers[i]->name;
	return names;
}

static size_t count_chips(void)
{
	size_t count = 0;

	while (chip_at(chip_lists, count) != NULL)
		count++;
	return count;
}

static struct flashrom_flashchip_info chip_info(const struct flash_chip *chip)
{
	return (struct flashrom_flashchip_info){
		.vendor = chip->vendor,
		.name = chip->name,
		.total_size = chip->size_bytes / 1024,
		.tested = {FLASHROM_TESTED_NT, FLASHROM_TESTED_NT, FLASHROM_TESTED_NT,
			FLASHROM_TESTED_NT, FLASHROM_TESTED_NA},
	};
}

struct flashrom_flashchip_info *flashrom_supported_flash_chips(void)
{
	const size_t count = count_chips();
	struct flashrom_flashchip_info *chips = calloc(count + 1, sizeof(*chips));

	for (size_t i = 0; i < count && chips != NULL; i++)
		chips[i] = chip_info(chip_at(chip_lists, i));
	return chips;
}

struct flashrom_board_info *flashrom_supported_boards(void)
{
	return calloc(1, sizeof(struct flashrom_board_info));
}

struct flashrom_chipset_info *flashrom_supported_chipsets(void)
{
	return calloc(1, sizeof(struct flashrom_chipset_info));
}

int flashrom_data_free(void *p)
{
	free(p);
	return 0;
}
