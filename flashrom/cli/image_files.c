/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chip.h"

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

int image_files_prepare(struct image_files *files)
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

int image_files_take(struct image_files *files, uint32_t size_bytes, uint8_t **image)
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

int image_files_save(const struct image_files *files, const uint8_t *image, uint32_t size_bytes)
{
	const struct options *options = files->options;
	int error = 0;

	if (options->file != NULL)
		error = file_write(options->file, image, size_bytes, files->log);
	for (size_t i = 0; i < options->include_count && error == 0; i++)
		error = save_region(files, &options->includes[i], image);
	return error;
}

void image_files_deinit(struct image_files *files)
{
	for (size_t i = 0; i < files->options->include_count; i++)
		free(files->regions[i].data);
	free(files->whole.data);
	free(files->held.data);
}
