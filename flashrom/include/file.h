/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FILE_H
#define FILE_H

#include <stddef.h>
#include <stdint.h>

#include "log.h"

/** A whole file in memory; free() `data`. */
struct file_content {
	uint8_t *data;
	size_t bytes;
};

/** Read up to `bytes_max`; longer files are an error. 0 or -errno, cause logged. */
int file_read(const char *path, size_t bytes_max, const struct log *log, struct file_content *out);

/** Checks that file_write() may succeed: 0 or -errno, cause logged. */
int file_check_writable(const char *path, const struct log *log);

/**
 * All or nothing: the data go to a file beside `path`, which then takes its place. Devices and
 * pipes are written straight. 0 or -errno, cause logged.
 */
int file_write(const char *path, const uint8_t *data, size_t bytes, const struct log *log);

#endif
