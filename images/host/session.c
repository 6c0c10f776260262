// SPDX-License-Identifier: GPL-2.0-or-later
#include "session.h"
#include "ask.h"
#include "layout.h"

#include <errno.h>
#include <libflashrom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print_message(enum flashrom_log_level level, const char *format, va_list args)
{
	return level <= FLASHROM_MSG_INFO ? vprintf(format, args) : 0;
}

static int failed(const char *what, int status)
{
	printf("%s failed: %d\n", what, status);
	return -EIO;
}

static int load_image(const char *path, uint8_t *image, size_t bytes)
{
	FILE *file = fopen(path, "r");
	size_t got = file ? fread(image, 1, bytes, file) : 0;

	if (file)
		fclose(file);
	return got == bytes ? 0 : failed("reading the image file", -EIO);
}

static int save_image(const char *path, const uint8_t *image, size_t bytes)
{
	FILE *file = fopen(path, "w");
	size_t put = file ? fwrite(image, 1, bytes, file) : 0;
	int error = file ? fclose(file) : -1;

	return put == bytes && !error ? 0 : failed("writing the image file", -EIO);
}

static int read_chip(
	struct flashrom_flashctx *flash, const char *path, uint8_t *image, size_t bytes)
{
	int status = flashrom_image_read(flash, image, bytes);

	return status ? failed("flashrom_image_read()", status) : save_image(path, image, bytes);
}

static int write_chip(
	struct flashrom_flashctx *flash, const char *path, uint8_t *image, size_t bytes)
{
	int status = load_image(path, image, bytes);

	if (status)
		return status;
	flashrom_flag_set(flash, FLASHROM_FLAG_VERIFY_AFTER_WRITE, true);
	status = flashrom_image_write(flash, image, bytes, NULL);
	return status ? failed("flashrom_image_write()", status) : 0;
}

static int verify_chip(
	struct flashrom_flashctx *flash, const char *path, uint8_t *image, size_t bytes)
{
	int status = load_image(path, image, bytes);

	if (status)
		return status;
	status = flashrom_image_verify(flash, image, bytes);
	return status ? failed("flashrom_image_verify()", status) : 0;
}

static int do_job(struct flashrom_flashctx *flash, const struct options *options, uint8_t *image,
	size_t bytes)
{
	int status = 0;

	switch (options->job) {
	case JOB_PROBE:
		break;
	case JOB_READ:
		return read_chip(flash, options->image_path, image, bytes);
	case JOB_WRITE:
		return write_chip(flash, options->image_path, image, bytes);
	case JOB_VERIFY:
		return verify_chip(flash, options->image_path, image, bytes);
	case JOB_ERASE:
		status = flashrom_flash_erase(flash);
		break;
	}
	return status ? failed("flashrom_flash_erase()", status) : 0;
}

static int use_chip(struct flashrom_flashctx *flash, const struct options *options)
{
	size_t bytes = flashrom_flash_getsize(flash);
	struct flashrom_layout *layout = NULL;
	uint8_t *image = calloc(1, bytes);
	int error = image ? 0 : -ENOMEM;

	if (!error && options->layout_path)
		error = layout_read(&layout, options->layout_path, options->region);
	if (error) {
		free(image);
		return failed("reading the layout", error);
	}
	flashrom_layout_set(flash, layout);
	error = do_job(flash, options, image, bytes);
	flashrom_layout_set(flash, NULL);
	if (layout)
		flashrom_layout_release(layout);
	free(image);
	return error;
}

static int use_programmer(struct flashrom_programmer *programmer, const struct options *options)
{
	struct flashrom_flashctx *flash;
	int status = flashrom_flash_probe(&flash, programmer, options->chip);

	if (status)
		return failed("flashrom_flash_probe()", status);
	status = use_chip(flash, options);
	flashrom_flash_release(flash);
	return status;
}

static int use_library(const struct options *options)
{
	struct flashrom_programmer *programmer;
	int error, status;

	status = flashrom_programmer_init(&programmer, options->programmer, options->parameters);
	if (status)
		return failed("flashrom_programmer_init()", status);
	error = use_programmer(programmer, options);
	if (!error && options->asks)
		error = ask_delays(options->delay_address, options->delay_argument, options->ask,
			options->asks);
	status = flashrom_programmer_shutdown(programmer);
	if (!error && status)
		error = failed("flashrom_programmer_shutdown()", status);
	return error;
}

int session_run(const struct options *options)
{
	int error, status;

	flashrom_set_log_callback(print_message);
	/* Without its check of itself: it is for the rig to find a library whose waits are cut. */
	status = flashrom_init(0);
	if (status)
		return failed("flashrom_init()", status);
	printf("flashrom %s, as a library\n", flashrom_version_info());
	error = use_library(options);
	status = flashrom_shutdown();
	if (!error && status)
		error = failed("flashrom_shutdown()", status);
	return error;
}
