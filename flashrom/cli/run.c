/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "image_files.h"
#include "job.h"
#include "layout.h"
#include "priority.h"
#include "programmer.h"

/* All that a run opens. session_deinit() releases it. */
struct session {
	const struct options *options;
	const struct log *log;
	struct layout layout;
	struct image_files files;
	struct programmer *programmer;
	struct flash flash;
	struct range *ranges;
	size_t range_count;
	uint8_t *image; /* the content of the whole chip, present or to be written */
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

static int report_region(const struct session *session, const char *name)
{
	const char *near = layout_name_nearest(&session->layout, name);

	log_error(session->log, "Layout %s has no region \"%s\" (-i).%s%s%s\n",
		session->options->layout, name, near ? " Did you mean \"" : "", near ? near : "",
		near ? "\"?" : "");
	return -EINVAL;
}

static int include_regions(struct session *session)
{
	const struct options *options = session->options;

	for (size_t i = 0; i < options->include_count; i++) {
		const char *name = options->includes[i].name;
		struct layout_region *region = layout_find(&session->layout, name);

		if (region == NULL)
			return report_region(session, name);
		region->included = true;
	}
	return 0;
}

/* Reports errors of the layout and the files before a chip is touched. */
static int prepare(struct session *session)
{
	int error = load_layout(session);

	if (error == 0)
		error = include_regions(session);
	if (error == 0)
		error = image_files_prepare(&session->files);
	return error;
}

static int connect_chip(struct session *session, const struct progress *progress)
{
	const struct options *options = session->options;
	const int error = programmer_open(
		options->programmer, &system_clock, session->log, &session->programmer);

	if (error != 0)
		return error;
	flash_init(&session->flash, session->programmer, &system_clock, session->log);
	if (options->progress)
		session->flash.progress = progress;
	return flash_probe(&session->flash, chip_lists, options->chip, options->force);
}

static int select_ranges(struct session *session)
{
	return layout_ranges(&session->layout, session->flash.chip->size_bytes, session->log,
		&session->ranges, &session->range_count);
}

static enum verify_scope verify_scope(const struct options *options)
{
	if (!options->verify)
		return VERIFY_NOTHING;
	return options->verify_all ? VERIFY_TOUCHED : VERIFY_SELECTED;
}

static int run_job(struct session *session, enum job_action action)
{
	const struct job job = {
		.action = action,
		.selection = {session->ranges, session->range_count},
		.into = session->image,
		.image = session->image,
		.held = session->files.held.data,
		.verify = verify_scope(session->options),
		.force = session->options->force,
	};

	return job_run(&session->flash, &job);
}

static int run_file_job(struct session *session, enum job_action action)
{
	/* Regions that are not read stay blank in the file. */
	int error =
		image_files_take(&session->files, session->flash.chip->size_bytes, &session->image);

	if (error == 0)
		error = run_job(session, action);
	if (error == 0 && action == JOB_READ)
		error = image_files_save(
			&session->files, session->image, session->flash.chip->size_bytes);
	return error;
}

static int operate(struct session *session)
{
	const struct flash_chip *chip = session->flash.chip;

	switch (session->options->operation) {
	case OPERATION_READ:
		return run_file_job(session, JOB_READ);
	case OPERATION_WRITE:
		return run_file_job(session, JOB_WRITE);
	case OPERATION_VERIFY:
		return run_file_job(session, JOB_VERIFY);
	case OPERATION_ERASE:
		return run_job(session, JOB_ERASE);
	case OPERATION_NAME:
		log_info(session->log, "vendor=\"%s\" name=\"%s\"\n", chip->vendor, chip->name);
		return 0;
	case OPERATION_SIZE:
		log_info(session->log, "%" PRIu32 "\n", chip->size_bytes);
		return 0;
	default:
		log_info(session->log, "No operation was asked for.\n");
		return 0;
	}
}

static int session_run(struct session *session, const struct progress *progress)
{
	int error = prepare(session);

	if (error == 0)
		error = connect_chip(session, progress);
	if (error == 0)
		error = select_ranges(session);
	if (error == 0)
		error = operate(session);
	return error;
}

static void session_deinit(struct session *session)
{
	programmer_destroy(session->programmer);
	image_files_deinit(&session->files);
	free(session->ranges);
	free(session->image);
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
	struct percent percent;
	const struct progress progress = percent_progress(&percent);
	struct realtime found = {0};
	int error;

	session.files =
		(struct image_files){.options = options, .layout = &session.layout, .log = log};
	if (options->operation == OPERATION_LIST) {
		list_chips(log);
		return 0;
	}
	if (options->realtime)
		priority_raise(log, &found);
	error = session_run(&session, &progress);
	session_deinit(&session);
	priority_restore(log, &found);
	return error;
}
