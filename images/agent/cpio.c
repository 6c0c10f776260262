// SPDX-License-Identifier: GPL-2.0-or-later
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "070701"
#define MAGIC_BYTES 6u
#define DIGITS ((size_t)8)
#define HEADER_BYTES (MAGIC_BYTES + 13 * DIGITS)
#define ALIGNMENT 4u
#define TRAILER "TRAILER!!!"
#define LINK_BYTES_MAX 4096u

enum { FIELD_MODE = 1, FIELD_BYTES = 6, FIELD_NAME_BYTES = 11 };

struct entry {
	const char *name;
	mode_t mode;
	const uint8_t *content;
	size_t bytes;
};

static bool take_field(const uint8_t *header, unsigned int field, size_t *value)
{
	const uint8_t *digits = header + MAGIC_BYTES + field * DIGITS;

	*value = 0;
	for (unsigned int i = 0; i < DIGITS; i++) {
		static const char known[] = "0123456789ABCDEF";
		const char *digit = memchr(known, digits[i], sizeof(known) - 1);

		if (!digit)
			return false;
		*value = *value << 4 | (size_t)(digit - known);
	}
	return true;
}

static size_t aligned(size_t bytes)
{
	return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Parses the entry at `at`. Returns its size with padding, or 0 if there is no valid entry. */
static size_t take_entry(const uint8_t *at, size_t left, struct entry *entry)
{
	size_t mode, name_bytes, content_at;

	if (left < HEADER_BYTES || memcmp(at, MAGIC, MAGIC_BYTES) != 0 ||
		!take_field(at, FIELD_MODE, &mode) || !take_field(at, FIELD_BYTES, &entry->bytes) ||
		!take_field(at, FIELD_NAME_BYTES, &name_bytes))
		return 0;
	content_at = aligned(HEADER_BYTES + name_bytes);
	if (name_bytes == 0 || content_at > left || aligned(entry->bytes) > left - content_at ||
		at[HEADER_BYTES + name_bytes - 1] != '\0')
		return 0;
	entry->name = (const char *)at + HEADER_BYTES;
	entry->mode = (mode_t)mode;
	entry->content = at + content_at;
	return content_at + aligned(entry->bytes);
}

static int make_file(int folder, const struct entry *entry)
{
	int file = openat(folder, entry->name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int error = 0;

	if (file < 0)
		return -errno;
	for (size_t done = 0; !error && done < entry->bytes;) {
		ssize_t wrote = write(file, entry->content + done, entry->bytes - done);

		if (wrote > 0)
			done += (size_t)wrote;
		else
			error = wrote < 0 ? -errno : -EIO;
	}
	if (!error && fchmod(file, entry->mode & 07777) < 0)
		error = -errno;
	close(file);
	return error;
}

static int make_link(int folder, const struct entry *entry)
{
	char target[LINK_BYTES_MAX];

	if (entry->bytes >= sizeof(target))
		return -ENAMETOOLONG;
	memcpy(target, entry->content, entry->bytes);
	target[entry->bytes] = '\0';
	return symlinkat(target, folder, entry->name) < 0 ? -errno : 0;
}

static int make_entry(int folder, const struct entry *entry)
{
	if (S_ISREG(entry->mode))
		return make_file(folder, entry);
	if (S_ISLNK(entry->mode))
		return make_link(folder, entry);
	if (!S_ISDIR(entry->mode))
		return -EBADMSG;
	if (mkdirat(folder, entry->name, entry->mode & 07777) < 0 && errno != EEXIST)
		return -errno;
	return 0;
}

int cpio_unpack(const uint8_t *archive, size_t bytes, const char *folder)
{
	int into = open(folder, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	int error = into < 0 ? -errno : 0;

	for (size_t at = 0; !error;) {
		struct entry entry;
		size_t taken = take_entry(archive + at, bytes - at, &entry);

		if (taken == 0)
			error = -EBADMSG;
		else if (strcmp(entry.name, TRAILER) == 0)
			break;
		else
			error = make_entry(into, &entry);
		at += taken;
	}
	if (into >= 0)
		close(into);
	return error;
}
