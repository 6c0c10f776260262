/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wish_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int map(struct wish_file *file, int descriptor)
{
	struct stat status;
	void *mapped;

	if (fstat(descriptor, &status) < 0)
		return -errno;
	if ((size_t)status.st_size <= sizeof(file->known))
		return -EINVAL;
	mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
	if (mapped == MAP_FAILED)
		return -errno;
	*file = (struct wish_file){.mapped = mapped, .size = (uint64_t)status.st_size};
	return 0;
}

int wish_file_open(struct wish_file *file, const char *path)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	int ret;

	if (descriptor < 0)
		return -errno;
	ret = map(file, descriptor);
	close(descriptor);
	return ret;
}

bool wish_file_has_changed(struct wish_file *file)
{
	uint64_t now = *(const volatile uint64_t *)(const void *)file->mapped;

	if (now == file->known)
		return false;
	file->known = now;
	return true;
}

const char *wish_file_text(const struct wish_file *file)
{
	const char *text = file->mapped + sizeof(file->known);

	return memchr(text, '\0', file->size - sizeof(file->known)) ? text : NULL;
}
