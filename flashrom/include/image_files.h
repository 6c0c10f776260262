/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef IMAGE_FILES_H
#define IMAGE_FILES_H

#include <stdint.h>

#include "cli.h"
#include "file.h"
#include "layout.h"

/**
 * The files that a command line names: of the whole chip, of single regions of the layout, and of
 * what the chip holds. Functions return 0 or a negative errno, cause logged.
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

/** Load what is to be read, and check that what is to be written can be. */
int image_files_prepare(struct image_files *files);

/**
 * An image of the whole chip with what was loaded (-w, -v) in its place, and the rest blank. To be
 * freed, also after an error; NULL if it came to none.
 */
int image_files_take(struct image_files *files, uint32_t size_bytes, uint8_t **image);

/** Write such an image to the files. */
int image_files_save(const struct image_files *files, const uint8_t *image, uint32_t size_bytes);

/** Frees what was loaded. */
void image_files_deinit(struct image_files *files);

#endif
