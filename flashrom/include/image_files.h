/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef IMAGE_FILES_H
#define IMAGE_FILES_H

#include <stdint.h>

#include "cli.h"
#include "file.h"
#include "layout.h"

/**
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

/** Loads the files to read (-w, -v), or checks that the files to write (-r) can be written. */
int image_files_prepare(struct image_files *files);

/**
 * Makes an image of the whole chip: the loaded files (-w, -v) in their places, and the rest blank.
 * The caller frees it, also after an error; it may be NULL then.
 */
int image_files_take(struct image_files *files, uint32_t size_bytes, uint8_t **image);

/** Writes such an image to the files. */
int image_files_save(const struct image_files *files, const uint8_t *image, uint32_t size_bytes);

/** Frees what was loaded. */
void image_files_deinit(struct image_files *files);

#endif
