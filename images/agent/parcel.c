// SPDX-License-Identifier: GPL-2.0-or-later
#include "cell.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char PARCEL_MAGIC[8] = "FDRPARC1";
#define HEADER_BYTES 24u
#define ENTRY_HEADER_BYTES 16u

int parcel_open(struct parcel *parcel, const struct window *window)
{
	if (window->size_bytes < HEADER_BYTES)
		return -EINVAL;
	memset(window->bytes, 0, HEADER_BYTES);
	*parcel = (struct parcel){.window = window->bytes,
		.capacity_bytes = window->size_bytes,
		.used_bytes = HEADER_BYTES};
	return 0;
}

static uint8_t *reserve(struct parcel *parcel, const char *name, size_t bytes)
{
	uint64_t lengths[2] = {strlen(name), bytes};
	size_t before = ENTRY_HEADER_BYTES + lengths[0];
	size_t left = parcel->capacity_bytes - parcel->used_bytes;
	uint8_t *at = parcel->window + parcel->used_bytes;

	if (before > left || bytes > left - before)
		return NULL;
	memcpy(at, lengths, sizeof(lengths));
	memcpy(at + sizeof(lengths), name, lengths[0]);
	return at + before;
}

static void commit(struct parcel *parcel, const uint8_t *content, size_t bytes)
{
	parcel->used_bytes = (size_t)(content - parcel->window) + bytes;
	parcel->entries++;
}

int parcel_add(struct parcel *parcel, const char *name, const void *content, size_t bytes)
{
	uint8_t *to = reserve(parcel, name, bytes);

	if (!to)
		return -ENOSPC;
	memcpy(to, content, bytes);
	commit(parcel, to, bytes);
	return 0;
}

static int read_all(int file, uint8_t *to, off_t offset, size_t bytes)
{
	while (bytes > 0) {
		ssize_t got = pread(file, to, bytes, offset);

		if (got < 0)
			return -errno;
		if (got == 0)
			return -EIO;
		to += got;
		offset += got;
		bytes -= (size_t)got;
	}
	return 0;
}

int parcel_add_file(
	struct parcel *parcel, const char *name, const char *path, off_t offset, size_t bytes)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	uint8_t *to = NULL;
	int error;

	if (file < 0)
		return -errno;
	error = fstat(file, &status) < 0 ? -errno : 0;
	if (!error && bytes == 0)
		bytes = offset < status.st_size ? (size_t)(status.st_size - offset) : 0;
	if (!error) {
		to = reserve(parcel, name, bytes);
		error = to ? read_all(file, to, offset, bytes) : -ENOSPC;
	}
	close(file);
	if (!error)
		commit(parcel, to, bytes);
	return error;
}

void parcel_seal(struct parcel *parcel)
{
	uint64_t counts[2] = {parcel->used_bytes, parcel->entries};

	memcpy(parcel->window + sizeof(PARCEL_MAGIC), counts, sizeof(counts));
	memcpy(parcel->window, PARCEL_MAGIC, sizeof(PARCEL_MAGIC));
}
