/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chip.h"
#include "cli.h"
#include "file.h"
#include "flash.h"
#include "layout.h"
#include "priority.h"
#include "programmer.h"

/*
 * The files that a command line names: of the whole chip, of single regions of the layout, and of
 * the chip's present content. Functions return 0, or -errno with the cause logged.
 */
struct image_files {
	const struct options *options;
	const struct layout *layout; /* has every region of `options` */
	const struct log *log;
	struct file_content whole; /* the file of -w or -v */
	/* The file of --flash-contents; `data` NULL without it */
	struct file_content held;
	struct file_content regions[INCLUDES_MAX]; /* in the order of the options */
};

static int load_file(struct image_files *files, const char *path, struct file_content *out)
{
	return path == NULL ? 0 : file_read(path, CHIP_BYTES_MAX, files->log, out);
}

static int load_region_files(struct image_files *files)
{
	for (size_t i = 0; i < files->options->include_count; i++) {
		const int error =
			load_file(files, files->options->includes[i].file, &files->regions[i]);

		if (error != 0)
			return error;
	}
	return 0;
}

static int load_files(struct image_files *files)
{
	int error = load_file(files, files->options->file, &files->whole);

	if (error == 0)
		error = load_file(files, files->options->held_file, &files->held);
	if (error == 0)
		error = load_region_files(files);
	return error;
}

/* Reading a chip takes minutes, so files that cannot be written are reported before. */
static int check_outputs(const struct image_files *files)
{
	const struct options *options = files->options;
	int error = options->file == NULL ? 0 : file_check_writable(options->file, files->log);

	for (size_t i = 0; i < options->include_count && error == 0; i++) {
		if (options->includes[i].file != NULL)
			error = file_check_writable(options->includes[i].file, files->log);
	}
	return error;
}

/* Loads the files to read (-w, -v), or checks that the files to write (-r) can be written. */
static int image_files_prepare(struct image_files *files)
{
	switch (files->options->operation) {
	case OPERATION_READ:
		return check_outputs(files);
	case OPERATION_WRITE:
	case OPERATION_VERIFY:
		return load_files(files);
	default:
		return 0;
	}
}

static int check_size(const struct log *log, const char *path, const struct file_content *file,
	uint32_t size_bytes)
{
	if (path == NULL || file->bytes == size_bytes)
		return 0;
	log_error(log,
		"%s has %zu bytes, the chip %" PRIu32 ". Make it the size of the chip; a file for "
		"one region goes after its name (-i NAME:FILE).\n",
		path, file->bytes, size_bytes);
	return -EINVAL;
}

/* A region without a file of its own is taken from the file of the whole chip. */
static int overlay_region(const struct image_files *files, size_t nth, uint8_t *image)
{
	const struct include *include = &files->options->includes[nth];
	const struct file_content *file = &files->regions[nth];
	const struct range range = layout_find(files->layout, include->name)->range;

	if (include->file == NULL)
		return 0;
	if (file->bytes == range_bytes(range)) {
		memcpy(image + range.start, file->data, file->bytes);
		return 0;
	}
	log_error(files->log, "%s has %zu bytes, region \"%s\" %" PRIu32 ".\n", include->file,
		file->bytes, include->name, range_bytes(range));
	return -EINVAL;
}

/* Takes over the content of the file of the whole chip. Without that file, makes a blank image. */
static int take_whole(struct image_files *files, uint32_t size_bytes, uint8_t **image)
{
	*image = files->whole.data;
	files->whole.data = NULL;
	if (*image != NULL)
		return 0;
	*image = malloc(size_bytes);
	if (*image == NULL) {
		log_error(files->log, "Out of memory for %" PRIu32 " bytes.\n", size_bytes);
		return -ENOMEM;
	}
	memset(*image, 0xff, size_bytes);
	return 0;
}

/*
 * Makes an image of the whole chip: the loaded files (-w, -v) in their places, and the rest blank.
 * The caller frees it, also after an error; it may be NULL then.
 */
static int image_files_take(struct image_files *files, uint32_t size_bytes, uint8_t **image)
{
	const struct options *options = files->options;
	int error;

	if (options->operation == OPERATION_READ)
		return take_whole(files, size_bytes, image);
	error = check_size(files->log, options->file, &files->whole, size_bytes);
	if (error == 0)
		error = check_size(files->log, options->held_file, &files->held, size_bytes);
	if (error == 0)
		error = take_whole(files, size_bytes, image);
	for (size_t i = 0; i < options->include_count && error == 0; i++)
		error = overlay_region(files, i, *image);
	return error;
}

static int save_region(
	const struct image_files *files, const struct include *include, const uint8_t *image)
{
	const struct range range = layout_find(files->layout, include->name)->range;

	if (include->file == NULL)
		return 0;
	return file_write(include->file, image + range.start, range_bytes(range), files->log);
}

/* Writes an image of the whole chip to the files (-r): all of it, or the part of a region. */
static int image_files_save(
	const struct image_files *files, const uint8_t *image, uint32_t size_bytes)
{
	const struct options *options = files->options;
	int error = 0;

	if (options->file != NULL)
		error = file_write(options->file, image, size_bytes, files->log);
	for (size_t i = 0; i < options->include_count && error == 0; i++)
		error = save_region(files, &options->includes[i], image);
	return error;
}

/* Frees the loaded files. */
static void image_files_deinit(struct image_files *files)
{
	for (size_t i = 0; i < files->options->include_count; i++)
		free(files->regions[i].data);
	free(files->whole.data);
	free(files->held.data);
}

#define STEP_PERCENT 10

/* The progress of a run on stdout: rewritten in place on a terminal, else every ten percent. */
struct percent {
	bool in_place;
	unsigned int shown[3]; /* by enum progress_stage */
};

static unsigned int percent_of(uint32_t done_bytes, uint32_t total_bytes)
{
	return (unsigned int)((uint64_t)done_bytes * 100 / total_bytes);
}

/*
 * Ends in as many backspaces as characters, so that the next text on the line, which is longer,
 * overwrites the percentages. A write has two; the text before them ("Erasing and writing") names
 * their stages in the same order.
 */
static void print_in_place(const struct percent *percent, enum progress_stage stage)
{
	if (stage == PROGRESS_READ)
		printf("%3u%%\b\b\b\b", percent->shown[stage]);
	else
		printf("%3u%%, %3u%%\b\b\b\b\b\b\b\b\b\b", percent->shown[PROGRESS_ERASE],
			percent->shown[PROGRESS_WRITE]);
}

static void print_steps(unsigned int from, unsigned int to, enum progress_stage stage)
{
	static const char *const names[] = {
		[PROGRESS_READ] = "",
		[PROGRESS_WRITE] = "write ",
		[PROGRESS_ERASE] = "erase ",
	};

	for (unsigned int at = from / STEP_PERCENT + 1; at <= to / STEP_PERCENT; at++)
		printf("%s%u%% ", names[stage], at * STEP_PERCENT);
}

static void show_percent(
	void *sink, enum progress_stage stage, uint32_t done_bytes, uint32_t total_bytes)
{
	struct percent *percent = sink;
	const unsigned int now = percent_of(done_bytes, total_bytes);
	const unsigned int before = percent->shown[stage];

	if (done_bytes > 0 && now == before)
		return;
	percent->shown[stage] = now;
	if (percent->in_place)
		print_in_place(percent, stage);
	else
		print_steps(before, now, stage);
	fflush(stdout);
}

/* Returns a receiver of progress reports. It prints on the line that a step has begun. */
static struct progress percent_progress(struct percent *percent)
{
	*percent = (struct percent){.in_place = isatty(STDOUT_FILENO) == 1};
	return (struct progress){.report = show_percent, .sink = percent};
}

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
