/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "file.h"
#include "flash.h"
#include "layout.h"
#include "programmer.h"

/* No chip in the lists is larger. */
#define IMAGE_BYTES_MAX (UINT32_C(64) << 20)

/* All that a run has opened; deinit lets go of it in one place. */
struct session {
	const struct options *options;
	const struct log *log;
	struct layout layout;
	struct file_content image;
	struct programmer *programmer;
	struct flash flash;
	struct range ranges[INCLUDES_MAX];
	struct selection selection;
};

static int load_layout(struct session *session)
{
	const char *path = session->options->layout;
	FILE *file;
	int error;

	if (path == NULL)
		return 0;
	file = fopen(path, "r");
	if (file == NULL) {
		error = -errno;
		log_error(session->log, "Cannot read layout %s: %s.\n", path, strerror(-error));
		return error;
	}
	error = layout_parse(file, path, session->log, &session->layout);
	fclose(file);
	return error;
}

static bool reads_file(enum operation operation)
{
	return operation == OPERATION_WRITE || operation == OPERATION_VERIFY;
}

static int load_image(struct session *session)
{
	if (!reads_file(session->options->operation))
		return 0;
	return file_read(session->options->file, IMAGE_BYTES_MAX, session->log, &session->image);
}

static int report_region(const struct session *session, const char *name)
{
	const char *near = layout_name_nearest(&session->layout, name);

	log_error(session->log, "Layout %s has no region \"%s\" (-i).%s%s%s\n",
		session->options->layout, name, near ? " Did you mean \"" : "", near ? near : "",
		near ? "\"?" : "");
	return -EINVAL;
}

static int select_regions(struct session *session)
{
	const struct options *options = session->options;

	for (size_t i = 0; i < options->include_count; i++) {
		const struct layout_region *region =
			layout_find(&session->layout, options->includes[i]);

		if (region == NULL)
			return report_region(session, options->includes[i]);
		session->ranges[i] = region->range;
	}
	session->selection = (struct selection){session->ranges, options->include_count};
	return 0;
}

/* Everything that can be known to be wrong before a chip is touched. */
static int prepare(struct session *session)
{
	int error = load_layout(session);

	if (error == 0)
		error = select_regions(session);
	if (error == 0)
		error = load_image(session);
	return error;
}

static int connect_chip(struct session *session)
{
	const struct options *options = session->options;
	const int error = programmer_open(
		options->programmer, &system_clock, session->log, &session->programmer);

	if (error != 0)
		return error;
	flash_init(&session->flash, session->programmer, &system_clock, session->log);
	return flash_probe(&session->flash, chip_lists, options->chip, options->force);
}

static int check_image(const struct session *session)
{
	const uint32_t size_bytes = session->flash.chip->size_bytes;

	if (!reads_file(session->options->operation) || session->image.bytes == size_bytes)
		return 0;
	log_error(session->log,
		"%s has %zu bytes, the chip %" PRIu32 ". Make it the size of the chip, also for a "
		"region (-i).\n",
		session->options->file, session->image.bytes, size_bytes);
	return -EINVAL;
}

/* Without regions the chip as a whole. */
static int check_selection(struct session *session)
{
	const uint32_t size_bytes = session->flash.chip->size_bytes;

	for (size_t i = 0; i < session->selection.count; i++) {
		if (session->ranges[i].end <= size_bytes)
			continue;
		log_error(session->log,
			"Region \"%s\" of layout %s ends at 0x%06" PRIx32 ", beyond the chip's "
			"0x%06" PRIx32 " bytes.\n",
			session->options->includes[i], session->options->layout,
			session->ranges[i].end - 1, size_bytes);
		return -EINVAL;
	}
	if (session->selection.count == 0) {
		session->ranges[0] = (struct range){0, size_bytes};
		session->selection.count = 1;
	}
	return 0;
}

static enum verify_scope verify_scope(const struct options *options)
{
	if (!options->verify)
		return VERIFY_NOTHING;
	return options->verify_all ? VERIFY_TOUCHED : VERIFY_SELECTED;
}

/* What was not read is left blank in the file. */
static int read_to_file(struct session *session)
{
	const uint32_t size_bytes = session->flash.chip->size_bytes;
	uint8_t *image = malloc(size_bytes);
	int error;

	if (image == NULL)
		return -ENOMEM;
	memset(image, 0xff, size_bytes);
	error = flash_read(&session->flash, session->selection, image);
	if (error == 0)
		error = file_write(session->options->file, image, size_bytes, session->log);
	free(image);
	return error;
}

static int operate(struct session *session)
{
	const struct options *options = session->options;

	switch (options->operation) {
	case OPERATION_READ:
		return read_to_file(session);
	case OPERATION_WRITE:
		return flash_write(&session->flash, session->selection, session->image.data,
			verify_scope(options), options->force);
	case OPERATION_VERIFY:
		return flash_verify(&session->flash, session->selection, session->image.data);
	case OPERATION_ERASE:
		return flash_erase(
			&session->flash, session->selection, verify_scope(options), options->force);
	default:
		log_info(session->log, "No operation was asked for.\n");
		return 0;
	}
}

/* The part is left as it was found also after a failure; the first error counts. */
static int open_and_operate(struct session *session)
{
	int error = flash_open(&session->flash);
	int close_error;

	if (error == 0)
		error = operate(session);
	close_error = flash_close(&session->flash);
	return error != 0 ? error : close_error;
}

static int session_run(struct session *session)
{
	int error = prepare(session);

	if (error == 0)
		error = connect_chip(session);
	if (error == 0)
		error = check_image(session);
	if (error == 0)
		error = check_selection(session);
	if (error == 0)
		error = open_and_operate(session);
	return error;
}

static void session_deinit(struct session *session)
{
	programmer_destroy(session->programmer);
	free(session->image.data);
	layout_deinit(&session->layout);
}

static void list_chips(const struct log *log)
{
	const struct flash_chip *chip;

	for (size_t nth = 0; (chip = chip_at(chip_lists, nth)) != NULL; nth++)
		log_info(log, "%-18s %-58s %6" PRIu32 " kB  %06" PRIx32 "\n", chip->vendor,
			chip->name, chip->size_bytes / 1024, chip->id);
	for (size_t i = 0; programmer_drivers[i] != NULL; i++)
		log_info(log, "-p %s\n", programmer_drivers[i]->usage);
}

int run(const struct options *options, const struct log *log)
{
	struct session session = {.options = options, .log = log};
	struct realtime found = {0};
	int error;

	if (options->operation == OPERATION_LIST) {
		list_chips(log);
		return 0;
	}
	if (options->realtime)
		realtime_begin(log, &found);
	error = session_run(&session);
	session_deinit(&session);
	realtime_end(log, &found);
	return error;
}
