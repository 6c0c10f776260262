/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FILE_H
#define FILE_H

#include <stddef.h>
#include <stdint.h>

#include "log.h"

/** A whole file in memory; the caller frees `data`. */
struct file_content {
	uint8_t *data;
	size_t bytes;
};

/** Reads a file of at most `bytes_max`. Returns 0, or -errno with the cause logged. */
int file_read(const char *path, size_t bytes_max, const struct log *log, struct file_content *out);

/** Checks that file_write() can succeed. Returns 0, or -errno with the cause logged. */
int file_check_writable(const char *path, const struct log *log);

/**
 * Writes all or nothing: the data go to a temporary file, which then replaces `path`. Devices and
 * pipes are written directly. Returns 0, or -errno with the cause logged.
 */
int file_write(const char *path, const uint8_t *data, size_t bytes, const struct log *log);

#endif
