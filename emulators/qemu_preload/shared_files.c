// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into QEMU: files behind fw_cfg whose content the rig may change while QEMU lives.
 *
 * QEMU reads such a file once, with g_file_get_contents(), and keeps the content for as long as it
 * lives (docs/specs/fw_cfg, "Externally Provided Items"). A guest that is reset to its snapshot
 * must find its next cell there. So a file whose name ends in SUFFIX is mapped instead, and shared
 * with the rig that writes it. The file must keep its length, because the guest has already read
 * the length from the file directory of fw_cfg.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "next_function.h"

/* The rig gives this suffix to files that it will change (machine/vm_pool.py). */
#define SUFFIX ".refill"

/* The types of GLib: gboolean, gsize and GError ** (GLib reference, "File Utilities"). */
typedef int get_contents_function(const char *name, char **contents, size_t *length, void *error);
/* NOLINTNEXTLINE(misc-use-internal-linkage): QEMU calls it */
get_contents_function g_file_get_contents;

static bool is_refilled(const char *name)
{
	size_t length = strlen(name), end = strlen(SUFFIX);

	return length > end && strcmp(name + length - end, SUFFIX) == 0;
}

static char *share(const char *name, size_t *length)
{
	int file = open(name, O_RDONLY | O_CLOEXEC);
	void *contents = MAP_FAILED;
	struct stat status;

	if (file < 0)
		return NULL;
	if (fstat(file, &status) == 0 && status.st_size > 0)
		contents = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, file, 0);
	close(file);
	if (contents == MAP_FAILED)
		return NULL;
	*length = (size_t)status.st_size;
	return contents;
}

int g_file_get_contents(const char *name, char **contents, size_t *length, void *error)
{
	static _Atomic(void *) known;
	char *shared = length && is_refilled(name) ? share(name, length) : NULL;
	get_contents_function *next;

	if (shared) {
		*contents = shared;
		return true;
	}
	next = (get_contents_function *)next_of(&known, __func__);
	return next(name, contents, length, error);
}
